"""Comparators found in hindsight are near the best, and traces show a run below its certificate and its bound."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numba import njit
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.svm import LinearSVC
from tests.bounds.test_theorems_of_papers import drawn, estimator, kinds, schemes
from tests.plain import Classifier
from tests.reference import hindsight as plain
from tests.reference.strategies import LABELS, caps, margins, patience, protocols, seeds
from tests.reference.streams import easy_stream, random_stream

import hinged
from hinged import bounds
from hinged.geometry import Entropy

pytestmark = pytest.mark.filterwarnings("ignore:LR eq. 2 needs")  # rows here are as long as they come
RULES = tuple(hinged.rules.RULES)
some = settings(max_examples=20 * patience, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
few = settings(some, max_examples=10 * patience)


# ------------------------------------------------------------------ hindsight
@few
@given(seeds, kinds, schemes, st.booleans(), caps, margins)
def test_the_comparator_in_hindsight_is_as_good_as_its_gap_says(seed, kind, scheme, sets, C, margin):
    stream = drawn(kind, seed, sets, rounds=12)
    stream = stream.head(12)
    read = bounds.as_stream(stream.X, stream.y, LABELS, like=estimator(sets, **scheme, margin=margin))
    z = plain.constraints(stream, classes=LABELS, **scheme)
    found = bounds.hindsight(read, C, tol=1e-5, max_epochs=2000)
    best = plain.objective(plain.best_predictor(z, C, margin), z, C, margin)
    assert found.objective == pytest.approx(bounds.objective(read, found.u, C))
    assert -1e-9 <= found.gap <= 1e-5 * found.objective + 1e-9
    assert found.dual <= best + 1e-9
    assert found.objective <= best * (1 + 2e-5) + 1e-9


@few
@given(seeds, kinds, schemes, st.booleans(), caps)
def test_with_squared_losses_too(seed, kind, scheme, sets, C):
    stream = drawn(kind, seed, sets, rounds=12)
    read = bounds.as_stream(stream.X, stream.y, LABELS, like=estimator(sets, **scheme))
    found = bounds.hindsight(read, C, squared=True, tol=1e-6, max_epochs=2000)
    assert found.objective == pytest.approx(bounds.objective(read, found.u, C, squared=True))
    assert -1e-9 <= found.gap <= 1e-6 * found.objective + 1e-9


def test_it_is_crammer_and_singers_machine():
    X, y = load_digits(return_X_y=True)
    X, y = X[:400] / np.linalg.norm(X[:400], axis=1, keepdims=True), y[:400]
    stream = bounds.as_stream(X, y, classes=range(10))
    found = bounds.hindsight(stream, 1.0, tol=1e-5, max_epochs=500)
    machine = LinearSVC(multi_class="crammer_singer", C=1.0, fit_intercept=False, tol=1e-8, max_iter=200_000)
    theirs = bounds.objective(stream, machine.fit(X, y).coef_, 1.0)
    assert found.objective == pytest.approx(theirs, rel=2e-5)
    np.testing.assert_allclose(found.u.own, machine.coef_, atol=0.02)


def test_the_same_stream_gives_the_same_weights_and_a_start_saves_epochs():
    mail = hinged.datasets.mail_stream(n_messages=400, n_folders=8)
    like = Classifier(scaling="idf", normalize=True)
    stream = bounds.as_stream(mail.X, mail.y, like=like)
    first, again = (bounds.hindsight(stream, 1.0, tol=1e-4) for _ in range(2))
    assert first.u.own.tobytes() == again.u.own.tobytes()
    assert repr(first).startswith("Hindsight(objective=")
    assert bounds.hindsight(stream, 1.0, tol=1e-4, start=first).epochs == 0
    head = bounds.hindsight(stream.head(200), 1.0, tol=1e-4)
    assert head.objective <= bounds.objective(stream.head(200), first.u, 1.0) * (1 + 1e-4)
    longer = bounds.hindsight(stream, 2.0, tol=1e-4, start=head)
    assert longer.gap <= 1e-4 * longer.objective


@some
@given(seeds, margins)
def test_without_a_cap_it_finds_weights_without_loss(seed, margin):
    stream = easy_stream(seed, rounds=40)
    read = bounds.as_stream(stream.X, stream.y, LABELS, margin=margin)
    found = bounds.hindsight(read, math.inf, tol=1e-4)
    assert not bounds.losses(read, found.u).any()
    assert found.gap <= 1e-4 * found.objective
    assert bounds.pa_theorem_2(read, found.u).loss == 0


def test_where_there_are_none_it_says_so():
    stream = bounds.as_stream(np.ones((4, 1)), [0, 1, 0, 1], classes=[0, 1])
    with pytest.raises(ValueError, match="no fixed weights without loss were found"):
        bounds.hindsight(stream, math.inf, max_epochs=20)
    with pytest.raises(ValueError, match="C must be a positive, finite number"):
        bounds.hindsight(stream, math.inf, squared=True)
    with pytest.raises(ValueError, match="max_epochs"):
        bounds.hindsight(stream, 1.0, max_epochs=0)


def test_a_stream_without_constraints_costs_nothing():
    found = bounds.hindsight(bounds.as_stream(np.eye(3), [0, 1, 2], like=Classifier(novel="skip")), 1.0)
    assert (found.objective, found.gap, found.epochs) == (0.0, 0.0, 0)


def test_large_comparators_are_sparse(monkeypatch):
    stream = easy_stream(0)
    plenty = bounds.hindsight((stream.X, stream.y), 1.0)
    monkeypatch.setattr("hinged.bounds.solver.LARGEST_DENSE", 1)
    little = bounds.hindsight((stream.X, stream.y), 1.0)
    np.testing.assert_array_equal(little.u.own.toarray(), plenty.u.own)
    assert little.objective == pytest.approx(plenty.objective)


# ------------------------------------------------------------------ weights on the simplex
def entropic_run(X, y, k, C, margin, radius, signed, update):
    """LR's updates I and II by plain search; mistakes, and the dual at the end."""
    rows = np.hstack([X, -X]) if signed else X
    n = rows.shape[1]
    theta, lam, mistakes = np.zeros((k, n)), 0.0, 0

    def weights(t):
        e = np.exp(t - t.max(axis=-1, keepdims=True))
        return radius * e / e.sum(axis=-1, keepdims=True)

    for x, r in zip(rows, y, strict=True):
        s = weights(theta) @ x
        rival = int(np.argmax(np.where(np.arange(k) == r, -np.inf, s)))
        gap = s[r] - s[rival]
        mistakes += gap <= 0
        step = C * (gap <= 0)
        if update == 2 and gap < margin:
            low, high = 0.0, C
            for _ in range(40):  # the slope of the dual falls with the step
                mid = 0.5 * (low + high)
                slope = margin - (weights(theta[r] + mid * x) - weights(theta[rival] - mid * x)) @ x
                low, high = (mid, high) if slope > 0 else (low, mid)
            step = low
        theta[r], theta[rival], lam = theta[r] + step * x, theta[rival] - step * x, lam + step
    log_z = np.log(np.exp(theta).sum(axis=1)) - math.log(n)
    return mistakes, margin * lam - radius * log_z.sum()


