"""A model in a folder: the same to the last bit whenever it is opened again, and after every edit of its labels."""

import sqlite3
import subprocess
import sys
import threading

import pytest
from tests.journal.models import KINDS, learner, learnt_by, same, texts

import hinged
from hinged.journal import DurableModel, Example, InUseError, Journal, JournalError


@pytest.mark.parametrize("kind", KINDS)
def test_opening_again_gives_the_weights_of_an_uninterrupted_run(kind, tmp_path):
    examples = list(KINDS[kind][2](60))
    for begin, end in [(0, 1), (1, 25), (25, 25), (25, 48), (48, 60)]:
        with DurableModel(tmp_path, learner(kind), snapshot_every=10) as kept:
            for x, y in examples[begin:end]:
                kept.learn(x, y)
    with DurableModel(tmp_path) as kept:
        assert kept._seen > 0, "the snapshot was used"
        assert same(kept.model, learnt_by(kind, [(x, sorted(y) if isinstance(y, set) else y) for x, y in examples]))
    (tmp_path / "snapshot.hinged").unlink()
    with DurableModel(tmp_path, read_only=True) as kept:
        assert same(kept.model, learnt_by(kind, [(x, sorted(y) if isinstance(y, set) else y) for x, y in examples]))


def test_many_examples_at_once_are_learnt_as_one_by_one(tmp_path):
    examples = texts(50)
    with DurableModel(tmp_path, learner("texts")) as kept:
        receipts = kept.learn_many([Example(x, y) for x, y in examples])
        assert [receipt.seq for receipt in receipts] == list(range(1, 51))
        assert same(kept.model, learnt_by("texts", examples))


def test_a_key_teaches_a_label_once_and_another_label_again(tmp_path):
    with DurableModel(tmp_path, learner("texts")) as kept:
        first = kept.learn("tax form", "work", key="a")
        assert kept.learn("tax form", "work", key="a") == first._replace(new=False)
        assert kept.learn("tax form", "home", key="a").new
        assert kept.model.n_rounds_ == 2
        many = kept.learn_many([Example("x", "home", "b"), Example("x", "home", "b")])
        assert [receipt.new for receipt in many] == [True, False]
    with DurableModel(tmp_path) as kept:
        assert not kept.learn("tax form", "work", key="a").new


def test_what_is_refused_is_not_written_and_hinders_nobody(tmp_path):
    with DurableModel(tmp_path, hinged.Classifier()) as kept:
        good, bad, last = kept.learn_many(
            [Example({"a": 1.0}, "x"), Example({"a": float("nan")}, "x"), Example({"b": 1.0}, "y")]
        )
        assert (good.seq, bad.seq, last.seq) == (1, 0, 2)
        assert isinstance(bad.error, ValueError)
        with pytest.raises(TypeError, match="labels can be saved"):
            kept.learn({"a": 1.0}, [["x"]])
        with pytest.raises(TypeError, match="a journal can store"):
            kept.learn({"a": object()}, "x")
        assert kept.learn({"c": 1.0}, "z").seq == 3
    with DurableModel(tmp_path) as kept:
        assert kept.model.n_rounds_ == 3


def edited(examples, drop=(), to=None):
    """The examples with labels dropped or mapped, for one label each and for sets."""
    for x, y in examples:
        if isinstance(y, set):
            left = sorted({(to or {}).get(label, label) for label in y if label not in drop})
            if left:
                yield x, left
        elif y not in drop:
            yield x, (to or {}).get(y, y)


EDITS = {
    "forget": (lambda kept: kept.forget("folder 1"), {"drop": ["folder 1"]}),
    "rename": (lambda kept: kept.rename("folder 1", "a new name"), {"to": {"folder 1": "a new name"}}),
    "merge": (lambda kept: kept.merge("folder 1", "folder 0"), {"to": {"folder 1": "folder 0"}}),
}


@pytest.mark.parametrize("kind", ["documents", "dicts", "label sets"])
@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_equals_learning_with_labels_dropped_or_mapped(kind, edit, tmp_path):
    examples = list(KINDS[kind][2](40))
    more = list(KINDS[kind][2](60))[40:]
    change, how = EDITS[edit]
    with DurableModel(tmp_path, learner(kind), snapshot_every=15) as kept:
        for x, y in examples:
            kept.learn(x, y)
        change(kept)
        expected = learnt_by(kind, edited(examples, **how))
        assert same(kept.model, expected)
        for x, y in more:  # the old label may come again
            kept.learn(x, y)
            expected.learn_one(x, sorted(y) if isinstance(y, set) else y)
        assert same(kept.model, expected)
    with DurableModel(tmp_path) as kept:
        assert same(kept.model, expected)


