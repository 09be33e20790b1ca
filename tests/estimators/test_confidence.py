"""Confidence: what its twin says, in every loop; kept by edits, files and merging; read from files of version 0.1."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import plain as papers
from tests.helpers import as_compiled
from tests.reference.confidence import ConfidenceTwin
from tests.reference.streams import random_stream

import hinged
from hinged.io import read, write
from hinged.loops.confidence import ERRORS, chances, learn_lead, new_odds
from hinged.mercer import Gaussian

(learn,) = as_compiled(learn_lead)
FOUR, SETS = random_stream("real", 3), random_stream("real", 3, sets=True)
SINGLE = FOUR.X.astype(np.float32)
LEARNERS = {
    "one learner": (papers.Classifier, {}, FOUR.X, FOUR.y),
    "single precision": (papers.Classifier, {"rule": "simproj"}, SINGLE, FOUR.y),
    "side by side": (hinged.Classifier, {}, FOUR.X, FOUR.y),
    "mean": (papers.Classifier, {"average": True}, FOUR.X, FOUR.y),
    "shared": (papers.Classifier, {"sharing": "hybrid", "features": "frequency"}, FOUR.X, FOUR.y),
    "entropy": (papers.Classifier, {"geometry": "entropy", "margin": 0.3, "n_features": 9}, FOUR.X, FOUR.y),
    "kernel": (papers.Classifier, {"kernel": Gaussian(0.4)}, FOUR.X, FOUR.y),
    "sets": (papers.Ranker, {"rule": "simproj"}, SETS.X, [set(labels) for labels in SETS.y]),
}
pytestmark = pytest.mark.filterwarnings("ignore:margin=.* is out of reach")


def of_rounds(X, y):
    """Weights by which some rounds are not learnt."""
    return np.where(np.arange(len(y)) % 7 == 6, 0.0, 1.0)


def learnt_with_a_twin(make, settings, X, y):
    """Learn row by row; a twin learns from what the model said before each round that counts."""
    model, twin, said, told = make(**settings), ConfidenceTwin(), [], []
    for x, label, weight in zip(X, y, of_rounds(X, y), strict=True):
        known, right = model.known_labels(), label if isinstance(label, set) else {label}
        if right and right < set(known):
            now = model.scored(x[None])
            first, lead = known[now.order()[0]], float(now.gap[0])
            said.append(float(now.confidence[0]))
            told.append(twin.chance(lead, first))
            if weight > 0:
                twin.learn(lead, first, first in right)
        model.learn_one(x, label, weight)
    return model, twin, said, told


@pytest.mark.parametrize("name", LEARNERS)
def test_every_loop_learns_confidence_as_the_twin_does(name):
    make, settings, X, y = LEARNERS[name]
    model, twin, said, told = learnt_with_a_twin(make, settings, X, y)
    np.testing.assert_allclose(said, told, rtol=1e-9)
    assert len(said) > 30
    assert np.ptp(said) > 0.1
    ledger, k = model.model_.ledger, len(model.known_labels())
    np.testing.assert_allclose(ledger.odds[: ERRORS + 1], [*twin.weights, sum(twin.errors)], rtol=1e-9)
    np.testing.assert_allclose(ledger.records[:k], [twin.records.get(label, 0.0) for label in model.known_labels()])
    at_once = make(**settings).partial_fit(X, y, sample_weight=of_rounds(X, y)).model_.ledger
    for one, other in ((ledger.odds, at_once.odds), (ledger.records[:k], at_once.records[:k])):
        np.testing.assert_allclose(other, one, rtol=1e-10 if name == "kernel" else 0)


def test_the_record_of_a_label_is_what_tells_it_from_others_with_the_same_lead():
    odds, records = new_odds(), np.zeros(2)
    for t in range(400):
        learn(odds, records, 1.0 + t % 3, t % 2, t % 2 == 0 or t % 8 == 1)  # label 0 is always right, 1 once in four
    sure = chances(odds, records, np.array([1.0, 3.0, 1.0, 3.0]), np.array([0, 0, 1, 1]))
    assert sure[:2].min() > 0.75
    assert sure[2:].max() < 0.5


PREDICTIONS = st.lists(st.tuples(st.floats(0, 8, width=16), st.integers(0, 2), st.booleans()), max_size=60)


@given(PREDICTIONS, st.integers(-9, 9), st.lists(st.floats(0, 50, width=16), min_size=2, max_size=5))
def test_confidence_never_falls_as_the_lead_grows_and_does_not_depend_on_the_unit_of_scores(seen, power, leads):
    odds, records, scaled, of_scaled = new_odds(), np.zeros(3), new_odds(), np.zeros(3)
    for lead, first, hit in seen:
        learn(odds, records, lead, first, hit)
        learn(scaled, of_scaled, lead * 2.0**power, first, hit)
    leads, firsts = np.sort(leads), np.ones(len(leads), np.int64)
    sure = chances(odds, records, leads, firsts)
    assert ((sure > 0) & (sure < 1)).all()
    assert (np.diff(sure) >= -1e-15).all()
    np.testing.assert_array_equal(chances(scaled, of_scaled, leads * 2.0**power, firsts), sure)


def test_leads_beyond_all_bounds_leave_it_a_probability():
    odds, records = new_odds(), np.zeros(1)
    for lead in (*[1e299] * 20, 5e-324, 0.0, 1.0):
        learn(odds, records, lead, 0, True)
    sure = chances(odds, records, np.array([0.0, 1.0, np.inf]), np.zeros(3, np.int64))
    assert ((sure > 0) & (sure < 1)).all()
    assert np.isfinite(odds).all()


# ---------------------------------------------------------------------- edits, files, states
@pytest.mark.parametrize("name", ["one learner", "entropy", "kernel"])
def test_edits_keep_the_records_of_the_labels_that_stay(name, tmp_path):
    make, settings, X, y = LEARNERS[name]
    model = make(**settings).partial_fit(X, y)
    records = dict(zip(model.known_labels(), model.model_.ledger.records, strict=False))
    odds, labels = model.model_.ledger.odds.copy(), list(records)
    model.rename_label(labels[0], "new").merge_labels(labels[1], labels[2]).remove_label(labels[3])
    model.save(tmp_path / "m.hinged")
    for now in (model, hinged.load(tmp_path / "m.hinged")):
        assert now.known_labels() == ("new", labels[2], *labels[4:])
        mean = (records[labels[1]] + records[labels[2]]) / 2
        expected = [records[labels[0]], mean, *(records[label] for label in labels[4:])]
        np.testing.assert_array_equal(now.model_.ledger.records[: len(expected)], expected)
        np.testing.assert_array_equal(now.model_.ledger.odds, odds)


def test_records_of_merged_states_are_means_by_label():
    start = papers.Classifier().declare(["a", "b"]).partial_fit(np.eye(2), ["a", "b"]).get_state()
    states, model = [], papers.Classifier()
    for new in ("c", "d"):
        model.set_state(start).partial_fit(FOUR.X[:40, :2], [["a", "b", new][t % 3] for t in range(40)])
        states.append((model.known_labels(), model.model_.ledger.records.copy(), model.get_state()))
    model.merge([state for *_, state in states], base=start)
    for label, record in zip(model.known_labels(), model.model_.ledger.records, strict=False):
        theirs = [kept[known.index(label)] if label in known else 0.0 for known, kept, _ in states]
        assert record == pytest.approx(sum(theirs) / 2, abs=1e-15)


def as_of_0_1(path, leads):
    """Rewrite a model file as version 0.1 did: with hits by bins of the lead."""
    about, arrays, names = read(path)
    kept = {name: array for name, array in arrays.items() if name not in ("ledger.odds", "ledger.records")}
    write(path, about, kept | {"ledger.leads": leads}, names)


def test_a_model_of_version_0_1_goes_on_with_what_its_bins_say(tmp_path):
    path, leads = tmp_path / "m.hinged", np.zeros((2, 96))
    leads[:, 36], leads[:, 44] = (400, 160), (400, 380)  # of leads from 1/2 on 40 % were right, of those from 2 on 95 %
    papers.Classifier().partial_fit(FOUR.X, FOUR.y).save(path)
    as_of_0_1(path, leads)
    model = hinged.load(path)
    ledger = model.model_.ledger
    sure = chances(ledger.odds, ledger.records, np.array([0.5, 2.0]), np.zeros(2, np.int64))
    np.testing.assert_allclose(sure, [0.4, 0.95], atol=0.1)
    assert not ledger.records.any()
    model.partial_fit(FOUR.X, FOUR.y).save(path)
    assert hinged.load(path).confidence(FOUR.X).tolist() == model.confidence(FOUR.X).tolist()


@pytest.mark.parametrize("count", [-1.0, 1e12, np.nan])
def test_bins_that_version_0_1_cannot_have_written_are_refused(count, tmp_path):
    path = tmp_path / "m.hinged"
    papers.Classifier().partial_fit(FOUR.X, FOUR.y).save(path)
    as_of_0_1(path, np.full((2, 96), count))
    with pytest.raises(ValueError, match="damaged"):
        hinged.load(path)


DAMAGED = {
    "ledger.odds": [lambda a: a * np.nan, lambda a: a[:2], lambda a: -a, lambda a: a * 0],
    "ledger.records": [lambda a: a * np.inf, lambda a: a[:1], lambda a: a.astype(np.float32)],
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_odds_are_refused(name, tmp_path):
    path = tmp_path / "m.hinged"
    papers.Classifier().partial_fit(FOUR.X + 1.0, FOUR.y).save(path)
    about, arrays, names = read(path)
    for change in DAMAGED[name]:
        write(path, about, arrays | {name: np.ascontiguousarray(change(arrays[name]))}, names)
        with pytest.raises(ValueError, match="damaged"):
            hinged.load(path)