@few
@given(
    seeds,
    st.sampled_from(["real", "binary"]),
    st.booleans(),
    st.sampled_from([1.0, 3.0]),
    st.sampled_from([0.3, 0.9, 1.6]),
    st.sampled_from([0.25, 0.75]),
)
def test_label_ranking_on_the_simplex_keeps_its_bound(seed, kind, signed, radius, share, margin):
    stream = random_stream(kind, seed, rounds=30, features=6)
    read = bounds.as_stream(stream.X, stream.y, LABELS, margin=margin)
    geometry = Entropy(radius, signed)
    spans = 2 * np.abs(stream.X).max(axis=1) if signed else np.ptp(stream.X, axis=1)
    h = radius * np.max(spans) ** 2 / 4
    assume(h > 0)
    C = share * margin / (2 * h)
    found = bounds.hindsight(read, C, geometry=geometry, tol=1e-4, max_epochs=300)
    assert found.objective == pytest.approx(bounds.objective(read, found.u, C, geometry=geometry))
    assert -1e-9 <= found.gap <= 1e-4 * found.objective + 1e-9
    uniform = np.zeros((4, 6)) if signed else np.full((4, 6), radius / 6)
    corner = radius * np.eye(6)[[0, 1, 2, 3]]
    for update, rule in ((1, "perceptron"), (2, "pa1")):
        mistakes, dual = entropic_run(stream.X, stream.y, 4, C, margin, radius, signed, update)
        for u in (found.u, uniform, corner):
            paid = bounds.objective(read, u, C, geometry=geometry)
            assert dual <= paid + 1e-9
            bound = bounds.lr_equation_2(read, u, C, rule=rule, geometry=geometry, h=None)
            assert mistakes <= bound.value * (1 + 1e-9)
            if share <= 1:
                assert bound.value == pytest.approx(paid / (margin * C - h * C * C))


