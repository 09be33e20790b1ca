"""The laws of merging: order and grouping do not matter, what learnt nothing counts for nothing, names are united."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.estimators.test_state import LINEAR, OTHERS, bits, stream

import hinged
from hinged.estimators.merging import WEIGHTS, merge

COUNTS = ("n_rounds_", "n_mistakes_", "n_updates_", "n_novel_")


def learnt_apart(name, sizes, seed, based):
    """A learner, a common base (or None) and the states that came of it on streams of their own."""
    make = LINEAR[name]
    base = make().fit(*stream(make(), 20, seed)).get_state() if based else None
    states = []
    for i, n in enumerate(sizes, start=1):
        model = make() if base is None else make().set_state(base)
        states.append(model.partial_fit(*stream(model, n, seed + i), *_classes(model)).get_state())
    return make, base, states


def _classes(model):
    """Labels known in advance, where a learner takes them: then none is the second of two by chance."""
    if isinstance(model, hinged.Regressor | hinged.Ranker | hinged.TextRanker):
        return ()
    return ([0, 1] if isinstance(model, hinged.BinaryClassifier) else [0, 1, 2, 3],)


def answers(make, state, X):
    """What a learner says about rows, labels in a fixed order, and what it counted."""
    model = make().set_state(state)
    if isinstance(model, hinged.Regressor):
        scores = model.predict(X)
    else:
        scores = np.asarray(model.decision_function(X))
        scores = scores[:, np.argsort(model.classes_)] if scores.ndim == 2 else scores
    return scores, [getattr(model, name) for name in COUNTS]


def same(make, one, other, X):
    """Two states say the same up to rounding, and counted the same."""
    (a, a_counts), (b, b_counts) = answers(make, one, X), answers(make, other, X)
    assert a_counts == b_counts
    tolerance = 1e-4 if a.dtype == np.float32 or "words.hashes" in one.arrays else 1e-9
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", LINEAR)
@given(
    sizes=st.lists(st.integers(3, 12), min_size=3, max_size=3),
    seed=st.integers(0, 1000),
    based=st.booleans(),
    weights=st.sampled_from(sorted(WEIGHTS)),
)
@settings(max_examples=max(4, settings.default.max_examples // 6))
def test_order_and_grouping_do_not_matter(name, sizes, seed, based, weights):
    make, base, (a, b, c) = learnt_apart(name, sizes, seed, based)
    X = stream(make(), 10, seed + 50)[0]
    all_at_once = merge([a, b, c], base, weights)
    same(make, all_at_once, merge([c, a, b], base, weights), X)
    same(make, all_at_once, merge([merge([a, b], base, weights), c], base, weights), X)
    same(make, all_at_once, merge([a, merge([c, b], base, weights)], base, weights), X)


@pytest.mark.parametrize("name", LINEAR)
def test_what_learnt_nothing_counts_for_nothing(name):
    make, base, (a, b) = learnt_apart(name, [7, 9], 3, based=True)
    assert bits(merge([a, base], base)) == bits(a)
    assert bits(merge([base, base], base)) == bits(base)
    assert bits(merge([a])) == bits(a)
    same(make, merge([a, base, b], base), merge([a, b], base), stream(make(), 10, 9)[0])


@pytest.mark.parametrize("name", LINEAR)
def test_counters_add_up_over_the_base(name):
    make, base, states = learnt_apart(name, [5, 8, 11], 11, based=True)
    merged = make().merge(states, base)
    assert merged.n_rounds_ == 20 + 5 + 8 + 11
    for count in COUNTS:
        before, *after = (getattr(make().set_state(state), count) for state in (base, *states))
        assert getattr(merged, count) == before + sum(n - before for n in after)


def test_weights_are_the_mean_by_hand():
    plain = {"rule": "pa1", "C": 1.0, "scaling": None, "bias": 0.0, "average": False}
    model = hinged.Classifier(**plain)
    base = model.partial_fit([[1.0, 0.0]], ["a"], classes=["a", "b"]).get_state()
    one = model.set_state(base).partial_fit([[0.0, 1.0]], ["b"]).get_state()  # right after a step of 1/2
    two = model.set_state(base).partial_fit([[0.0, 2.0], [0.0, -2.0]], ["a", "a"]).get_state()
    each = [hinged.Classifier(**plain).set_state(state).coef_ for state in (one, two)]
    for weights, shares in {"uniform": (1, 1), "updates": (1, 2), "mistakes": (1, 2)}.items():
        expected = (shares[0] * each[0] + shares[1] * each[1]) / sum(shares)
        np.testing.assert_allclose(hinged.Classifier(**plain).merge([one, two], base, weights).coef_, expected)


@pytest.mark.parametrize("bits_of_hash", [None, 14])
def test_labels_and_words_are_united_by_name(bits_of_hash):
    make = lambda: hinged.TextClassifier(bits=bits_of_hash)  # noqa: E731
    one = make().partial_fit(["tax form due", "lunch menu", "tax office"], ["work", "home", "work"])
    two = make().partial_fit(["goal scored", "tax refund", "late goal"], ["sport", "work", "sport"])
    both = make().merge([one.get_state(), two.get_state()])
    assert both.known_labels() == ("work", "home", "sport")
    assert both.n_known_features == 10  # tax form due lunch menu office goal scored refund late
    assert both.predict_one("a late goal") == "sport"
    assert both.predict_one("lunch") == "home"
    reasons = [name for name, _ in both.explain("tax", "work", top=None)]
    assert [name for name in reasons if not name.startswith("evidence:")] == ["tax"]
    both.partial_fit(["late lunch"], ["sport"])
    counted = both.get_state().arrays
    assert counted["ledger.counts"][0] == 7
    assert counted["label_rows"].tolist() == [3, 1, 3]


def test_names_of_dicts_are_united():
    one, two = (hinged.Classifier("pa1", C=1.0, scaling=None, average=False) for _ in range(2))
    one.partial_fit([{"x": 1.0}, {"y": 1.0}], ["a", "b"], classes=["a", "b"])
    two.partial_fit([{"z": 1.0}, {"y": 1.0}], ["b", "a"], classes=["a", "b"])
    both = hinged.Classifier("pa1", C=1.0, scaling=None, average=False).merge([one.get_state(), two.get_state()])
    assert both.feature_names_ == ["x", "y", "z"]
    parts = [dict(zip(m.feature_names_, m.coef_[0].tolist(), strict=True)) for m in (one, two)]
    expected = [sum(part.get(name, 0.0) for part in parts) / 2 for name in "xyz"]
    np.testing.assert_allclose(both.coef_[0], expected)


def test_two_labels_met_in_another_order_are_turned():
    settings = {"rule": "pa1", "C": 1.0, "scaling": None, "bias": 0.0, "average": False}
    one = hinged.BinaryClassifier(**settings).partial_fit([[1.0, 0.0], [0.0, 1.0]], ["no", "yes"])
    two = hinged.BinaryClassifier(**settings).partial_fit([[0.0, 1.0], [1.0, 0.0]], ["yes", "no"])
    both = hinged.BinaryClassifier(**settings).merge([one.get_state(), two.get_state()])
    assert both.classes_.tolist() == ["no", "yes"]
    np.testing.assert_allclose(both.coef_, (one.coef_ - two.coef_) / 2)


def test_moments_are_those_of_all_rows_together():
    rng = np.random.default_rng(0)
    X, y = rng.normal(3.0, 2.0, (90, 3)), rng.integers(0, 3, 90).tolist()
    base = hinged.Classifier(scaling="standard").fit(X[:30], y[:30]).get_state()
    parts = [hinged.Classifier(scaling="standard").set_state(base).partial_fit(X[a : a + 30], y[a : a + 30])
             for a in (30, 60)]  # fmt: skip
    merged = merge([part.get_state() for part in parts], base).arrays
    np.testing.assert_allclose(merged["means"][1:4], X.mean(axis=0))
    np.testing.assert_allclose(merged["spreads"][1:4], ((X - X.mean(axis=0)) ** 2).sum(axis=0))


def test_the_target_of_numbers_is_that_of_all_rows_together():
    X = np.arange(20.0).reshape(10, 2)
    y = 3.0 * X[:, 0] + 1.0
    states = [hinged.Regressor().partial_fit(X[some], y[some]).get_state() for some in (slice(0, 4), slice(4, 10))]
    mean, spread = merge(states).arrays["target"]
    np.testing.assert_allclose([mean, spread], [y.mean(), ((y - y.mean()) ** 2).sum()])


def test_the_mean_of_means_stays_a_mean():
    make = lambda: hinged.Classifier(average=True, C=1.0)  # noqa: E731 (with several C their shares are mixed too)
    states = [make().partial_fit(*stream(make(), n, n), [0, 1, 2, 3]).get_state() for n in (10, 40)]
    each = [make().set_state(state).coef_ for state in states]
    np.testing.assert_allclose(make().merge(states).coef_, (each[0] + each[1]) / 2, atol=1e-12)


@pytest.mark.parametrize("name", ["adaptive", "binary adaptive"])
def test_a_metric_has_learnt_from_all_rows_that_moved_weights(name):
    make, base, states = learnt_apart(name, [9, 9], 0, based=True)
    seen = [state.arrays["seen"] for state in (base, *states)]
    merged = make().merge(states, base=base).get_state().arrays["seen"]
    np.testing.assert_allclose(merged, seen[1] + seen[2] - seen[0])
    assert (merged >= seen[0]).all()


def test_a_certificate_is_not_claimed_after_a_merge():
    make = LINEAR["one C"]
    states = [make().partial_fit(*stream(make(), 9, seed)).get_state() for seed in (0, 1)]
    assert make().set_state(states[0]).dual_ is not None
    assert make().merge(states).dual_ is None


@pytest.mark.parametrize(("name", "words"), [("kernel", "kernel="), ("entropy", "geometry=")])
def test_what_cannot_be_merged_says_so(name, words):
    make = OTHERS[name]
    state = make().partial_fit(*stream(make(), 10, 0)).get_state()
    with pytest.raises(ValueError, match=f"cannot be merged: .*{words}"):
        merge([state, state])


def test_other_learners_are_named():
    tagger = hinged.SequenceTagger().fit([[["a"], ["b"]]], [["X", "Y"]])
    with pytest.raises(ValueError, match="SequenceTagger has no linear weights of rows"):
        merge([tagger.get_state()])
    ball = hinged.Uniclass().partial_fit([[1.0, 2.0]])
    with pytest.raises(ValueError, match="Uniclass"):
        merge([ball.get_state()])
    first = hinged.Classifier(sharing="hybrid", features="first").fit([[1.0, 2.0], [2.0, 1.0]], ["a", "b"])
    with pytest.raises(ValueError, match="first row"):
        merge([first.get_state()])


def test_states_that_do_not_belong_together_are_refused():
    a = hinged.Classifier("pa1", C=1.0).fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"]).get_state()
    b = hinged.Classifier("pa1", C=2.0).fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"]).get_state()
    with pytest.raises(ValueError, match="began alike; got params"):
        merge([a, b])
    with pytest.raises(ValueError, match="weights must be one of"):
        merge([a], weights="best")
    with pytest.raises(ValueError, match="at least one state"):
        merge([])
    three = [hinged.BinaryClassifier().partial_fit([[1.0], [2.0]], list(labels)).get_state() for labels in ("ab", "bc")]
    with pytest.raises(ValueError, match="two labels; the states to be merged have"):
        merge(three)
    ranks = [hinged.OrdinalClassifier().partial_fit([[1.0], [2.0]], y).get_state() for y in ([1, 2], [2, 3])]
    with pytest.raises(ValueError, match="all states know the same"):
        merge(ranks)


def test_evidence_is_that_of_all_rows_and_the_least_age():
    plain = {"C": 1.0, "sharing": "single", "features": "evidence", "scaling": None, "normalize": False}
    rows = {"x": [1.0, 2.0, 0.0], "y": [0.0, 1.0, 1.0]}

    def learnt(labels):
        model = hinged.Classifier("pa1", **plain)
        return model.partial_fit([rows[y] for y in labels], list(labels), classes=["x", "y"]).get_state()

    merged = merge([learnt("xyy"), learnt("yxyyy")]).arrays
    assert merged["totals.occurrences"].tolist() == [2 * 2, 6 * 2]  # two features a row; x had 2 rows, y had 6
    assert merged["totals.squares"].tolist() == [4 * 5.0, 36 * 2.0]
    assert merged["totals.last"].tolist() == [8 - 2, 8]  # x came two rounds ago in one, three in the other
