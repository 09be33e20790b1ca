"""Messages in several folders: each is learnt for the set of them, and anew when the set changes."""

import json
import shutil

import numpy as np
import pytest
from tests.cli.conftest import call  # noqa: F401
from tests.mail.letters import letter, make_maildir, message, some_filed

import hinged
from hinged.journal.folder import SNAPSHOT
from hinged.mail import Assistant, Filed, Place, Thresholds, file_mail, look, open_source, replay, undo
from hinged.mail.features import fields_of
from hinged.mail.filing import folders_besides
from hinged.mail.replaying import PastInMemory, replay_journal, replay_messages
from hinged.mail.sources.maildir import MaildirSource
from hinged.mail.sources.source import FolderError
from hinged.mail.watching import MessageLearnt, Watcher
from hinged.mail.web.desk import Desk

SOON = Thresholds(messages=4)
TAX, CAKE = ("tax form", "ann@example.com"), ("cake", "bob@example.org")


@pytest.fixture
def root(in_memory):
    """Work and Home hold eight messages each; two of Work's are in Tax as well, and one of Home's in the inbox."""
    work = [letter(f"tax form {i}", TAX[1], name=f"w{i}") for i in range(8)]
    home = [letter(f"cake {i}", CAKE[1], name=f"h{i}") for i in range(8)]
    return make_maildir(in_memory / "mail", {"INBOX": [home[0]], "Work": work, "Tax": work[:2], "Home": home})


@pytest.fixture
def assistant(in_memory):
    with Assistant(in_memory / "state", thresholds=SOON, fsync=False) as one:
        yield one


def path_of(root, folder, name):
    """The file of a message of `root`, which its number names."""
    return next((root / f".{folder}" / "cur").glob(f"{1000 + int(name[1:])}.*"))


def copy(root, name, folder, into):
    path = path_of(root, folder, name)
    shutil.copy(path, root / f".{into}" / "cur" / f"{path.name.split('.')[0]}.{into}")


def remove(root, name, folder):
    path_of(root, folder, name).unlink()


def labels(assistant):
    """The examples: messages and their folders, a single one by its name."""
    named = [(event.key, event.label) for event in assistant.kept.journal.examples()]
    return [(key, label[0] if len(label) == 1 else label) for key, label in named]


class MovedMeanwhile(MaildirSource):
    """A Maildir whose user moves message h1 to Work when Home has been read, and Work not yet."""

    def places(self, folder):
        for path in list((self.root / ".Home" / "cur").glob("1001.*")) if folder == "Work" else ():
            path.rename(self.root / ".Work" / "cur" / path.name)
        return super().places(folder)


@pytest.mark.parametrize("watched", [False, True])
def test_a_message_that_moves_while_folders_are_listed_is_learnt_for_the_new_one(in_memory, assistant, watched):
    mail = {"INBOX": [], "Home": [letter(f"cake {i}", name=f"h{i}") for i in range(3)], "Work": [letter(name="w0")]}
    source, told = MovedMeanwhile(make_maildir(in_memory / "mail", mail)), []
    watcher = Watcher(assistant, source, "INBOX", told.append)
    for _ in range(2):
        watcher.turn() if watched else look(assistant, source)
    filed = {(one.message.id, one.folder) for one in told if isinstance(one, MessageLearnt)}
    assert filed == set(labels(assistant)) == {("h0", "Home"), ("h1", "Work"), ("h2", "Home"), ("w0", "Work")}
    assert len(told) == 4
    assert type(assistant.model) is hinged.TextClassifier


def learnt_plainly(examples):
    """A ranker that learns the same examples, with neither journal nor assistant."""
    model = hinged.TextRanker()
    for event in examples:
        model.learn_one(event.x, event.label if isinstance(event.label, list) else [event.label])
    return model


def assert_is_what_its_journal_says(assistant):
    """The model is that of a plain pass over the journal, to the bit; so is what another process makes of it."""
    examples = list(assistant.kept.journal.examples())
    plain, probes = learnt_plainly(examples), [event.x for event in examples[::5]]
    (assistant.state / SNAPSHOT).unlink(missing_ok=True)
    with Assistant(assistant.state, read_only=True) as other:
        for model in (assistant.model, other.model):
            assert type(model) is hinged.TextRanker
            assert set(model.known_labels()) == set(plain.known_labels())
            found, wanted = model.scored(probes), plain.scored(probes)
            places = [found.labels.index(label) for label in wanted.labels]
            assert np.array_equal(found.scores[:, places], wanted.scores)
            assert np.array_equal(found.odds, wanted.odds)
            assert np.array_equal(found.records[places], wanted.records)


