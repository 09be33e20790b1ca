"""One writer, many readers: nobody crashes, every score is a number, and the writer learns as if it were alone.

Cases run in a process beside ours, because a reader that follows memory which is gone takes its process with it.
"""

import faulthandler
import os
import sys
import threading
import time
import traceback
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from tests import plain as papers
from tests.estimators.every_learner import LEARNERS

import hinged

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SECONDS = 10.0 if LONG else 0.25  # for each row of the table, whatever the machine


def read(learner, model, probes, begun, stop, found):
    """Ask everything, again and again."""
    while not stop.is_set():
        fitted, width = begun.is_set(), getattr(model, "n_features_in_", None)
        try:
            found["largest"] = max(found["largest"], learner.ask(model, as_wide(probes, width)))
            found["rounds"] += 1
        except NotFittedError as problem:
            if fitted:
                found["problem"] = repr(problem)
        except Exception as problem:
            wider = getattr(model, "n_features_in_", None) != width and "is expecting" in str(problem)
            if not wider:  # a narrow row is refused once there are wider ones, with or without a writer
                found["problem"] = "".join(traceback.format_exception(problem)[-3:])
        if found["problem"] is not None:
            return


def as_wide(X, width):
    """Rows of a matrix, as wide as those that were learnt."""
    if width is None:
        return X
    return [x[:, :width] for x in X] if isinstance(X, list) else X[:, :width]


def learnt(model, batches):
    """Learn some batches whole and others row by row; after each, tell."""
    for t, (X, y) in enumerate(batches):
        if t % 3 == 2:
            for i in range(len(y)):
                model.learn_one(X[[i]] if sparse.issparse(X) else X[i], y[i])
        else:
            model.partial_fit(X, y)
        yield t


def learn_beside_readers(name):
    """What readers met while a writer learnt, and whether the writer's model is that of a quiet run."""
    warnings.simplefilter("error")
    sys.setswitchinterval(1e-5)
    learner = LEARNERS[name]
    batches = learner.stream()
    probes = batches[-1][0]
    quiet, largest = learner.make(), 0.0
    for _ in learnt(quiet, batches):
        largest = max(largest, learner.ask(quiet, as_wide(probes, getattr(quiet, "n_features_in_", None))))
    found, same, start = {"rounds": 0, "problem": None, "largest": 0.0}, True, time.monotonic()
    while found["problem"] is None and (found["rounds"] == 0 or time.monotonic() - start < SECONDS):
        model, begun, stop = learner.make(), threading.Event(), threading.Event()
        readers = [threading.Thread(target=read, args=(learner, model, probes, begun, stop, found)) for _ in range(2)]
        for reader in readers:
            reader.start()
        for _ in learnt(model, batches):
            begun.set()
        stop.set()
        for reader in readers:
            reader.join()
        same = same and learner.ask(model, probes) == learner.ask(quiet, probes)
    return found, learner.within or 4.0 * (1.0 + largest), same


def limited(function, *args):
    """Run it, or end the process: what hangs must not hang the suite."""
    faulthandler.dump_traceback_later(900 if LONG else 90, exit=True)
    answer = function(*args)
    faulthandler.cancel_dump_traceback_later()  # threads of a case that fails may still run: their process ends
    return answer


@pytest.fixture(scope="module")
def beside():
    """Run a case in the process of the cases before it; the one after a failure gets a new process."""
    pools = []

    def run(function, *args):
        if not pools:
            pools.append(ProcessPoolExecutor(1, mp_context=get_context("spawn")))
        try:
            return pools[0].submit(limited, function, *args).result()
        except BaseException:
            pools.pop().shutdown(wait=False)
            raise

    yield run
    for pool in pools:
        pool.shutdown()


@pytest.mark.parametrize("name", LEARNERS)
def test_readers_beside_one_writer_meet_nothing_but_sensible_numbers(beside, name):
    found, within, same = beside(learn_beside_readers, name)
    assert found["problem"] is None, found["problem"]
    assert found["rounds"] > 0
    assert found["largest"] <= within
    assert same  # the writer is not disturbed


