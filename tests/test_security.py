"""The page on security is true: every promise names a test that exists, and what holds everywhere is tested here."""

import ast
import gzip
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard
from tests import audit

from hinged.io.examples import read

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))

#: Where something that is read could run, and why it may: all checked before, or the user's own command.
MAY = {
    ("src/hinged/compiling/code_file.py", "pickle"),  # machine code, from a folder that others cannot write
    ("src/hinged/mail/running/service.py", "subprocess"),  # systemctl and its like, with words of ours
    ("src/hinged/mail/sources/imap/account.py", "subprocess"),  # the user's own command for a password
}
RISKY = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "subprocess", "pty"}


def promises():
    """Yield (file, name) of each test that the page names."""
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    yield from re.findall(r"^\|.*\| `(tests/[\w/]+\.py)` `(\w+)` \|$", page, re.MULTILINE)
    rows = [line for line in page.splitlines() if line.startswith("| ") and "`" in line]
    assert all(re.search(r"`tests/[\w/]+\.py` `\w+` \|$", line) for line in rows)


@pytest.mark.parametrize(("path", "name"), list(promises()))
def test_the_test_behind_each_promise_exists(path, name):
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_only_named_places_can_run_what_they_read():
    found = set()
    for path in SOURCES:
        name = path.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found |= {(name, module) for module in modules if module.split(".")[0] in RISKY}
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in ("eval", "exec", "os.system", "os.popen", "compile", "__import__"), (name, called)
                assert not any(given.arg == "shell" for given in node.keywords), name
    assert found == MAY


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_small_packed_file_that_unpacks_to_an_endless_line_is_refused(pack):
    packed = pack(b'{"text": "' + b" " * (64 << 20))
    assert len(packed) < 1 << 17
    with pytest.raises(ValueError, match="longer than 16 MB"):
        list(read(io.BytesIO(packed)))


#: What learns, saves, loads and predicts, and prints what it did outside of the process.
SCRIPT = """
import sys
outside = ("socket.connect", "socket.bind", "socket.getaddrinfo", "subprocess.Popen", "os.system", "os.exec", "os.fork")
seen = []
sys.addaudithook(lambda event, _: seen.append(event) if event in outside else None)
from hinged.cli.main import main
for words in ("learn rows.jsonl --model m", "predict rows.jsonl --model m", "explain --model m {\\"x1\\":1}"):
    try:
        main(words.split())
    except SystemExit as end:
        assert end.code == 0, words
print("outside:", seen)
"""


def test_learning_saving_and_loading_open_no_connection_and_start_no_program(tmp_path):
    lines = [f'{{"label": "{"ab"[i % 2]}", "features": {{"x{i % 2}": 1}}}}' for i in range(9)]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines), encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "outside: []"


# What pip-audit writes, in JSON: with and without an answer from the index.
ASKED = {"name": "numpy", "version": "2.4.6", "vulns": []}
KNOWN = {"name": "old", "version": "1.0", "vulns": [{"id": "PYSEC-2026-1", "fix_versions": ["1.1"]}]}
UNKNOWN = {"name": "odd", "skip_reason": "Dependency not found on PyPI and could not be audited: odd (1.0)"}


@pytest.mark.parametrize(
    ("packages", "found", "last"),
    [
        ([ASKED, KNOWN], 1, "1 known vulnerabilities in 2 packages"),
        ([ASKED, UNKNOWN], 0, "0 known vulnerabilities in 1 packages, 1 could not be looked up"),
        ([UNKNOWN], 0, "pip-audit could not ask: none of 1 packages is known to the index that it reaches"),
    ],
)
def test_an_audit_that_could_not_ask_says_so(packages, found, last):
    lines, count = audit.verdict(json.dumps({"dependencies": packages, "fixes": []}), "")
    assert (count, lines[-1]) == (found, last)
    assert any("PYSEC-2026-1" in line for line in lines) == bool(found)


def test_an_audit_without_a_network_says_why():
    assert audit.verdict("", "ERROR: no route to host\n") == (["pip-audit could not ask: ERROR: no route to host"], 0)
