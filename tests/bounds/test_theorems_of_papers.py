"""What the papers prove of mistakes: rounds are read as the learner reads them, and no run breaks its bound."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from tests.plain import Classifier, Ranker
from tests.reference import hindsight as plain
from tests.reference.looking import scores_of
from tests.reference.strategies import LABELS, SCHEMES, biases, caps, margins, patience, protocols, seeds, streams
from tests.reference.streams import easy_stream, random_stream

import hinged
from hinged import bounds

schemes, kinds = st.sampled_from(SCHEMES), st.sampled_from(["easy", "real", "count", "binary"])
few = settings(max_examples=25 * patience, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def drawn(kind, seed, sets=False, rounds=30):
    if kind == "easy" and not sets:
        return easy_stream(seed)
    return random_stream("real" if kind == "easy" else kind, seed, rounds=rounds, features=5, sets=sets)


def flat_to_pair(u, labels, order, width, sharing):
    """A comparator of the twin, all blocks in one line, as prototypes in the stream's order and a shared vector."""
    blocks = u.reshape(-1, width)
    own = None if sharing == "single" else blocks[[labels.index(r) for r in order]]
    return own, None if sharing == "multi" else blocks[-1]


def estimator(sets, *args, **params):
    return (Ranker if sets else Classifier)(*args, **params)


# ------------------------------------------------------------------ rounds
@few
@given(seeds, kinds, schemes, biases, protocols, st.booleans(), st.booleans(), margins)
def test_losses_and_lengths_are_those_of_the_rounds_that_a_learner_meets(
    seed, kind, scheme, bias, protocol, scaled, sets, margin
):
    stream = drawn(kind, seed, sets, rounds=20)
    stream, (classes, novel) = stream.head(20), protocol
    options = {"bias": bias, "scaling": "idf" if scaled else None, "normalize": scaled, "novel": novel}
    z = plain.constraints(stream, classes=classes, **scheme, **options)
    like = estimator(sets, **scheme, **options, margin=margin)
    ours = bounds.as_stream(stream.X, stream.y, classes, like=like)
    rng, width = np.random.default_rng(seed), stream.X.shape[1] + (bias != 0)
    u = rng.normal(size=width * (len(stream.labels) * (scheme["sharing"] != "single") + (scheme["sharing"] != "multi")))
    pair = flat_to_pair(u, stream.labels, ours.labels, width, scheme["sharing"])
    constrained = np.diff(ours.starts) > 0
    assert constrained.sum() == len(z)
    got = bounds.losses(ours, pair)
    np.testing.assert_allclose(got[constrained], plain.losses(u, z, margin), rtol=1e-9, atol=1e-9)
    assert not got[~constrained].any()
    expected = [np.max(np.sum(one**2, axis=1)) for one in z]
    np.testing.assert_allclose(ours.sq_lengths[constrained], expected, rtol=1e-9, atol=1e-12)
    shortest = [np.min(np.sum(one**2, axis=1)) for one in z]
    np.testing.assert_allclose(ours.sq_shortest[constrained], shortest, rtol=1e-9, atol=1e-12)
    assert ours.n_pairs[constrained].tolist() == [len(one) for one in z]
    kept = np.concatenate([np.zeros(0) if part is None else part.ravel() for part in pair])
    paid = 0.5 * kept @ kept + 0.5 * plain.losses(u, z, margin).sum()
    assert bounds.objective(ours, pair, 0.5) == pytest.approx(paid)


@few
@given(streams(), st.integers(0, 10))
def test_dense_sparse_and_dict_rows_make_one_stream_and_its_head_is_its_beginning(stream, n):
    u = np.random.default_rng(0).normal(size=(4, stream.X.shape[1]))
    whole = bounds.losses(bounds.as_stream(stream.X, stream.y, LABELS), u)
    assert whole.tolist() == bounds.losses(bounds.as_stream(csr_matrix(stream.X), stream.y, LABELS), u).tolist()
    assert whole.tolist() == bounds.losses(bounds.as_stream(stream.X, [{r} for r in stream.y], LABELS), u).tolist()
    n = min(n, len(whole))
    assert whole[:n].tolist() == bounds.losses(bounds.as_stream(stream.X, stream.y, LABELS).head(n), u).tolist()
    rows = [dict(enumerate(x.tolist())) for x in stream.X]
    assert whole.tolist() == bounds.losses(bounds.as_stream(rows, stream.y, LABELS), u).tolist()


