"""Journals from before learners chose their settings: they go on with the ones they began with, to the last bit."""

import pytest
from tests import plain
from tests.journal.models import same

import hinged
from hinged.journal import DurableModel

#: What every journal of a learner without arguments stored then.
STORED = {
    "rule": "pa1",
    "C": 1.0,
    "scaling": None,
    "normalize": False,
    "average": False,
    "bias": 0.0,
    "n_features": None,
    "epochs": 1,
    "shuffle": False,
    "random_state": None,
    "dtype": None,
}
KERNEL = {"kernel": None, "device": "cpu", "budget": None}
LABELLED = STORED | {"margin": 1.0, "novel": "learn"}
LABELS = LABELLED | KERNEL | {"class_weight": None, "constraint": "max-loss", "cost": None}
LABELS |= {"features": None, "geometry": "euclidean", "sharing": "multi"}

ROWS = [{"a": 1.0, "b": 1.0}, {"b": 1.0, "c": 1.0}, {"a": 2.0}, {"a": 1.0, "c": 1.0}, {"b": 2.0}, {"a": 1.0, "b": 1.0}]
#: Estimator → settings, answers, and the weights that version 0.1 learnt where they are exact in binary.
KINDS = {
    "Classifier": (
        LABELS,
        ["x", "y", "y", "x", "z", "y"],
        [[0.25, -0.25, 0.25], [0.1875, 0.3125, -0.25], [-0.4375, -0.0625, 0.0]],
    ),
    "Ranker": (
        LABELS,
        [{"x"}, {"x", "y"}, {"y"}, {"x", "z"}, {"z"}, {"y"}],
        [[0.125, -0.25, 0.375], [0.21875, 0.34375, -0.375], [-0.34375, -0.09375, 0.0]],
    ),
    "BinaryClassifier": (LABELLED | KERNEL | {"class_weight": None}, ["x", "y", "y", "x", "x", "y"], [0.5, 0.5, -0.5]),
    "Regressor": (STORED | KERNEL | {"epsilon": 0.1}, [1.0, -2.0, 4.0, 0.5, 3.0, -1.0], None),
    "OrdinalClassifier": (LABELLED | {"rule": "simproj", "order": None}, [0, 1, 2, 1, 0, 2], None),
}


def from_before(folder, kind):
    """A journal as it was created by ``kind()``, before anything was learnt."""
    with DurableModel(folder, getattr(plain, kind)()) as kept, kept.journal.transaction():
        kept.journal.put("model", {"estimator": kind, "settings": KINDS[kind][0]})


@pytest.mark.parametrize("kind", KINDS)
def test_a_journal_from_before_is_replayed_to_the_same_bits(kind, tmp_path):
    _, answers, weights = KINDS[kind]
    expected = getattr(plain, kind)()
    from_before(tmp_path, kind)
    for begin, given in (
        (0, None),
        (2, getattr(hinged, kind)()),
        (4, expected),
    ):  # by name, by its defaults, by settings
        with DurableModel(tmp_path, given) as kept:
            for x, y in list(zip(ROWS, answers, strict=True))[begin : begin + 2]:
                kept.learn(x, y)
    for x, y in zip(ROWS, answers, strict=True):
        expected.learn_one(x, y)
    for snapshot in tmp_path.glob("*.hinged"):
        snapshot.unlink()
    with DurableModel(tmp_path) as kept:
        assert kept.model.settled_ == expected.settled_
        assert kept.model.dual_ == expected.dual_
        assert (kept.model.coef_ == expected.coef_).all()
        if weights is not None:
            assert kept.model.coef_.tolist() == weights


def test_other_settings_than_those_from_before_are_refused(tmp_path):
    from_before(tmp_path, "Classifier")
    for other in (hinged.Classifier(C=0.5), hinged.Classifier("optimal"), hinged.Classifier(scaling="idf")):
        with pytest.raises(ValueError, match="of other settings than those given"):
            DurableModel(tmp_path, other)


def test_a_journal_of_chosen_settings_is_not_one_of_plain_ones(tmp_path):
    with DurableModel(tmp_path, hinged.Classifier()) as kept:
        for x, y in zip(ROWS, KINDS["Classifier"][1], strict=True):
            kept.learn(x, y)
        chosen = kept.model.settled_
    with DurableModel(tmp_path) as kept:
        assert kept.model.settled_ == chosen
        assert kept.model.C == "auto"
        assert same(kept.model, hinged.Classifier().partial_fit(ROWS, KINDS["Classifier"][1]))
    with pytest.raises(ValueError, match="of other settings than those given"):
        DurableModel(tmp_path, plain.Classifier())