def test_edits_one_after_the_other_equal_one_replay(tmp_path):
    examples = texts(60)
    with DurableModel(tmp_path, learner("texts")) as kept:
        for x, y in examples[:30]:
            kept.learn(x, y)
        kept.rename("folder 0", "zero")
        kept.forget("folder 2")
        for x, y in examples[30:]:
            kept.learn(x, y)
        kept.merge("folder 0", "zero")
        kept.rename("zero", "folder 0")
        before = learnt_by("texts", [(x, y) for i, (x, y) in enumerate(examples) if i >= 30 or y != "folder 2"])
        assert same(kept.model, before)


def test_a_kill_between_an_edit_and_its_snapshot_loses_nothing(tmp_path):
    examples = texts(40)
    with DurableModel(tmp_path, learner("texts"), snapshot_every=10) as kept:
        for x, y in examples:
            kept.learn(x, y)
        kept.snapshot()
    journal = Journal(tmp_path / "journal.sqlite")
    with journal.transaction():
        journal.rename("folder 1", "folder 0", kind="merge")
    journal.close()
    with DurableModel(tmp_path) as kept:
        assert same(kept.model, learnt_by("texts", edited(examples, to={"folder 1": "folder 0"})))


def test_keys_follow_their_labels(tmp_path):
    with DurableModel(tmp_path, learner("texts")) as kept:
        kept.learn("tax", "work", key="1")
        kept.learn("cake", "home", key="2")
        kept.rename("work", "office")
        assert not kept.learn("tax", "office", key="1").new
        kept.forget("home")
        assert not kept.learn("cake", "home", key="2").new, "what was forgotten is not learnt by a second look"
        assert kept.labels() == ["office"]
        assert kept.learn("cake again", "home", key="3").new


def test_what_is_forgotten_is_erased_from_the_disk(tmp_path):
    with DurableModel(tmp_path, learner("texts")) as kept:
        kept.learn("a secret called xylophone", "private")
        kept.learn("nothing much", "public")
        kept.snapshot()
        kept.forget("private")
    assert not any(b"xylophone" in path.read_bytes() for path in tmp_path.iterdir())


@pytest.mark.parametrize("erase", [
    lambda kept: kept.forget("private"),
    lambda kept: kept.retract("1", "private"),
])  # fmt: skip
def test_the_only_label_can_be_forgotten(erase, tmp_path):
    with DurableModel(tmp_path, learner("texts")) as kept:
        kept.learn("a secret called xylophone", "private", key="1")
        kept.snapshot()
        erase(kept)
        assert not any(b"xylophone" in path.read_bytes() for path in tmp_path.glob("snapshot*"))
        assert kept.labels() == []
        assert kept.learn("something else", "public").new
    assert not any(b"xylophone" in path.read_bytes() for path in tmp_path.iterdir())
    with DurableModel(tmp_path) as kept:
        assert kept.labels() == ["public"]


@pytest.mark.parametrize("call", [
    lambda kept: kept.rename("nowhere", "b"),
    lambda kept: kept.rename("a", "b"),
    lambda kept: kept.merge("a", "a"),
    lambda kept: kept.merge("a", "nowhere"),
    lambda kept: kept.forget("nowhere"),
])  # fmt: skip
def test_an_edit_that_makes_no_sense_changes_nothing(call, tmp_path):
    with DurableModel(tmp_path, learner("texts")) as kept:
        kept.learn("x", "a")
        kept.learn("y", "b")
        with pytest.raises(ValueError, match=r"known|exists|two"):
            call(kept)
        assert kept.journal.last == 2


def test_labels_are_declared_again(tmp_path):
    with DurableModel(tmp_path, learner("texts")) as kept:
        kept.declare(["b", "a"])
        kept.learn("x", "b")
        kept.rename("a", "z")
        assert kept.labels() == ["b", "z"], "as if declared under that name"
    with DurableModel(tmp_path) as kept:
        assert kept.labels() == ["b", "z"]


