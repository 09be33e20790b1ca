"""The rules of the road: what is feedback and what is not, when to speak, and what the user's word is worth."""

from contextlib import suppress
from pathlib import Path

import pytest
from tests.mail.letters import letter, make_maildir, message, some_filed

from hinged.journal import InUseError
from hinged.mail import Assistant, Filed, Thresholds, file_mail, look, open_source, read_message, undo
from hinged.mail.features import fields_of
from hinged.mail.replaying import PastInMemory
from hinged.mail.sources.source import Folder

SOON = Thresholds(messages=4)
WORK, HOME = {"subject": "tax form", "sender": "ann@example.com"}, {"subject": "cake", "sender": "bob@example.org"}


@pytest.fixture
def assistant(tmp_path):
    """One that has learnt six messages of two folders."""
    with Assistant(tmp_path / "state", thresholds=SOON) as one:
        for i in range(3):
            one.learn([Filed(message(**WORK, name=f"w{i}"), "Work"), Filed(message(**HOME, name=f"h{i}"), "Home")])
        yield one


def test_it_suggests_with_confidence_and_reasons(assistant):
    found = assistant.suggest(message("the tax", "ann@example.com", name="new"))
    assert found.best == "Work"
    assert [one.folder for one in found.candidates] == ["Work", "Home"]
    assert 0 <= found.confidence <= 1
    assert "it is from ann@example.com" in found.candidates[0].reasons
    said = dict(assistant.explain(message("the tax", "ann@example.com"), "Work", most=None))
    assert said['the subject says "tax"'] > 0
    assert sum(said.values()) == pytest.approx(found.candidates[0].score)


def test_a_second_look_teaches_nothing_and_a_move_does(assistant):
    again = [Filed(message(**WORK, name=f"w{i}"), "Work") for i in range(3)]
    assert assistant.learn(again) == 0
    assert assistant.learn([Filed(message(**WORK, name="w0"), "Home")]) == 1
    assert assistant.learn([Filed(message(**WORK, name="w0"), "Home")]) == 0


def test_it_is_silent_until_it_has_something_to_say(tmp_path):
    with Assistant(tmp_path, thresholds=Thresholds(messages=5)) as one:
        assert "too little" in one.suggest(message()).silent
        one.learn([Filed(message(name=str(i)), "Work") for i in range(9)])
        found = one.suggest(message())
        assert not found.candidates
        assert "fewer than two" in found.silent


@pytest.mark.parametrize("limits", [{"score": 99.0}, {"gap": 99.0}, {"confidence": 1.1}])
def test_it_abstains_below_its_limits(assistant, limits):
    assistant.thresholds = Thresholds(messages=4, **limits)
    found = assistant.suggest(message(**WORK, name="new"))
    assert found.best is None
    assert "far enough" in found.silent


def test_a_pin_takes_precedence(assistant):
    assistant.pin("Ann <ann@example.com>", "Home")
    found = assistant.suggest(message(**WORK, name="new"))
    assert (found.best, found.pinned) == ("Home", True)
    assistant.unpin("ann@example.com")
    assert assistant.suggest(message(**WORK, name="new")).best == "Work"
    assistant.pin("@example.org", "Work")
    assert assistant.suggest(message(**HOME, name="new")).best == "Work"
    assistant.pin("<chess.example.net>", "Lists")
    assert assistant.suggest(message(**HOME, name="x", List_Id="Chess <chess.example.net>")).pinned
    with pytest.raises(ValueError, match="no pin for 'nobody'"):
        assistant.unpin("nobody")


def test_off_means_off(assistant):
    assistant.switch(on=False)
    assert assistant.learn([Filed(message(name="new"), "Work")]) == 0
    assert assistant.suggest(message(**WORK, name="new")).candidates == ()
    assistant.switch(on=True)
    assert assistant.suggest(message(**WORK, name="new")).best == "Work"


def test_excluded_and_deleted_folders_are_not_suggested(assistant, tmp_path):
    assistant.exclude("Work")
    assert assistant.folders() == ["Home"]
    assert assistant.suggest(message(**WORK, name="new")).best is None
    assistant.include("Work")
    with pytest.raises(ValueError, match="not excluded"):
        assistant.include("Work")
    source = open_source(make_maildir(tmp_path / "mail", {"INBOX": [], "Home": [], "Other": [letter(name="o")]}))
    look(assistant, source)
    assert assistant.folders() == ["Home", "Other"]
    assert "Work" not in [one.folder for one in assistant.suggest(message(**WORK, name="new")).candidates]