def test_copies_are_learnt_as_a_set(root, assistant):
    source = open_source(root)
    seen = look(assistant, source)
    assert (seen.read, seen.learnt) == (18, 16)
    assert dict(labels(assistant)) | {"w0": 0, "w1": 0, "w2": 0, "h0": 0} == {
        **{f"w{i}": "Work" if i > 2 else 0 for i in range(8)}, **{f"h{i}": "Home" if i else 0 for i in range(8)}
    }  # fmt: skip
    assert {name: dict(labels(assistant))[name] for name in ("w0", "w1", "w2", "h0")} == {
        "w0": ["Tax", "Work"], "w1": ["Tax", "Work"], "w2": "Work", "h0": "Home"
    }  # fmt: skip
    assert assistant.hits.learnt() == {"Work": 8, "Tax": 2, "Home": 8}
    assert_is_what_its_journal_says(assistant)
    assert look(assistant, source)[1:3] == (0, 0)
    for path in list(root.glob(".*/cur/*")):  # as if a server numbered all messages anew
        path.rename(path.with_name(f"9{path.name}"))
    assert look(assistant, source)[1:3] == (18, 0)


def test_without_a_message_in_two_folders_nothing_changes(in_memory):
    with Assistant(in_memory / "state", fsync=False) as one:
        one.learn(some_filed(120))
        assert one.kept.journal.get("model")["estimator"] == "TextClassifier"
        assert {event.kind for event in one.kept.journal.events()} == {"learn"}
        assert {type(event.label) for event in one.kept.journal.events()} == {str}


@pytest.mark.parametrize("step", ["added", "removed", "moved", "away"])
def test_a_label_that_comes_or_goes_is_a_correction(root, assistant, step):
    source = open_source(root)
    look(assistant, source)
    before = len(labels(assistant))
    if step == "added":
        copy(root, "w0", "Work", "Home")
        copy(root, "w3", "Work", "Home")
        wanted = [("w0", ["Home", "Tax", "Work"]), ("w3", ["Home", "Work"])]
    elif step == "removed":
        remove(root, "w0", "Work")
        wanted = [("w0", "Tax")]
    elif step == "moved":
        copy(root, "w0", "Work", "Home")
        remove(root, "w0", "Work")
        wanted = [("w0", ["Home", "Tax"])]
    else:
        remove(root, "w0", "Work")
        remove(root, "w0", "Tax")
        wanted = []
    assert look(assistant, source).learnt == len(wanted)
    assert labels(assistant)[before:] == wanted
    assert look(assistant, source)[1:3] == (0, 0)
    assert_is_what_its_journal_says(assistant)


def test_a_set_that_comes_back_is_learnt_back(root, assistant):
    source = open_source(root)
    look(assistant, source)
    before = len(labels(assistant))
    for _ in range(2):
        remove(root, "w0", "Tax")
        assert look(assistant, source).learnt == 1
        copy(root, "w0", "Work", "Tax")
        assert look(assistant, source).learnt == 1
    assert [label for _, label in labels(assistant)[before:]] == ["Work", ["Tax", "Work"]] * 2
    assert_is_what_its_journal_says(assistant)


def test_a_removal_that_cannot_be_read_is_learnt_by_the_next_look(root, assistant):
    source = open_source(root)
    look(assistant, source)
    remove(root, "w0", "Tax")
    path = path_of(root, "Work", "w0")
    raw = path.read_bytes()
    path.unlink()
    path.mkdir()
    found = look(assistant, source)
    assert (found.learnt, [one.why for one in found.skipped]) == (0, ["it is not a regular file"])
    path.rmdir()
    path.write_bytes(raw)
    assert look(assistant, source)[1:3] == (1, 1)
    assert labels(assistant)[-1] == ("w0", "Work")
    assert look(assistant, source)[1:3] == (0, 0)


