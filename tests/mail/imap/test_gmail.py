"""Gmail: labels are read from "All Mail" once, learnt as sets, and set and removed by filing and its undo."""

import pytest
from imapclient import IMAPClient
from tests.mail.imap.gmail_server import ALL, Gmail
from tests.mail.imap.letters import letter
from tests.mail.imap.test_copies import learnt_of
from tests.mail.imap.test_watching import Told

from hinged.mail import Assistant, Place, SourceError, Thresholds, file_mail, look, replay, undo
from hinged.mail.sources.imap import open_imap
from hinged.mail.sources.imap.box import ImapSource
from hinged.mail.sources.imap.gmail import GmailSource
from hinged.mail.watching import Suggested, Watcher

CHESS = {"subject": "chess", "words": "a game of chess", "From": "bob@example.com"}
NAMES = ["Work/Tax", "Müller & Co", 'Say "when"', "2020", "back\\slash"]


@pytest.fixture
def gmail(monkeypatch):
    """Six messages, two of which have two labels, beside labels of Gmail's own."""
    monkeypatch.setenv("HINGED_MAIL_PASSWORD", "open sesame")
    with Gmail() as account:
        for number in range(1, 7):
            if number % 2:
                account.add(letter(number, subject="tax form"), "Work", "\\Important", *["Tax"] * (number > 1))
            else:
                account.add(letter(number, **CHESS), "Play", "\\Starred")
        account.add(letter(7), "\\Sent")
        yield account


@pytest.fixture
def opened(gmail):
    sources = []

    def source():
        sources.append(open_imap(gmail.url))
        return sources[-1]

    yield source
    for one in sources:
        one.close()


@pytest.fixture
def assistant(tmp_path):
    with Assistant(tmp_path, thresholds=Thresholds(messages=6), fsync=False) as one:
        yield one


def sent(gmail, word):
    """The commands with this word since the last time, which are forgotten."""
    found = [one for one in gmail.commands if word in one]
    gmail.commands.clear()
    return found


def labels(assistant):
    return {event.key[0]: " ".join(event.label) for event in assistant.kept.journal.examples()}


def test_labels_are_fetched_once_and_learnt_as_sets(gmail, opened, assistant):
    source = opened()
    assert type(source) is GmailSource
    seen = look(assistant, source)
    assert (seen.folders, seen.read, seen.learnt) == (3, 6, 6)
    assert labels(assistant) == {
        "1": "Work", "2": "Play", "3": "Tax Work", "4": "Play", "5": "Tax Work", "6": "Play"
    }  # fmt: skip
    selected = {one.split(b" ", 1)[1] for one in gmail.commands if one.startswith((b"EXAMINE", b"SELECT"))}
    assert selected == {b'"INBOX"', b'"[Gmail]/All Mail"'}
    assert len([one for one in gmail.commands if b"FETCH" in one and b"X-GM-LABELS" in one]) == 1
    read = [uid for one in gmail.commands if b"BODY.PEEK" in one for uid in one.split()[2].split(b",")]
    assert sorted(read) == [b"%d" % (100 + number) for number in range(1, 7)], "each message is read once"
    assert look(assistant, source)[1:3] == (0, 0)
    with Assistant(assistant.state / "again", fsync=False) as other:  # a new connection, and a new account
        assert look(other, opened()).learnt == 6
    assert len(replay(source).folders) == 6


@pytest.mark.parametrize("name", NAMES)
def test_labels_of_any_name_are_folders(gmail, opened, name):
    number = gmail.add(letter(8), name, "Work", "\\Inbox")
    source = opened()
    (place,) = source.places(name)
    assert place == Place(name, f"7.{100 + number}")
    assert set(source.copies(place)) == {Place("Work", place.key), Place("INBOX", place.key)}
    source.move(place, "Play")
    assert gmail.letters[number].labels == {"Play", "Work", "\\Inbox"}
    source.move(Place("Play", place.key), name)
    source.folders()
    assert source.places(name) == [place], "found by a search this time"
    assert gmail.letters[number].labels == {name, "Work", "\\Inbox"}


def test_a_label_that_comes_or_goes_is_a_correction(gmail, opened, assistant):
    source = opened()
    look(assistant, source)
    gmail.change(1, add={"Tax"})
    gmail.change(3, remove={"Tax"})
    gmail.change(2, add={"Fun"}, remove={"Play"})
    gmail.change(4, add={"\\Inbox"})  # no label of the user's own
    gmail.commands.clear()
    assert look(assistant, source).learnt == 3
    events = list(assistant.kept.journal.examples())[6:]
    assert [(event.key[0], event.label) for event in events] == [
        ("1", ["Tax", "Work"]),
        ("2", ["Fun"]),
        ("3", ["Work"]),
    ]
    assert {one.rpartition(b" X-GM-LABELS ")[2] for one in sent(gmail, b"SEARCH")} == {
        b"Tax UNDELETED", b"Fun UNDELETED", b"Play UNDELETED", b'"\\\\Inbox" UNDELETED'
    }, "only what changed is asked for"  # fmt: skip
    gmail.expunge(5)
    assert look(assistant, source)[1:3] == (0, 0)
    gmail.validity += 1
    assert look(assistant, source).learnt == 0


def test_a_label_that_was_renamed_is_followed(gmail, opened, assistant):
    source = opened()
    look(assistant, source)
    for number in (1, 3, 5):
        gmail.change(number, add={"Office/Tax"}, remove={"Tax"} if number > 1 else set())
        gmail.change(number, remove={"Office/Tax"} if number == 1 else set())
    gmail.labels.remove("Tax")
    seen = look(assistant, source)
    assert (seen.renamed, seen.learnt) == ({"Tax": "Office/Tax"}, 0)
    assert assistant.known() == ["Office/Tax", "Play", "Work"]
    assert labels(assistant)["3"] == "Office/Tax Work"


