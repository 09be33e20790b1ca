"""What is read of a mailbox, and that nobody can tell afterwards."""

import pytest
from tests.mail.imap.letters import deliver, letter, numbers_in, uid_of

from hinged.mail.message import ENOUGH
from hinged.mail.sources.imap import listing
from hinged.mail.sources.source import Folder, SourceError

#: All that the server can; fewer commands; no MOVE; next to nothing.
HOSTS = ["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"]


def bodies(source, folder):
    return [raw for _, raw in source.read(source.places(folder))]


@pytest.mark.parametrize("host", HOSTS)
def test_folders_have_slashes_between_levels_and_their_use(opened, other, host):
    for name in ("Work", "Work.Bücher & Co", 'Say "when"', "Entwürfe", "12", "Work.Sent"):
        other.create_folder(name)
    found = [folder for folder in opened(host).folders() if not folder.name.startswith("Public")]
    assert found == [
        Folder("12"),
        Folder("Entwürfe", "drafts"),  # by its name, since no folder is said to be for drafts
        Folder("INBOX", "inbox"),
        Folder("Papierkorb", "trash"),  # as the server says
        Folder('Say "when"'),
        Folder("Sent", "sent"),
        Folder("Work"),
        Folder("Work/Bücher & Co"),
        Folder("Work/Sent"),
    ]


def test_folders_of_others_are_left_out(opened, other):
    assert "Public.Board" in [name for _, _, name in other.list_folders()]
    assert [folder.name for folder in opened().folders()] == ["INBOX", "Papierkorb", "Sent"]


@pytest.mark.parametrize("host", HOSTS)
def test_messages_come_as_they_are_in_order_of_arrival(opened, other, host):
    other.create_folder("Work.Bücher & Co")
    deliver(other, "Work.Bücher & Co", 3, 1, 2)
    assert bodies(opened(host), "Work/Bücher & Co") == [letter(3), letter(1), letter(2)]


def test_reading_leaves_no_trace(opened, other):
    deliver(other, "INBOX", 1, 2)
    other.select_folder("INBOX", readonly=True)
    before = other.fetch([1, 2], ["FLAGS", "MODSEQ"])
    assert len(bodies(opened(), "INBOX")) == 2
    assert other.fetch([1, 2], ["FLAGS", "MODSEQ"]) == before


def test_of_a_huge_message_the_beginning_is_read(opened, other):
    deliver(other, "INBOX", 1, words="x" * (3 * ENOUGH))
    (raw,) = bodies(opened(), "INBOX")
    assert len(raw) == ENOUGH
    assert raw.startswith(b"From: anna")


def test_a_message_that_is_gone_meanwhile_is_left_out(opened, other):
    deliver(other, "INBOX", *range(1, 71))
    source = opened()
    places = source.places("INBOX")
    other.select_folder("INBOX")
    other.delete_messages([7])
    other.uid_expunge([7])
    assert [place for place, _ in source.read(places)] == places[:6] + places[7:]


def test_messages_marked_as_deleted_are_not_listed(opened, other):
    deliver(other, "INBOX", 1, 2)
    other.select_folder("INBOX")
    other.delete_messages([1])
    assert bodies(opened(), "INBOX") == [letter(2)]


def test_a_key_never_names_another_message(opened, other):
    other.create_folder("Work")
    deliver(other, "Work", 1)
    source = opened()
    old = source.places("Work")
    other.delete_folder("Work")
    other.create_folder("Work")
    deliver(other, "Work", 2)
    assert uid_of(other, "Work", 2) == 1  # the numbers begin anew, with another UIDVALIDITY
    assert list(source.read(old)) == []
    source.folders()
    new = source.places("Work")
    assert new != old
    assert [raw for _, raw in source.read(new)] == [letter(2)]


def test_a_folder_that_did_not_change_gives_the_very_list_it_gave_before(opened, other):
    deliver(other, "INBOX", 1, 2)
    source = opened()
    source.folders()
    before = source.places("INBOX")
    source.folders()
    assert source.places("INBOX") is before
    deliver(other, "INBOX", 3)
    assert source.places("INBOX") is before  # as of the last look
    source.folders()
    assert source.places("INBOX")[:2] == before
    assert len(source.places("INBOX")) == 3


@pytest.mark.parametrize("window", [1, 3, 1000])
def test_lists_keep_up_with_what_comes_and_goes(opened, other, window, monkeypatch):
    monkeypatch.setattr(listing, "WINDOW", window)
    source = opened()

    def listed():
        source.folders()
        return [int(place.key.split(".")[1]) for place in source.places("INBOX")]

    assert listed() == []
    deliver(other, "INBOX", *range(1, 9))
    assert listed() == list(range(1, 9))
    other.select_folder("INBOX")
    other.delete_messages([2, 8])
    other.uid_expunge([2, 8])
    assert listed() == [1, 3, 4, 5, 6, 7]
    deliver(other, "INBOX", 10, 11)
    other.select_folder("INBOX")
    other.delete_messages([1, 10])
    other.uid_expunge([1])
    assert listed() == [3, 4, 5, 6, 7, 9]  # one came, one is gone, one is marked as deleted
    assert numbers_in(other, "INBOX", "UNDELETED") == [3, 4, 5, 6, 7, 10]


def test_folders_have_the_names_of_the_server_for_its_filters(opened):
    source = opened()
    assert source.name_on_server(source.create("Bücher/Alte")) == "Bücher.Alte"


def test_a_folder_that_is_not_there_is_named(opened):
    with pytest.raises(SourceError, match="has no folder Wrok; there are INBOX, Papierkorb, Sent"):
        opened().places("Wrok")


def test_many_folders_are_looked_at_at_once(opened, other):
    for number in range(70):  # more than questions are asked before the first answer is read
        other.create_folder(f"list{number:03}")
    deliver(other, "list068", 1)
    for host in HOSTS:
        source = opened(host)
        assert len([one for one in source.folders() if one.name.startswith("list")]) == 70
        assert bodies(source, "list068") == [letter(1)]
