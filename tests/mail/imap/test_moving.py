"""Messages are moved, one by one, whatever the server can do and whatever happens on the way."""

import pytest
from tests.mail.imap.cutting import Cutter
from tests.mail.imap.letters import deliver, file_away, letter, numbers_in

from hinged.mail.sources.imap import open_imap
from hinged.mail.sources.source import Place, SourceError

#: All that the server can; no MOVE, but UID EXPUNGE; neither.
HOSTS = ["127.0.0.1", "127.0.0.3", "127.0.0.4"]


@pytest.mark.parametrize("host", HOSTS)
def test_a_message_moves_and_its_new_place_is_known(opened, other, host):
    other.create_folder("Work.Bills")
    deliver(other, "Work.Bills", 9)
    deliver(other, "INBOX", 1, 2)
    source = opened(host)
    first, second = source.places("INBOX")
    there = source.move(second, "Work/Bills")
    assert list(source.read([there])) == [(there, letter(2))]
    assert source.places("INBOX") == [first]
    assert source.places("Work/Bills")[1:] == [there]
    assert numbers_in(other, "INBOX", "UNDELETED") == [1]
    assert numbers_in(other, "Work.Bills") == [9, 2]


@pytest.mark.parametrize("host", HOSTS)
def test_flags_move_along_and_what_others_marked_as_deleted_stays(opened, other, host):
    other.create_folder("Work")
    deliver(other, "INBOX", 1, 2)
    other.select_folder("INBOX")
    other.delete_messages([1])
    other.add_flags([2], [b"\\Flagged", b"mine"])
    source = opened(host)
    source.move(source.places("INBOX")[-1], "Work")
    assert numbers_in(other, "INBOX", "NOT KEYWORD mine") == [1]
    other.select_folder("Work")
    assert set(other.get_flags([1])[1]) - {b"\\Recent"} == {b"\\Flagged", b"mine"}


@pytest.mark.parametrize("host", HOSTS)
def test_a_message_without_an_id_is_found_too(opened, other, host):
    other.create_folder("Work")
    deliver(other, "INBOX", 1, 22, **{"Message-ID": ""})
    source = opened(host)
    there = source.move(source.places("INBOX")[1], "Work")
    assert list(source.read([there])) == [(there, letter(22, **{"Message-ID": ""}))]


@pytest.mark.parametrize("host", HOSTS)
def test_a_message_that_somebody_else_moved_first_is_left_alone(opened, other, host):
    other.create_folder("Work")
    other.create_folder("Play")
    deliver(other, "INBOX", 1, 2)
    source = opened(host)
    place = source.places("INBOX")[0]
    file_away(other, 1, "Play")
    with pytest.raises(SourceError, match="no longer in INBOX, so it was not moved to Work"):
        source.move(place, "Work")
    assert numbers_in(other, "Play") == [1]
    assert numbers_in(other, "Work") == []
    with pytest.raises(SourceError, match="no longer in INBOX"):
        source.move(Place("INBOX", "1.2"), "Work")  # a number of another time
    assert numbers_in(other, "INBOX") == [2]


def test_no_folder_is_made_by_moving(opened, other):
    deliver(other, "INBOX", 1)
    source = opened()
    with pytest.raises(SourceError, match="has no folder Work"):
        source.move(source.places("INBOX")[0], "Work")
    assert numbers_in(other, "INBOX") == [1]


@pytest.mark.parametrize("answered", [True, False])
@pytest.mark.parametrize("host", HOSTS)
def test_a_connection_cut_at_any_command_neither_loses_a_message_nor_doubles_it(server, user, other, host, answered):
    other.create_folder("Work")
    tried = 0
    for at in range(1, 40):  # cut at the first command, at the second, …, until a whole move goes by
        deliver(other, "INBOX", at)
        with Cutter(host, server.port, at, answered) as way:
            try:
                source = open_imap(f"imap://{user}@127.0.0.1:{way.port}/?insecure&timeout=5")
            except SourceError:  # cut before we were in
                continue
            there = source.move(source.places("INBOX")[-1], "Work")
            source.close()
        tried += 1
        moved = numbers_in(other, "Work")
        assert moved[-1] == at
        assert moved.count(at) == 1
        assert at not in numbers_in(other, "INBOX", "UNDELETED")
        assert there.key.partition(".")[2] == str(len(moved))
        if way.commands < at:
            break
    assert 8 < tried < 30


def test_keywords_of_ours_are_replaced_and_others_kept(opened, other):
    deliver(other, "INBOX", 1)
    other.select_folder("INBOX")
    other.add_flags([1], [b"\\Seen", b"mine"])
    source = opened()
    (place,) = source.places("INBOX")
    for keywords in (["hinged-Work"], ["hinged-Play", "hinged-Bills"], ["hinged-Bills"]):
        source.mark(place, keywords)
        other.noop()
        flags = set(other.get_flags([1])[1]) - {b"\\Recent"}
        assert flags == {b"\\Seen", b"mine", *(keyword.encode() for keyword in keywords)}
    source.mark(place, [])
    assert set(other.get_flags([1])[1]) - {b"\\Recent"} == {b"\\Seen", b"mine"}