def test_groups_and_label_features_of_ones_own_are_read_too():
    stream = random_stream("real", 3, rounds=25)
    z = plain.constraints(stream, sharing="hybrid", features="first")
    groups = hinged.sharing.Groups([*({r} for r in LABELS), set(LABELS)], features=[None] * 4 + ["first"])
    spelt = bounds.as_stream(stream.X, stream.y, like=Classifier(sharing=groups))
    named = bounds.as_stream(stream.X, stream.y, like=Classifier(sharing="hybrid", features="first"))
    np.testing.assert_allclose(spelt.sq_lengths[np.diff(spelt.starts) > 0], [(o**2).sum(1).max() for o in z])
    np.testing.assert_array_equal(spelt.sq_lengths, named.sq_lengths)
    np.testing.assert_array_equal(spelt.sq_blocks, named.sq_blocks)
    assert (spelt.most_vectors, named.most_vectors) == (2, 2)

    def phi(x, label):
        return {("same", label): sum(x.values())}

    own = bounds.as_stream(stream.X, stream.y, LABELS, like=Classifier(sharing="single", features=phi))
    np.testing.assert_allclose(own.sq_lengths, 2 * stream.X.sum(axis=1) ** 2, atol=1e-12)


def test_texts_make_streams():
    texts, folders = ["tax form", "cake", "tax", "cake recipe"], ["work", "home", "work", "home"]
    for model in (hinged.TextClassifier(), hinged.TextClassifier(sharing="multi", features=None)):
        for novel, constrained in (("learn", 3), ("skip", 2)):  # the first label has no rival yet, the second has one
            stream = bounds.as_stream(texts, folders, like=model.set_params(novel=novel))
            assert repr(stream).startswith(f"Stream(4 rounds, {constrained} with constraints, 2 labels, 4 features")
        assert not hasattr(model, "classes_")


def test_a_vector_stands_for_two_labels():
    X, y = np.array([[1.0, 2.0], [3.0, -1.0]]), [0, 1]
    stream = bounds.as_stream(X, y, classes=[0, 1])
    u = np.array([0.25, 0.5])
    assert bounds.losses(stream, u).tolist() == np.maximum(0, 1 - np.array([-1, 1]) * (X @ u)).tolist()
    assert bounds.pa_theorem_4(stream, u, C=100.0).complexity == pytest.approx((X**2).sum(1).max() * (u @ u))


# ------------------------------------------------------------------ no run breaks its bound
def comparators(stream, seed, C, **options):
    """A good one, a multiple of it, and a random one of its size."""
    best = bounds.hindsight(stream, C, max_epochs=20, **options).u
    rng = np.random.default_rng(seed)
    parts = [None if part is None else rng.normal(size=part.shape) for part in best]
    return [best, bounds.Comparator(*(None if p is None else 2.0 * p for p in best)), bounds.Comparator(*parts)]


