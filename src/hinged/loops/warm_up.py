"""Compile every loop once, so that later calls need not wait for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np

from hinged.geometry.entropy import Entropy
from hinged.loops.chain import ChainModel
from hinged.loops.entropic import EntropicModel
from hinged.loops.labels import Targets
from hinged.loops.ledger import lead_bins, new_ledger, note_rounds
from hinged.loops.model import LabelModel
from hinged.loops.rows import Dense, Rows
from hinged.loops.sequence import MAX_LOSS, PREDICTION, Wish
from hinged.loops.steps import Setting
from hinged.loops.tokens import Sentences
from hinged.loops.trials import TrialModel
from hinged.loops.uniclass import UniclassModel
from hinged.loops.vector_model import BINARY, ORDINAL, REGRESSION, VectorModel
from hinged.mercer.blocked import Machine
from hinged.mercer.functions import Polynomial
from hinged.mercer.rounds import Constraints, LabelRounds
from hinged.mercer.sparse import Sparse
from hinged.mercer.steps import Rule
from hinged.native.dicts import KEYS, VALUES, read_dict
from hinged.rules.table import resolve as resolve_rule
from hinged.sharing.plan import resolve as resolve_sharing
from hinged.tasks.trials import directions

__all__ = ["warm_up", "warm_up_labels", "warm_up_others"]


def warm_up(progress: Callable[[str, int, int], None] | None = None) -> int:
    """Run each loop on three tiny rows in both precisions; return how many versions there are.

    Parameters
    ----------
    progress : callable, optional
        Called with (name, done, total) before each version and once at the end.
    """
    return _run((*LABELS_ONLY, *OTHERS), progress)


def warm_up_labels(progress: Callable[[str, int, int], None] | None = None) -> int:
    """The first half of it: prototypes and shared vectors."""
    return _run(LABELS_ONLY, progress)


def warm_up_others(progress: Callable[[str, int, int], None] | None = None) -> int:
    """The second half of it: entropy, trials, single vectors, kernels and sequences."""
    return _run(OTHERS, progress)


def _run(parts: tuple[tuple[str, Callable[[], None]], ...], progress: Callable[[str, int, int], None] | None) -> int:
    for done, (name, run) in enumerate(parts):
        if progress is not None:
            progress(name, done, len(parts))
        run()
    if progress is not None:
        progress("done", len(parts), len(parts))
    return len(parts)


def _run_all(dtype: type, sharing: str, features: str | None) -> None:
    step, _ = resolve_rule("pa1", 1.0, 1.0)
    plan = resolve_sharing(sharing, features)
    model = LabelModel(dtype, plan, Setting(step.words, step.C, step.margin, step.uses_weight), average=True)
    rows = Rows(np.array([0, 1, 2, 3], np.int64), np.array([0, 1, 0], np.int32), np.ones(3, dtype))
    model.widen(2)
    labels = ["a", "b"]
    model.learn(rows, Targets(np.arange(4), np.array([0, 1, 1], np.int64), np.zeros(0)), labels)
    model.score(rows, labels)
    model.read(rows)
    for paged in model.stores:
        paged.rows(2)
    model.explain(rows, labels)
    model.with_labels(np.array([0, 0], np.int64), 1)
    lead_bins(np.zeros(1))


def _run_entropic() -> None:
    step, _ = resolve_rule("pa1", 1.0, 0.5)
    model = EntropicModel(Entropy(), Setting(step.words, step.C, step.margin, step.uses_weight))
    rows = Rows(np.array([0, 1, 2, 3], np.int64), np.array([0, 1, 0], np.int32), np.ones(3))
    model.widen(3)
    labels = ["a", "b"]
    model.learn(rows, Targets(np.arange(4), np.array([0, 1, 1], np.int64), np.zeros(0)), labels)
    model.score(rows, labels)
    model.read(rows)
    model.with_labels(np.array([0, 0], np.int64), 1)


def _run_vectors() -> None:
    rows = Rows(np.array([0, 1, 2, 3], np.int64), np.array([0, 1, 0], np.int32), np.ones(3))
    step, _ = resolve_rule("pa1", 1.0, 1.0)
    setting, none = Setting(step.words, step.C, step.margin, step.uses_weight), np.zeros(0)
    for task in (BINARY, REGRESSION, ORDINAL):
        model = VectorModel(task, np.float64, setting, average=True)
        model.widen(2)
        model = model.with_thresholds(0, 1)
        targets = np.array([0, 1, 1], np.int64 if task == ORDINAL else np.float64)
        model.learn(rows, targets, none)
        model.score(rows)
        if task != ORDINAL:
            model.learn(Dense(np.eye(3, 2)), targets, none)
            model.score(Dense(np.eye(3, 2)))
    ball = UniclassModel(np.float64, setting, 1.0, True)
    ball.widen(2)
    ball.learn(rows, none)
    ball.learn_dense(np.ones(2))
    ball.ask(lambda seen: (seen.distances(rows), seen.radius))


def _run_dicts() -> None:
    read_dict(id({"a": 1.0}), id({"a": 0}), KEYS, VALUES, np.zeros(1, np.int32), np.zeros(1))


def _run_sequences() -> None:
    """In double precision alone, which is what feature names are read in."""
    ends, indptr, features = np.array([0, 2]), np.array([0, 1, 2]), np.array([0, 1], np.int32)
    sentence, tags, order = Sentences(ends, indptr, features, np.zeros(0)), np.array([1, 0]), np.zeros(1, np.int64)
    step, _ = resolve_rule("pa1", 1.0, 1.0)
    for constraint, n_best in ((PREDICTION, 2), (MAX_LOSS, 1)):
        wish = Wish(step.words, step.C, step.uses_weight, constraint, n_best, 0.0)
        model = ChainModel(np.float64, wish, average=True)
        model.declare(2)
        model.widen(2)
        model.learn(sentence, tags, order, np.zeros(0), 2)
        model.learn(sentence, tags, order, np.zeros(0), 2, delay=1)
        model.answer(sentence, 2, n_best)


def _run_kernels() -> None:
    none = np.zeros(0)
    for dtype in (np.float64, np.float32):
        X = np.eye(3, 2, dtype=dtype)
        for n_outputs in (2, 1):
            machine = Machine(Polynomial(), "multi", dtype, n_outputs)
            for rows in (X, Sparse.of(X)):
                rounds: LabelRounds | Constraints = Constraints(Rule(), np.array([0.0, 1.0, 1.0]), none)
                if n_outputs == 2:
                    rounds = LabelRounds(Rule(), np.arange(4), np.array([0, 1, 1], np.int64), none, 2)
                machine.learn(rows, rounds, n_outputs)
                machine.make_sparse()
    note_rounds(new_ledger(), none, none, np.zeros(0, np.bool_))


def _run_trials() -> None:
    for rule, geometry in (
        ("pa", None),
        ("pa1", None),
        ("pa2", None),
        ("simproj", None),
        ("optimal", None),
        ("pa1", Entropy()),
    ):
        model = TrialModel(resolve_rule(rule, 1.0, 0.5)[0], geometry)
        model.widen(2)
        model.learn(directions(np.eye(2), np.array([1.0, -1.0])), np.ones(2))


LABELS_ONLY = tuple(
    (f"{sharing} {np.dtype(dtype).name}", partial(_run_all, dtype, sharing, features))
    for dtype, (sharing, features) in product((np.float64, np.float32), (("multi", None), ("hybrid", "frequency")))
)
OTHERS = (
    ("entropy", _run_entropic),
    ("trials", _run_trials),
    ("single vectors", _run_vectors),
    ("kernels", _run_kernels),
    ("sequences", _run_sequences),
    ("dicts", _run_dicts),
)
