"""Theorems of the papers, checked through the public API on streams drawn by Hypothesis."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_matrix
from tests.plain import Classifier, Ranker
from tests.reference import rules
from tests.reference.hindsight import (
    best_predictor,
    comparators,
    constraints,
    longest_block,
    longest_direction,
    losses,
    objective,
)
from tests.reference.learner import Mira
from tests.reference.looking import dense, picture, scores_of, weights_of, worst_margin
from tests.reference.strategies import (
    LABELS,
    SCHEMES,
    biases,
    caps,
    eighths,
    margins,
    patience,
    protocols,
    seeds,
    streams,
)
from tests.reference.streams import Stream, easy_stream, random_stream, rounds_without_near_ties

import hinged

RULES = tuple(hinged.rules.RULES)
FEASIBLE = ("perceptron", "pa1", "simperc", "simproj", "conproj", "optimal")
NOVEL = ("learn", "skip")
GROWING = ("pa", "pa1", "pa2", "simproj", "conproj", "optimal")

some = settings(max_examples=40 * patience, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
few = settings(some, max_examples=12 * patience)


def closed_model(stream, **params):
    """Train a Classifier, or a Ranker for label sets, on the stream with all labels declared."""
    estimator = Ranker if any(isinstance(labels, tuple) for labels in stream.y) else Classifier
    model = estimator(**params)
    return model.partial_fit(stream.X, stream.y, classes=LABELS)


# ------------------------------------------------------------------ single steps
@some
@given(streams(), arrays(float, 4, elements=eighths), st.sampled_from(LABELS), margins, biases)
def test_an_unclipped_step_meets_the_margin_exactly(stream, row, label, margin, bias):
    x = row[: stream.X.shape[1]]
    assume(np.any(x) or bias)
    for rule in ("pa", "pa1"):
        model = closed_model(stream, rule=rule, C=1e6, margin=margin, bias=bias)
        rival, before = worst_margin(model, x, label)
        model.learn_one(x, label)
        scores = scores_of(model, x)
        after = scores[LABELS.index(label)] - scores[rival]
        expected = max(before, margin)
        assert after == pytest.approx(expected, abs=1e-9 * (1 + np.max(np.abs(scores))))


@some
@given(streams(), arrays(float, 4, elements=eighths), st.sampled_from(LABELS), margins, biases, caps)
def test_no_aggressive_step_overshoots_the_margin_or_the_cap(stream, row, label, margin, bias, C):
    x = row[: stream.X.shape[1]]
    squared = float(x @ x) + bias * bias
    for rule in ("pa", "pa1", "pa2"):
        model = closed_model(stream, rule=rule, C=C, margin=margin, bias=bias)
        rival, before = worst_margin(model, x, label)
        model.learn_one(x, label)
        scores = scores_of(model, x)
        after = scores[LABELS.index(label)] - scores[rival]
        rounding = 1e-9 * (1 + np.max(np.abs(scores)))
        assert before - rounding <= after <= max(before, margin) + rounding
        if rule == "pa1":
            assert after - before <= 2 * C * squared + rounding


@some
@given(seeds, st.sampled_from(RULES))
def test_a_passive_round_changes_nothing(seed, rule):
    stream = random_stream("real", seed, rounds=12)
    model = closed_model(stream, rule=rule)
    x = stream.probes[0]
    label = int(np.argmax(scores_of(model, x)))
    margin = worst_margin(model, x, label)[1]
    assume(margin > 1e-6)
    before, updates = picture(model, stream.probes), model.n_updates_
    mistakes, rounds = model.n_mistakes_, model.n_rounds_
    model.learn_one(x * (2.0 / margin), label)
    assert picture(model, stream.probes) == before
    assert (model.n_updates_, model.n_mistakes_, model.n_rounds_) == (updates, mistakes, rounds + 1)


@some
@given(streams(sets=True), caps)
def test_every_step_is_feasible_for_the_dual_of_its_trial(stream, C):
    for rule in FEASIBLE:
        model = Ranker(rule=rule, C=C).declare(LABELS)
        weights = np.zeros((len(LABELS), stream.X.shape[1]))
        for x, relevant in zip(stream.X, stream.y, strict=True):
            model.learn_one(x, relevant)
            move, weights = dense(model.coef_) - weights, dense(model.coef_)
            assert_feasible(move, x, np.isin(LABELS, relevant), C, rounding=1e-9 * (1 + np.max(np.abs(weights))))


def assert_feasible(move, x, inside, C, rounding):
    """Check the update g_r x: g sums to 0, is ≥ 0 on relevant labels with a sum of at most C, and ≤ 0 elsewhere."""
    if not np.any(x):
        assert not np.any(move)
        return
    net = move @ x / float(x @ x)
    np.testing.assert_allclose(move, np.outer(net, x), atol=rounding)
    assert np.all(net[inside] >= -rounding)
    assert np.all(net[~inside] <= rounding)
    assert abs(np.sum(net)) <= rounding
    assert np.sum(net[inside]) <= C * (1 + 1e-9) + rounding


@some
@given(streams(), st.sampled_from(RULES), st.sampled_from(["multi", "first", "frequency", "tfidf"]))
def test_a_zero_row_changes_no_weight(stream, rule, kind):
    scheme = {"sharing": "multi"} if kind == "multi" else {"sharing": "hybrid", "features": kind}
    model = closed_model(stream, rule=rule, **scheme)
    before = weights_of(model)
    model.learn_one(np.zeros(stream.X.shape[1]), LABELS[1])
    assert weights_of(model).tobytes() == before.tobytes()


# ------------------------------------------------------------------ the certificate
def certificates(stream, scheme, classes=LABELS, **params):
    """Return the certificate after each round with these labels declared, starting with 0."""
    model = Classifier(**params, **scheme).declare(classes)
    answer = [0.0]
    for x, label in zip(stream.X, stream.y, strict=True):
        model.learn_one(x, label)
        answer.append(model.dual_)
    return np.array(answer)


@some
@given(seeds, st.sampled_from(["real", "count", "binary"]), st.sampled_from(SCHEMES), caps, margins)
def test_the_certificate_never_decreases(seed, kind, scheme, C, margin):
    stream = random_stream(kind, seed, rounds=24)
    for rule in GROWING:
        for classes in (LABELS, ()):
            values = certificates(stream, scheme, classes, rule=rule, C=C, margin=margin)
            assert np.all(np.diff(values) >= -1e-12 * (1 + np.abs(values[1:]))), rule


@few
@given(
    seeds,
    st.sampled_from(["real", "count", "binary"]),
    st.sampled_from(SCHEMES),
    protocols,
    caps,
    margins,
)
def test_the_certificate_is_below_every_fixed_predictor(seed, kind, scheme, protocol, C, margin):
    stream, (classes, novel) = random_stream(kind, seed, rounds=8, features=4), protocol
    directions = constraints(stream, classes=classes, novel=novel, **scheme)
    assume(directions)
    rng = np.random.default_rng(seed)
    best = best_predictor(directions, C, margin)
    tried = [best, 0.5 * best, np.zeros_like(best), *rng.normal(size=(4, len(best)))]
    bound = min(objective(u, directions, C, margin) for u in tried)
    squared = min(objective(u, directions, C, margin, power=2) for u in tried)
    for rule in ("perceptron", "pa1", "pa2", "simperc", "simproj", "conproj", "optimal"):
        value = certificates(stream, scheme, classes or (), rule=rule, C=C, margin=margin, novel=novel)[-1]
        assert value <= (squared if rule == "pa2" else bound) + 1e-9 * (1 + abs(value)), rule


@few
@given(seeds, margins)
def test_the_certificate_of_pa_is_below_every_predictor_without_loss(seed, margin):
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(4, 5))
    X = rng.normal(size=(20, 5))
    stream = Stream(X, [int(r) for r in np.argmax(X @ hidden.T, axis=1)], LABELS, X)
    directions = constraints(stream, classes=LABELS)
    u = hidden.ravel() * margin / min(float(np.min(z @ hidden.ravel())) for z in directions)
    value = certificates(stream, {"sharing": "multi"}, rule="pa", margin=margin)[-1]
    assert value <= 0.5 * float(u @ u) * (1 + 1e-9)


def best_and_plain_gains(model, x, relevant, C):
    """Return the dual gain of the twin's `optimal` and of its other rules, starting from the weights of a model."""
    vectors = np.kron(np.eye(len(LABELS)), x)
    weights = dense(model.coef_).ravel()
    inside = np.isin(LABELS, relevant)
    z = np.array([vectors[r] - vectors[s] for r in LABELS if inside[r] for s in LABELS if not inside[s]])
    trial = rules.Trial(z, z @ weights, 1.0)
    gains = {}
    for rule in FEASIBLE:
        multipliers = rules.RULES[rule](trial, C)
        moved = weights + multipliers @ z
        gains[rule] = float(np.sum(multipliers) - 0.5 * moved @ moved + 0.5 * weights @ weights)
    return gains.pop("optimal"), gains


