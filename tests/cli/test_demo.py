"""The command line: what it prints, writes and says when something is wrong."""

import json
import os
import re
import subprocess
import sys

import pytest
import typer

from hinged.cli import demo as demo_module
from hinged.cli.main import app, main

SMALL = ("--messages", "120", "--folders", "6")


def call(capsys, *arguments):
    """Run the command line in this process; return exit code, stdout, stderr."""
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    said = capsys.readouterr()
    return stopped.value.code, said.out, said.err


def test_the_demo_ends_with_a_table_a_picture_and_a_report(capsys, tmp_path):
    code, out, _ = call(capsys, "demo", *SMALL, "--out", str(tmp_path / "new" / "folder"))
    assert code == 0
    assert all(name in out for name in demo_module.LEARNERS)
    assert all(heading in out for heading in demo_module.COLUMNS)
    assert (tmp_path / "new" / "folder" / "mistakes.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "new" / "folder" / "report.html").read_text("utf-8")
    assert not re.search(r"""(?:src|href)\s*=\s*["']?https?:""", page)
    assert "import hinged" in out
    assert "hinged mail replay" in out.splitlines()[-1]


def test_the_json_of_the_demo_is_all_that_stdout_holds(capsys, tmp_path):
    code, out, _ = call(capsys, "demo", *SMALL, "--out", str(tmp_path), "--json")
    result = json.loads(out)
    assert code == 0
    assert [row["learner"] for row in result["learners"]] == list(demo_module.LEARNERS)
    assert all(0 <= row["rate"] <= 1 for row in result["learners"])
    assert result["stream"]["messages"] == 120
    assert result["files"]["report"].endswith("report.html")


def test_the_demo_is_the_same_for_the_same_seed(capsys, tmp_path):
    results = []
    for seed in ("3", "3", "4"):
        out = call(capsys, "demo", *SMALL, "--seed", seed, "--out", str(tmp_path), "--json")[1]
        results.append([row["mistakes"] for row in json.loads(out)["learners"]])
    assert results[0] == results[1] != results[2]


@pytest.mark.parametrize("width", ["30", "60", "200"])
def test_a_narrow_terminal_gets_fewer_columns(capsys, tmp_path, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", width)
    _, out, _ = call(capsys, "demo", *SMALL, "--out", str(tmp_path))
    assert "…" not in out
    assert ("too narrow" in out) == (int(width) < 80)


def test_the_snippet_at_the_end_runs(capsys):
    exec(demo_module.NEXT, {})
    assert 0 < float(capsys.readouterr().out) < 0.5


def test_the_version_is_shown(capsys):
    code, out, _ = call(capsys, "--version")
    assert code == 0
    assert re.fullmatch(r"hinged \d+\.\d+\S*\n", out)


def test_no_command_shows_the_help(capsys):
    code, out, _ = call(capsys)
    assert code == 0
    assert "Usage: hinged" in out


#: Commands that talk to people only, or hand on what another program prints.
WITHOUT_JSON = {("mail", "setup"), ("mail", "login"), ("mail", "service", "logs")}


def every_command(words=(), command=None):
    """Every command as its words, () for the program itself; and True if other commands are below it."""
    command = command or typer.main.get_command(app)
    below = getattr(command, "commands", {})
    if not command.hidden:  # moved or removed: it says so, whatever the options
        yield words, bool(below)
        for name, own in sorted(below.items()):
            yield from every_command((*words, name), own)


@pytest.mark.parametrize(("command", "is_group"), list(every_command()))
def test_every_command_has_help_with_an_example(capsys, command, is_group):
    code, out, _ = call(capsys, *command, "--help")
    assert code == 0
    assert f"Example: hinged {' '.join(command)}".rstrip() in out
    assert is_group or command in WITHOUT_JSON or "--json" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("demo", "--messages", "many"), "--messages"),
        (("demo", "--messages", "3"), "n_messages"),
        (("demo", "--folders", "1"), "n_folders"),
        (("demo", "--seed", "-1"), "seed"),
        (("demo", "--colour"), "--colour"),
        (("teleport",), "teleport"),
        (("warm-up", "now"), "now"),
    ],
)
def test_a_bad_option_gets_one_sentence(capsys, arguments, said):
    code, out, err = call(capsys, *arguments)
    assert code != 0
    assert out == ""
    assert said in err
    assert len(err.strip().splitlines()) == 1
    assert err.rstrip().endswith(".")


def test_a_place_that_cannot_be_written_gets_one_sentence(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = call(capsys, "demo", *SMALL, "--out", str(tmp_path / "file"))
    assert code == 1
    assert "file" in err
    assert len(err.strip().splitlines()) == 1


def test_a_bug_keeps_its_traceback(monkeypatch):
    def broken(*arguments, **settings):
        raise ZeroDivisionError

    monkeypatch.setattr("hinged.cli.main.app", broken)
    with pytest.raises(ZeroDivisionError):
        main(["demo"])


@pytest.mark.parametrize("error", [typer.Abort()])
def test_an_interrupted_command_says_so_by_its_code(capsys, monkeypatch, error):
    def stop(*arguments, **settings):
        raise error

    monkeypatch.setattr("hinged.cli.main.app", stop)
    assert call(capsys, "demo")[0] == 130


def test_help_needs_neither_compiler_nor_learners():
    unwanted = {"numba", "sklearn", "matplotlib", "scipy", "numpy", "rich"}
    assert not unwanted & imported_by("--help")
    assert not unwanted & imported_by("learn", "--help")


def test_learning_starts_without_what_it_does_not_need(tmp_path):
    (tmp_path / "a.txt").write_text("work\ttax form\nhome\tcake recipe\n")
    modules = imported_by("learn", str(tmp_path / "a.txt"), "--model", str(tmp_path / "m.hinged"))
    assert "numba" in modules
    assert not {"pandas", "scipy.stats", "matplotlib", "rich", "pyarrow", "polars"} & modules


def imported_by(*arguments):
    """The modules that a process of its own has imported after running a command."""
    code = (
        "import sys\nfrom hinged.cli.main import main\n"
        f"try:\n    main({list(arguments)})\nexcept SystemExit as stopped:\n    assert not stopped.code\n"
        "print('modules', *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split()[1:])