def test_what_was_learnt_is_there_when_it_is_opened_again(assistant):
    state, found = assistant.state, assistant.suggest(message(**WORK, name="new"))
    assistant.pin("carol@example.com", "Home")
    with Assistant(state, thresholds=SOON, read_only=True) as beside:
        assert beside.suggest(message(**WORK, name="new")) == found
        assert beside.pins() == {"carol@example.com": "Home"}
    assistant.close()
    with Assistant(state, thresholds=SOON) as again:
        assert again.suggest(message(**WORK, name="new")) == found


def test_edits_of_folders(assistant):
    assistant.exclude("Elsewhere")
    assistant.pin("ann@example.com", "Work")
    assistant.rename("Work", "Office")
    assert assistant.pins() == {"ann@example.com": "Office"}
    assert assistant.learn([Filed(message(**WORK, name="w0"), "Office")]) == 0
    assistant.learn([Filed(message(name="z"), "Third")])
    assistant.merge("Third", "Home")
    assert sorted(assistant.kept.labels()) == ["Home", "Office"]
    assistant.forget("Home")
    assert assistant.kept.labels() == ["Office"]
    for call in (lambda: assistant.forget("Nowhere"), lambda: assistant.merge("Office", "Nowhere")):
        with pytest.raises(ValueError, match="nothing was learnt of a folder 'Nowhere'; known are Office"):
            call()


def test_renaming_a_folder_keeps_what_its_threads_say(assistant):
    reply = message("Re: other words", "zoe@example.net", body="", name="r", In_Reply_To="<w0>")
    assert fields_of(reply, assistant.memory)["thread"]
    before = fields_of(reply, assistant.memory)
    assistant.rename("Work", "Office")
    assert fields_of(reply, assistant.memory) == before
    assert ("an earlier message of the thread is in Office") in dict(assistant.explain(reply, "Office", most=None))


def test_memory_and_replay_see_the_same_features(tmp_path):
    past = PastInMemory()
    numbers = {}
    with Assistant(tmp_path) as one:
        for filed in some_filed(80):
            durable = fields_of(filed.message, one.memory)
            for word in f"{durable['thread']} {durable['last']}".split():
                numbers.setdefault(word.split("_")[0], f"f{len(numbers)}")
            assert durable["thread"].count("f") == fields_of(filed.message, past)["thread"].count("f")
            one.learn([filed])
            past.note(filed.message, filed.folder)
            assert one.memory.name_of(*one.memory.last()) == past.name_of(*past.last()) == filed.folder


def test_one_beside_another_shares_what_is_learnt_and_has_limits_of_its_own(tmp_path):
    with Assistant(tmp_path, fsync=False) as first:
        first.keep_confidence(0.25)
        first.thresholds = Thresholds(confidence=1.0)
        beside, reading = first.beside(), first.beside(read_only=True)
        assert beside.thresholds == reading.thresholds == Thresholds(confidence=0.25)
        beside.thresholds = Thresholds(messages=6)
        first.learn(some_filed(40))
        assert beside.folders() == reading.folders() == first.folders()
        assert beside.suggest(some_filed(41)[-1].message).best is not None
        assert first.suggest(some_filed(41)[-1].message).best is None
        reading.see_folders([])
        assert (reading.folders(), first.folders() != []) == ([], True), "what it sees, it keeps to itself"
        beside.see_folders([Folder("Travel")])
        assert first.folders() == ["Travel"]