@some
@given(seeds, st.sampled_from(["real", "count", "binary"]), caps)
def test_from_the_same_state_optimal_gains_the_most(seed, kind, C):
    stream = random_stream(kind, seed, rounds=12, features=4, sets=True)
    for rule in FEASIBLE:
        model, before = Ranker(rule=rule, C=C, n_features=4).declare(LABELS), 0.0
        model.learn_one(np.zeros(4), ())
        for x, relevant in zip(stream.X, stream.y, strict=True):
            if len(relevant) in (0, len(LABELS)):
                continue
            best, plain = best_and_plain_gains(model, x, relevant, C)
            model.learn_one(x, relevant)
            gain, before = model.dual_ - before, model.dual_
            rounding = 1e-9 * (1 + abs(before))
            assert gain <= best + rounding
            if rule == "optimal":
                assert gain >= max(plain.values()) - rounding


# ------------------------------------------------------------------ mistake bounds
kinds = st.sampled_from(["easy", "real", "count", "binary"])


@few
@given(
    seeds,
    kinds,
    st.sampled_from(SCHEMES),
    st.sampled_from([0.3, 1.0, 1.7]),
    protocols,
)
def test_simultaneous_mistakes_stay_below_their_bound(seed, kind, scheme, share, protocol):
    stream = easy_stream(seed) if kind == "easy" else random_stream(kind, seed, rounds=30, features=5)
    classes, novel = protocol
    directions = constraints(stream, classes=classes, novel=novel, **scheme)
    R = longest_direction(directions)
    assume(R > 0)
    C = share / R**2
    others = comparators(directions, C, np.random.default_rng(seed))
    bound = min(objective(u, directions, C) for u in others) / (C - 0.5 * C**2 * R**2)
    for rule in ("simperc", "conproj"):
        model = Classifier(rule=rule, C=C, novel=novel, **scheme)
        progress = hinged.evaluate.progressive(model, stream.X, stream.y, classes=classes)
        assert progress.mistakes <= bound + 1e-9, rule