def test_a_folder_that_cannot_be_listed_is_no_part_of_a_new_set(in_memory, assistant):
    root = make_maildir(
        in_memory / "one", {name: [letter(*TAX, name=f"{name}{i}") for i in range(3)] for name in "ABC"}
    )
    source = open_source(root)
    look(assistant, source)
    path = next((root / ".A" / "cur").iterdir())
    path.rename(root / ".B" / "cur" / path.name)  # a move, of which only the arrival can be seen

    class Without(type(source)):
        def places(self, folder):
            if folder == "A":
                raise FolderError("A cannot be listed.")
            return super().places(folder)

    assert look(assistant, Without(root)).learnt == 1
    assert labels(assistant)[-1][1] == "B"
    assert not assistant.ranks_sets


def renamed_to_office(name):
    return "Office" if name == "Work" else name


def merged_into_work(name):
    return "Work" if name == "Tax" else name


@pytest.mark.parametrize(
    ("edit", "names"),
    [
        (lambda one: one.rename("Work", "Office"), renamed_to_office),
        (lambda one: one.merge("Tax", "Work"), merged_into_work),
    ],
    ids=["rename", "merge"],
)
def test_folders_inside_sets_are_renamed_and_merged(root, assistant, in_memory, edit, names):
    look(assistant, open_source(root))
    events = list(assistant.kept.journal.examples())
    edit(assistant)
    plain = hinged.TextRanker()
    for event in events:
        plain.learn_one(
            event.x, {names(label) for label in ([event.label] if type(event.label) is str else event.label)}
        )
    probes = [event.x for event in events]
    found, wanted = assistant.model.scored(probes), plain.scored(probes)
    assert sorted(found.labels) == sorted(wanted.labels)
    places = [found.labels.index(label) for label in wanted.labels]
    assert np.array_equal(found.scores[:, places], wanted.scores)
    assert_is_what_its_journal_says(assistant)
    assert set(assistant.memory.went_last("w0")) == {names("Tax"), names("Work")}


def test_a_forgotten_folder_leaves_sets_and_is_not_learnt_again(root, assistant):
    source = open_source(root)
    look(assistant, source)
    assistant.forget("Tax")
    assert assistant.known() == ["Home", "Work"]
    assert dict(labels(assistant))["w0"] == "Work"
    assert_is_what_its_journal_says(assistant)
    for path in list(root.glob(".*/cur/*")):
        path.rename(path.with_name(f"9{path.name}"))
    assert look(assistant, source).learnt == 0
    assistant.forget("Work")
    assert assistant.known() == ["Home"]
    assert not assistant.kept.journal.ask(
        "SELECT 1 FROM mail_threads JOIN events USING (seq) WHERE label LIKE '%Work%'"
    )


def test_threads_know_all_folders_of_a_message(root, assistant):
    look(assistant, open_source(root))
    answer = message("Re: other words", "zoe@example.net", name="r", In_Reply_To="<w1>")
    numbers = assistant.memory.of_thread(answer)
    assert {assistant.memory.name_of(number) for number in numbers} == {"Tax", "Work"}
    assistant.rename("Tax", "Levies")
    assert sorted(assistant.memory.of_thread(answer)) == sorted(numbers)
    assert {assistant.memory.name_of(number) for number in numbers} == {"Levies", "Work"}


def test_memory_and_replay_see_the_same_features_of_sets(root, assistant):
    filed = [Filed(one.message, one.folder, None, (Place("Both", str(i)),) * (i % 3 == 0)) for i, one in
             enumerate(some_filed(60))]  # fmt: skip
    past, names = PastInMemory(), {}
    for one in filed:
        durable, plain = fields_of(one.message, assistant.memory), fields_of(one.message, past)
        for field in ("thread", "last"):
            words, others = (fields[field].split() for fields in (durable, plain))
            assert len(words) == len(others)
            for word, other in zip(words, others, strict=True):
                assert names.setdefault(word.split("_")[0], other.split("_")[0]) == other.split("_")[0]
        assistant.learn([one])
        past.note(one.message, *one.folders)


