"""`hinged mail serve`: the page in the browser."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated

import typer

from hinged.cli.interrupts import Ending
from hinged.cli.mail.opening import InFolder, State, assistant_of
from hinged.cli.options import AsJson, argument, flag, option
from hinged.cli.progress import bar
from hinged.cli.tables import emit, emit_json
from hinged.http.local import is_local

__all__ = ["serve"]

HOST = "Where to listen; anything but 127.0.0.1 is open to the network."
PORT = "0 takes a free port. Default: the same as last time."
OPEN = (
    "hinged: warning: the page can be reached from the network and is not encrypted: others in the network could read "
    "your mail. Use it in a network that you trust, or behind a proxy with TLS, named by --allow-host."
)


def serve(
    source: Annotated[str | None, argument("[SOURCE]", "The mail: a Maildir, or imaps://user@host.")] = None,
    *,
    demo: Annotated[bool, flag("--demo", "Show a generated mailbox, which is removed at the end.")] = False,
    folder: InFolder = None,
    host: Annotated[str, option("NAME", HOST)] = "127.0.0.1",
    port: Annotated[int | None, option("N", PORT, min=0, max=65535)] = None,
    allow_host: Annotated[list[str] | None, option("NAME", "Another host name of the page; may be repeated.")] = None,
    sign_out: Annotated[bool, flag("--sign-out", "Refuse the cookies of earlier starts.")] = False,
    browser: Annotated[bool, flag("--browser/--no-browser", "Open the page at once.")] = True,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """File mail in the browser: three folders beside each message, one key each.

    Every filing is learnt at once, and u undoes it. The printed address contains a token; anyone who has it can use
    the page. Stop with Ctrl-C. To file on a phone in the same network, use --host 0.0.0.0 and scan the code.

    Example: hinged mail serve --demo
    """
    if demo == (source is not None):
        raise typer.BadParameter("name a source, or use --demo for a generated one")
    from hinged.mail.sources.opening import open_source

    try:
        from hinged.mail.web.qr import qr_text
        from hinged.mail.web.serving import PageServer
    except ImportError as missing:
        raise ValueError(
            f"the page needs the package {missing.name}; install it with: pip install 'hinged[server]'."
        ) from None
    with Ending() as ending, _mail_of(source, state) as (spec, kept), assistant_of(spec, kept) as assistant:
        server = PageServer(
            lambda: open_source(spec),
            assistant,
            folder=folder,
            host=host,
            port=port,
            allow_hosts=allow_host or (),
            sign_out=sign_out,
        )
        _announce(server.address, host, None if as_json or is_local(host) else qr_text(server.address), as_json)
        if browser:
            import webbrowser

            webbrowser.open(server.address_once())  # others can read the arguments of a browser
        ending.call(server.stop)
        with ExitStack() as drawn:
            server.run(drawn.enter_context(bar()), drawn.close)
        ending.check()


@contextmanager
def _mail_of(source: str | None, state: Path | None) -> Iterator[tuple[str, Path | None]]:
    """Give a source and the folder of its assistant; without a source, a generated one that is removed at the end."""
    if source is not None:
        yield source, state
        return
    import tempfile

    from hinged.mail.demo import write_demo

    with tempfile.TemporaryDirectory(prefix="hinged-demo-") as temporary:
        write_demo(Path(temporary) / "mail", end=time.time())
        yield f"{temporary}/mail", state or Path(temporary) / "state"


def _announce(address: str, host: str, code: str | None, as_json: bool) -> None:
    """Print where the page is; in a network also a warning, and a code to scan."""
    if as_json:
        emit_json({"address": address}, one_line=True)
    else:
        emit(f"hinged: the page is at {address}")
    if not is_local(host):
        emit(OPEN, err=True)
    if code and sys.stderr.encoding.lower().startswith("utf"):
        emit(f"\n{code}\n", err=True)
