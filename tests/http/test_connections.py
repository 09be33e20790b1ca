"""Clients that connect and say nothing, or half of something, keep nobody else from being answered."""

import http.client
import os
import resource
import socket
import threading
import time
from urllib.parse import urlsplit

import pytest
from tests.needs import lacking
from tests.service.process import Server

from hinged.client import Client
from hinged.http.connections import share_files
from hinged.mail import Assistant, open_source, write_demo
from hinged.mail.web.serving import CONNECTIONS, PageServer
from hinged.service import Settings, serving

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
HALF_OPEN, FILES = (5000, 1024) if LONG else (400, 320)
HALVES = [
    b"",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\n",
    b"POST /v1/models HTTP/1.1\r\nContent-Length: 9\r\n\r\n",
    b"GET ",
]


def connected(url):
    where = urlsplit(url)
    return socket.create_connection((where.hostname, where.port), timeout=60)


@pytest.fixture
def more_files():
    """Room for the client's own sockets."""
    before = soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = HALF_OPEN + 500
    if hard != resource.RLIM_INFINITY and hard < wanted:
        lacking(f"this needs {wanted} open files; the system allows {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_system_that_refuses_more_files_is_taken_as_it_is(monkeypatch):
    def refuse(*given):
        raise ValueError("not allowed to raise maximum limit")

    monkeypatch.setattr(resource, "getrlimit", lambda which: (256, resource.RLIM_INFINITY))
    monkeypatch.setattr(resource, "setrlimit", refuse)
    assert share_files(1000) == share_files(1000, files=256)


def test_half_open_connections_lock_nobody_out(tmp_path, more_files):
    server, half_open = Server(tmp_path, files=FILES), []
    try:
        with server.client(tries=1) as kept:  # a connection that is there before, and stays
            model = kept.create("mail")
            for i in range(HALF_OPEN):
                half_open.append(connected(server.url))
                half_open[-1].sendall(HALVES[i % len(HALVES)])
                if i % (HALF_OPEN // 20) == 0:
                    assert model.learn(f"tax {i}", "work").new
                    with server.client(tries=1) as fresh:
                        assert fresh.model("mail").predict("tax") == "work"
            assert len(os.listdir(f"/proc/{server.process.pid}/fd")) < FILES
            assert model.status().rounds == 20
    finally:
        for one in half_open:
            one.close()
        code, said = server.stop()
    assert (code, said) == (0, "")


@pytest.mark.parametrize("half", HALVES)
def test_a_connection_that_says_half_is_closed(half, tmp_path):
    with serving(Settings(tmp_path, patience=0.2)) as (url, _), connected(url) as one:
        one.sendall(half)
        while one.recv(1 << 16):  # an answer, where one was asked for, and then the end
            pass


def sent_until_cut(one, pieces, pause=0.0):
    """How many pieces were sent until the connection was closed; None where it never was."""
    for i, piece in enumerate(pieces):
        try:
            one.sendall(piece)
        except OSError:
            return i
        time.sleep(pause)
    return None


def test_dripping_bytes_buys_no_time(tmp_path):
    with serving(Settings(tmp_path, patience=0.3)) as (url, _), connected(url) as one:
        one.sendall(b"GET /healthz HTTP/1.1\r\n")
        assert sent_until_cut(one, (b"X-%d: x\r\n" % i for i in range(2000)), pause=0.02) is not None


def test_an_endless_head_is_cut(tmp_path):
    with serving(Settings(tmp_path, patience=600)) as (url, _), connected(url) as one:
        one.sendall(b"GET /healthz HTTP/1.1\r\n")
        assert sent_until_cut(one, (b"X-%d: %b\r\n" % (i, b"x" * 1000) for i in range(100_000))) is not None


def head_of(model, token):
    """The head of a stream of predictions that does not end soon."""
    head = f"POST /v1/models/{model}/predict-many HTTP/1.1\r\nAuthorization: Bearer {token}\r\n"
    return head.encode() + b"Content-Length: 1000000000000\r\n\r\n"


@pytest.fixture(scope="module")
def impatient(tmp_path_factory):
    """A server of little patience: its address, a token, and the head of a stream."""
    with serving(Settings(tmp_path_factory.mktemp("models"), patience=0.3)) as (url, token):
        with Client(url, token) as client:
            client.create("mail").learn("tax", "work")
        yield url, token, head_of("mail", token)


def test_a_stream_without_progress_is_cut_and_one_with_progress_is_not(impatient):
    url, _, head = impatient
    with connected(url) as one:
        one.sendall(head)
        assert sent_until_cut(one, [b'{"x": "tax"}\n'] * 10, pause=0.1) is None, "longer than a head may take"
        while one.recv(1 << 16):
            pass


def test_a_client_that_does_not_read_its_answer_is_cut(impatient):
    url, _, head = impatient
    with connected(url) as one:
        one.sendall(head)
        assert sent_until_cut(one, [b"no\n" * 1000] * 100_000) is not None


def test_a_known_client_may_rest_between_two_requests(impatient):
    url, token, _ = impatient
    with Client(url, token, tries=1) as client:
        assert client.models() == ["mail"]
        time.sleep(1.0)
        assert client.models() == ["mail"]


def test_beyond_the_limit_a_connection_is_told_to_come_later(tmp_path):
    with serving(Settings(tmp_path, connections=8)) as (url, token):
        with Client(url, token) as client:
            client.create("mail")
        streams = [connected(url) for _ in range(8)]
        for one in streams:
            one.sendall(head_of("mail", token) + (b"n" * 1000 + b"\n") * 300)
            assert one.recv(12) == b"HTTP/1.1 200"  # it is being answered
        with connected(url) as late:
            said = late.recv(1 << 16)
        assert said.startswith(b"HTTP/1.1 503")
        assert b"too many connections" in said
        streams.pop().close()
        with Client(url, token) as client:
            assert client.models() == ["mail"]
        for one in streams:
            one.close()


def test_half_open_connections_lock_nobody_out_of_the_mail_page(tmp_path):
    write_demo(tmp_path / "mail", messages=20, folders=3)
    with Assistant(tmp_path / "state", fsync=False) as assistant:
        page = PageServer(lambda: open_source(tmp_path / "mail"), assistant)
        thread = threading.Thread(target=page.run)
        thread.start()
        half_open = [connected(page.address) for _ in range(CONNECTIONS + 20)]
        asks = http.client.HTTPConnection(urlsplit(page.address).netloc, timeout=60)
        asks.request("GET", f"/?{urlsplit(page.address).query}")
        assert asks.getresponse().status == 303
        asks.close()
        assert half_open[0].recv(1) == b"", "the oldest one made room"
        for one in half_open:
            one.close()
        page.stop()
        thread.join()