def test_weights_of_examples_are_kept(tmp_path):
    model = hinged.TextClassifier()
    with DurableModel(tmp_path, hinged.TextClassifier()) as kept:
        for i, (x, y) in enumerate(texts(30)):
            kept.learn(x, y, weight=0.5 + i % 2)
            model.learn_one(x, y, 0.5 + i % 2)
    with DurableModel(tmp_path) as kept:
        assert same(kept.model, model)


def test_other_settings_are_refused(tmp_path):
    DurableModel(tmp_path, hinged.TextClassifier()).close()
    with pytest.raises(ValueError, match="other settings"):
        DurableModel(tmp_path, hinged.TextClassifier("pa1"))
    with DurableModel(tmp_path, lambda: hinged.TextClassifier("pa1")) as kept:
        assert kept.model.rule == "optimal", "a function is asked only where the folder is new"
    with pytest.raises(ValueError, match="no model yet"):
        DurableModel(tmp_path / "new")
    with pytest.raises(TypeError, match="an estimator of hinged"):
        DurableModel(tmp_path / "newer", object())


def test_a_damaged_snapshot_costs_time_and_nothing_else(tmp_path):
    with DurableModel(tmp_path, learner("texts")) as kept:
        for x, y in texts(30):
            kept.learn(x, y)
        kept.snapshot()
    data = (tmp_path / "snapshot.hinged").read_bytes()
    (tmp_path / "snapshot.hinged").write_bytes(data[: len(data) // 2])
    with DurableModel(tmp_path) as kept:
        assert same(kept.model, learnt_by("texts", texts(30)))


def test_opening_looks_for_edits_after_its_snapshot_alone(tmp_path, monkeypatch):
    """Looking through all lines of a large mailbox took a tenth of the start."""
    with DurableModel(tmp_path, learner("texts")) as kept:
        for x, y in texts(30):
            kept.learn(x, y)
        kept.snapshot()
    looked, last_edit = [], Journal.last_edit
    monkeypatch.setattr(
        Journal, "last_edit", lambda journal, after=0: looked.append(after) or last_edit(journal, after)
    )
    with DurableModel(tmp_path):
        assert set(looked) == {30}


def test_files_are_for_their_owner_alone(tmp_path):
    with DurableModel(tmp_path / "state", learner("texts")) as kept:
        kept.learn("x", "a")
        kept.snapshot()
        files = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "state").iterdir()}
    assert {"journal.sqlite", "journal.sqlite-wal", "lock", "snapshot.hinged"} <= files.keys()
    assert set(files.values()) == {0o600}
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700


