"""The example that brings a new label: learnt like any other with novel="learn", registered and no more with "skip"."""

import json
import pickle

import numpy as np
import pytest
from tests import plain as papers
from tests.reference.looking import picture
from tests.reference.streams import random_stream

import hinged
from hinged.evaluate import progressive
from hinged.io import read, write
from hinged.journal import DurableModel
from hinged.loops.confidence import NOTED
from hinged.mercer import Centred, Gaussian

FOUR = random_stream("real", 3)
SETS = random_stream("real", 3, sets=True)
NAMED = [{f"w{j}": float(v) for j, v in enumerate(x) if v} for x in FOUR.X]
TEXTS = [" ".join(f"w{j}" for j in np.flatnonzero(x)) or "nothing" for x in FOUR.X]
TWO = [int(label > 1) for label in FOUR.y]


def by_letters(row, label):
    """Label features of one's own."""
    return {f"{label}{name}": value for name, value in list(row.items())[:3]} | {"all": 1.0}


#: Every learner of labels, on rows that bring their labels one after another.
LEARNERS = {
    "multi": (papers.Classifier, {}, FOUR.X, FOUR.y),
    "dicts": (papers.Classifier, {"rule": "simproj"}, NAMED, FOUR.y),
    "mean": (papers.Classifier, {"average": True, "scaling": "idf"}, FOUR.X, FOUR.y),
    "single": (papers.Classifier, {"sharing": "single", "features": "first"}, FOUR.X, FOUR.y),
    "hybrid": (papers.Classifier, {"rule": "optimal", "sharing": "hybrid", "features": "frequency"}, FOUR.X, FOUR.y),
    "own features": (papers.Classifier, {"sharing": "hybrid", "features": by_letters}, NAMED, FOUR.y),
    "costs": (papers.Classifier, {"cost": {(0, 1): 4.0}}, FOUR.X, FOUR.y),
    "entropy": (papers.Classifier, {"geometry": "entropy", "margin": 0.3, "n_features": 9}, FOUR.X, FOUR.y),
    "mean entropy": (
        papers.Classifier,
        {"geometry": "entropy", "margin": 0.3, "n_features": 9, "average": True},
        FOUR.X,
        FOUR.y,
    ),
    "kernel": (papers.Classifier, {"kernel": Gaussian(0.4)}, FOUR.X, FOUR.y),
    "kernel with a budget": (papers.Classifier, {"kernel": Gaussian(0.4), "budget": 7}, FOUR.X, FOUR.y),
    "shared kernel": (papers.Classifier, {"kernel": Centred(0.4), "sharing": "hybrid"}, FOUR.X, FOUR.y),
    "sets": (papers.Ranker, {"rule": "simproj"}, SETS.X, [set(labels) for labels in SETS.y]),
    "text": (hinged.TextClassifier, {}, TEXTS, FOUR.y),
    "text sets": (hinged.TextRanker, {}, TEXTS, [set(labels) for labels in SETS.y]),
    "two labels": (papers.BinaryClassifier, {"bias": 0.5}, FOUR.X, TWO),
    "two labels, kernel": (papers.BinaryClassifier, {"kernel": Gaussian(0.4)}, FOUR.X, TWO),
    "ranks": (papers.OrdinalClassifier, {"average": True}, FOUR.X, sorted(FOUR.y)),
    "tags": (hinged.SequenceTagger, {}, [[[t, "x"] for t in text.split()] for text in TEXTS], None),
}
LEARNERS["tags"] = (*LEARNERS["tags"][:3], [[FOUR.y[i]] * len(s) for i, s in enumerate(LEARNERS["tags"][2])])
learners = pytest.mark.parametrize("name", LEARNERS)
pytestmark = pytest.mark.filterwarnings("ignore:margin=.* is out of reach")


def labels_of(answer):
    return sorted(set(answer)) if isinstance(answer, (set, list)) else [answer]


def knowledge(model, rows):
    """Scores, certificate and steps to the last bit; with a kernel up to rounding, as sums depend on the blocks."""
    scores, dual = model.decision_function(rows), model.dual_
    if getattr(model, "kernel", None) is not None:
        scores, dual = np.round(scores, 9), None if dual is None else round(dual, 9)
    return [part.tolist() for part in scores], dual, model.n_updates_, list(model.known_labels())


@learners
def test_learning_a_new_label_is_declaring_it_and_learning_the_row_uncounted(name):
    kind, settings, rows, y = LEARNERS[name]
    ours, plain, known = kind(**settings, novel="learn"), kind(**settings, novel="skip"), set()
    mistakes = novel = 0
    for x, answer in zip(rows, y, strict=True):
        new = [label for label in labels_of(answer) if label not in known]
        known.update(new)
        if new and hasattr(plain, "model_"):
            plain.declare(new)  # known with weights of zero before the row comes
        before = plain.n_mistakes_ if hasattr(plain, "model_") else 0
        ours.learn_one(x, answer)
        plain.learn_one(x, answer)
        novel += bool(new)
        mistakes += 0 if new else plain.n_mistakes_ - before
    assert novel > 1
    assert knowledge(ours, rows) == knowledge(plain, rows)
    assert (ours.n_novel_, ours.n_mistakes_, ours.n_rounds_) == (novel, mistakes, len(y))


