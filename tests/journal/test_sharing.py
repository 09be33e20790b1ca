"""Several writers of one folder: each has the model of the journal's one order, to the last bit."""

import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from tests.journal.models import KINDS, learner, learnt_by, same, texts
from tests.killing import told_by

import hinged
from hinged.journal import DurableModel, Journal, JournalError

ROUNDS = 100 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 4


@pytest.fixture
def two(tmp_path):
    """Two openings of one folder: locks and connections of their own, as two processes have."""
    with DurableModel(tmp_path, learner("texts"), snapshot_every=10) as a, DurableModel(tmp_path, wait=1.0) as b:
        yield a, b


@pytest.mark.parametrize("kind", ["documents", "dicts", "label sets"])
def test_writers_learn_what_the_others_wrote(kind, tmp_path):
    examples = [(x, sorted(y) if isinstance(y, set) else y) for x, y in KINDS[kind][2](30)]
    with (
        DurableModel(tmp_path, learner(kind), snapshot_every=10) as a,
        DurableModel(tmp_path) as b,
        DurableModel(tmp_path, read_only=True) as looking,
    ):
        for i, (x, y) in enumerate(examples):
            assert (a if i % 5 < 3 else b).learn(x, y).seq == i + 1
        for kept in (a, b, looking):
            kept.refresh()
            assert same(kept.model, learnt_by(kind, examples))
    with DurableModel(tmp_path) as kept:
        assert same(kept.model, learnt_by(kind, examples))


@pytest.mark.parametrize("edit", [
    lambda kept: kept.forget("folder 1"),
    lambda kept: kept.rename("folder 1", "a new name"),
    lambda kept: kept.merge("folder 1", "folder 0"),
    lambda kept: kept.retract("3", texts(20)[3][1]),
    lambda kept: kept.declare(["folder 8", "folder 9"]),
])  # fmt: skip
def test_an_edit_by_one_reaches_the_other(edit, two):
    a, b = two
    for i, (x, y) in enumerate(texts(20)):
        (a, b)[i % 2].learn(x, y, key=str(i))
    edit(a)
    b.learn("a cake with tax", "folder 0")
    a.refresh()
    with DurableModel(a.folder) as fresh:
        assert same(a.model, fresh.model)
        assert same(b.model, fresh.model)


def test_a_key_counts_once_whoever_sends_it(two):
    a, b = two
    assert a.learn("tax form", "work", key="1").new
    assert not b.learn("tax form", "work", key="1").new
    assert b.labels() == ["work"]


def test_who_has_an_erased_folder_open_is_told_and_spoils_nothing(two):
    a, b = two
    a.learn("tax form", "work")
    a.erase()
    for call in (b.refresh, lambda: b.learn("cake", "home"), lambda: b.forget("work"), b.snapshot):
        with pytest.raises(JournalError, match="erased or replaced by another process; open it again"):
            call()
    with DurableModel(a.folder, hinged.TextClassifier("pa1")) as anew:
        anew.learn("train ticket", "travel")
        with pytest.raises(JournalError, match="erased or replaced"):
            b.learn("cake", "home")
        b.close()
        anew.learn("bus ticket", "travel")
    with DurableModel(a.folder) as again:
        assert (again.labels(), again.model.n_rounds_, again.model.rule) == (["travel"], 2, "pa1")


def run(program, *given):
    done = subprocess.run([sys.executable, "-c", program, *given], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.skipif(os.name != "posix", reason="locks that a process loses by closing a file")
def test_what_one_of_two_in_a_process_writes_outlives_the_visit_of_another_process(tmp_path):
    path = str(tmp_path / "journal.sqlite")
    opened = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None); "
    first = Journal(Path(path))
    with first.transaction():
        first.append("learn", "tax", "work")
    second = Journal(Path(path))
    assert run(opened + "print(db.execute('SELECT count(*) FROM events').fetchone()[0]); db.close()", path) == "1"
    with first.transaction():
        first.append("learn", "cake", "home")
    assert run(opened + "print(db.execute('SELECT count(*) FROM events').fetchone()[0])", path) == "2"
    second.close()
    first.close()


def test_erasing_does_not_wait_for_those_who_read(two):
    a, b = two
    a.learn("tax form", "work")
    database = a.journal._database
    (wait,) = database.execute("PRAGMA busy_timeout").fetchone()
    said = []
    database.set_trace_callback(said.append)
    with b.journal.transaction(to_write=False):
        assert b.journal.last == 1
        a.forget("work")
    database.set_trace_callback(None)
    assert said[said.index("PRAGMA wal_checkpoint(TRUNCATE)") - 1] == "PRAGMA busy_timeout=0"
    assert database.execute("PRAGMA busy_timeout").fetchone() == (wait,)


def test_a_snapshot_ahead_of_the_journal_is_not_used(tmp_path):
    with DurableModel(tmp_path, learner("texts"), fsync=False) as kept:
        for x, y in texts(20):
            kept.learn(x, y)
        kept.snapshot()
        with kept.journal.transaction():  # as power loss may take the last lines of a journal that does not wait
            kept.journal.run("DELETE FROM events WHERE seq > 15")
    with DurableModel(tmp_path) as kept:
        assert same(kept.model, learnt_by("texts", texts(20)[:15]))


def test_writers_that_are_killed_leave_the_others_one_model(tmp_path):
    result = told_by("tests.journal.writers", tmp_path, times=ROUNDS)
    assert result["lost"] == []
    assert result["survivors"] == 2 * ROUNDS
    assert result["acknowledged"] > 30 * ROUNDS


def test_other_threads_see_a_transaction_whole_or_not_at_all(tmp_path):
    """They wait for its end; one that is rolled back was never there."""
    found = []
    with DurableModel(tmp_path, hinged.Classifier()) as kept:
        reader = threading.Thread(target=lambda: found.append((kept.journal.get("note"), kept.journal.last)))
        with suppress(ZeroDivisionError), kept.writing():
            kept.journal.put("note", 1)
            kept.journal.append("own")
            reader.start()
            reader.join(0.1)
            assert found == []
            raise ZeroDivisionError
        reader.join(10)
    assert found == [(None, 0)]