def test_binary_rows_on_the_simplex_meet_the_condition_of_label_ranking():
    stream = random_stream("binary", 0, rounds=20)
    read = bounds.as_stream(stream.X, stream.y, LABELS, margin=0.5)
    u = np.full((4, 9), 1 / 9)
    bounds.lr_equation_2(read, u, 0.25, geometry="entropy")  # warnings are errors
    with pytest.raises(ValueError, match="radius"):
        bounds.objective(read, np.ones((4, 9)), geometry=Entropy(signed=True))
    with pytest.raises(ValueError, match="sharing"):
        bounds.hindsight(
            bounds.as_stream(stream.X, stream.y, like=Classifier(sharing="single", features="first")),
            geometry="entropy",
        )
    with pytest.raises(ValueError, match="finite C"):
        bounds.hindsight(read, math.inf, geometry="entropy")


@few
@given(
    seeds,
    st.sampled_from(["real", "binary"]),
    st.sampled_from(["perceptron", "pa1", "optimal", "simperc", "simproj", "conproj", "uniform"]),
    st.booleans(),
    protocols,
    st.sampled_from([0.3, 0.9, 1.6, 9.0]),
    st.sampled_from([0.0, 0.5]),
)
@pytest.mark.filterwarnings("ignore:some rows are too long", "ignore:margin=")
def test_entropic_learners_keep_theirs(seed, kind, rule, signed, protocol, share, bias):
    stream, (classes, novel) = random_stream(kind, seed, rounds=30, features=6), protocol
    X = stream.X / max(1.0, np.abs(stream.X).max())
    model = Classifier(rule, share / 2, margin=0.5, geometry=Entropy(2.0, signed), bias=bias, novel=novel)
    seen = bounds.trace(model, X, stream.y, classes)
    rounding = 1e-9 * (1 + seen.mistakes)
    assert (seen.mistakes <= seen.bound + rounding).all()
    assert (seen.mistakes <= seen.certified + rounding)[np.isfinite(seen.certified)].all()
    assert (seen.final is None) <= (rule in ("perceptron", "simperc", "uniform"))
    if seen.final is not None:
        assert model.dual_ <= seen.objective + 1e-9
        assert seen.bound[-1] <= seen.final.mistakes * (1 + 1e-12)


# ------------------------------------------------------------------ traces
@some
@given(seeds, kinds, schemes, st.sampled_from(RULES), protocols, st.booleans(), caps, margins)
def test_a_trace_shows_mistakes_below_certificate_and_bound(seed, kind, scheme, rule, protocol, sets, C, margin):
    stream, (classes, novel) = drawn(kind, seed, sets), protocol
    model = estimator(sets, rule, C, **scheme, margin=margin, novel=novel)
    twin = clone(model)
    seen = bounds.trace(model, stream.X, stream.y, classes)
    progress = hinged.evaluate.progressive(twin, stream.X, stream.y, classes=classes)
    assert seen.flags.tolist() == progress.flags.tolist()
    assert seen.rounds.tolist() == list(range(1, len(stream.y) + 1))
    assert seen.mistakes.tolist() == progress.curve.tolist()
    assert seen.certificate[-1] == pytest.approx(math.nan if twin.dual_ is None else twin.dual_, nan_ok=True)
    rounding = 1e-9 * (1 + seen.mistakes)
    assert (seen.mistakes <= seen.bound + rounding).all()
    known = np.isfinite(seen.certified)
    assert (seen.mistakes <= seen.certified + rounding)[known].all()
    if seen.final is None:
        assert rule in ("pa", "mira")
        assert seen.note
    else:
        assert seen.bound[-1] <= seen.final.mistakes * (1 + 1e-12)
        if seen.objective is not None and twin.dual_ is not None:
            assert twin.dual_ <= seen.objective + 1e-9 * (1 + abs(twin.dual_))


