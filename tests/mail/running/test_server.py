"""The socket of a running assistant: who gets in, and what happens to those who go away."""

import os
import socket
import stat
import threading
import time

import pytest

from hinged.mail.running import server as server_module
from hinged.mail.running.server import AloneError, HungUp, RunningError, SocketServer
from hinged.mail.running.wire import SOCKET, VERSION, Lines, address_of, send


@pytest.fixture
def serve(tmp_path):
    """Answer clients by a function."""
    servers = []

    def start(answer, folder=tmp_path / "state"):
        servers.append(SocketServer(folder))
        servers[-1].listen(answer)
        return servers[-1]

    yield start
    for one in servers:
        one.close(1)
        one.release()


def connected(folder):
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(5)
    with address_of(os.fspath(folder)) as address:
        client.connect(address)
    return client, Lines(client)


def asked(folder, request):
    client, lines = connected(folder)
    with client:
        assert lines.next() == {"hinged": VERSION, "process": os.getpid()}
        send(client, request)
        return [message for message in lines if "alive" not in message]


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_only_the_owner_can_connect_and_the_answer_comes_in_pieces(serve, tmp_path):
    (tmp_path / "state").mkdir(mode=0o755)

    def answer(request, reply):
        reply.write("a" * 250_000, err=False)
        reply.write(request["word"], err=True)
        return 3

    server = serve(answer)
    assert (mode(server.folder), mode(server.folder / SOCKET)) == (0o700, 0o600)
    *pieces, err, code = asked(server.folder, {"word": "b"})
    assert "".join(piece["out"] for piece in pieces) == "a" * 250_000
    assert (len(pieces), err, code) == (3, {"err": "b"}, {"exit": 3})


def test_a_second_assistant_is_refused_and_a_dead_one_replaced(serve):
    server = serve(lambda request, reply: 0)
    with pytest.raises(RunningError, match=f"process {os.getpid()}; the mail commands reach it"):
        SocketServer(server.folder)
    assert asked(server.folder, {}) == [{"exit": 0}]
    server.close()
    server.release()
    with socket.socket(socket.AF_UNIX) as left:  # as a process that was killed leaves it: nobody listens
        left.bind(os.fspath(server.folder / SOCKET))
    again = serve(lambda request, reply: 1)
    assert asked(again.folder, {}) == [{"exit": 1}]


def test_a_command_for_another_account_is_left_to_the_client(serve):
    def answer(request, reply):
        raise AloneError

    assert asked(serve(answer).folder, {}) == [{"alone": True}]


def test_a_request_that_is_no_json_is_answered_with_a_sentence(serve):
    server = serve(lambda request, reply: 0)
    client, lines = connected(server.folder)
    with client:
        lines.next()
        client.sendall(b"hello\n")
        said, code = lines
    assert (said["err"], code) == ("hinged: the request was not understood: a line is not JSON.\n", {"exit": 2})


def test_a_client_that_asks_nothing_is_sent_away(serve, monkeypatch):
    monkeypatch.setattr(server_module, "PATIENCE", 0.1)
    server = serve(lambda request, reply: 0)
    client, lines = connected(server.folder)
    with client:
        assert [list(message) for message in lines] == [["hinged", "process"], ["err"], ["exit"]]


def test_a_client_beyond_the_limit_works_alone(serve):
    server = serve(lambda request, reply: 0)
    waiting = [connected(server.folder) for _ in range(server_module.CONNECTIONS)]
    assert all(lines.next() for _, lines in waiting)
    late, lines = connected(server.folder)
    assert lines.next() is None
    for client in (late, *(client for client, _ in waiting)):
        client.close()
    end = time.monotonic() + 5
    while time.monotonic() < end:
        late, lines = connected(server.folder)
        with late:
            if lines.next() is not None:
                return
    raise AssertionError("places are given back")


def test_a_command_stops_when_its_client_goes_away(serve, monkeypatch):
    monkeypatch.setattr(server_module, "BEAT", 0.02)
    ended = threading.Event()

    def answer(request, reply):
        try:
            for _ in range(500):
                reply.check()
                time.sleep(0.01)
        except HungUp:
            ended.set()
            raise
        return 0

    server = serve(answer)
    client, lines = connected(server.folder)
    lines.next()
    send(client, {})
    assert lines.next() == {"alive": True}  # signs of life come while it runs
    client.close()
    assert ended.wait(4)


def test_standard_input_is_asked_for_when_it_is_needed(serve):
    server = serve(lambda request, reply: len(reply.standard_input(100)))
    client, lines = connected(server.folder)
    with client:
        lines.next()
        send(client, {})
        assert lines.next() == {"stdin": 100}
        send(client, {"stdin": "YWJj"})
        assert lines.next() == {"exit": 3}
    for wrong in ({"stdin": "%"}, {"stdin": 1}, {}):
        client, lines = connected(server.folder)
        with client:
            lines.next()
            send(client, {})
            lines.next()
            send(client, wrong)
            assert lines.next() is None


def test_closing_waits_for_commands_that_run(serve):
    begun = threading.Event()

    def answer(request, reply):
        begun.set()
        time.sleep(0.2)
        return 7

    server = serve(answer)
    client, lines = connected(server.folder)
    with client:
        lines.next()
        send(client, {})
        begun.wait()
        server.close()
        assert not (server.folder / SOCKET).exists()
        assert lines.next() == {"exit": 7}
