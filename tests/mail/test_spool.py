"""Messages that wait in a file for their turn, and snapshots while many of them are learnt."""

import os
import resource
import tempfile
from contextlib import contextmanager
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mail.hostile import HOSTILE
from tests.mail.letters import some_filed

from hinged.journal import DurableModel
from hinged.mail import Assistant, Filed, Place, assistant, look, looking, open_source, read_message, write_demo
from hinged.mail.spool import Spool

LONE = b"Subject: =?utf-8?q?=ED=A0=80?=\nReferences: <a@x> <b@y>\n\n\xff\x00\xe2\x80\xa8 \xed\xa0\x80"
COPIES = (Place("Büro/0", "copy"), Place("Tax", "copy"))
RAWS = [b"", LONE, HOSTILE["parts with unknown charsets"][:3000]]


@given(st.lists(st.tuples(st.floats(0, 4e9), st.sampled_from(RAWS)), max_size=8))
def test_messages_come_back_as_they_were_in_order_of_time(given):
    filed = [
        (when, Filed(read_message(raw), f"Büro/{i % 3}", Place("Büro", str(i)) if i % 2 else None, COPIES[: i % 3]))
        for i, (when, raw) in enumerate(given)
    ]
    with Spool() as spool:
        for when, one in filed:
            spool.add(when, one)
        assert list(spool) == list(spool) == [one for _, one in sorted(filed, key=lambda dated: dated[0])]
        assert len(spool) == len(filed)
        assert spool.folders == {folder for _, one in filed for folder in one.folders}
        ids = [one.message.id for _, one in filed]
        assert spool.ids == set(ids)
        assert spool.several == {one.message.id for _, one in filed if one.copies or ids.count(one.message.id) > 1}


def test_messages_that_lie_in_one_folder_are_read_from_the_file_once(tmp_path, monkeypatch):
    """Reading a large mailbox again takes as long as learning it, and a list of all places as much memory."""
    read, iterate = [], Spool.__iter__
    monkeypatch.setattr(Spool, "__iter__", lambda spool: (read.append(one) or one for one in iterate(spool)))
    write_demo(tmp_path / "mail", messages=60, folders=3)
    with Assistant(tmp_path / "state", fsync=False) as one:
        look(one, open_source(tmp_path / "mail"))
    assert len(read) == len({filed.message.id for filed in read})


def test_nothing_is_left_where_messages_waited_and_a_full_disk_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (one,) = some_filed(1)
    with Spool() as spool:
        spool.add(1.0, one)
        assert list(spool) == [one]
        assert os.listdir(tmp_path) == [], "the file has no name"
    with Spool() as spool, limited(100_000), pytest.raises(OSError, match=f"File too large: '{tmp_path}'"):
        fill(spool, one)


@contextmanager
def limited(size):
    """Files cannot be longer meanwhile, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def fill(spool, one):
    for _ in range(1000):
        spool.add(1.0, one)


def test_snapshots_are_rarer_while_much_is_learnt_and_the_last_has_all(tmp_path, monkeypatch):
    monkeypatch.setattr(looking, "SNAPSHOT_EVERY", 5)
    monkeypatch.setattr(looking, "AT_ONCE", 4)
    monkeypatch.setattr(assistant, "TOGETHER", 2)
    written, snapshot = [], DurableModel.snapshot

    def counted(kept):
        snapshot(kept)
        written.append(kept.journal.last)

    monkeypatch.setattr(DurableModel, "snapshot", counted)
    write_demo(tmp_path / "mail", messages=150, folders=5)
    with Assistant(tmp_path / "state", fsync=False) as one:
        assert look(one, open_source(tmp_path / "mail")).learnt == 120
        assert one.kept.snapshot_every == 5
        assert written[-1] == one.kept.journal.last, "the next start has nothing to learn again"
        assert len(written) >= 5
        assert all(after >= 1.3 * before for before, after in pairwise(written[:-1])), written