@few
@given(seeds, kinds, schemes, protocols, st.booleans(), margins, st.sampled_from([0.3, 1.0, 1.7, 9.0]))
def test_no_run_makes_more_mistakes_than_its_bounds_allow(seed, kind, scheme, protocol, sets, margin, share):
    stream, (classes, novel) = drawn(kind, seed, sets), protocol
    like = estimator(sets, **scheme, margin=margin, novel=novel)
    read = bounds.as_stream(stream.X, stream.y, classes, like=like)
    longest = read.sq_lengths.max()
    assume(longest > 0)
    C = share * margin / longest

    def mistakes(rule):
        model = estimator(sets, rule, C, **scheme, margin=margin, novel=novel)
        return hinged.evaluate.progressive(model, stream.X, stream.y, classes=classes).mistakes

    most = {
        "pa1": [lambda u: bounds.pa_theorem_4(read, u, C), lambda u: bounds.lr_equation_2(read, u, C, h=None)],
        "optimal": [lambda u: bounds.lr_equation_2(read, u, C, rule="optimal", h=None)],
        "conproj": [lambda u: bounds.sp_corollary_1(read, u, C)],
        "simproj": [lambda u: bounds.simproj_bound(read, u, C)],
        "simperc": [lambda u: bounds.sp_theorem_1(read, u)],
        "uniform": [lambda u: bounds.sp_theorem_1(read, u)],
        "perceptron": [lambda u: bounds.hs_theorem_1(read, u), lambda u: bounds.lr_equation_2(
            read, u, None, rule="perceptron", h=None)],
        "pa2": [lambda u: bounds.pa_theorem_5(read, u, C)],
    }  # fmt: skip
    if share < 2:
        most["simperc"].append(lambda u: bounds.sp_theorem_1(read, u, C))
        most["perceptron"].append(lambda u: bounds.lr_equation_2(read, u, C, rule="perceptron", h=None))
    us = comparators(read, seed, C)
    for rule, theorems in most.items():
        made = mistakes(rule)
        for theorem in theorems:
            for u in us:
                bound = theorem(u)
                assert made <= bound.mistakes * (1 + 1e-9), (rule, bound)
                assert bound.value == pytest.approx(bound.complexity + bound.loss + bound.mixed)


@few
@given(seeds, st.sampled_from(["pa", "pa2"]), st.booleans(), st.booleans(), margins, caps)
def test_squared_losses_stay_below_their_bounds(seed, rule, unit, separable, margin, C):
    rng = np.random.default_rng(seed)
    X, hidden = rng.normal(size=(40, 4)), rng.normal(size=(4, 4))
    X = X / np.linalg.norm(X, axis=1, keepdims=True) if unit else X
    scores = X @ hidden.T + (0.0 if separable else rng.normal(size=(40, 4)))
    y = np.argmax(scores, axis=1).tolist()
    model, paid, mistakes = Classifier(rule, C, margin=margin).declare(LABELS), 0.0, 0
    model.learn_one(np.zeros(4), 0) if rule == "pa" else model.partial_fit(X[:1], y[:1])
    rows = range(40) if rule == "pa" else range(1, 40)
    paid += 0.0 if rule == "pa" else margin**2
    mistakes += rule != "pa"
    for i in rows:
        s = scores_of(model, X[i])
        gap = s[y[i]] - np.max(np.delete(s, y[i]))
        paid, mistakes = paid + max(0.0, margin - gap) ** 2, mistakes + (gap <= 0)
        model.learn_one(X[i], y[i])
    stream = bounds.as_stream(X, y, LABELS, margin=margin)
    found = []
    if rule == "pa2":
        found = [bounds.pa_theorem_5(stream, u, C) for u in comparators(stream, seed, C, squared=True)]
    if rule == "pa" and separable:
        found = [bounds.pa_theorem_2(stream, bounds.hindsight(stream, math.inf, max_epochs=400).u)]
    if rule == "pa" and unit:
        found += [bounds.pa_theorem_3(stream, u) for u in comparators(stream, seed, 2.0, squared=True)]
    for bound in found:
        assert bound.counts == "squared loss"
        assert paid <= bound.value * (1 + 1e-9)
        assert mistakes <= bound.mistakes * (1 + 1e-9)


def cost_sensitive(X, y, rho, C):
    """PA-I with the max-loss update in plain NumPy; the total cost and the mistakes."""
    W, total, mistakes = np.zeros((len(rho), X.shape[1])), 0.0, 0
    for x, r in zip(X, y, strict=True):
        s = W @ x
        total += rho[r, int(np.argmax(s))]
        mistakes += s[r] <= np.max(np.delete(s, r))
        worst = int(np.argmax(s - s[r] + np.sqrt(rho[r])))
        loss = s[worst] - s[r] + math.sqrt(rho[r, worst])
        if worst != r and loss > 0:
            step = min(C, loss / (2 * x @ x)) if x.any() else 0.0
            W[r], W[worst] = W[r] + step * x, W[worst] - step * x
    return total, mistakes


