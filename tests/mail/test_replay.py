"""Replays: the same mistakes as the library on the same features, and enough hits on real mail."""

import gzip
import json
import os
from dataclasses import replace
from datetime import datetime
from email.utils import format_datetime
from pathlib import Path

import numpy as np
import pytest
from tests.mail.letters import letter, make_maildir, some_filed
from tests.needs import lacking

import hinged
from hinged.mail import Assistant, Filed, Message, Place, SourceError, Thresholds, open_source, replay
from hinged.mail.features import fields_of
from hinged.mail.headers import decoded
from hinged.mail.promise import PATIENCE, START
from hinged.mail.replaying import PastInMemory, replay_journal, replay_messages

ENRON = Path(os.environ.get("HINGED_DATA", "")) / "enron_folders"
LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
USERS = ("beck-s", "farmer-d", "kaminski-v", "kitchen-l", "lokay-m", "sanders-r", "williams-w3")


def by_the_library(filed):
    """Mistakes and ranks of a plain pass over the same features."""
    past, documents = PastInMemory(), []
    for message, folder, *_ in filed:
        documents.append(fields_of(message, past))
        past.note(message, folder)
    return hinged.evaluate.progressive(hinged.TextClassifier(), documents, [one.folder for one in filed])


def test_a_replay_makes_the_mistakes_of_the_library():
    filed = some_filed(300)
    result, plain = replay_messages(filed), by_the_library(filed)
    assert result.flags.tolist() == plain.flags.tolist()
    assert result.ranks.tolist() == plain.ranks.tolist()
    assert result.top(3) == pytest.approx(plain.top(3))
    assert result.assessment.mistakes == plain.mistakes


@pytest.mark.parametrize("wrong", [{"subject": None}, {"body": object()}], ids=["no features", "cannot be learnt"])
def test_a_message_that_fails_on_the_way_costs_no_other(wrong):
    """Only a program that makes messages itself can give such a one; the first of a folder leaves no folder behind."""
    filed, skipped = some_filed(100), []
    strange = [Filed(replace(filed[30].message, **wrong), "New"), Filed(replace(filed[40].message, **wrong), "Old")]
    result = replay_messages([strange[0], *filed[:50], strange[1], *filed[50:]], skip=skipped.append)
    assert [one.place for one in skipped] == [Place(one.folder, one.message.id) for one in strange]
    plain = replay_messages(filed)
    assert result.flags.tolist() == plain.flags.tolist()
    assert result.ranks.tolist() == plain.ranks.tolist()
    assert result.folders == plain.folders
    assert result.assessment.labels == plain.assessment.labels
    assert len(replay_messages(strange, skip=skipped.append).flags) == 0
    with pytest.raises((TypeError, AttributeError)):
        replay_messages(strange)


def test_a_line_of_the_journal_that_fails_costs_no_other(tmp_path):
    with Assistant(tmp_path, fsync=False) as assistant:
        assistant.learn(some_filed(40))
        journal = assistant.kept.journal
        hits = list(replay_journal(journal, Thresholds(messages=6)))
        with journal.transaction():
            journal.append("learn", [1, 2], "Finance/Invoices")
        assert list(replay_journal(journal, Thresholds(messages=6))) == hits
        assert list(journal.damaged) == [41]


def test_what_a_replay_tells(tmp_path):
    filed = some_filed(200)
    result = replay_messages(filed)
    rows = result.over_time(4)
    assert [row["messages"] for row in rows] == [50, 100, 150, 200]
    assert sum(row["new"] for row in rows) == len(set(result.folders)) == (result.flags < 0).sum()
    assert sum(hits.messages for hits in result.by_folder()) == 200
    assert sum(hits.first for hits in result.by_folder()) == (result.ranks == 1).sum()
    assert sum(n for _, _, n in result.assessment.confusions()) == result.assessment.mistakes
    assert result.when_sure(0.0)[0] == 1.0
    assert np.isfinite(result.confidence).all()


def test_special_and_excluded_folders_are_left_out(tmp_path):
    names = ("INBOX", "Sent", "Trash", "Junk", "Drafts", "Work/Tax", "Work", "Home")
    mail = make_maildir(tmp_path, {name: [letter(name, name=f"{name} {i}") for i in range(3)] for name in names})
    assert {*replay(open_source(mail)).folders} == {"Work/Tax", "Work", "Home"}
    assert {*replay(open_source(mail), exclude=["Work"]).folders} == {"Home"}
    with pytest.raises(SourceError, match="nothing to replay"):
        replay(open_source(make_maildir(tmp_path / "new", {"INBOX": [letter()], "Trash": [letter()]})))


def enron(user):
    """A user's messages as they lie in the corpus."""
    if not (ENRON / f"{user}.jsonl.gz").exists():
        lacking(f"the mail of {user} is not there: set HINGED_DATA to the folder that holds enron_folders")
    with gzip.open(ENRON / f"{user}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def export(mail, root):
    """Write messages to a Maildir; names of files are in the order of the corpus."""
    for i, one in enumerate(mail):
        place = root / ("." + one["folder"].replace(".", "-"))
        if not place.exists():
            for part in ("cur", "new", "tmp"):
                (place / part).mkdir(parents=True)
        when = datetime.fromisoformat(one["date"].replace("Z", "+00:00"))
        fields = [("Message-ID", f"<{one['id']}>"), ("Date", format_datetime(when)), ("From", one["from"])]
        fields += [("To", one["to"]), ("Cc", one["cc"]), ("Subject", one["subject"]), ("MIME-Version", "1.0")]
        fields += [("Content-Type", "text/plain; charset=utf-8"), ("Content-Transfer-Encoding", "8bit")]
        head = "".join(f"{name}: {' '.join(value.split())}\n" for name, value in fields if value)
        (place / "cur" / f"{i:06d}.enron:2,S").write_bytes(f"{head}\n{one['body']}".encode())
    return root


@pytest.mark.parametrize("user", USERS)
def test_enron_users_exported_to_maildir_give_the_mistakes_of_the_library(user, in_memory):
    """By default the first messages of each, and the library's own pass over the smaller mailboxes alone."""
    whole = enron(user)
    mail = whole if LONG else whole[: 2000 if user == "kaminski-v" else 1200]  # whose folders take longer to tell apart
    result = replay(open_source(export(mail, in_memory)))
    assert result.folders == [one["folder"].replace(".", "-") for one in mail], "in the order of the corpus"
    assert result.top(3) >= 0.8
    for right in (0.9, 0.95, 0.99):
        found, paused = result.filing(right), len(mail)
        assert found.wrong.sum() <= (1 - right) * found.filed.sum() + START + (2 * paused / PATIENCE) ** 0.5
        assert found.filed.sum() == sum(part["filed"] for part in result.filing_over_time(right))
    assert result.filing(0.9).filed.any()
    if LONG or len(whole) < 3000:
        assert result.flags.tolist() == by_the_library_on_the_corpus(mail).flags.tolist()


def by_the_library_on_the_corpus(mail):
    """The same features made from the fields of the corpus, without a Maildir and without a parser."""
    return by_the_library([
        Filed(
            Message(
                id=one["id"], date=0.0, sender=decoded(one["from"]), to=decoded(one["to"]), cc=decoded(one["cc"]),
                subject=decoded(one["subject"]), list_id="", references=(), body=one["body"][:20_000],
                files=(), kinds=(),
            ),
            one["folder"].replace(".", "-"),
        )
        for one in mail
    ])  # fmt: skip