def edit_beside_readers(merging):
    """What readers met while a writer renamed, declared and learnt labels, and merged and removed some."""
    sys.setswitchinterval(1e-5)
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 30))
    y = [f"label {r}" for r in rng.integers(0, 40, 400)]
    model = hinged.Classifier(sharing="hybrid", features="frequency").partial_fit(X, y)
    stop, found = threading.Event(), [{"rounds": 0, "problem": None} for _ in range(3)]

    def ask(one):
        while not stop.is_set():
            try:
                scores = model.decision_function(X[:40])
                answers, order = model.predict(X[:40]), model.rank(X[:1])[0]
                sure, coef, best = model.confidence(X[:5]), model.coef_, model.predict_one(X[0])
            except Exception as problem:
                one["problem"] = f"{type(problem).__name__}: {problem}"
                continue
            if not all(np.isfinite(numbers).all() for numbers in (scores, sure, coef)):
                one["problem"] = f"{scores} {sure} {coef}"
            if len(set(order)) != len(order) or answers.shape != (40,) or best is None:
                one["problem"] = f"{order} {answers} {best}"
            one["rounds"] += 1

    readers = [threading.Thread(target=ask, args=(one,)) for one in found]
    for reader in readers:
        reader.start()
    start, turn = time.monotonic(), 0
    while time.monotonic() - start < SECONDS and not any(one["problem"] for one in found):
        turn += 1
        labels = model.classes_.tolist()
        model.rename_label(labels[0], f"renamed {turn}")
        model.declare([f"declared {turn % 50}"])
        if merging:
            model.merge_labels(labels[1], labels[2])
            model.remove_label(labels[3])
        model.partial_fit(X[:20], [f"new {turn % 50}", f"newer {turn % 50}", *labels[5:23]])
    stop.set()
    for reader in readers:
        reader.join()
    return found, turn


@pytest.mark.parametrize("merging", [False, True], ids=["renaming", "merging"])
def test_readers_beside_a_writer_that_edits_labels_meet_nothing_but_numbers(beside, merging):
    found, turns = beside(edit_beside_readers, merging)
    assert [one["problem"] for one in found] == [None, None, None]
    assert turns > 0
    assert sum(one["rounds"] for one in found) > 0


def remove_beside_readers(ranker):
    """Answers that readers got for rows whose right label never changes, while labels before it in the list go."""
    sys.setswitchinterval(1e-5)
    real, spare = [f"real {i:02}" for i in range(20)], [f"a spare {i:03}" for i in range(200)]
    if ranker:
        model = hinged.Ranker().declare(spare).partial_fit(np.eye(20), [{label} for label in real], classes=real)
    else:
        model = hinged.Classifier().declare(spare).partial_fit(np.eye(20), real, classes=real)
    stop, found = threading.Event(), [{"rounds": 0, "problem": None} for _ in range(3)]

    def ask(one):
        while not stop.is_set():
            try:
                answers = (
                    [order[0] for order in model.rank(np.eye(20))] if ranker else model.predict(np.eye(20)).tolist()
                )
                best = model.rank_one(np.eye(20)[7])[0]
            except Exception as problem:
                one["problem"] = f"{type(problem).__name__}: {problem}"
                continue
            if answers != real or best != real[7]:
                one["problem"] = f"{answers} {best}"
            one["rounds"] += 1

    readers = [threading.Thread(target=ask, args=(one,)) for one in found]
    for reader in readers:
        reader.start()
    for i, label in enumerate(spare):
        if i % 2:
            model.remove_label(label)
        else:
            model.merge_labels(label, into=spare[-1] if label != spare[-1] else real[0])
    stop.set()
    for reader in readers:
        reader.join()
    return found


def ask_while(change, ask, times):
    """The answers of three readers, as a set, while a writer makes a change again and again."""
    sys.setswitchinterval(1e-6)
    found, stop, changes = set(), threading.Event(), 0

    def read():
        while not stop.is_set():
            try:
                found.add(ask())
            except Exception as problem:
                found.add(repr(problem))

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    while changes < times:
        change(changes)
        changes += 1
    stop.set()
    for reader in readers:
        reader.join()
    return found


def rename_beside_readers():
    """Which columns a Ranker predicts for rows whose labels never change but their names do."""
    model = hinged.Ranker(C=10.0)
    for _ in range(5):
        model.partial_fit(np.eye(6), np.eye(6, dtype=int))
    model.rename_label(0, "label 0")
    assert model.predict(np.eye(6)).tolist() == np.eye(6).tolist()

    def rename(t):
        model.rename_label(f"label {t}", f"label {t + 1}")

    return ask_while(rename, lambda: str(model.predict(np.eye(6)).tolist()), 2000 if LONG else 300)


def test_the_columns_of_a_ranker_follow_its_labels_in_one_step(beside):
    assert beside(rename_beside_readers) == {str(np.eye(6, dtype=int).tolist())}


