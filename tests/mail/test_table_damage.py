"""Damage in the tables beside the journal is noticed and named; what journal or mailbox still tell is made anew."""

import os
import random
import shutil
import sqlite3
from contextlib import closing

import pytest
from tests.cli.conftest import call  # noqa: F401
from tests.mail.letters import letter, make_maildir, message

from hinged.journal import JournalError
from hinged.mail import Assistant, Thresholds, file_mail, look, open_source
from hinged.mail.web.desk import Desk

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
WORK, HOME = ("tax form", "ann@example.com"), ("cake", "bob@example.org")
TABLES = {
    "mail_places": ("folder", "place", "message", "sum"),
    "mail_threads": ("topic", "seq", "sum"),
    "mail_moves": ("number", "batch", "message", "subject", "origin", "target", "place", "undone", "sum"),
    "mail_filed": ("number", "at", "sender", "sure", "promised", "fate", "sum"),
    "mail_hits": ("number", "at", "message", "folder", "rank", "best", "sum"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Mail that was learnt, moved by the assistant and filed on the page; one message lies in two folders."""
    folder = tmp_path_factory.mktemp("damage")
    root = make_maildir(folder / "mail", {
        "INBOX": [letter(*WORK, name=f"i{i}") for i in range(4)],
        "Work": [letter(f"tax form {i}", WORK[1], name=f"w{i}") for i in range(8)],
        "Home": [*(letter(f"cake {i}", HOME[1], name=f"h{i}") for i in range(8)), letter(*WORK, name="w1")],
    })  # fmt: skip
    source = open_source(root)
    with Assistant(folder / "state", thresholds=Thresholds(messages=4), fsync=False) as one:
        look(one, source)
        desk = Desk(source, one)
        desk.refresh()
        for row in desk.rows(0, 2)["rows"]:
            desk.file(row["key"], "Work")
        assert len(file_mail(one, source, "INBOX", apply=True)) == 2
        look(one, source)
    return folder


@pytest.fixture
def folder(made, tmp_path):
    shutil.copytree(made, tmp_path / "copy")
    return tmp_path / "copy"


def change(folder, statement):
    with closing(sqlite3.connect(folder / "state" / "journal.sqlite", isolation_level=None)) as database:
        return database.execute(statement).fetchall()


def answers(folder, read_only=True):
    """What the tables say, and which of their rows are damaged."""
    with Assistant(folder / "state", read_only=read_only) as one:
        probes = [message(f"Re: {topic} {i}") for topic in ("tax form", "cake") for i in range(8)]
        memory = one.memory
        told = {
            "mail_places": memory.places(),
            "mail_threads": [memory.of_thread(probe) for probe in probes],
            "mail_moves": (memory.moves(), memory.last_batch(), memory.moved_out_of("INBOX")),
            "mail_filed": [(entry.at, entry.sender, entry.sure, entry.promised) for entry in one.log.entries()],
            "mail_hits": one.hits.filed(),
        }
        return told, one.kept.journal.damaged_rows


@pytest.mark.parametrize(("table", "column"), [(table, column) for table in TABLES for column in TABLES[table]])
def test_a_damaged_row_is_named_and_what_can_be_is_made_anew(table, column, folder):
    truth, damaged = answers(folder)
    assert damaged == {}
    (kind,) = {kind for (kind,) in change(folder, f"SELECT typeof({column}) FROM {table} WHERE {column} NOT NULL")}
    other = {"integer": f"{column} + 1024", "real": f"{column} * 2"}.get(kind, f"{column} || 'x'")
    key = ", ".join(TABLES[table][: 1 if TABLES[table][0] == "number" else 2])
    which = f"({key}) = (SELECT {key} FROM {table} ORDER BY {key} LIMIT 1 OFFSET 1)"
    change(folder, f"UPDATE {table} SET {column} = {other} WHERE {which}")
    for read_only in (True, False):
        told, damaged = answers(folder, read_only)
        assert len(damaged) == 1
        assert f"of {table}" in next(iter(damaged))
        of_moves = {"mail_moves", "mail_filed"} if table == "mail_moves" else {"mail_moves"}
        assert [name for name in TABLES if name not in {table, *of_moves} and told[name] != truth[name]] == []
        if table == "mail_threads":
            assert told == truth, "made anew from the journal"
        elif table == "mail_moves":
            assert set(told[table][0]) < set(truth[table][0])
            assert told[table][2] >= truth[table][2], "the journal knows what was moved"
        elif table == "mail_filed":
            assert told[table] == [truth[table][0], (None, "", None, False)]
        elif table == "mail_hits":
            assert told[table] == truth[table][:1]
        else:
            assert sum(map(len, told[table].values())) == sum(map(len, truth[table].values())) - 1
    if table in ("mail_places", "mail_threads"):
        with Assistant(folder / "state", fsync=False) as one:
            assert look(one, open_source(folder / "mail"))[1:4] == (table == "mail_places", 0, {}), "nothing looks new"
        assert answers(folder) == (truth, {}), "made anew from the mailbox"


@pytest.mark.parametrize("table", TABLES)
def test_a_flipped_bit_never_changes_an_answer_in_silence(table, folder):
    truth, _ = answers(folder)
    path = folder / "state" / "journal.sqlite"
    ((page, size),) = change(folder, f"SELECT rootpage, (SELECT page_size FROM pragma_page_size) "
                             f"FROM sqlite_master WHERE name = '{table}'")  # fmt: skip
    whole, begin = path.read_bytes(), (page - 1) * size
    rows = begin + int.from_bytes(whole[begin + 5 : begin + 7], "big")  # where the rows begin, behind what is free
    bits = range(8 * rows, 8 * (begin + size))
    noticed = 0
    for bit in bits if LONG else random.Random(table).sample(bits, 12):
        broken = bytearray(whole)
        broken[bit // 8] ^= 1 << bit % 8
        path.write_bytes(broken)
        try:
            told, damaged = answers(folder)
        except JournalError:
            noticed += 1
            continue
        assert told == truth or damaged, f"bit {bit} of {table}"
        noticed += bool(damaged)
    assert noticed >= 10


@pytest.mark.parametrize("table", TABLES)
def test_commands_name_damage_export_the_examples_and_reset(call, table, folder):  # noqa: F811
    state, column = ["--state", folder / "state"], TABLES[table][2]
    change(folder, f"UPDATE {table} SET {column} = {column} || '7'")
    code, _, err = call("mail", "export", folder / "mail", folder / "out.jsonl", *state)
    assert (code, len((folder / "out.jsonl").read_text().splitlines())) == (0, 18)
    code, _, err = call("mail", "undo", folder / "mail", *state)
    assert (code, f"of {table} in" in err) == (0, True)
    assert call("mail", "reset", folder / "mail", "--yes", *state)[0] == 0
    assert not (folder / "state" / "journal.sqlite").exists()


def test_tables_of_older_versions_get_checksums(folder):
    truth, _ = answers(folder)
    for table in TABLES:
        change(folder, f"ALTER TABLE {table} DROP COLUMN sum")
    change(folder, "UPDATE mail_places SET message = CAST(x'77ff' AS TEXT) WHERE message = 'w2'")
    assert answers(folder)[1] == {}, "what is only read stays as it is"
    told, damaged = answers(folder, read_only=False)
    assert [name.partition(" of ")[2] for name in damaged] == ["mail_places"], "text that is no UTF-8"
    assert {name: told[name] == truth[name] for name in TABLES} == dict.fromkeys(TABLES, True) | {"mail_places": False}
    change(folder, "UPDATE mail_hits SET rank = 3")
    assert len(answers(folder)[1]) == 1 + 2
