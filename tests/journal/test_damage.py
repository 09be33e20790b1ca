"""Damage is noticed, named and survived: lines of the journal, notes, snapshots, pages of the file."""

import random
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from tests.journal.models import learner, learnt_by, same, texts

import hinged
from hinged.journal import DurableModel, Journal, JournalError
from hinged.journal.codec import decode
from hinged.journal.schema import line_sum

EXAMPLES = [(f"{x} {'and more ' * 40}", y) for x, y in texts(60)]  # long enough to be packed


@pytest.fixture
def folder(tmp_path):
    with DurableModel(tmp_path, learner("texts"), snapshot_every=40, fsync=False) as kept:
        for i, (x, y) in enumerate(EXAMPLES):
            kept.learn(x, y, key=f"k{i}")
    return tmp_path


def change(folder, statement, *values):
    with closing(sqlite3.connect(folder / "journal.sqlite", isolation_level=None)) as database:
        database.execute(statement, values)


def without(*seqs):
    return learnt_by("texts", [one for seq, one in enumerate(EXAMPLES, 1) if seq not in seqs])


def test_an_example_of_a_kind_to_come_is_said_to_be_newer():
    with pytest.raises(ValueError, match="newer hinged"):
        decode(b"?of no kind that is known")


DAMAGE = {
    "content": "UPDATE events SET x = zeroblob(length(x)) WHERE seq = 7",
    "one byte": "UPDATE events SET x = CAST(substr(x, 1, 20) || x'00' || substr(x, 22) AS BLOB) WHERE seq = 7",
    "content of another type": "UPDATE events SET x = 5 WHERE seq = 7",
    "no content": "UPDATE events SET x = NULL WHERE seq = 7",
    "label": "UPDATE events SET label = '\"folder 9\"' WHERE seq = 7",
    "label that is no JSON": "UPDATE events SET label = 'folder' WHERE seq = 7",
    "label that is no text": "UPDATE events SET label = CAST(x'ff' AS TEXT) WHERE seq = 7",
    "key that is no text": "UPDATE events SET key = CAST(x'6dff' AS TEXT) WHERE seq = 7",
    "time that is no text": "UPDATE events SET at = CAST(x'6dff' AS TEXT) WHERE seq = 7",
    "weight": "UPDATE events SET weight = 3 WHERE seq = 7",
    "key": "UPDATE events SET key = 'k1' WHERE seq = 7",
    "time": "UPDATE events SET at = 'noon' WHERE seq = 7",
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_line_is_left_out_and_named(what, folder):
    change(folder, DAMAGE[what])
    (folder / "snapshot.hinged").unlink(missing_ok=True)
    with DurableModel(folder) as kept:
        assert list(kept.journal.damaged) == [7]
        assert same(kept.model, without(7))
        label = EXAMPLES[6][1]
        kept.rename(label, "seven")
        kept.rename("seven", label)
        kept.merge("folder 1", "folder 2")
        assert kept.learn("something new", "folder 0").seq == 64
    (folder / "snapshot.hinged").unlink(missing_ok=True)
    with DurableModel(folder) as kept:
        assert list(kept.journal.damaged) == [7], "edits do not make it look sound"
        assert len(list(kept.journal.examples())) == 60


def test_edits_keep_checksums_right(folder):
    with DurableModel(folder) as kept:
        kept.rename("folder 0", "zero")
        kept.merge("zero", "folder 1")
        kept.forget("folder 2")
        one = next(kept.journal.examples())
        kept.retract(one.key, one.label)
        kept.declare(["a", "b"])
        with kept.journal.transaction():
            kept.journal.release("k9", kept.journal.ask("SELECT label FROM events WHERE key = 'k9'")[0][0].strip('"'))
            assert kept.journal.ask("SELECT count(*) FROM events WHERE key = 'k9'") == [(0,)]
        assert len(list(kept.journal.events())) == 60 + 5
        assert kept.journal.damaged == {}


def test_a_damaged_note_is_named(folder):
    with DurableModel(folder) as kept, kept.journal.transaction():
        kept.journal.put("wish", "tea")
    change(folder, "UPDATE notes SET value = '\"pea\"' WHERE name = 'wish'")
    with DurableModel(folder) as kept, pytest.raises(JournalError, match=r"the note 'wish' in .* is damaged"):
        kept.journal.get("wish")
    change(folder, "UPDATE notes SET value = '{' WHERE name = 'model'")
    with pytest.raises(JournalError, match="the note 'model'"):
        DurableModel(folder)


def test_a_damaged_snapshot_is_made_anew(folder):
    path, rng, whole = folder / "snapshot.hinged", random.Random(0), without()
    with DurableModel(folder) as kept:
        kept.snapshot()
    data = path.read_bytes()
    for i in range(30):
        broken, at = bytearray(data), rng.randrange(len(data))
        if i % 2:
            broken[at] ^= 1 << rng.randrange(8)
        else:
            broken[at : at + 4096] = bytes(len(broken[at : at + 4096]))
        path.write_bytes(broken)
        with DurableModel(folder, read_only=True) as kept:
            assert same(kept.model, whole)


def test_what_a_damaged_file_still_holds_is_read(folder):
    """Pages of the file are overwritten; whatever can be reached is given, as it was, or the journal is refused."""
    path = folder / "journal.sqlite"
    data, size = path.read_bytes(), 4096
    saved = []
    for page in range(1, len(data) // size):
        path.write_bytes(data[: page * size] + bytes(size) + data[(page + 1) * size :])
        try:
            journal = Journal(path, read_only=True)
        except JournalError:
            continue
        found = [(event.x, event.label) for event in journal.examples()]
        assert set(found) <= set(EXAMPLES)
        assert len(found) == 60 or journal.damaged
        saved.append(len(found))
        journal.close()
    assert max(saved) == 60
    assert any(30 < n < 60 for n in saved), "one page of lines costs those lines"


def as_version_one(folder):
    """Make the tables what they were before there were checksums."""
    for table in ("events", "notes"):
        change(folder, f"ALTER TABLE {table} DROP COLUMN sum")
    change(folder, "PRAGMA user_version=1")


def test_journals_from_before_there_were_checksums(folder):
    as_version_one(folder)
    with DurableModel(folder, read_only=True) as kept:
        assert same(kept.model, without())
    change(folder, DAMAGE["content"])
    (folder / "snapshot.hinged").unlink(missing_ok=True)
    with DurableModel(folder, read_only=True) as kept:
        assert list(kept.journal.damaged) == [7]
    with DurableModel(folder) as kept:
        assert same(kept.model, without(7))
        assert kept.learn("new", "folder 0").seq == 61
    change(folder, "UPDATE events SET x = x'6a2261' WHERE seq = 8")
    (folder / "snapshot.hinged").unlink(missing_ok=True)
    with DurableModel(folder) as kept:
        assert list(kept.journal.damaged) == [7, 8]
        assert kept.model.n_rounds_ == 59


def test_text_that_is_no_utf8_does_not_hinder_the_checksums_of_the_others(folder):
    as_version_one(folder)
    change(folder, DAMAGE["key that is no text"])
    (folder / "snapshot.hinged").unlink(missing_ok=True)
    with DurableModel(folder) as kept:
        assert list(kept.journal.damaged) == [7]
        assert same(kept.model, without(7))
        assert kept.journal.ask("SELECT count(*) FROM events WHERE sum IS NULL") == [(0,)]


class Shouted(str):
    def __repr__(self):
        return str.upper(self)

    __str__ = __repr__


@pytest.mark.parametrize("key", [np.str_("k"), Shouted("k"), "clé", "\U0001fae8", "\U000e0fff"])
def test_a_line_is_sound_whatever_its_key(key, tmp_path):
    with DurableModel(tmp_path, learner("texts"), fsync=False) as kept:
        kept.learn("tax form", "work", key=key)
        kept.rename("work", "office")
    with DurableModel(tmp_path) as kept:
        assert [(one.key, one.label) for one in kept.journal.examples()] == [(str.__str__(key), "office")]
        assert kept.journal.damaged == {}


def test_the_checksum_does_not_depend_on_this_python():
    """Whether `repr` escapes a character depends on the Unicode tables of a Python."""
    line = (1, 0.0, "learn", "k", '"work"', '"work"', 0, None, b'j"tax"')
    assert line_sum(*line) == 3186435911
    assert line_sum(*line[:3], "clé", *line[4:]) == 2046982721


def test_only_the_journal_changes_its_lines():
    """Whoever changes a line by SQL of their own leaves it with a wrong checksum."""
    source = Path(hinged.__file__).parent
    changes = re.compile(r"(?:UPDATE|INSERT (?:OR \w+ )?INTO) (?:events|notes)\b")
    found = {str(path.relative_to(source)) for path in source.rglob("*.py") if changes.search(path.read_text("utf-8"))}
    assert found == {"journal/journal.py", "journal/schema.py"}
