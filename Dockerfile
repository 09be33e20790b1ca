# The mail assistant as a container, without root: docs/howto/container.md.
FROM python:3.12-slim

COPY pyproject.toml hatch_build.py README.md LICENSE /tmp/hinged/
COPY src /tmp/hinged/src
RUN pip install --no-cache-dir "/tmp/hinged[mail,server]" \
    && rm -r /tmp/hinged \
    && useradd --uid 1000 --create-home hinged \
    && install -d -o hinged -g hinged -m 0700 /data

USER hinged
# What is learnt, the accounts, and compiled code, which a new container would have to compile again.
ENV XDG_DATA_HOME=/data XDG_CONFIG_HOME=/data/config XDG_CACHE_HOME=/data/cache
VOLUME /data
WORKDIR /data

ENTRYPOINT ["hinged", "mail", "run"]