@few
@given(seeds, st.sampled_from([0.25, 1.0, 4.0]), st.sampled_from([0.5, 3.0]))
def test_the_cost_of_the_max_loss_update_stays_below_its_bound(seed, C, size):
    stream = random_stream("real", seed, rounds=60, features=5)
    X = stream.X * size / max(1e-9, np.linalg.norm(stream.X, axis=1).max()) / math.sqrt(2)
    rho = np.random.default_rng(seed).integers(1, 9, size=(4, 4)) / 8
    np.fill_diagonal(rho, 0.0)
    total, mistakes = cost_sensitive(X, stream.y, rho, C)
    read = bounds.as_stream(X, stream.y, LABELS)
    for u in comparators(read, seed, C):
        bound = bounds.pa_theorem_10(read, u, rho, C)
        assert total <= bound.value + 1e-9
        assert mistakes <= bound.mistakes + 1e-9
        assert bound.value == bounds.pa_theorem_10(read, u, lambda a, b: rho[a, b], C).value
        if size < 1 and C >= 1:  # as printed
            losses = bounds.losses(read, u)
            assert bound.complexity == pytest.approx(u.sq_norm)
            assert bound.loss <= 2 * C * losses.sum() + 1e-9


@few
@given(seeds, kinds, schemes, st.booleans(), caps, margins, st.sampled_from(["learn", "skip"]))
def test_the_certificate_is_below_what_any_comparator_pays(seed, kind, scheme, sets, C, margin, novel):
    stream, scheme = drawn(kind, seed, sets), {**scheme, "novel": novel}
    read = bounds.as_stream(stream.X, stream.y, like=estimator(sets, **scheme, margin=margin))
    us = comparators(read, seed, C) + comparators(read, seed, C, squared=True)[:1]
    for rule in ("perceptron", "pa1", "pa2", "simperc", "simproj", "conproj", "optimal"):
        dual = estimator(sets, rule, C, **scheme, margin=margin).partial_fit(stream.X, stream.y).dual_
        for u in us:
            assert dual <= bounds.objective(read, u, C, squared=rule == "pa2") + 1e-9 * (1 + abs(dual)), rule


# ------------------------------------------------------------------ numbers of the papers
def test_the_bounds_of_hypothesis_sharing_on_its_first_synthetic_set():
    # 16 classes, the number written by the first four of 64 signs; section 10 of algorithms.md has the corrected values
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], size=(400, 64))
    y = ((X[:, :4] > 0) @ (8, 4, 2, 1)).tolist()
    single = bounds.as_stream(X, y, like=Classifier(sharing="single", features="first", novel="skip"))
    assert bounds.hs_theorem_1(single, np.array([0.5] * 4)).value == 256
    multi = bounds.as_stream(X, y, like=Classifier(novel="skip"))
    codes = np.array([[1.0 if label & bit else -1.0 for bit in (8, 4, 2, 1)] for label in multi.labels])
    assert bounds.hs_theorem_1(multi, 0.5 * codes).value == 4096