def test_what_a_message_has_is_not_suggested_again(root, assistant):
    source = open_source(root)
    look(assistant, source)
    (place,) = source.places("INBOX")
    has = folders_besides(assistant, source, message(*CAKE, name="h0"), place)
    assert has == {"Home"}
    found = assistant.suggest(message(*CAKE, name="h0"), has=has)
    assert "Home" not in [one.folder for one in found.candidates]
    assert found.candidates or found.silent == "it is in Home already"
    assert found.further, "nobody knows how often a further folder is right, so none is filed by itself"
    assert file_mail(assistant, source, "INBOX") == []
    assistant.pin(CAKE[1], "Home")
    assert assistant.suggest(message(*CAKE, name="h0"), has=has).silent.endswith("where it is already")
    remove(root, "h0", "Home")  # not looked at yet
    assert folders_besides(assistant, source, message(*CAKE, name="h0"), place) == set()
    shutil.rmtree(root / ".Home")
    assert folders_besides(assistant, open_source(root), message(*CAKE, name="h0"), place) == set()


def test_a_further_folder_is_suggested_if_it_scores_as_those_of_messages_do(root, assistant):
    look(assistant, open_source(root))
    for i in range(8):
        assistant.learn([Filed(message(f"tax form {i}", TAX[1], name=f"t{i}"), "Work", None, (Place("Tax", ""),))])
        assistant.learn([Filed(message(f"cake {i}", CAKE[1], "a cake", f"c{i}"), "Home")])
    found = assistant.suggest(message(*TAX, name="new"), has={"Work"})
    assert [one.folder for one in found.candidates] == ["Tax", "Home"]
    assert 0.0 < found.confidence < 1.0
    assert "it is from ann@example.com" in found.candidates[0].reasons
    assert assistant.suggest(message(*TAX, name="new"), has={"Work", "Tax"}).silent.startswith("fewer than two folders")
    cake = message("cake", CAKE[1], "a cake", "new")
    said = assistant.model.scored([fields_of(cake, assistant.memory)])
    assert max(said.scores[0, said.labels.index(one)] for one in ("Tax", "Work")) < said.threshold
    assert assistant.suggest(cake, has={"Home"}).silent == "it is in Home already"
    assistant.thresholds = Thresholds(messages=4, confidence=1.1)
    assert assistant.suggest(message(*TAX, name="new"), has={"Work"}).silent == "no folder is ahead far enough"


def test_what_the_assistant_adds_is_no_feedback_and_can_be_undone(root, assistant):
    source = open_source(root)
    look(assistant, source)
    assistant.pin(CAKE[1], "Tax")
    before = labels(assistant)
    assert [one.moved for one in file_mail(assistant, source, "INBOX", apply=True)] == [True]
    assert look(assistant, source).learnt == 0
    assert assistant.memory.went_last("h0") == ("Home", "Tax")
    assistant.rename("Home", "House")
    assert set(assistant.memory.went_last("h0")) == {"House", "Tax"}
    assistant.rename("House", "Home")
    assert undo(assistant, source).back == ["cake 0"]
    assert look(assistant, source).learnt == 0
    assert labels(assistant) == before
    source.move(source.places("INBOX")[0], "Tax")
    assert look(assistant, source).learnt == 1, "now it is the user's filing"
    assert labels(assistant)[-1] == ("h0", ["Home", "Tax"])


def test_filing_a_copy_on_the_page_learns_the_set_and_undoing_unlearns_it(root, assistant):
    source = open_source(root)
    desk = Desk(source, assistant)
    desk.refresh()
    before, scores = labels(assistant), assistant.model.scored([fields_of(message(*CAKE), assistant.memory)]).scores
    (row,) = desk.rows(0, 9)["rows"]
    assert "Home" not in [one["name"] for one in row["folders"]]
    desk.file(row["key"], "Tax")
    assert labels(assistant)[-1] == ("h0", ["Home", "Tax"])
    assert_is_what_its_journal_says(assistant)
    desk.undo()
    assert labels(assistant) == before
    assert np.array_equal(assistant.model.scored([fields_of(message(*CAKE), assistant.memory)]).scores, scores)
    assert look(assistant, source).learnt == 0