@few
@given(seeds, kinds, st.sampled_from(["multi", "single", "hybrid"]), st.sampled_from(["learn", "skip"]))
def test_shared_perceptron_mistakes_stay_below_their_bound(seed, kind, sharing, novel):
    stream = easy_stream(seed) if kind == "easy" else random_stream(kind, seed, rounds=30, features=5)
    scheme = {"sharing": sharing} if sharing == "multi" else {"sharing": sharing, "features": "first"}
    scheme["novel"] = novel
    progress = hinged.evaluate.progressive(Classifier(rule="perceptron", C=1.0, **scheme), stream.X, stream.y)
    directions = constraints(stream, **scheme)
    R, owners = 2 * longest_block(stream, scheme), 2 if sharing == "hybrid" else 1
    for u in comparators(directions, 1.0, np.random.default_rng(seed)):
        L, complexity = float(np.sum(losses(u, directions))), owners * R**2 * float(u @ u)
        assert progress.mistakes <= L + complexity + np.sqrt(L * complexity) + 1e-9


# ------------------------------------------------------------------ equivalent ways to learn
@some
@given(
    seeds,
    st.sampled_from(RULES),
    st.sampled_from(["multi", "single", "hybrid"]),
    st.sampled_from(["first", "frequency", "distance", "tfidf"]),
)
def test_schemes_equal_their_spelling_as_groups(seed, rule, sharing, kind):
    assume(rule != "mira" or sharing != "single")
    stream = random_stream("real", seed, rounds=20)
    scheme = {"sharing": sharing, "features": None if sharing == "multi" else kind}
    plain = {"rule": Mira() if rule == "mira" else rule, **scheme}
    assume(rounds_without_near_ties(stream, plain) == len(stream.y))
    alone = [{r} for r in LABELS]
    groups = {
        "multi": hinged.sharing.Groups(alone),
        "single": hinged.sharing.Groups([set(LABELS)], features=[kind]),
        "hybrid": hinged.sharing.Groups([*alone, set(LABELS)], features=[None] * len(LABELS) + [kind]),
    }[sharing]
    named = Classifier(rule=rule, **scheme)
    spelt = Classifier(rule=rule, sharing=groups)
    flags = [hinged.evaluate.progressive(m, stream.X, stream.y).flags for m in (named, spelt)]
    np.testing.assert_array_equal(*flags)
    assert (named.n_updates_, named.n_novel_) == (spelt.n_updates_, spelt.n_novel_)
    expected = named.decision_function(stream.probes)
    np.testing.assert_allclose(spelt.decision_function(stream.probes), expected, rtol=1e-9, atol=1e-9)
    if named.dual_ is not None:
        assert spelt.dual_ == pytest.approx(named.dual_, rel=1e-9, abs=1e-9)