def test_label_ranking_has_its_printed_denominator_on_short_rows():
    X, y = 0.5 * np.eye(3), [0, 1, 2]
    stream, u = bounds.as_stream(X, y, classes=LABELS, margin=0.75), np.eye(4)[:, :3]
    paid = bounds.objective(stream, u, 0.5)
    for rule in ("perceptron", "pa1", "optimal"):
        assert bounds.lr_equation_2(stream, u, 0.5, rule=rule).value == pytest.approx(paid / (0.75 * 0.5 - 0.5**2 / 2))
    longer = bounds.as_stream(2 * np.eye(3), y, classes=LABELS)
    with pytest.warns(UserWarning, match=r"needs ⟨x, Hx⟩ ≤ 0.5, but this stream reaches 4"):
        bound = bounds.lr_equation_2(longer, u, 0.0625)
    assert bound.value == pytest.approx(bounds.objective(longer, u, 0.0625) / (0.0625 - 4 * 0.0625**2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bounds.lr_equation_2(longer, u, 0.0625, h=None) == bound


def test_without_c_the_bound_of_simperc_is_the_least_over_all_c():
    stream = bounds.as_stream(*(part for part in random_stream("real", 1)[:2]), LABELS)
    u = bounds.hindsight(stream, 0.1).u
    free = bounds.sp_theorem_1(stream, u).value
    longest = stream.sq_lengths.max()
    tried = [bounds.sp_theorem_1(stream, u, C).value for C in np.linspace(0.001, 1.999, 4000) / longest]
    assert free <= min(tried) + 1e-9
    assert min(tried) == pytest.approx(free, rel=1e-4)


# ------------------------------------------------------------------ where a theorem does not apply
@pytest.fixture(scope="module")
def small():
    return bounds.as_stream(np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]), [0, 1, 0], classes=[0, 1])


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda s: bounds.pa_theorem_2(s, np.zeros((2, 2))), "no loss at all; its losses sum to 3"),
        (lambda s: bounds.pa_theorem_3(s, np.zeros((2, 2))), "of one length; here .* Use normalize=True"),
        (lambda s: bounds.sp_theorem_1(s, np.eye(2), C=1.0), r"needs C·h < m.* got C=1. Take C < 0.25"),
        (lambda s: bounds.lr_equation_2(s, np.eye(2), C=1.0, rule="perceptron", h=None), "does not apply"),
        (lambda s: bounds.lr_equation_2(s, np.eye(2), rule="pa2"), "rule='perceptron', 'pa1' or 'optimal'"),
        (lambda s: bounds.lr_equation_2(s, np.eye(2), C=None, h=None), "C must be the learner's"),
        (lambda s: bounds.sp_corollary_1(s, np.zeros((2, 2)), C=math.inf), "no loss at all; use hindsight"),
        (lambda s: bounds.pa_theorem_4(s, np.eye(2), C=-1), "C must be a positive, finite number; got C=-1"),
        (lambda s: bounds.pa_theorem_5(s, np.eye(3)), r"2 labels \(or sets\) × 2 features .* got shape \(3, 3\)"),
        (lambda s: bounds.losses(s, [[np.nan, 0], [0, 0]]), "u must be finite"),
        (lambda s: bounds.pa_theorem_10(s, np.eye(2), cost=[[0, 1]]), "cost must be a matrix of 2 × 2"),
        (lambda s: bounds.lr_equation_2(s, np.eye(2), geometry="round", h=None), "geometry must be"),
        (lambda s: bounds.sp_theorem_1(s, np.eye(2), geometry="entropy"), "predictions depend on C"),
        (lambda s: bounds.lr_equation_2(s, 2 * np.eye(2), geometry="entropy", h=None), "on the simplex.*got sums"),
        (lambda s: bounds.as_stream(np.eye(2), [0, 1], like=Classifier(class_weight={0: 2})), "class_weight"),
        (lambda s: bounds.as_stream(np.eye(2), [0, 1], like=Classifier(cost=1 - np.eye(2))), "pa_theorem_10"),
        (lambda s: bounds.as_stream(np.eye(2), [0, 1], margin=-1.0), "margin must be positive"),
    ],
)
def test_where_a_theorem_does_not_apply_a_sentence_says_so(small, ask, sentence):
    with pytest.raises(ValueError, match=sentence):
        ask(small)


def test_a_stream_is_a_pair_or_a_stream(small):
    with pytest.raises(TypeError, match=r"a stream is a pair \(X, y\)"):
        bounds.losses(np.eye(2), np.eye(2))
    hybrid = bounds.as_stream(np.eye(2), [0, 1], like=Classifier(sharing="hybrid", features="first"))
    with pytest.raises(ValueError, match="u is a pair"):
        bounds.losses(hybrid, np.eye(2))
    with pytest.raises(ValueError, match="one right label per round"):
        bounds.pa_theorem_10(bounds.as_stream(np.eye(3), [{0, 1}, {2}, {0}], [0, 1, 2]), np.eye(3), np.zeros((3, 3)))
    assert bounds.pa_theorem_4((np.eye(2), [0, 1]), np.eye(2)).value == 4.0  # R²‖u‖², no loss in the second round
    skipped = bounds.as_stream(np.eye(2), [0, 1], like=Classifier(novel="skip"))
    assert bounds.pa_theorem_4(skipped, np.eye(2)).value == 2.0  # ‖u‖²/C, for want of constraints