@pytest.mark.parametrize("rule", [*RULES, hinged.rules.Mira(cap=1.0), hinged.rules.Optimal()])
def test_a_trace_of_mail_has_two_hundred_moments_and_a_bound(rule):
    mail = hinged.datasets.mail_stream(n_messages=1000, n_folders=8, noise=0.0)
    model = Classifier(rule, scaling="idf", normalize=True)
    seen = bounds.trace(model, mail.X, mail.y)
    assert len(seen.rounds) == 200
    assert seen.rounds[-1] == model.n_rounds_ == 1000
    assert seen.final == bounds.mistake_bound(clone(model), mail.X, mail.y)
    assert seen.mistakes[-1] < seen.final.mistakes < math.inf
    summary = seen.summary()
    assert summary["mistakes"] == model.n_mistakes_
    assert summary["certificate"] == model.dual_
    assert summary["theorem"] in repr(seen)


def test_a_trace_takes_the_comparator_it_is_given():
    stream = easy_stream(1)
    u = 2.0 * np.eye(4)
    seen = bounds.trace(Classifier("conproj", 0.25), stream.X, stream.y, LABELS, u=u)
    assert seen.final == bounds.sp_corollary_1(bounds.as_stream(stream.X, stream.y, LABELS), u, 0.25)
    assert seen.objective == bounds.objective(bounds.as_stream(stream.X, stream.y, LABELS), u, 0.25)


@njit
def own_rule(scores, relevant, is_relevant, norms, margin, C, g):
    return 0.0


def test_where_nothing_is_proven_a_trace_says_so_and_a_bound_is_refused():
    stream = easy_stream(2)
    own = Classifier(own_rule)
    with pytest.raises(ValueError, match="no theorem covers a rule of your own"):
        bounds.mistake_bound(own, stream.X, stream.y)
    noisy = np.ones((6, 1)) * np.array([[1], [2], [1], [2], [1], [2]])
    seen = bounds.trace(Classifier("pa"), noisy, [0, 1, 1, 0, 0, 1], classes=[0, 1])
    assert seen.final is None
    assert "PA theorem 3 does not apply: all constraints must be of one length" in seen.note
    assert seen.summary()["bound"] is None
    assert "no bound" in repr(seen)
    with pytest.raises(ValueError, match="of one length"):
        bounds.mistake_bound(Classifier("pa"), noisy, [0, 1, 1, 0, 0, 1], classes=[0, 1])
    learnt = Classifier().partial_fit(stream.X, stream.y)
    with pytest.raises(ValueError, match="starts from zero"):
        bounds.trace(learnt, stream.X, stream.y)


def test_labels_declared_in_advance_are_known_from_the_start():
    stream = easy_stream(3)
    seen = bounds.trace(Classifier("simperc").declare(LABELS), stream.X, stream.y)
    closed = bounds.trace(Classifier("simperc"), stream.X, stream.y, LABELS)
    assert seen.final == closed.final
    assert (seen.flags >= 0).all()


# ------------------------------------------------------------------ pictures
def test_pictures_show_three_curves(tmp_path):
    stream = easy_stream(4)
    seen = bounds.trace(Classifier("pa1", 0.5), stream.X, stream.y)
    for name in ("bound.png", "bound.svg"):
        assert bounds.plot_trace(seen, tmp_path / name).stat().st_size > 1000
    text = (tmp_path / "bound.svg").read_text()
    assert all(word in text for word in ("mistakes", "certificate", "bound", "PA theorem 4"))
    inline = bounds.trace_svg(seen)
    assert inline.startswith("<svg")
    assert inline.count('class="curve') == 3
    assert "nan" not in inline


def test_a_picture_leaves_out_what_there_is_not(tmp_path):
    noisy = np.ones((6, 1)) * np.array([[1], [2], [1], [2], [1], [2]])
    seen = bounds.trace(Classifier("mira"), noisy, [0, 1, 1, 0, 0, 1], classes=[0, 1])
    assert bounds.trace_svg(seen).count('class="curve') == 1
    assert bounds.plot_trace(seen, tmp_path / "none.svg").exists()