@learners
@pytest.mark.parametrize("novel", ["learn", "skip"])
def test_one_by_one_is_a_batch_and_a_file_and_a_pickle_go_on(name, novel, tmp_path):
    kind, settings, rows, y = LEARNERS[name]
    batch = kind(**settings, novel=novel).partial_fit(rows, y)
    singly = kind(**settings, novel=novel)
    for x, answer in zip(rows[:9], y[:9], strict=True):
        singly.learn_one(x, answer)
    pickled = pickle.loads(pickle.dumps(singly)) if name != "own features" else singly
    pickled.save(tmp_path / "model")
    given = {"features": by_letters} if name == "own features" else {}
    loaded = hinged.load(tmp_path / "model", **given)
    assert loaded.get_params()["novel"] == novel
    for x, answer in zip(rows[9:], y[9:], strict=True):
        loaded.learn_one(x, answer)
    assert knowledge(loaded, rows) == knowledge(batch, rows)
    assert (loaded.n_mistakes_, loaded.n_novel_) == (batch.n_mistakes_, batch.n_novel_)


@learners
def test_such_a_round_is_flagged_and_has_no_rank_and_no_loss(name):
    kind, settings, rows, y = LEARNERS[name]
    told = {novel: progressive(kind(**settings, novel=novel), rows, y) for novel in ("learn", "skip")}
    new = told["learn"].flags == -1
    np.testing.assert_array_equal(new, told["skip"].flags == -1)
    for one in told.values():
        assert one.novel == new.sum() > 1
        assert not one.ranks[new].any()
        assert not one.losses[new].any()


@learners
def test_weight_zero_registers_nothing_and_learns_nothing(name):
    kind, settings, rows, y = LEARNERS[name]
    model = kind(**settings).partial_fit(rows[:1], y[:1])
    later = next(i for i, answer in enumerate(y) if set(labels_of(answer)) - set(labels_of(y[0])))
    before = knowledge(model, rows[:1])
    model.partial_fit(rows[later : later + 1], y[later : later + 1], sample_weight=[0.0])
    assert knowledge(model, rows[:1]) == before
    assert model.n_novel_ == 1 + bool(labels_of(y[0]))  # counted, as before


@learners
def test_fit_knows_all_labels_so_nothing_is_new(name):
    kind, settings, rows, y = LEARNERS[name]
    one, other = (kind(**settings, novel=novel).fit(rows, y) for novel in ("learn", "skip"))
    assert knowledge(one, rows) == knowledge(other, rows)
    assert one.n_novel_ == other.n_novel_ == 0


@learners
def test_with_a_delay_the_flag_is_that_of_the_prediction_and_the_row_is_learnt_later(name):
    kind, settings, rows, y = LEARNERS[name]
    late, plain, known = kind(**settings, novel="learn"), kind(**settings, novel="learn"), set()
    told = progressive(late, rows, y, delay=3)
    flags = []
    for t, answer in enumerate(y):
        flags.append(bool(set(labels_of(answer)) - known))
        if t >= 3:
            known.update(labels_of(y[t - 3]))
    assert (told.flags == -1).tolist() == flags
    plain.partial_fit(rows, y)  # what is learnt, and in which order, does not depend on when it was predicted
    assert knowledge(late, rows) == knowledge(plain, rows)
    assert late.n_novel_ == sum(flags) > plain.n_novel_


def test_a_label_that_was_taught_once_is_known():
    for novel, told in (("learn", ["a", "b", "c"]), ("skip", ["a", "a", "a"])):
        model = hinged.Classifier(novel=novel).partial_fit(np.eye(3), ["a", "b", "c"])
        assert model.predict(np.eye(3)).tolist() == told


def test_a_row_with_every_label_known_by_then_asks_for_nothing():
    model = papers.Ranker()
    model.learn_one([1.0], {"a", "b"})
    assert (model.n_updates_, model.n_novel_, model.dual_) == (0, 1, 0.0)
    model.learn_one([1.0], {"a", "b", "c"})
    assert (model.n_updates_, model.n_novel_) == (0, 2)
    model.learn_one([1.0], {"a", "d"})  # known and new ones: b and c must fall
    assert (model.n_updates_, model.n_novel_, model.n_mistakes_) == (1, 3, 0)


def test_confidence_is_not_calibrated_on_rounds_that_count_for_nothing():
    model = hinged.Classifier().declare(["a", "b"])
    model.learn_one([1.0], "c")
    assert model.n_updates_ == 1
    assert model.model_.ledger.odds[NOTED] == 0.0
    model.learn_one([1.0], "c")
    assert model.model_.ledger.odds[NOTED] == 1.0


