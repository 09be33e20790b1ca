"""Watching a mailbox while its user and other programs change it."""

import pytest
from tests.mail.imap.dovecot import PASSWORD, Dovecot
from tests.mail.imap.letters import deliver, file_away, numbers_in, uid_of

from hinged.mail import Assistant, Thresholds
from hinged.mail.sources.imap import open_imap
from hinged.mail.sources.source import RejectedError, UnreachableError
from hinged.mail.watching import Away, Back, MessageLearnt, Renamed, StoppedWatching, Suggested, Watcher, keyword_of

FEW = Thresholds(messages=6)


class Told:
    """What a watcher tells, in short."""

    def __init__(self):
        self.events = []

    def __call__(self, event):
        self.events.append(event)

    def take(self):
        """What was told since the last time: (number, folder) learnt, suggested; names of renamed folders."""
        events, self.events = self.events, []
        number = {
            id(e): int(e.message.id.partition("@")[0]) for e in events if isinstance(e, MessageLearnt | Suggested)
        }
        return (
            [(number[id(e)], e.folder) for e in events if isinstance(e, MessageLearnt)],
            [(number[id(e)], e.suggestion.best) for e in events if isinstance(e, Suggested)],
            [tuple(e) for e in events if isinstance(e, Renamed)],
        )


@pytest.fixture
def watched(opened, other, tmp_path):
    """A mailbox with two folders that were learnt, and a watcher of it; `watch()` starts another beside nothing."""
    for name in ("Work", "Play.Games"):
        other.create_folder(name)
    deliver(other, "Work", 1, 3, 5, subject="tax form", words="the invoice is due")
    deliver(other, "Play.Games", 2, 4, 6, subject="chess", words="a game of chess", From="bob@example.com")
    assistants = []

    def watch(**options):
        for one in assistants:
            one.close()
        assistants.append(Assistant(tmp_path / "state", thresholds=FEW))
        told = Told()
        return Watcher(assistants[-1], opened(), "INBOX", told, **options), told

    yield watch
    for one in assistants:
        one.close()


def learnt_of(watcher):
    """Every (number, folder) in the journal, in order."""
    rows = watcher.assistant.kept.journal.ask("SELECT key, label FROM events WHERE kind = 'learn' ORDER BY seq")
    return [(int(key.partition("@")[0]) if key else None, label.strip('"')) for key, label in rows]


def test_what_any_program_files_is_learnt_once_per_folder(watched, other):
    deliver(other, "INBOX", 20, 21, subject="tax form")
    watcher, told = watched()
    watcher.turn()
    assert len(told.take()[0]) == 6
    file_away(other, 20, "Work")
    watcher.turn()
    assert told.take() == ([(20, "Work")], [], [])
    watcher.turn()
    assert told.take() == ([], [], [])
    file_away(other, 20, "Play.Games", source="Work")  # the user thinks better of it
    watcher.turn()
    assert told.take() == ([(20, "Play/Games")], [], [])
    file_away(other, 20, "Work", source="Play.Games")  # and back: the last word counts
    other.select_folder("INBOX")
    other.copy([uid_of(other, "INBOX", 21)], "Sent")  # not a folder to learn from
    watcher.turn()
    assert told.take() == ([(20, "Work")], [], [])
    again, told = watched()  # what was known before is known to the next one
    again.turn()
    assert told.take() == ([], [], [])
    assert learnt_of(again)[6:] == [(None, "Work"), (20, "Play/Games"), (20, "Work")]


def test_each_new_message_of_the_inbox_gets_a_suggestion_once(watched, other):
    deliver(other, "INBOX", 20, subject="tax form")
    watcher, told = watched()
    watcher.turn()
    assert told.take()[1] == []  # it lay there before anybody watched
    deliver(other, "INBOX", 21, subject="tax form")
    deliver(other, "INBOX", 22, subject="chess", words="a game of chess", From="bob@example.com")
    watcher.turn()
    assert told.take()[1] == [(21, "Work"), (22, "Play/Games")]
    deliver(other, "INBOX", 23, subject="tax form")
    again, told = watched()  # it came while nobody watched
    again.turn()
    assert told.take()[1] == [(23, "Work")]


def test_keywords_say_the_best_folder_until_the_message_is_filed(watched, other):
    watcher, told = watched(keywords=True)
    watcher.turn()
    deliver(other, "INBOX", 20, 21, subject="chess", words="a game of chess", From="bob@example.com")
    watcher.turn()
    other.select_folder("INBOX", readonly=True)
    assert [set(flags) - {b"\\Recent"} for flags in other.get_flags([1, 2]).values()] == [{b"hinged-Play/Games"}] * 2
    told.take()
    watcher.turn()
    assert told.take() == ([], [], [])  # the keyword taught nothing
    file_away(other, 20, "Work")
    watcher.turn()
    assert told.take()[0] == [(20, "Work")]
    other.select_folder("Work", readonly=True)
    assert other.get_flags(other.search())[4] == ()


@pytest.mark.parametrize(
    "folder", ["Work", "Bücher & Co/Ärger (alt)", 'a "b" \\ c', "Россия", "x" * 90 + "1", "x" * 90]
)
def test_servers_take_the_keyword_of_any_folder(opened, other, folder):
    deliver(other, "INBOX", 1)
    source = opened()
    source.mark(source.places("INBOX")[0], [keyword_of(folder)])
    other.select_folder("INBOX")
    assert keyword_of(folder).encode() in other.get_flags([1])[1]
    assert keyword_of(folder) != keyword_of("x" * 91)


