"""Ctrl-C in the middle of a call: it is heard between two rounds, and the model has learnt whole rounds or nothing."""

import io
import json
import signal
import sys

import numba
import numpy as np
import pytest
from scipy import sparse
from tests.estimators.every_learner import LEARNERS

import hinged
from hinged.files import learn_stream
from hinged.io.examples import read
from hinged.loops import hearing

BATCHES, KEPT = 6, 2


def interrupting(after):
    """A function that is told of rows done, and sends the real signal after so many."""
    done = 0

    def advance(n):
        nonlocal done
        if done < after <= done + n:
            signal.raise_signal(signal.SIGINT)
        done += n

    return advance


@pytest.fixture(autouse=True)
def heeding():
    """Let Ctrl-C raise KeyboardInterrupt, also where the tests run in the background of a shell that ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("name", [name for name, row in LEARNERS.items() if hasattr(row.make(), "learn_rounds")])
def test_an_interrupted_call_has_learnt_whole_rounds_or_nothing(name):
    row = LEARNERS[name]
    *before, (X, y) = row.stream()[:BATCHES]
    model, twin = row.make(), row.make()
    for rows, answers in before:
        model.partial_fit(rows, answers)
        twin.partial_fit(rows, answers)
    rounds = model.n_rounds_
    with pytest.raises(KeyboardInterrupt):
        model.learn_rounds(X, y, advance=interrupting(KEPT))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    kept = model.n_rounds_ - rounds
    assert kept in (0, KEPT)
    assert kept == KEPT or model._runs_functions(), "only calls that functions of the user's run in are undone"
    row.ask(model, X if kept else before[-1][0])
    for learner, start in ((twin, 0), (model, kept)):
        for i in range(start, len(y)):
            learner.partial_fit(X[i : i + 1], y[i : i + 1])
    assert model.n_rounds_ == twin.n_rounds_ == rounds + len(y)
    assert (model.n_mistakes_, model.n_updates_) == (twin.n_mistakes_, twin.n_updates_)
    assert row.ask(model, X) == row.ask(twin, X)


def wide(n, columns, seed=0):
    rng = np.random.default_rng(seed)
    return sparse.csr_array(rng.normal(size=(n, columns)) * (rng.random((n, columns)) < 0.5))


@pytest.fixture
def alarm():
    """Have a real signal sent after some seconds, as often as asked; its handler raises KeyboardInterrupt."""

    def ring(number, frame):
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, ring)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, before)


def slow_learner():
    """A learner whose rounds take long: all pairs of labels at once, with shared weights."""
    return hinged.Classifier("optimal", sharing="hybrid", features="frequency", scaling="idf", normalize=True)


def test_a_long_call_stops_before_its_end_and_has_learnt_what_it_counts(alarm):
    rng = np.random.default_rng(1)
    few, labels = wide(500, 100), rng.integers(0, 80, 500)
    many = sparse.vstack([few] * 60, format="csr")
    answers = np.tile(labels, 60)
    model = slow_learner().partial_fit(few, labels)
    alarm(0.2)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(many, answers)
    learnt = model.n_rounds_ - 500
    assert learnt < many.shape[0]
    twin = slow_learner().partial_fit(few, labels)
    if learnt:
        twin.partial_fit(many[:learnt], answers[:learnt])
    assert np.array_equal(model.decision_function(few[:20]), twin.decision_function(few[:20]))
    assert (model.n_mistakes_, model.n_updates_, model.dual_) == (twin.n_mistakes_, twin.n_updates_, twin.dual_)
    alarm(0.1)
    with pytest.raises(KeyboardInterrupt):
        model.predict(many)


def test_one_long_row_is_given_up(alarm):
    k, width = 120, 80_000
    X = sparse.eye_array(k, width, format="csr")
    model = slow_learner().partial_fit(X, range(k)).partial_fit(X, range(k))
    long = sparse.csr_array((np.ones(width), np.arange(width), [0, width]), shape=(1, width))
    assert width * model._model._per_value(k) > hearing.LONG
    before = model.decision_function(X)
    alarm(0.02)
    with pytest.raises(KeyboardInterrupt):
        model.learn_one(long, 3)
    assert model.n_rounds_ == 2 * k
    assert np.array_equal(model.decision_function(X), before)


def test_a_handler_that_only_notes_a_signal_lets_a_long_row_be_learnt(alarm):
    k, width = 40, 20_000
    X = sparse.eye_array(k, width, format="csr")
    long = sparse.csr_array((np.ones(width), np.arange(width), [0, width]), shape=(1, width))
    model, twin = (slow_learner().partial_fit(X, range(k)).partial_fit(X, range(k)) for _ in range(2))
    came = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: came.append(number))
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.2)
    model.partial_fit(long, [3])
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, before)
    twin.partial_fit(long, [3])
    assert model.n_rounds_ == twin.n_rounds_ == 2 * k + 1
    assert np.array_equal(model.decision_function(X), twin.decision_function(X))


def test_fit_that_is_interrupted_leaves_the_old_model(alarm):
    rng = np.random.default_rng(1)
    few, labels = wide(300, 100), rng.integers(0, 80, 300)
    model = slow_learner().set_params(epochs=500).partial_fit(few, labels)
    before = model.decision_function(few[:20])
    alarm(0.2)
    with pytest.raises(KeyboardInterrupt):
        model.fit(few, labels)
    assert model.n_rounds_ == 300
    assert np.array_equal(model.decision_function(few[:20]), before)


def test_signals_wait_for_the_end_of_a_round():
    heard = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    try:
        with hearing.BetweenRounds():
            signal.raise_signal(signal.SIGTERM)
            assert not heard
            hearing.hear()
            assert heard == [signal.SIGTERM]
            with hearing.BetweenRounds():
                signal.raise_signal(signal.SIGTERM)
            assert len(heard) == 1
        assert len(heard) == 2
        assert signal.getsignal(signal.SIGTERM) is not hearing.BetweenRounds
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.fixture
def alarm_at(alarm):
    """Have that signal sent when a function of this name is entered for the first time."""

    def enter(frame, event, arg):
        if event == "call" and frame.f_code.co_name == name:
            sys.setprofile(None)
            signal.raise_signal(signal.SIGALRM)

    def set_name(of_function):
        nonlocal name
        name = of_function
        sys.setprofile(enter)

    name = None
    yield set_name
    sys.setprofile(None)


@pytest.mark.parametrize("inside", ["type_inference_stage", "sublist_iterator"])
def test_a_signal_is_heard_while_a_loop_is_compiled(alarm_at, inside):
    @numba.njit
    def total(values):
        values[0] = 1.0
        return values.sum()

    values = np.zeros(3)
    alarm_at(inside)
    with pytest.raises(KeyboardInterrupt), hearing.BetweenRounds():
        total(values)
    assert inside == "sublist_iterator" or not values.any(), "it was heard before the first call began"
    assert total(values) == 1.0, "Numba can compile as before"


def test_a_stream_gives_up_a_long_example_that_is_stopped(alarm):
    k = 100
    small = "".join(json.dumps({"label": f"l{i % k}", "text": f"word{i % k} again"}) + "\n" for i in range(2 * k))
    long = json.dumps({"label": "l1", "text": " ".join(f"w{i}" for i in range(800_000))}) + "\n"
    first, second = (list(read(io.BytesIO(text.encode()), "jsonl")) for text in (small, long))
    came = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: came.append(number))

    def chunks():
        yield from first
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        yield from second

    model = hinged.TextClassifier()
    *_, tally = learn_stream(model, chunks(), going=lambda: not came)
    signal.signal(signal.SIGALRM, before)
    assert came
    assert tally.rounds == model.n_rounds_ == 2 * k
    assert len(model.text_space_) == k + 1, "words of the long one are forgotten"