@some
@given(streams(), st.sampled_from(RULES), st.permutations(LABELS), st.sampled_from(SCHEMES))
def test_renaming_revealed_labels_renames_the_results(stream, rule, names, scheme):
    assume(rule != "mira" or scheme["sharing"] != "single")
    model = Classifier(rule=rule, **scheme).partial_fit(stream.X, stream.y)
    renamed = Classifier(rule=rule, **scheme).partial_fit(stream.X, [names[r] for r in stream.y])
    assert [names[r] for r in model.classes_] == list(renamed.classes_)
    assert picture(model, stream.X)[1] == picture(renamed, stream.X)[1]


@some
@given(seeds, st.sampled_from(["simperc", "simproj", "conproj", "optimal", "uniform", "mira"]), st.permutations(LABELS))
def test_permuting_known_labels_permutes_the_rows(seed, rule, names):
    stream = random_stream("real", seed, rounds=20)
    model = closed_model(stream, rule=rule)
    renamed = closed_model(stream._replace(y=[names[r] for r in stream.y]), rule=rule)
    np.testing.assert_allclose(dense(renamed.coef_)[names], dense(model.coef_), rtol=1e-9, atol=1e-9)
    assert (renamed.n_mistakes_, renamed.n_updates_) == (model.n_mistakes_, model.n_updates_)


@some
@given(streams(), st.sampled_from(RULES), st.sampled_from(SCHEMES), biases, st.booleans(), st.sampled_from(NOVEL))
def test_learning_one_by_one_equals_learning_a_matrix(stream, rule, scheme, bias, average, novel):
    assume(rule != "mira" or scheme["sharing"] == "multi")
    params = {"rule": rule, "bias": bias, "average": average, "scaling": "idf", "novel": novel, **scheme}
    at_once = Classifier(**params).partial_fit(stream.X, stream.y)
    one_by_one, sparse_rows = Classifier(**params), Classifier(**params)
    for x, label in zip(stream.X, stream.y, strict=True):
        one_by_one.learn_one(x, label)
        sparse_rows.learn_one(csr_matrix(x[None, :]), label)
    assert picture(one_by_one, stream.X) == picture(at_once, stream.X) == picture(sparse_rows, stream.X)


