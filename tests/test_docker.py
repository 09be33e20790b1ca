"""The Dockerfile, as far as it can be checked without building an image: there is no Docker where these tests run."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import typer

from hinged.cli.main import app

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def instructions():
    """Return the instructions as (word, rest) in order, comments and continuations resolved."""
    text = re.sub(r"^\s*#.*\n", "", (ROOT / "Dockerfile").read_text("utf-8"), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    return [(line.split()[0], " ".join(line.split()[1:])) for line in lines if line.strip()]


def rest_of(word):
    return [rest for name, rest in instructions() if name == word]


def copied():
    """Return what is copied into the image from here."""
    return [source for rest in rest_of("COPY") for source in rest.split()[:-1]]


def test_it_ends_as_a_user_who_is_not_root_and_can_write_to_the_volume():
    words = [word for word, _ in instructions()]
    (user,) = rest_of("USER")
    assert f"useradd --uid 1000 --create-home {user} " in rest_of("RUN")[0]
    assert user not in ("root", "0")
    assert words.index("USER") < words.index("ENTRYPOINT")
    assert "RUN" not in words[words.index("USER") :]
    (volume,) = rest_of("VOLUME")
    assert f"install -d -o {user} -g {user} -m 0700 {volume}" in rest_of("RUN")[0]
    folders = dict(pair.split("=") for pair in rest_of("ENV")[0].split())
    assert folders.keys() == {"XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"}
    assert all(Path(folder).is_relative_to(volume) for folder in folders.values())


def test_it_runs_a_command_that_exists():
    (entry,) = rest_of("ENTRYPOINT")
    program, *words = json.loads(entry)
    assert program in PYPROJECT["project"]["scripts"]
    command = typer.main.get_command(app)
    for word in words:
        command = command.commands[word]
    assert command.name == "run"


def test_its_python_and_extras_are_those_of_the_package():
    (image,) = rest_of("FROM")
    major, minor = re.fullmatch(r"python:(\d+)\.(\d+)-slim", image).groups()
    assert f"Programming Language :: Python :: {major}.{minor}" in PYPROJECT["project"]["classifiers"]
    (extras,) = re.findall(r'pip install --no-cache-dir "/tmp/hinged\[([\w,]+)\]"', rest_of("RUN")[0])
    assert set(extras.split(",")) <= PYPROJECT["project"]["optional-dependencies"].keys()


def test_nothing_is_in_the_image_but_what_the_package_is_built_from(tmp_path):
    ignored, *kept = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    assert ignored == "*"
    assert {line[1:] for line in kept if line.startswith("!")} == set(copied())
    for word, rest in instructions():
        assert not re.search(r"(?i)password|secret|token|ARG", f"{word} {rest}")
    for name in copied():
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / name)
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "out"]
    subprocess.run(build, cwd=tmp_path, check=True, capture_output=True)
    (wheel,) = (tmp_path / "out").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        files = {name for name in archive.namelist() if name.startswith("hinged/")}
    ours = (path for path in (ROOT / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    assert files == {path.relative_to(ROOT / "src").as_posix() for path in ours}
