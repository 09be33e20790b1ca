"""Raw trials are streams too, and where the condition on the Hessian is broken one sentence says so."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests.plain import Classifier
from tests.reference.streams import easy_stream

import hinged
from hinged import bounds
from hinged.bounds.watching import Beginning
from hinged.files.examples import rows_for
from hinged.io.examples.chunk import Chunk

LABELS = [0, 1, 2, 3]


def drawn_trials(n=60, features=6, seed=0):
    """Trials of one to four instances which some fixed weights nearly meet."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=features)
    found = []
    for _ in range(n):
        X = rng.normal(size=(int(rng.integers(1, 5)), features))
        found.append((X, np.where(X @ hidden + 0.3 * rng.normal(size=len(X)) > 0, 1, -1)))
    return found


# ------------------------------------------------------------------ trials
def test_the_losses_and_lengths_of_trials_are_those_of_their_instances():
    trials, u = drawn_trials(), np.linspace(-1, 1, 6)
    stream = bounds.as_stream(trials, margin=0.5)
    expected = [max(0.0, float(np.max(0.5 - y * (X @ u)))) for X, y in trials]
    np.testing.assert_allclose(bounds.losses(stream, u), expected, atol=1e-12)
    np.testing.assert_allclose(stream.sq_lengths, [(X**2).sum(axis=1).max() for X, _ in trials])
    np.testing.assert_allclose(stream.sq_shortest, [(X**2).sum(axis=1).min() for X, _ in trials])
    assert stream.n_pairs.tolist() == [len(y) for _, y in trials]
    assert bounds.losses(trials, u).tolist() == bounds.losses(bounds.as_stream(trials), u).tolist()
    apart = bounds.as_stream([X for X, _ in trials], [y for _, y in trials], like=hinged.Trials(margin=0.5))
    assert bounds.losses(apart, u).tolist() == bounds.losses(stream, u).tolist()


def test_classes_put_as_trials_make_the_same_numbers():
    data = easy_stream(0)
    k, n = len(LABELS), data.X.shape[1]
    trials = []
    for x, y in zip(data.X, data.y, strict=True):
        Z = np.zeros((k - 1, k, n))
        Z[:, y], Z[range(k - 1), [r for r in range(k) if r != y]] = x, -x
        trials.append((csr_array(Z.reshape(k - 1, -1)), np.ones(k - 1, int)))
    as_classes, as_trials = bounds.as_stream(data.X, data.y, LABELS), bounds.as_stream(trials)
    best = bounds.hindsight(as_classes, 0.5, tol=1e-6)
    again = bounds.hindsight(as_trials, 0.5, tol=1e-6)
    assert again.objective == pytest.approx(best.objective, rel=1e-5)
    u = best.u.own
    for bound in (bounds.sp_corollary_1, bounds.pa_theorem_4):
        assert bound(as_trials, u.ravel(), 0.5).value == pytest.approx(bound(as_classes, u, 0.5).value)


@pytest.mark.parametrize("rule", ["perceptron", "pa1", "pa2", "simperc", "simproj", "conproj", "optimal"])
@pytest.mark.filterwarnings("ignore:LR eq. 2 needs")
def test_a_trace_of_trials_stays_below_its_bound(rule):
    trials = drawn_trials()
    model = hinged.Trials(rule, 0.1)
    seen = bounds.trace(model, trials)
    assert seen.mistakes[-1] == model.n_mistakes_ == (seen.flags == 1).sum() > 0
    assert seen.certificate[-1] == model.dual_
    assert (seen.mistakes <= seen.certified + 1e-9)[np.isfinite(seen.certified)].all()
    assert (seen.certified <= seen.bound + 1e-9)[np.isfinite(seen.certified)].all()
    assert (seen.mistakes <= seen.bound).all()
    assert bounds.mistake_bound(hinged.Trials(rule, 0.1), trials) == seen.final


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda t: bounds.as_stream(t, classes=[0, 1]), "leave classes out"),
        (lambda t: bounds.as_stream([(np.eye(2), [1, 2])]), "-1 or [+]1"),
        (lambda t: bounds.as_stream(np.eye(2)), "needs the right answers"),
        (lambda t: bounds.lr_equation_2(t, np.full(6, 1 / 6), geometry="entropy"), "raw trials"),
        (lambda t: bounds.hindsight(t, geometry="entropy"), "raw trials"),
    ],
)
def test_trials_that_make_no_stream_are_refused(ask, sentence):
    with pytest.raises(ValueError, match=sentence):
        ask(drawn_trials(5))


# ------------------------------------------------------------------ the condition on the Hessian
def short_rows():
    data = easy_stream(1)
    return 0.7 * data.X / np.linalg.norm(data.X, axis=1, keepdims=True), data.y