@some
@given(streams(), st.sampled_from(["perceptron", "pa1", "simproj"]))
def test_dicts_are_rows_with_names(stream, rule):
    rows = [{f"word{j}": v for j, v in enumerate(x) if v} for x in stream.X]
    named, numbered = Classifier(rule=rule, C=0.5), Classifier(rule=rule, C=0.5)
    for row, x, label in zip(rows, stream.X, stream.y, strict=True):
        named.learn_one(row, label)
        numbered.learn_one(x, label)
    assert list(named.classes_) == list(numbered.classes_)
    if rule == "perceptron":
        assert (named.dual_, named.n_mistakes_) == (numbered.dual_, numbered.n_mistakes_)
    assert named.dual_ == pytest.approx(numbered.dual_, rel=1e-9, abs=1e-9)


@some
@given(streams(), st.sampled_from(RULES), st.sampled_from(SCHEMES), biases)
def test_dense_equals_sparse(stream, rule, scheme, bias):
    assume(rule != "mira" or scheme["sharing"] == "multi")
    params = {"rule": rule, "bias": bias, **scheme}
    from_dense = Classifier(**params).partial_fit(stream.X, stream.y)
    from_sparse = Classifier(**params).partial_fit(csr_matrix(stream.X), stream.y)
    assert picture(from_dense, stream.X) == picture(from_sparse, csr_matrix(stream.X))


# ------------------------------------------------------------------ sample weights
@some
@given(streams(), st.data(), st.sampled_from(RULES), st.sampled_from(SCHEMES), st.booleans(), st.sampled_from(NOVEL))
def test_a_round_of_weight_zero_leaves_no_trace(stream, data, rule, scheme, average, novel):
    assume(rule != "mira" or scheme["sharing"] == "multi")
    rounds = len(stream.y)
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=rounds, max_size=rounds)))
    assume(np.any(kept))
    params = {"rule": rule, "scaling": "idf", "average": average, "novel": novel, **scheme}
    weighted = Classifier(**params).partial_fit(stream.X, stream.y, sample_weight=kept.astype(float))
    without = Classifier(**params)
    without.partial_fit(stream.X[kept], [label for label, keep in zip(stream.y, kept, strict=True) if keep])
    assert picture(weighted, stream.X) == picture(without, stream.X)
    assert (weighted.n_updates_, weighted.n_rounds_) == (without.n_updates_, rounds)


@some
@given(
    streams(),
    st.sampled_from(["perceptron", "pa1", "pa2", "simperc", "simproj", "conproj"]),
    caps,
    st.sampled_from([0.25, 2.0]),
    st.sampled_from(SCHEMES),
)
def test_a_sample_weight_multiplies_the_cap(stream, rule, C, weight, scheme):
    weights = np.full(len(stream.y), weight)
    weighted = Classifier(rule=rule, C=C, **scheme).partial_fit(stream.X, stream.y, sample_weight=weights)
    capped = Classifier(rule=rule, C=C * weight, **scheme).partial_fit(stream.X, stream.y)
    assert picture(weighted, stream.X) == picture(capped, stream.X)


@some
@given(streams(), st.sampled_from(["pa", "uniform", "mira"]), st.sampled_from([0.25, 2.0]))
def test_a_sample_weight_leaves_rules_without_a_cap_alone(stream, rule, weight):
    weights = np.full(len(stream.y), weight)
    weighted = Classifier(rule=rule).partial_fit(stream.X, stream.y, sample_weight=weights)
    plain = Classifier(rule=rule).partial_fit(stream.X, stream.y)
    assert picture(weighted, stream.X) == picture(plain, stream.X)


@some
@given(streams(), caps, st.sampled_from([0.25, 0.5, 2.0, 8.0]), st.sampled_from(SCHEMES))
def test_the_weight_of_one_round_multiplies_its_own_cap(stream, C, weight, scheme):
    ones = np.ones(len(stream.y))
    last = np.append(ones[1:], weight)
    weighted = Classifier(rule="pa1", C=C, **scheme).partial_fit(stream.X, stream.y, sample_weight=last)
    capped = Classifier(rule="pa1", C=C * weight, **scheme)
    capped.partial_fit(stream.X, stream.y, sample_weight=np.append(ones[1:] / weight, 1.0))
    assert picture(weighted, stream.X) == picture(capped, stream.X)
