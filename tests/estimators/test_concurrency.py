"""One writer, many readers: nobody crashes, every score is a number, and the writer learns as if it were alone.

Cases run in a process beside ours, because a reader that follows memory which is gone takes its process with it.
"""

import faulthandler
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from scipy import sparse

import hinged

SCHEMES = {
    "multi": {},
    "simproj": {"rule": "simproj"},
    "average": {"average": True, "scaling": "idf", "normalize": True},
    "hybrid frequency": {"sharing": "hybrid", "features": "frequency"},
    "hybrid tfidf": {"sharing": "hybrid", "features": "tfidf"},
    "single distance": {"sharing": "single", "features": "distance"},
    "single first": {"sharing": "single", "features": "first"},
    "groups": {"sharing": "groups"},
}
SECONDS = 1.0  # at most, whatever the machine


def settings_of(scheme):
    settings = dict(SCHEMES[scheme])
    if settings.get("sharing") == "groups":
        settings["sharing"] = hinged.sharing.Groups([{f"label {r}" for r in range(s, 200, 3)} for s in range(3)])
    return settings


def growing(rounds, width):
    """Rows whose features and labels appear over time, in batches."""
    rng = np.random.default_rng(1)
    batches = []
    for first in range(0, rounds, 50):
        n_labels = 3 + 150 * first // rounds
        reach = 20 + (width - 20) * first // rounds
        columns = np.sort(rng.integers(0, reach, (50, 12)), axis=1)
        X = sparse.csr_array((rng.random(600) + 0.5, columns.ravel(), 12 * np.arange(51)), shape=(50, width))
        X.sum_duplicates()
        batches.append((X, [f"label {r}" for r in rng.integers(0, n_labels, 50)]))
    return batches


def read(model, probes, stop, found):
    """Ask everything, again and again."""
    first = probes[0] if isinstance(probes, list) else probes[:1]
    try:
        while not stop.is_set():
            scores = model.decision_function(probes)
            assert np.isfinite(scores).all()
            assert all(isinstance(label, str) for label in model.predict(probes[:200]))
            assert np.isfinite(model.confidence(probes[:50])).all()
            order = model.rank(probes[:5])[0]
            assert len(set(order)) == len(order)
            for label in (order[0], order[-1], model.classes_[-1]):
                assert np.isfinite([value for _, value in model.explain(first, label)]).all()
            found["rounds"] += 1
    except BaseException as problem:
        found["problem"] = f"{type(problem).__name__}: {problem}"


def learn_beside_readers(scheme, by_name):
    """What readers met while a writer learnt, and whether the writer's model is that of a quiet run."""
    sys.setswitchinterval(1e-5)
    width = 1500 if "distance" in scheme else 12_000
    batches = growing(3000 if "distance" in scheme else 20_000, width)
    probes = sparse.vstack([X for X, _ in batches[:: len(batches) // 20]]).tocsr()
    if by_name:
        batches = [(named(X), y) for X, y in batches]
        probes = named(probes)
    model = hinged.Classifier(**settings_of(scheme)).partial_fit(*batches[0])
    stop, found = threading.Event(), [{"rounds": 0, "problem": None} for _ in range(3)]
    readers = [threading.Thread(target=read, args=(model, probes, stop, one)) for one in found]
    for reader in readers:
        reader.start()
    start, done = time.monotonic(), 1
    for X, y in batches[1:]:
        model.partial_fit(X, y)
        done += 1
        if time.monotonic() - start > SECONDS or any(one["problem"] for one in found):
            break
    stop.set()
    for reader in readers:
        reader.join()
    quiet = hinged.Classifier(**settings_of(scheme))
    for X, y in batches[:done]:
        quiet.partial_fit(X, y)
    weights = [m.coef_.toarray() if sparse.issparse(m.coef_) else m.coef_ for m in (model, quiet)]
    same = [np.array_equal(*weights), model.n_mistakes_ == quiet.n_mistakes_, model.dual_ == quiet.dual_]
    if quiet._model.plan.parts:
        same.append(np.array_equal(model.shared_coef_, quiet.shared_coef_))
    return found, same, model.classes_.tolist() == quiet.classes_.tolist(), done


def named(X):
    """The rows as dicts, so that names appear over time too."""
    return [
        {f"w{c}": v for c, v in zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True)}
        for a, b in zip(X.indptr, X.indptr[1:], strict=False)
    ]


def limited(function, *args):
    """Run it, or end the process: what hangs must not hang the suite."""
    faulthandler.dump_traceback_later(90, exit=True)
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


@pytest.mark.parametrize("by_name", [False, True], ids=["matrix", "dicts"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_readers_beside_one_writer_meet_nothing_but_numbers(beside, scheme, by_name):
    found, same, same_labels, done = beside(learn_beside_readers, scheme, by_name)
    assert [one["problem"] for one in found] == [None, None, None]
    assert done > 5
    assert sum(one["rounds"] for one in found) > 0
    assert all(same)
    assert same_labels


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