def test_folders_are_made_renamed_joined_and_removed_while_it_runs(watched, other):
    watcher, told = watched()
    watcher.turn()
    told.take()
    other.create_folder("New")
    deliver(other, "New", 30)
    watcher.turn()
    assert told.take()[0] == [(30, "New")]
    other.rename_folder("Work", "Office.2024")
    watcher.turn()
    assert told.take() == ([], [], [("Work", "Office/2024")])
    assert watcher.assistant.folders() == ["New", "Office/2024", "Play/Games"]
    other.rename_folder("Office.2024", "Work")
    watcher.turn()
    assert told.take() == ([], [], [("Office/2024", "Work")])
    other.rename_folder("Work", "Office.2024")
    watcher.turn()
    told.take()
    other.select_folder("New")
    other.move(other.search(), "Play.Games")
    other.unselect_folder()
    other.delete_folder("New")
    watcher.turn()
    assert told.take() == ([(30, "Play/Games")], [], [])
    assert watcher.assistant.folders() == ["Office/2024", "Play/Games"]
    other.delete_folder("Play.Games")
    watcher.turn()
    assert watcher.assistant.folders() == ["Office/2024"]  # what is gone is not suggested again


def test_a_connection_lost_in_the_middle_of_a_turn_repeats_nothing(watched, other):
    watcher, told = watched(keywords=True)
    watcher.turn()
    deliver(other, "INBOX", 20, 21, subject="tax form")
    mark = watcher.source.mark
    places = []

    def marking(place, keywords):
        places.append(place)
        if len(places) == 2:
            raise UnreachableError("away.")
        mark(place, keywords)

    watcher.source.mark = marking
    told.take()
    watcher.turn()
    assert told.take()[1] == [(20, "Work")]
    watcher.turn()
    assert told.take()[1] == [(21, "Work")]
    file_away(other, 20, "Work")
    del places[1:]  # the next one is lost again
    watcher.turn()
    assert told.take()[0] == [(20, "Work")]
    watcher.turn()
    other.select_folder("Work", readonly=True)
    assert other.get_flags([4])[4] == ()


def test_numbers_that_begin_anew_teach_nothing_twice(watched, other):
    watcher, told = watched()
    watcher.turn()
    deliver(other, "INBOX", 20, subject="tax form")
    watcher.turn()
    told.take()
    other.create_folder("Aside")
    for folder in ("Work", "INBOX"):
        other.select_folder(folder)
        other.move(other.search(), "Aside")
        if folder != "INBOX":
            other.unselect_folder()
            other.delete_folder(folder)
            other.create_folder(folder)
            other.select_folder("Aside")
            other.move(other.search(), folder)
    watcher.turn()
    assert told.take() == ([(20, "Aside")], [], [])
    assert len(learnt_of(watcher)) == len(set(learnt_of(watcher))) == 7
    file_away(other, 20, "INBOX", source="Aside")  # a new number in the inbox, but not a new message
    watcher.turn()
    assert told.take() == ([], [], [])


def test_a_folder_removed_while_it_is_looked_at_does_no_harm(watched, other):
    watcher, told = watched()
    other.create_folder("Brief")
    deliver(other, "Brief", 40)
    look_again = watcher.source.folders

    def folders():
        found = look_again()
        if numbers_in(other, "INBOX") == []:
            deliver(other, "INBOX", 41)
            other.delete_folder("Brief")
        return found

    watcher.source.folders = folders
    watcher.turn()
    watcher.turn()
    assert len(told.take()[0]) == 6


def test_off_means_off(watched, other):
    watcher, told = watched(keywords=True)
    watcher.turn()
    watcher.assistant.switch(on=False)
    told.take()
    deliver(other, "INBOX", 20, subject="tax form")
    deliver(other, "Work", 21)
    watcher.turn()
    assert told.take() == ([], [], [])
    other.select_folder("INBOX")
    assert set(other.get_flags([1])[1]) <= {b"\\Recent"}


def test_a_password_that_is_no_longer_accepted_is_tried_once(watched, monkeypatch):
    watcher, told = watched()
    watcher.turn()
    told.take()
    monkeypatch.setenv("HINGED_MAIL_PASSWORD", "wrong")
    watcher.source._client.shutdown()
    with pytest.raises(RejectedError):
        watcher.turn()
    with pytest.raises(RejectedError):
        watcher.source.wait(1)
    assert told.take() == ([], [], [])


def test_a_wish_to_stop_is_heard_between_messages(watched):
    asked = []
    watcher, told = watched(going=lambda: asked.append(None) or len(asked) < 4)
    with pytest.raises(StoppedWatching):
        watcher.turn()
    assert told.take() == ([], [], [])


def test_a_server_killed_while_it_is_watched_is_watched_again(tmp_path, monkeypatch):
    monkeypatch.setenv("HINGED_MAIL_PASSWORD", PASSWORD)
    server = Dovecot()
    try:
        user = server.new_user()
        other = server.client(user)
        other.create_folder("Work")
        deliver(other, "Work", 1, 2)
        deliver(other, "INBOX", 3, 4)
        told = Told()
        source = open_imap(server.url(user))
        with Assistant(tmp_path / "state", thresholds=FEW) as assistant:
            watcher = Watcher(assistant, source, "INBOX", told)
            moments = watcher.moments()
            next(moments)
            watcher.turn()
            file_away(other, 3, "Work")
            server.kill()
            watcher.turn()
            assert isinstance(told.events[-1], Away)
            server.start()
            other.shutdown()
            other = server.client(user)
            file_away(other, 4, "Work")
            next(moments)
            watcher.turn()
            assert isinstance(told.events[-1], Back)
            assert sorted(told.take()[0]) == [(1, "Work"), (2, "Work"), (3, "Work"), (4, "Work")]
            assert numbers_in(other, "Work") == [1, 2, 3, 4]
        source.close()
        other.shutdown()
    finally:
        server.close()
