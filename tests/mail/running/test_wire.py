"""What goes over the socket: JSON, lines, and their limits."""

import json
import os
import socket
import subprocess
import sys
import threading
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hinged.mail.running.small_json import decode, encode
from hinged.mail.running.wire import LONGEST, Lines, WireError, address_of, send
from hinged.mail.sources.states import data_folder

plain = some.recursive(
    some.none() | some.booleans() | some.integers() | some.text(some.characters(exclude_categories=[])),
    lambda inner: some.lists(inner) | some.dictionaries(some.text(), inner),
)


@given(plain)
def test_small_json_is_json(value):
    assert json.loads(encode(value)) == value
    assert encode(value).isascii()
    for text in (encode(value), json.dumps(value, indent=2), f" {json.dumps(value)}\n"):
        assert decode(text) == value


@pytest.mark.parametrize("text", ["", "{", "[1,]", '"a', "{} {}", "nul", "NaN", "[Infinity]", "01", "'a'"])
def test_what_is_no_json_is_refused(text):
    with pytest.raises(ValueError):
        json.loads(text) if text not in ("NaN", "[Infinity]") else int("x")
    with pytest.raises(ValueError):
        decode(text)


def test_what_cannot_be_sent_is_refused():
    with pytest.raises(TypeError, match="a float cannot be sent"):
        encode([1.5])


@pytest.fixture
def pair():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(0.05)
        yield ours, theirs


def test_messages_arrive_one_by_one_however_they_are_cut(pair):
    ours, theirs = pair
    send(theirs, {"out": "a\nb"})
    theirs.sendall(b'{"exit"')
    lines = Lines(ours)
    assert lines.next() == {"out": "a\nb"}
    with pytest.raises(WireError, match="nothing was sent"):
        lines.next()
    theirs.sendall(b": 0}\n")
    theirs.shutdown(socket.SHUT_WR)
    assert list(lines) == [{"exit": 0}]


@pytest.mark.parametrize(("sent", "said"), [
    (b"no json\n", "not JSON"),
    (b"\xff\n", "not JSON"),
    (b"[" * 100_000 + b"\n", "not JSON"),
    (b"[1]\n", "not a JSON object"),
    (b"x" * (LONGEST + 200_000), "at most"),
])  # fmt: skip
def test_what_breaks_the_protocol_is_refused(pair, sent, said):
    ours, theirs = pair
    ours.settimeout(5)
    sending = threading.Thread(target=theirs.sendall, args=(sent,), daemon=True)  # a socket does not hold all of it
    sending.start()
    with pytest.raises(WireError, match=said):
        Lines(ours).next()
    ours.settimeout(0.05)
    while sending.is_alive():
        with suppress(TimeoutError):  # all may have been sent already
            ours.recv(65536)


def test_a_path_of_any_length_has_an_address(tmp_path):
    folder = tmp_path / ("long" * 40)
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as client:
        with address_of(os.fspath(folder)) as address:
            listening.bind(address)
        listening.listen()
        with address_of(os.fspath(folder)) as address:
            client.connect(address)
    assert (folder / "socket").is_socket()


def test_the_data_folder_is_that_of_platformdirs(monkeypatch):
    from platformdirs import user_data_dir

    for home in (None, "", " ", "/somewhere"):
        if home is None:
            monkeypatch.delenv("XDG_DATA_HOME", raising=False)
        else:
            monkeypatch.setenv("XDG_DATA_HOME", home)
        assert data_folder() == user_data_dir("hinged", appauthor=False)


def test_a_client_loads_next_to_nothing():
    ask = (
        "import sys; before = set(sys.modules); sys.argv = ['hinged', 'mail', 'suggest', '-', '--state', 'nowhere']\n"
        "import hinged.cli.start, hinged.cli.asking, hinged.cli.terminal\n"
        "assert hinged.cli.asking.ask(sys.argv[1:]) is None\n"
        "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before}))"
    )
    loaded = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert set(loaded.stdout.split()) <= {"__future__", "_json", "_socket", "hinged", "importlib", "warnings"}