def test_a_look_learns_what_is_new_in_order_of_time(tmp_path):
    days = [f"Mon, 0{day} Nov 2020 10:00:00 +0000" for day in range(1, 6)]
    mail = make_maildir(tmp_path / "mail", {
        "INBOX": [letter("unfiled", name="i")],
        "Work": [letter("w", name="1", Date=days[3]), letter("w", name="2", Date=days[0])],
        "Home": [letter("h", name="3", Date=days[2])],
        "Trash": [letter("t", name="4", Date=days[1])],
        "Sent": [letter("s", name="5", Date=days[1])],
    })  # fmt: skip
    source = open_source(mail)
    with Assistant(tmp_path / "state") as one:
        assert look(one, source)[:3] == (2, 3, 3)
        assert [event.key for event in one.kept.journal.examples()] == ["2", "3", "1"]
        assert look(one, source)[:3] == (2, 0, 0)
        (place,) = source.places("Home")
        source.move(place, "Work")
        assert look(one, source)[:3] == (2, 1, 1), "a move to another folder is new feedback"
        source.move(source.places("INBOX")[0], "Home")
        assert look(one, source).learnt == 1


def test_a_folder_that_was_renamed_is_followed(tmp_path):
    raws = [letter(f"tax {i}", name=f"w{i}") for i in range(5)]
    mail = make_maildir(tmp_path / "mail", {"Work": raws, "Home": [letter("cake", name="h")]})
    with Assistant(tmp_path / "state") as one:
        look(one, open_source(mail))
        (mail / ".Work").rename(mail / ".Office")
        seen = look(one, open_source(mail))
        assert seen.renamed == {"Work": "Office"}
        assert seen.learnt == 0
        assert sorted(one.kept.labels()) == ["Home", "Office"]
        assert one.model.n_rounds_ == 6


@pytest.mark.parametrize("seen_halfway", [False, True])
@pytest.mark.parametrize("others", ["Home", "Trash", "Office"])
def test_a_folder_is_followed_after_half_of_its_messages_were_moved(tmp_path, others, seen_halfway):
    """Half of them to a folder that exists, to the trash, or to the new folder by a program that renames so."""
    raws = [letter(f"tax {i}", name=f"w{i}") for i in range(6)]
    mail = make_maildir(tmp_path / "mail", {"Work": raws, "Home": [letter("cake", name="h")], "Trash": []})
    source = open_source(mail)
    with Assistant(tmp_path / "state") as one:
        look(one, source)
        if others == "Office":
            source.create("Office")
        for place in source.places("Work")[:3]:
            source.move(place, others)
        if seen_halfway:
            look(one, source)
        if others == "Office":
            for place in source.places("Work"):
                source.move(place, "Office")
            for name in ("cur", "new", "tmp", "."):
                (mail / ".Work" / name).rmdir()
        else:
            (mail / ".Work").rename(mail / ".Office")
        seen = look(one, source)
        assert seen.renamed == {"Work": "Office"}
        assert sorted(one.kept.labels()) == ["Home", "Office"]
        assert look(one, source)[:4] == (2, 0, 0, {})


class Slow(Assistant):
    """Another program comes in between: once, after this one was asked for what it knows."""

    between = None

    def _pause(self):
        between, self.between = self.between, None
        if between is not None:
            with suppress(InUseError):  # it has to wait
                between()

    def known(self):
        names = super().known()
        self._pause()
        return names

    @property
    def model(self):
        found = super().model
        self._pause()
        return found


@pytest.fixture
def two(tmp_path):
    filed = {"Work": [letter(f"tax {i}", name=f"w{i}") for i in range(30)], "Home": [letter("cake", name="h")]}
    source = open_source(make_maildir(tmp_path / "mail", filed))
    with Slow(tmp_path / "state", fsync=False) as slow, Assistant(tmp_path / "state", fsync=False) as other:
        look(slow, source)
        other.kept.wait = 0.0
        yield slow, other, source


def test_two_programs_follow_the_same_folder(two):
    slow, other, source = two
    (Path(source.root) / ".Work").rename(Path(source.root) / ".Office")
    slow.between = lambda: look(other, source)
    assert look(slow, source).renamed == {"Work": "Office"}
    assert look(other, source).renamed == {}
    assert slow.known() == other.known() == ["Home", "Office"]


def test_a_folder_may_be_renamed_while_it_is_suggested(two):
    slow, other, _ = two
    slow.thresholds = Thresholds(messages=1)
    slow.between = lambda: other.rename("Work", "Office")
    assert "Work" in [one.folder for one in slow.suggest(message("tax 3", name="new")).candidates if one.reasons]
    assert slow.known() == ["Home", "Office"]