def test_who_waits_too_long_is_told_who_holds_the_folder(tmp_path):
    holds = (
        "import sys, hinged; from hinged.journal import DurableModel\n"
        f"with DurableModel({str(tmp_path)!r}, hinged.TextClassifier()) as kept:\n"
        "    kept.learn('x', 'a')\n"
        "    with kept.changing():\n"
        "        print('ready', flush=True); sys.stdin.read()"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", holds], stdin=pipe, stdout=pipe, text=True) as other:
        assert other.stdout.readline() == "ready\n"
        with pytest.raises(InUseError, match=f"process {other.pid}, which did not finish within 0.1 s") as refused:
            DurableModel(tmp_path, wait=0.1)
        assert refused.value.pid == other.pid
        with DurableModel(tmp_path, read_only=True) as looking:
            assert looking.labels() == ["a"]
            with pytest.raises(JournalError, match="opened read-only"):
                looking.learn("y", "b")
        other.kill()
    with DurableModel(tmp_path) as kept:
        assert kept.labels() == ["a"]


def test_threads_take_turns_and_the_journal_has_their_order(tmp_path):
    with DurableModel(tmp_path, learner("texts"), snapshot_every=20) as kept:
        threads = [
            threading.Thread(target=lambda seed=seed: [kept.learn(x, y) for x, y in texts(15, seed)])
            for seed in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        in_order = [(event.x, event.label) for event in kept.journal.examples()]
        assert len(in_order) == 60
        assert same(kept.model, learnt_by("texts", in_order))


def test_tables_of_the_future_and_foreign_files_are_refused(tmp_path):
    DurableModel(tmp_path, learner("texts")).close()
    path = tmp_path / "journal.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version=99")
    database.close()
    with pytest.raises(JournalError, match="newer hinged"):
        DurableModel(tmp_path)
    path.unlink()
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE cats (name)")
    database.close()
    with pytest.raises(JournalError, match="another program"):
        DurableModel(tmp_path)
    path.write_bytes(b"no database at all, but long enough to be looked at" * 20)
    with pytest.raises(JournalError, match="not a valid journal"):
        DurableModel(tmp_path)
    assert not any(name.name == "lock" and name.stat().st_size == 0 for name in tmp_path.iterdir())


WRITES = {
    "learn": lambda kept: kept.learn("z", "c"),
    "learn_many": lambda kept: kept.learn_many([Example("z", "c")] * 3),
    "an iterator": lambda kept: kept.learn_many(iter([Example("y", "b"), Example("z", "c")])),
    "declare": lambda kept: kept.declare(["c"]),
    "forget": lambda kept: kept.forget("a"),
    "rename": lambda kept: kept.rename("a", "c"),
    "merge": lambda kept: kept.merge("a", "b"),
    "retract": lambda kept: kept.retract("1", "a"),
}


@pytest.mark.parametrize("write", WRITES)
def test_a_write_that_fails_was_never_learnt(write, tmp_path):
    with DurableModel(tmp_path, learner("texts")) as kept:
        kept.learn("x", "a", key="1")
        kept.learn("y", "b")
        kept.journal.run(
            "CREATE TEMP TRIGGER full AFTER INSERT ON events BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
        )
        with pytest.raises(JournalError, match="no room left"):
            WRITES[write](kept)
        assert same(kept.model, learnt_by("texts", [("x", "a"), ("y", "b")])), "before anybody writes again"
        assert kept.model.rank_one("z") == ["a", "b"]
        kept.journal.run("DROP TRIGGER full")
        assert kept.learn("z", "c").seq == 3
        assert same(kept.model, learnt_by("texts", [("x", "a"), ("y", "b"), ("z", "c")]))


class Interrupted:
    """A database whose user presses Ctrl-C right after the next commit."""

    def __init__(self, database):
        self._database, self._waits = database, True

    def __getattr__(self, name):
        return getattr(self._database, name)

    def execute(self, statement, *values):
        done = self._database.execute(statement, *values)
        if statement == "COMMIT" and self._waits:
            self._waits = False
            raise KeyboardInterrupt
        return done


@pytest.mark.parametrize("write", WRITES)
def test_what_was_committed_is_followed_even_if_interrupted_then(write, tmp_path):
    with DurableModel(tmp_path / "a", learner("texts")) as kept, DurableModel(tmp_path / "b", learner("texts")) as calm:
        for one in (kept, calm):
            one.learn("x", "a", key="1")
            one.learn("y", "b")
        WRITES[write](calm)
        kept.journal._database = Interrupted(kept.journal._database)
        with pytest.raises(KeyboardInterrupt):
            WRITES[write](kept)
        kept.snapshot()
        assert kept.labels() == calm.labels()
        with DurableModel(tmp_path / "a") as again:
            assert same(again.model, calm.model)


def test_lines_of_a_program_s_own_are_kept_with_its_examples(tmp_path):
    def examples(kept):
        for i, (x, y) in enumerate(texts(5)):
            assert len(list(kept.journal.examples())) == i
            kept.journal.run("INSERT INTO mine VALUES (?)", (i,))
            yield Example(x, y)

    with DurableModel(tmp_path, learner("texts")) as kept:
        with kept.journal.transaction():
            kept.journal.run("CREATE TABLE mine (i)")
        kept.learn_many(examples(kept))
        assert kept.journal.ask("SELECT count(*) FROM mine") == [(5,)]


def test_what_is_written_beside_the_examples_is_committed_whole_or_not_at_all(tmp_path):
    def interrupted(kept):
        with kept.writing():
            kept.journal.put("note", 1)
            raise KeyboardInterrupt

    with DurableModel(tmp_path, hinged.TextClassifier()) as kept:
        with pytest.raises(KeyboardInterrupt):
            interrupted(kept)
        assert kept.journal.get("note") is None
        with kept.writing():
            kept.journal.put("note", 2)
        assert kept.journal.get("note") == 2