def test_a_label_can_be_made(gmail, opened):
    source = opened()
    assert source.create("Work/Büro") == "Work/Büro"
    number = gmail.add(letter(8), "\\Inbox")
    source.folders()
    source.move(source.places("INBOX")[0], "Work/Büro")
    assert gmail.letters[number].labels == {"Work/Büro"}


def test_a_move_cut_short_by_a_kill_is_no_feedback_is_not_tried_again_and_can_be_undone(gmail, opened, assistant):
    source = opened()
    look(assistant, source)
    number = gmail.add(letter(8, **CHESS), "\\Inbox")
    source.folders()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(IMAPClient, "remove_gmail_labels", _killed)
        with pytest.raises(KeyboardInterrupt):
            file_mail(assistant, source, "INBOX", apply=True)
    assert gmail.letters[number].labels == {"Play", "\\Inbox"}
    assert look(assistant, source).learnt == 0
    assert file_mail(assistant, source, "INBOX", apply=True) == []
    assert undo(assistant, source).back == ["chess"]
    assert gmail.letters[number].labels == {"\\Inbox"}


def _killed(*given, **named):
    raise KeyboardInterrupt


def test_filing_sets_a_label_and_removes_the_inbox_and_undo_reverts_it(gmail, opened, assistant):
    source = opened()
    look(assistant, source)
    number = gmail.add(letter(8, **CHESS), "\\Inbox", "\\Important")
    source.folders()
    (done,) = file_mail(assistant, source, "INBOX", apply=True)
    assert (done.suggestion.best, done.moved) == ("Play", True)
    assert gmail.letters[number].labels == {"Play", "\\Important"}
    assert look(assistant, source).learnt == 0
    assert undo(assistant, source).back == ["chess"]
    assert gmail.letters[number].labels == {"\\Inbox", "\\Important"}
    assert look(assistant, source).learnt == 0
    assert not [one for one in gmail.commands if one.startswith((b"UID MOVE", b"UID COPY", b"UID EXPUNGE"))]


def test_what_a_message_has_is_kept_and_not_suggested_again(gmail, opened, assistant):
    source = opened()
    look(assistant, source)
    number = gmail.add(letter(8, subject="tax form"), "\\Inbox", "Work")
    assert look(assistant, source).learnt == 1
    assert file_mail(assistant, source, "INBOX") == []
    assistant.pin("anna@example.org", "Tax")
    assert file_mail(assistant, source, "INBOX", apply=True)[0].moved
    assert gmail.letters[number].labels == {"Work", "Tax"}
    assert look(assistant, source).learnt == 0
    assert assistant.memory.went_last("8@example.org") == ("Tax", "Work")
    undo(assistant, source)
    assert gmail.letters[number].labels == {"Work", "\\Inbox"}


@pytest.mark.parametrize("before", [True, False], ids=["not done", "done"])
@pytest.mark.parametrize("at", [b"+X-GM-LABELS", b"-X-GM-LABELS"])
def test_a_connection_lost_while_filing_loses_and_doubles_nothing(gmail, opened, assistant, at, before):
    source = opened()
    look(assistant, source)
    number = gmail.add(letter(8, **CHESS), "\\Inbox")
    source.folders()
    gmail.cut_at, gmail.cut_before = at, before
    assert file_mail(assistant, source, "INBOX", apply=True)[0].moved
    assert gmail.letters[number].labels == {"Play"}
    assert look(assistant, source).learnt == 0


def test_a_message_that_another_program_moved_stays_there(gmail, opened):
    source = opened()
    number = gmail.add(letter(8), "\\Inbox")
    source.folders()
    (place,) = source.places("INBOX")
    gmail.change(number, add={"Work"}, remove={"\\Inbox"})
    with pytest.raises(SourceError, match="no longer in INBOX"):
        source.move(place, "Play")
    gmail.expunge(number)
    with pytest.raises(SourceError, match="no longer in Work"):
        source.move(Place("Work", place.key), "Play")
    for name in ("[Gmail]/Trash", "[Gmail]/Sent Mail", ALL):
        with pytest.raises(SourceError, match="folder of Gmail's own"):
            source.move(place, name)
    assert len(source.places("[Gmail]/Sent Mail")) == 1


def test_watching_suggests_learns_and_marks(gmail, opened, assistant):
    told = Told()
    watcher = Watcher(assistant, opened(), "INBOX", told, keywords=True)
    watcher.turn()
    assert learnt_of(told) == {"1": "Work", "2": "Play", "3": "Tax Work", "4": "Play", "5": "Tax Work", "6": "Play"}
    number = gmail.add(letter(8, **CHESS), "\\Inbox")
    assert watcher.source.wait(5)
    watcher.turn()
    (suggested,) = [one for one in told.events if isinstance(one, Suggested)]
    assert suggested.suggestion.best == "Play"
    assert gmail.letters[number].flags == {b"hinged-Play"}


def test_without_all_mail_folders_are_read_and_copies_are_sets(gmail, opened, assistant):
    gmail.shows_all = False
    gmail.uids.clear()
    for number in gmail.letters:
        gmail.change(number)
    source = opened()
    assert type(source) is ImapSource
    assert look(assistant, source)[1:3] == (8, 6)
    assert labels(assistant)["3"] == "Tax Work"


def test_all_mail_that_is_hidden_while_it_is_needed_is_said(gmail, opened):
    source = opened()
    gmail.shows_all = False
    source.folders()
    with pytest.raises(SourceError, match="let Gmail show it in IMAP"):
        source.places("Work")
