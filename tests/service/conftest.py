"""One real server for all tests that do not need one of their own."""

import http.client
import json
import signal
from urllib.parse import urlsplit

import pytest
from tests.service.process import Server


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("models"), "--metrics", "--max-body", "64K")
    yield server
    code, said = server.stop(signal.SIGINT)
    assert (code, said) == (0, "")


@pytest.fixture
def client(server):
    with server.client(tries=1) as client:
        yield client


@pytest.fixture
def ask(server):
    """A request by hand: gives status, headers, and what the body says."""

    def send(method, path, body=None, token=None, **headers):
        headers = {"Authorization": f"Bearer {server.token if token is None else token}", **headers}
        connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        said = answer.read()
        connection.close()
        is_json = answer.headers.get_content_type() == "application/json"
        return answer.status, answer.headers, json.loads(said) if is_json else said

    return send