def test_a_folder_that_was_divided_or_emptied_is_not_taken_for_another(tmp_path):
    raws = [letter(f"tax {i}", name=f"w{i}") for i in range(8)]
    source = open_source(make_maildir(tmp_path / "mail", {"Work": raws, "Home": [letter("cake", name="h")]}))
    with Assistant(tmp_path / "state") as one:
        look(one, source)
        for name in ("Here", "There"):
            source.create(name)
        for i, place in enumerate(source.places("Work")):
            source.move(place, ("Here", "There")[i % 2])
        (tmp_path / "mail" / ".Work").rename(tmp_path / "away")
        assert look(one, source).renamed == {}
        assert one.folders() == ["Here", "Home", "There"]


@pytest.fixture
def mailbox(tmp_path):
    filed = {"Work": [letter(**WORK, name=f"w{i}") for i in range(20)]}
    filed["Home"] = [letter(**HOME, name=f"h{i}") for i in range(20)]
    filed["INBOX"] = [letter("tax form", "ann@example.com", name="new"), letter("a rock", "z@example.net", "", "odd")]
    return open_source(make_maildir(tmp_path / "mail", filed))


def names_in(source, folder):
    return sorted(read_message(raw).id for _, raw in source.read(source.places(folder)))


def test_filing_is_a_dry_run_unless_applied_and_can_be_undone(mailbox, tmp_path):
    with Assistant(tmp_path / "state", thresholds=Thresholds(confidence=0.5, gap=0.5)) as one:
        look(one, mailbox)
        proposals = file_mail(one, mailbox, "INBOX")
        assert [(p.message.id, p.suggestion.best, p.moved) for p in proposals] == [("new", "Work", False)]
        assert names_in(mailbox, "INBOX") == ["new", "odd"]
        assert file_mail(one, mailbox, "INBOX", only=["Home"]) == []
        file_mail(one, mailbox, "INBOX", apply=True)
        assert names_in(mailbox, "INBOX") == ["odd"]
        assert look(one, mailbox).learnt == 0, "its own moves are never feedback"
        assert undo(one, mailbox) == (["tax form"], [], [])
        assert names_in(mailbox, "INBOX") == ["new", "odd"]
        assert undo(one, mailbox) == ([], [], [])
        (place,) = [p for p, raw in mailbox.read(mailbox.places("INBOX")) if read_message(raw).id == "new"]
        mailbox.move(place, "Work")
        assert look(one, mailbox).learnt == 1, "after the undo, it was the user who put it there"


def test_undo_leaves_alone_what_the_user_moved_on(mailbox, tmp_path):
    with Assistant(tmp_path / "state", thresholds=Thresholds(confidence=0.5, gap=0.5)) as one:
        look(one, mailbox)
        file_mail(one, mailbox, "INBOX", apply=True)
        (place,) = [p for p, raw in mailbox.read(mailbox.places("Work")) if read_message(raw).id == "new"]
        mailbox.move(place, "Home")
        assert look(one, mailbox).learnt == 1, "which is new feedback"
        assert undo(one, mailbox) == ([], ["tax form"], [])
        assert "new" in names_in(mailbox, "Home")


def test_a_move_cut_short_by_a_kill_is_no_feedback_and_can_be_undone(mailbox, tmp_path):
    with Assistant(tmp_path / "state") as one:
        look(one, mailbox)
        (place,) = [p for p, raw in mailbox.read(mailbox.places("INBOX")) if read_message(raw).id == "new"]
        with one.kept.journal.transaction():
            one.memory.begin_move(1, message(**WORK, name="new"), place, "Work")
        mailbox.move(place, "Work")  # and here the process ends
    with Assistant(tmp_path / "state") as one:
        assert look(one, mailbox).learnt == 0
        assert undo(one, mailbox) == (["tax form"], [], [])
        assert names_in(mailbox, "INBOX") == ["new", "odd"]


def place_of(source, folder, name):
    (found,) = [place for place, raw in source.read(source.places(folder)) if read_message(raw).id == name]
    return found