def fit_beside_readers():
    """What a model says of a row while it is fitted anew, on names and labels that come in another order each time."""
    rows = [({"a": 1.0}, "first"), ({"b": 1.0}, "second"), ({"c": 1.0}, "third")]
    model = hinged.Classifier()

    def fit(t):
        order = [rows[(t + i) % 3] for i in range(3)] * 3
        model.fit([x for x, _ in order], [y for _, y in order])

    fit(0)
    return ask_while(
        fit, lambda: (model.predict_one({"a": 1.0}), model.predict([{"b": 1.0}])[0]), 1000 if LONG else 150
    )


def test_a_reader_sees_the_model_before_a_fit_or_after_it(beside):
    assert beside(fit_beside_readers) == {("first", "second")}


def ask_about_strangers():
    """Scores of a name that nobody has learnt, while others are learnt."""
    model, both = papers.Classifier(C=10.0), papers.BinaryClassifier(C=10.0)
    for one in (model, both):
        one.partial_fit([{"a": 1.0}, {"b": 1.0}] * 2, ["first", "second"] * 2)

    def learn(t):
        for one in (model, both):
            one.learn_one({f"name {t}": 1.0}, ["first", "second"][t % 2])

    strangers = [{f"stranger {i}": 1.0 for i in range(20)}] * 5

    def ask():
        scores = [one.decision_function(X) for one in (model, both) for X in (strangers[:1], strangers)]
        return tuple(np.unique(np.concatenate(scores)).tolist())

    return ask_while(learn, ask, 20_000 if LONG else 1500)


def test_names_that_nobody_has_learnt_count_for_nothing(beside):
    assert beside(ask_about_strangers) == {(0.0,)}


AT_ONCE = (
    "classifier average, sparse", "hybrid tfidf", "binary average, matrix", "binary average, sparse",
    "regressor average", "ordinal average", "uniclass pa", "uniclass, sparse", "tagger average",
)  # fmt: skip


def learn_at_once_beside_readers(name):
    """The largest score that readers met while many rows were learnt in one call, and what a quiet model answers."""
    learner = LEARNERS[name]
    X, y = learner.stream()[-1]
    times = 400 if "tagger" in name else 3000
    many = X * times if isinstance(X, list) else (sparse.vstack if sparse.issparse(X) else np.vstack)([X] * times)
    many = many.tocsr() if sparse.issparse(many) else many
    quiet = learner.make()
    largest = max(learner.ask(quiet.partial_fit(X, y), X) for _ in range(60))
    found = {"rounds": 0, "problem": None, "largest": 0.0}
    while found["rounds"] < (300 if LONG else 10) and found["problem"] is None:
        model, begun, stop = learner.make().partial_fit(X, y), threading.Event(), threading.Event()
        begun.set()
        reader = threading.Thread(target=read, args=(learner, model, X, begun, stop, found))
        reader.start()
        model.partial_fit(many, list(y) * times)
        stop.set()
        reader.join()
    return found, learner.within or 4.0 * (1.0 + largest)


@pytest.mark.parametrize("name", AT_ONCE)
def test_readers_beside_a_long_call_meet_sensible_numbers(beside, name):
    found, within = beside(learn_at_once_beside_readers, name)
    assert found["problem"] is None, found["problem"]
    assert found["largest"] <= within


@pytest.mark.parametrize("ranker", [False, True], ids=["classifier", "ranker"])
def test_a_reader_never_pairs_old_labels_with_new_weights(beside, ranker):
    found = beside(remove_beside_readers, ranker)
    assert [one["problem"] for one in found] == [None, None, None]
    assert sum(one["rounds"] for one in found) > 0


def write_from_three_threads():
    """Each brings labels and names of its own, from the first row on; what went wrong, in any of some fresh models."""
    sys.setswitchinterval(1e-6)
    wrong = []
    for _ in range(30):
        model, together = hinged.Classifier(), threading.Barrier(3)

        def write(who, model=model, together=together):
            together.wait()
            for i in range(15):
                model.learn_one({f"{who} {i % 5}": 1.0}, f"{who} {i % 5}")

        writers = [threading.Thread(target=write, args=(who,)) for who in "abc"]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        names = [f"{who} {i}" for who in "abc" for i in range(5)]
        if model.n_rounds_ != 45:
            wrong.append(f"{model.n_rounds_} rounds")
        elif sorted(model.classes_.tolist()) != names:
            wrong.append(f"labels {sorted(model.classes_.tolist())}")
        elif [model.predict_one({name: 1.0}) for name in names] != names:
            wrong.append("answers")
    return wrong


def test_several_writers_take_turns(beside):
    assert beside(write_from_three_threads) == []
