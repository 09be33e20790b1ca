"""`--json`: readable characters wherever stdout can carry them, escapes where it cannot."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import hinged.cli

CLI = Path(hinged.cli.__file__).parent
LINES = '{"label": "Bücher", "text": "roman lesen"}\n{"label": "Küche", "text": "kuchen backen"}\n'


@pytest.fixture
def place(tmp_path):
    """A folder with examples, whose own name is not ASCII."""
    folder = tmp_path / "Übung"
    folder.mkdir()
    (folder / "a.jsonl").write_text(LINES, "utf-8")
    return folder


def commands(place):
    """Commands that print JSON, in an order in which each finds what it needs."""
    model = ("--model", place / "m.hinged", "--json")
    return {
        "learn": ("learn", place / "a.jsonl", *model),
        "predict": ("predict", place / "a.jsonl", *model),
        "evaluate": ("evaluate", place / "a.jsonl", *model),
        "explain": ("explain", "roman", *model),
        "inspect": ("inspect", place / "m.hinged", "--json"),
        "convert": ("convert", place / "a.jsonl", place / "b.csv", "--json"),
        "create a token": ("serve", place / "served", "--create-token", "bücher:read", "--json"),
        "list tokens": ("serve", place / "served", "--list-tokens", "--json"),
    }


def test_json_is_readable(call, place):
    for name, arguments in commands(place).items():
        code, out, err = call(*arguments)
        assert code == 0, (name, err)
        assert "\\u" not in out, name
        assert "ü" in out or "Ü" in out, name


def test_stdout_that_lacks_a_character_gets_its_escape(place):
    arguments = [str(one) for one in commands(place)["convert"]]
    environment = {**os.environ, "PYTHONIOENCODING": "cp1251"}  # Cyrillic
    done = subprocess.run([sys.executable, "-m", "hinged", *arguments], stdout=subprocess.PIPE, env=environment)
    assert done.returncode == 0
    assert b"\\u00dcbung" in done.stdout
    assert json.loads(done.stdout.decode("cp1251"))["target"] == arguments[2]


def test_one_module_writes_the_json_of_all_commands():
    users = [path.name for path in CLI.rglob("*.py") if "json.dumps" in path.read_text(encoding="utf-8")]
    assert sorted(users) == ["export.py", "tables.py"]  # export writes a file