@pytest.mark.parametrize("rule", ["pa1", "optimal", "perceptron"])
def test_a_broken_condition_is_told_once_and_what_stands_in_its_place(rule):
    X, y = short_rows()
    model = Classifier(rule, 0.25)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bounds.trace(model, X, y, LABELS).condition == ""
        assert bounds.trace(Classifier(rule, 0.25), 2 * X, y, LABELS, h=None).condition == ""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        seen = bounds.trace(Classifier(rule, 0.25), 2 * X, y, LABELS)
        bound = bounds.mistake_bound(Classifier(rule, 0.25), 2 * X, y, LABELS)
    assert bound == seen.final
    by_ranking = seen.final.theorem.startswith("LR eq. 2")
    assert by_ranking or rule == "pa1"
    assert [str(one.message) for one in told] == 2 * by_ranking * [
        f"{seen.condition} Shorten the rows, or give h=None."
    ]
    if by_ranking:
        assert seen.condition.startswith("LR eq. 2 needs ⟨x, Hx⟩ ≤ 0.5, but this stream reaches 1.96: ")
        assert seen.summary()["condition"] == seen.condition


def test_binary_rows_under_entropy_meet_the_condition():
    X, y = easy_stream(2)[:2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        seen = bounds.trace(Classifier("pa1", 0.5, margin=0.5, geometry="entropy"), 1.0 * (X > 0), y, LABELS)
    assert (seen.final.theorem, seen.condition) == ("LR eq. 2", "")


# ------------------------------------------------------------------ settings that learners choose
@pytest.mark.parametrize("watched", [bounds.trace, bounds.mistake_bound])
@pytest.mark.parametrize("kind", [hinged.Classifier, hinged.Ranker])
def test_of_learners_side_by_side_nothing_is_proven_and_one_sentence_says_what_to_pass(kind, watched):
    X, y = np.eye(4)[[0, 1, 2] * 5], [0, 1, 2] * 5
    answers = y if kind is hinged.Classifier else [[label] for label in y]
    with pytest.raises(ValueError, match=r"covers C='auto'.*; pass C=1") as told:
        watched(kind(), X, answers)
    sentence = str(told.value)
    assert sentence.count(". ") == 0
    assert all(name in sentence for name in ("scaling=None", "normalize=False", "average=False", "bias=0"))
    watched(kind(C=1, scaling=None, normalize=False, average=False, bias=0), X, answers, h=None)


@pytest.mark.parametrize("settings", [{}, {"sharing": "single", "features": "first"}, {"rule": "conproj"}])
def test_a_learner_with_one_c_that_chooses_the_rest_keeps_its_bound(settings):
    stream = easy_stream(5)
    for X in (stream.X, csr_array(np.maximum(stream.X, 0.0))):
        model = hinged.Classifier(C=0.25, **settings)
        seen = bounds.trace(model, X, stream.y, LABELS, h=None)
        assert seen.rule == model.settled_["rule"]
        assert (seen.mistakes <= seen.certified + 1e-9).all()
        assert (seen.certified <= seen.bound + 1e-9).all()


def test_a_stream_is_scaled_as_its_learner_chooses():
    stream = easy_stream(6)
    chosen = bounds.as_stream(stream.X, stream.y, like=hinged.Classifier()).X
    named = bounds.as_stream(stream.X, stream.y, like=Classifier(scaling="standard", bias=0.5)).X
    np.testing.assert_array_equal(chosen.toarray(), named.toarray())
    for like in (None, hinged.Classifier(scaling=None), hinged.Classifier(geometry="entropy")):
        np.testing.assert_array_equal(bounds.as_stream(stream.X, stream.y, like=like).X.toarray(), stream.X)


@pytest.mark.parametrize("settings", [{"C": 1.0}, {"C": 1.0, "sharing": "single", "features": "first"}])
def test_examples_from_files_are_traced_by_what_their_learner_chose(settings):
    learner, kept = hinged.Classifier(**settings), Beginning()
    for chunk in kept.of(learner, [drawn_chunk(0, width=3), drawn_chunk(1, width=4)]):  # full rows, then wider ones
        learner.partial_fit(rows_for(learner, chunk, True), chunk.answers)
    watched = kept.trace(learner)
    assert watched.examples == learner.n_rounds_
    assert watched.trace.mistakes[-1] == learner.n_mistakes_
    assert watched.trace.certificate[-1] == pytest.approx(learner.dual_)


def test_examples_from_files_have_no_bound_for_learners_side_by_side():
    learner, kept = hinged.Classifier(), Beginning()
    for chunk in kept.of(learner, [drawn_chunk(0, width=3)]):
        learner.partial_fit(rows_for(learner, chunk, True), chunk.answers)
    assert kept.trace(learner).why.startswith("No bound: no theorem of the papers covers C='auto'")


def drawn_chunk(seed, width, n=20):
    """Examples as a file has them, with a value in every column."""
    rng = np.random.default_rng(seed)
    columns = (width * np.arange(n + 1), np.tile(np.arange(width), n), rng.normal(size=n * width))
    return Chunk([*rng.choice([*"abc"], n)], np.arange(1, n + 1), "x.svm", columns=columns)