def test_an_account_from_before_continues_and_learns_sets_from_the_first_one_on(root, in_memory):
    with Assistant(in_memory / "state", thresholds=SOON, fsync=False) as one:  # each copy as an example of its own
        source = open_source(root)
        for folder in ("Home", "Tax", "Work"):
            for place in source.places(folder):
                raw = next(raw for _, raw in source.read([place]))
                one.learn([Filed(hinged.mail.read_message(raw), folder, place)])
        kept, settings = labels(one), one.kept.journal.get("model")
        assert (len(kept), settings["estimator"]) == (18, "TextClassifier")
        assert look(one, source)[1:3] == (0, 0)
        with Assistant(in_memory / "state", thresholds=SOON, fsync=False) as other:
            copy(root, "h3", "Home", "Tax")
            assert look(one, source)[1:3] == (1, 1)
            assert labels(one) == [*kept, ("h3", ["Home", "Tax"])]
            assert one.kept.journal.get("model")["settings"] == settings["settings"]
            assert other.ranks_sets, "another process follows"
            assert np.array_equal(*(each.model.scored(["cake"]).scores for each in (one, other)))
        assert_is_what_its_journal_says(one)


def test_an_excluded_folder_is_no_part_of_a_set(root, assistant):
    source = open_source(root)
    assistant.exclude("Tax")
    assert look(assistant, source).learnt == 16
    assert not assistant.ranks_sets
    assert dict(labels(assistant))["w0"] == "Work"


def test_a_replay_counts_a_hit_for_any_of_the_folders(root):
    filed = [
        Filed(one.message, one.folder, None, (Place(f"All {one.folder}", ""),) * (i % 2)) for i, one in
        enumerate(some_filed(80))
    ]  # fmt: skip
    result, past, model, known = replay_messages(filed), PastInMemory(), hinged.TextRanker(), set()
    for one, rank, flag in zip(filed, result.ranks, result.flags, strict=True):
        x, right = fields_of(one.message, past), known & set(one.folders)
        if right and len(known) > 1:
            said = model.scored([x])
            ranks = [int((said.scores[0] >= said.scores[0, said.labels.index(one)]).sum()) for one in right]
            assert (rank, flag) == (min(ranks), min(ranks) > 1)
        else:
            assert rank == 0
        model.learn_one(x, set(one.folders))
        past.note(one.message, *one.folders)
        known |= set(one.folders)
    found = replay(open_source(root))
    assert (len(found.folders), found.assessment.labels) == (16, ["Home", "Tax", "Work"])


def test_the_page_replays_a_journal_of_sets(root, assistant):
    look(assistant, open_source(root))
    hits, model, known = iter(replay_journal(assistant.kept.journal, SOON)), hinged.TextRanker(), set()
    for event in assistant.kept.journal.examples():
        right = {event.label} if type(event.label) is str else set(event.label)
        if right & known:
            ranking = model.rank_one(event.x) if model.n_rounds_ >= 4 and len(known) > 1 else []
            hit = next(hits)
            assert hit.rank == min((1 + ranking.index(one) for one in right & set(ranking)), default=0)
            assert hit.folder in right
        model.learn_one(event.x, right)
        known |= right
    assert next(hits, None) is None


def test_the_commands_learn_show_and_export_sets(root, in_memory, call):  # noqa: F811
    state, out = ("--state", in_memory / "state"), in_memory / "out.jsonl"
    code, said, _ = call("mail", "learn", root, *state)
    assert (code, said.splitlines()[0]) == (0, "16 messages learnt of 3 folders; 2 were known")
    assert "2 messages in several folders, learnt as sets" in call("mail", "status", root, *state)[1]
    assert json.loads(call("mail", "status", root, *state, "--json")[1])["sets"] == 2
    assert json.loads(call("mail", "replay", root, "--json")[1])["messages"] == 16
    (told,) = json.loads(call("mail", "suggest", root, *state, "--json")[1])
    assert "Home" not in [one["folder"] for one in told["folders"]]
    code, said, err = call("mail", "suggest", "-", *state, "--json", stdin=letter("cake", CAKE[1], name="h0").decode())
    assert (code, err, len(json.loads(said))) == (0, "", 1), "of a folder that standard input does not have"
    assert call("mail", "export", root, out, *state)[0] == 0
    assert sorted(json.loads(line)["label"] for line in out.read_text().splitlines())[8:10] == [["Tax", "Work"]] * 2
    assert call("learn", out, "--model", in_memory / "m.hinged")[0] == 0
    assert type(hinged.load(in_memory / "m.hinged")) is hinged.TextRanker
