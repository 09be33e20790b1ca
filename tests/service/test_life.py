"""Starting, stopping, killing and making room: nothing that was acknowledged is lost."""

import itertools
import signal
import subprocess
import threading
import time

import pytest
from tests.journal.models import learnt_by, same, texts
from tests.killing import KILLS, told_by
from tests.service.process import PROGRAM, Server

import hinged
from hinged.client import Client, ServiceError
from hinged.journal import DurableModel
from hinged.service import Settings, serving


def test_no_acknowledged_example_is_lost_by_a_kill_under_load(tmp_path):
    told = told_by("tests.service.kills", tmp_path)
    assert told["acknowledged"] > KILLS
    assert told == {"acknowledged": told["acknowledged"], "lost": 0, "repeated": 0, "different": []}


def test_a_signal_finishes_what_is_under_way_and_saves(tmp_path):
    server, examples = Server(tmp_path), texts(100)
    acknowledged = []

    def teach_on(model):
        for x, y in itertools.cycle(examples):
            acknowledged.append(model.learn(x, y).seq)

    def teach():
        with server.client(tries=1) as client, pytest.raises(ServiceError, match="no answer"):  # never half a success
            teach_on(client.model("mail"))

    with server.client() as client:
        client.create("mail")
    thread = threading.Thread(target=teach)
    thread.start()
    while len(acknowledged) < 20:
        time.sleep(0.01)
    code, said = server.stop(signal.SIGTERM)
    thread.join()
    assert (code, said) == (0, "")
    snapshot = hinged.load(tmp_path / "models" / "mail" / "snapshot.hinged")
    assert snapshot.n_rounds_ >= len(acknowledged)
    with DurableModel(tmp_path / "models" / "mail") as kept:
        assert not kept.is_ahead_of_its_snapshot
        assert same(kept.model, learnt_by("texts", itertools.islice(itertools.cycle(examples), snapshot.n_rounds_)))


def test_a_client_waits_for_a_server_that_comes_back(tmp_path):
    first = Server(tmp_path)
    with first.client(tries=12) as client:
        model = client.create("mail")
        model.learn("tax", "work")
        first.stop(signal.SIGKILL)
        again = Server(tmp_path, port=first.url.rpartition(":")[2], ready=False)
        learnt, rounds = model.learn("cake", "home"), model.status().rounds
        again.stop()
    assert (learnt.new, rounds) == (True, 2)


def test_models_make_room_for_others_and_lose_nothing(tmp_path):
    examples = texts(40)
    with serving(Settings(tmp_path, memory=300_000)) as (url, token), Client(url, token) as client:
        models = [client.create(f"m{i}") for i in range(8)]
        for x, y in examples:
            for model in models:
                model.learn(x, y)
        loaded = [entry for entry in client._connection.ask("GET", "/v1/models")["models"] if entry["loaded"]]
        assert 1 <= len(loaded) < 8
        assert {model.status().rounds for model in models} == {40}
        snapshot = tmp_path / "m"
        for model in models:
            model.snapshot()
            snapshot.write_bytes(model.download())
            assert same(hinged.load(snapshot), learnt_by("texts", examples))


def test_requests_beside_each_other_are_all_learnt(tmp_path):
    with serving(Settings(tmp_path)) as (url, token):
        with Client(url, token) as client:
            client.create("mail")

        def teach(who):
            with Client(url, token) as client:
                for x, y in texts(30, seed=who):
                    client.model("mail").learn(x, y)
                    client.model("mail").predict(x)

        threads = [threading.Thread(target=teach, args=[who]) for who in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with DurableModel(tmp_path / "models" / "mail") as kept:
        in_order = [(event.x, event.label) for event in kept.journal.examples()]
        assert len(in_order) == 180
        assert same(kept.model, learnt_by("texts", in_order))


def test_a_second_server_is_told_who_holds_the_folder(server):
    done = subprocess.run([*PROGRAM, "serve", str(server.folder), "--port", "0"], capture_output=True, text=True)
    assert done.returncode == 1
    assert f"in use by process {server.process.pid}" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_said_in_a_sentence(server, tmp_path):
    port = server.url.rpartition(":")[2]
    done = subprocess.run([*PROGRAM, "serve", str(tmp_path), "--port", port], capture_output=True, text=True)
    assert done.returncode == 1
    assert "choose another --port." in done.stderr