def test_many_labels_make_room_for_new_ones():  # more than a segment of weights holds
    labels = list(range(200))
    for sharing, features in (("multi", None), ("hybrid", "frequency")):
        model = hinged.Classifier(sharing=sharing, features=features).partial_fit(np.eye(200), labels)
        declared = hinged.Classifier(sharing=sharing, features=features, novel="skip")
        for x, label in zip(np.eye(200), labels, strict=True):
            if label:
                declared.declare([label])
            declared.learn_one(x, label)
        assert picture(model, np.eye(200)) == picture(declared, np.eye(200))
        assert model.n_updates_ == 199


# ------------------------------------------------------------------ the setting
@learners
@pytest.mark.parametrize("wrong", ["Learn", None, True, ["skip"]])
def test_other_values_are_refused_by_name(name, wrong):
    kind, settings, rows, y = LEARNERS[name]
    with pytest.raises(ValueError, match=r"novel must be 'learn' or 'skip'; got novel="):
        kind(**settings, novel=wrong).partial_fit(rows, y)


def test_kernel_learning_on_plain_arrays_takes_it_too():
    learnt, skipped = (hinged.mercer.learn(FOUR.X, FOUR.y, Gaussian(0.4), novel=novel) for novel in ("learn", "skip"))
    assert learnt.updates > skipped.updates
    with pytest.raises(ValueError, match="novel must be 'learn' or 'skip'; got novel='x'"):
        hinged.mercer.learn(FOUR.X, FOUR.y, Gaussian(0.4), novel="x")


def test_it_may_change_between_rounds_and_the_certificate_then_speaks_of_nothing():
    model = hinged.Classifier(novel="skip").partial_fit(np.eye(2), ["a", "b"])
    assert model.n_updates_ == 0
    model.set_params(novel="learn").learn_one(np.ones(2), "c")
    assert model.n_updates_ == 1
    assert model.dual_ is None


# ------------------------------------------------------------------ from before the setting existed
def without_novel(path):
    """Make a model file look as if it had been written before the setting existed."""
    about, tensors, names = read(path)
    del about["params"]["novel"]
    write(path, about, tensors, names)


@learners
def test_a_file_from_before_goes_on_as_it_began(name, tmp_path):
    kind, settings, rows, y = LEARNERS[name]
    kind(**settings, novel="skip").partial_fit(rows[:1], y[:1]).save(tmp_path / "old")
    without_novel(tmp_path / "old")
    given = {"features": by_letters} if name == "own features" else {}
    loaded = hinged.load(tmp_path / "old", **given)
    assert loaded.get_params()["novel"] == "skip"
    loaded.partial_fit(rows[1:], y[1:])
    expected = kind(**settings, novel="skip").partial_fit(rows, y)
    assert knowledge(loaded, rows) == knowledge(expected, rows)


@pytest.mark.parametrize("name", [name for name in LEARNERS if name != "own features"])  # functions are not pickled
def test_a_pickle_from_before_goes_on_as_it_began(name):
    kind, settings, rows, y = LEARNERS[name]
    model = kind(**settings, novel="skip").partial_fit(rows[:1], y[:1])
    del model.__dict__["novel"]
    loaded = pickle.loads(pickle.dumps(model))
    assert loaded.get_params()["novel"] == "skip"


def test_a_journal_from_before_goes_on_as_it_began(tmp_path):
    def forget_the_setting(folder):
        with DurableModel(folder) as kept, kept.journal.transaction():
            stored = kept.journal.get("model")
            stored["settings"].pop("novel", None)
            kept.journal.put("model", stored)
        if (folder / "model.hinged").exists():
            without_novel(folder / "model.hinged")

    folder, expected = tmp_path / "kept", hinged.TextClassifier(novel="skip")
    for model in (hinged.TextClassifier(novel="skip"), hinged.TextClassifier(), None):
        with DurableModel(folder, model) as kept:
            assert kept.model.novel == "skip"
            for text, label in (("tax form due", "work"), ("cake recipe", "home"), ("late goal", "sport")):
                kept.learn(text, label)
                expected.learn_one(text, label)
            kept.snapshot()
        forget_the_setting(folder)
    with DurableModel(folder) as kept:
        kept.rename("work", "office")
        kept.merge("sport", "home")  # learnt again from the first line on
        assert kept.model.novel == "skip"
    with pytest.raises(ValueError, match="of other settings than those given"):
        DurableModel(folder, hinged.TextClassifier(C=0.5))
    with DurableModel(tmp_path / "new", hinged.TextClassifier()) as kept:
        assert json.loads(json.dumps(kept.journal.get("model")))["settings"]["novel"] == "learn"
    with pytest.raises(ValueError, match="of other settings than those given"):
        DurableModel(tmp_path / "new", hinged.TextClassifier(novel="skip"))