def test_a_message_that_comes_back_to_a_folder_is_learnt_back(mailbox, tmp_path):
    with Assistant(tmp_path / "state", thresholds=SOON) as one:
        look(one, mailbox)
        for target, origin in (("Home", "Work"), ("Work", "Home"), ("Home", "Work")):
            mailbox.move(place_of(mailbox, origin, "w0"), target)
            assert look(one, mailbox)[1:3] == (1, 1)
            assert look(one, mailbox)[1:3] == (0, 0)
            (*_, last) = one.kept.journal.examples()
            assert (last.key, last.label) == ("w0", target)
    with Assistant(tmp_path / "other", thresholds=SOON) as one:  # also where nobody says where it lies
        learnt = [one.learn([Filed(message(name="x"), folder)]) for folder in ("A", "B", "A", "A", "B", "B")]
        assert learnt == [1, 1, 1, 0, 1, 0]


def test_copies_in_two_folders_are_learnt_once_even_if_numbers_begin_anew(mailbox, tmp_path):
    root = tmp_path / "mail"
    raw = letter("tax form", "ann@example.com", name="both")
    for folder in (".Work", ".Home"):
        (root / folder / "cur" / "77.both:2,S").write_bytes(raw)
    with Assistant(tmp_path / "state") as one:
        assert look(one, mailbox)[1:3] == (42, 41)
        for path in [*root.glob(".*/cur/*"), *root.glob(".*/new/*")]:
            path.rename(path.with_name(f"9{path.name}"))
        assert look(one, mailbox)[1:3] == (42, 0)
        assert look(one, mailbox)[1:3] == (0, 0)


def test_what_the_user_put_back_is_never_moved_again(mailbox, tmp_path):
    with Assistant(tmp_path / "state", thresholds=Thresholds(confidence=0.5, gap=0.5)) as one:
        look(one, mailbox)
        assert [p.moved for p in file_mail(one, mailbox, "INBOX", apply=True)] == [True]
        mailbox.move(place_of(mailbox, "Work", "new"), "INBOX")
        look(one, mailbox)
        assert file_mail(one, mailbox, "INBOX") == file_mail(one, mailbox, "INBOX", apply=True) == []
        mailbox.move(place_of(mailbox, "INBOX", "new"), "Work")
        assert look(one, mailbox).learnt == 1, "now it is the user's own filing"
        mailbox.move(place_of(mailbox, "Work", "new"), "INBOX")
        assert undo(one, mailbox) == ([], ["tax form"], [])
        assert file_mail(one, mailbox, "INBOX", apply=True) == [], "nor after an undo that found nothing to undo"


def test_a_move_that_fails_stops_neither_filing_nor_undoing(mailbox, tmp_path):
    root = tmp_path / "mail"
    with Assistant(tmp_path / "state", thresholds=Thresholds(confidence=0.5, gap=0.5)) as one:
        for i in range(3):
            (root / "cur" / f"8{i}.more:2,").write_bytes(letter("tax form", "ann@example.com", name=f"m{i}"))
        (root / ".Work" / "cur" / "81.more:2,").write_bytes(letter("something else", name="in the way"))
        look(one, mailbox)
        done = {p.message.id: p for p in file_mail(one, mailbox, "INBOX", apply=True)}
        assert {name for name, p in done.items() if p.moved} == {"new", "m0", "m2"}
        assert done["m1"].failed == "Work holds a message 81.more already; nothing was moved."
        assert names_in(mailbox, "INBOX") == ["m1", "odd"]
        (root / "cur" / "80.more:2,").write_bytes(letter("in the way back", name="b"))
        back, lost, failed = undo(one, mailbox)
        assert (back, lost) == (["tax form", "tax form"], [])
        assert failed == [("tax form", "INBOX holds a message 80.more already; nothing was moved.")]
        (root / "cur" / "80.more:2,").unlink()
        assert undo(one, mailbox) == (["tax form"], [], []), "what failed is tried again"
        assert names_in(mailbox, "INBOX") == ["m0", "m1", "m2", "new", "odd"]


def test_a_pin_to_a_folder_that_is_gone_suggests_nothing(mailbox, tmp_path):
    with Assistant(tmp_path / "state", thresholds=SOON) as one:
        look(one, mailbox)
        one.pin("ann@example.com", "Lists")
        found = one.suggest(message(**WORK, name="newer"))
        assert found.best is None
        assert found.silent == "mail from ann@example.com is pinned to Lists, a folder that is gone"
        mailbox.create("Lists")
        look(one, mailbox)
        assert one.suggest(message(**WORK, name="newer")).best == "Lists"
