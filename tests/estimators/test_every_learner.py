"""What every estimator promises alike: a refused call changes nothing, and writers take turns from the first row on."""

import os
import sys
import threading

import numpy as np
import pytest
from scipy import sparse
from tests import plain as papers
from tests.estimators.every_learner import LEARNERS, by_name, dense, number, rank, sentences, two_labels

import hinged

TRIES = 60 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 6


def with_bad_row(X, bad):
    """The rows, the last of them one that is refused."""
    if isinstance(X, list):
        return [*X[:-1], bad]
    X = X.toarray() if sparse.issparse(X) else X
    return np.concatenate([X[:-1], np.full((1, X.shape[1]), np.nan, X.dtype)])


def knowledge(model, X):
    """What can be seen of a model."""
    names = ("n_rounds_", "n_mistakes_", "n_updates_", "dual_", "n_features_in_", "feature_names_", "classes_", "coef_")
    shown = {name: repr(getattr(model, name, None)) for name in names}
    ask = model.predict if isinstance(model, hinged.Regressor | hinged.Trials) else model.decision_function
    shown["answers"] = [np.asarray(scores).tolist() for scores in ask(X)]
    return shown


def refuse(model, X, y, bad):
    """Calls that are refused: for a row, for the only row, and for a weight."""
    weights = {"nu": [[-1.0] * 3] * len(y)} if isinstance(model, hinged.Trials) else {"sample_weight": [-1.0] * len(y)}
    for call in (
        lambda: model.partial_fit(with_bad_row(X, bad), y),
        lambda: model.learn_one(bad, y[0]),
        lambda: model.partial_fit(X, y, **weights),
    ):
        with pytest.raises((ValueError, TypeError)):
            call()


@pytest.mark.parametrize("name", LEARNERS)
def test_a_refused_call_changes_nothing_even_after_a_change_of_settings(name):
    learner = LEARNERS[name]
    batches = learner.stream()
    if "matrix" not in name and name not in ("trials", "centred hybrid"):
        batches = batches[::8]
    model, other = (learner.make().partial_fit(*batches[0]).partial_fit(*batches[1]) for _ in range(2))
    before, C = knowledge(model, batches[1][0]), model.C
    refuse(model, *batches[2], learner.bad)
    assert knowledge(model, batches[1][0]) == before
    model.set_params(C=1.0 if C == "auto" else C / 8.0)  # which is refused by itself where several C learn
    refuse(model, *batches[2], learner.bad)
    assert knowledge(model, batches[1][0]) == before
    model.set_params(C=C)
    for one in (model, other):
        one.partial_fit(*batches[2])
    assert knowledge(model, batches[2][0]) == knowledge(other, batches[2][0])


def fails_on_the_last(x, label):
    if x.get("w0") == 7.0 or x.get(0) == 7.0:
        raise ValueError("no features today")
    return {"all": 1.0}


def kernel_that_fails(A, B):
    if (A == 7.0).any() or (B == 7.0).any():
        raise ValueError("no kernel today")
    return A @ B.T


def cost_that_fails(right, other):
    if len(right) == 1:
        raise ValueError("no cost today")
    return 1.0


SEVENS = [{"w0": 1.0}, {"w0": 7.0}]
REFUSED_LATE = {
    "a third label": (papers.BinaryClassifier, by_name(dense(two_labels)), SEVENS, ["yes", "else"]),
    "a rank in between": (hinged.OrdinalClassifier, by_name(dense(rank)), SEVENS, [0, 0.5]),
    "label features": (
        lambda: hinged.Classifier(sharing="single", features=fails_on_the_last), by_name(dense(two_labels)), SEVENS,
        ["yes", "no"],
    ),
    "a kernel": (
        lambda: hinged.Regressor(kernel=kernel_that_fails), dense(number), np.array([[1.0] * 60, [7.0] * 60]),
        [1.0, 2.0],
    ),
    "a cost of sequences": (
        lambda: hinged.SequenceTagger(cost=cost_that_fails, n_best=2), sentences(), [[["w=1"], ["w=2"]], [["w=3"]]],
        [["tag 0", "tag 1"], ["tag 1"]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED_LATE)
def test_a_call_that_is_refused_late_changes_nothing_even_after_a_change_of_settings(what):
    make, stream, X, y = REFUSED_LATE[what]
    batches = stream()
    model, other = (make().partial_fit(*batches[0]).partial_fit(*batches[6]) for _ in range(2))
    before, C = knowledge(model, batches[0][0]), model.C
    model.set_params(C=0.125)
    with pytest.raises(ValueError, match=r"no .* today|must lie below or above|multiclass"):
        model.partial_fit(X, y)
    assert knowledge(model, batches[0][0]) == before
    model.set_params(C=C)
    for one in (model, other):
        one.partial_fit(*batches[6])
    assert knowledge(model, batches[0][0]) == knowledge(other, batches[0][0])


@pytest.mark.parametrize("name", LEARNERS)
def test_no_round_of_several_writers_is_lost_from_the_first_on(name):
    learner = LEARNERS[name]
    X, y = learner.stream()[-1]
    wrong, usual = [], sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(TRIES):
            model, together = learner.make(), threading.Barrier(3)

            def write(first, model=model, together=together):
                together.wait()
                for i in (first % len(y), (first + 1) % len(y)):
                    if isinstance(y, np.ndarray):  # a table of answers tells a row's labels only as a table
                        model.partial_fit(X[[i]], y[[i]])
                    else:
                        model.learn_one(X[[i]] if sparse.issparse(X) else X[i], y[i])

            writers = [threading.Thread(target=write, args=(2 * t,)) for t in range(3)]
            for writer in writers:
                writer.start()
            for writer in writers:
                writer.join()
            if model.n_rounds_ != 6:
                wrong.append(model.n_rounds_)
    finally:
        sys.setswitchinterval(usual)
    assert not wrong, wrong


@pytest.mark.parametrize("name", LEARNERS)
def test_settings_are_resolved_before_the_first_row_and_by_it_but_not_again(name, monkeypatch):
    learner = LEARNERS[name]
    model, calls = learner.make(), []
    check = type(model).check_settings
    monkeypatch.setattr(type(model), "check_settings", lambda self: calls.append(1) or check(self))
    (X, y), (more, theirs), *_ = learner.stream()
    model.partial_fit(X, y)
    first = len(calls)
    assert first <= 2
    model.partial_fit(more, theirs)
    assert len(calls) <= first + 1


def test_rows_after_the_first_resolve_no_settings(monkeypatch):
    calls = []
    check = hinged.Classifier.check_settings
    monkeypatch.setattr(hinged.Classifier, "check_settings", lambda self: calls.append(1) or check(self))
    model = hinged.Classifier()
    model.learn_one({"a": 1.0}, "x")
    first = len(calls)
    model.learn_one({"b": 1.0}, "y")
    assert (first, len(calls)) == (2, 2)
