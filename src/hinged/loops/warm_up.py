"""Run every loop on a few tiny rows, so that it is compiled and later calls need not wait for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np

from hinged.geometry.entropy import Entropy
from hinged.loops.blocks import Blocks, SparseValues
from hinged.loops.chain import ChainModel
from hinged.loops.confidence import chances, new_odds
from hinged.loops.entropic import EntropicModel
from hinged.loops.labels import Targets
from hinged.loops.ledger import new_ledger, note_rounds
from hinged.loops.model import LabelModel
from hinged.loops.row_scaler import RowScaler
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

__all__ = ["VERSIONS"]


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
    chances(new_odds(), np.zeros(1), np.zeros(1), np.zeros(1, np.int64))


def _run_blocks() -> None:
    """Write a number to pages of each type."""
    for dtype in (np.float32, np.float64, np.int32):
        values = SparseValues((1, 1, 1), np.ones(1, np.uint64), np.ones(1, dtype))
        Blocks(np.zeros(1, np.uint32), np.ones((1, 1), np.bool_), values, 1).write(np.zeros(2, dtype))


def _run_quick(dtype: type) -> None:
    """The loops for many rows at once: for one learner, and for several side by side."""
    step, _ = resolve_rule("pa1", 1.0, 1.0)
    setting = Setting(step.words, step.C, step.margin, step.uses_weight)
    rows = Rows(np.array([0, 1, 2, 3], np.int64), np.array([0, 1, 0], np.int32), np.ones(3, dtype))
    for caps in ((), (0.5, 1.0)):
        model = LabelModel(dtype, resolve_sharing("multi", None), setting, caps=caps, mean=len(caps) > 0)
        model.widen(2)
        model.declare(2)
        model.learn(rows, Targets(np.arange(4), np.array([0, 1, 1], np.int64), np.zeros(0)), ["a", "b"])


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
    read_dict(id({"a": 1.0}), id({"a": 0}), -1, KEYS, VALUES, np.zeros(1, np.int32), np.zeros(1))


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
        scaler = RowScaler(dtype, "standard", False)
        scaler.n_features = 2
        scaler.learn(Dense(X), none)
    note_rounds(new_ledger(), none, none, np.zeros(0, np.int64), np.zeros(0, np.bool_))


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


#: What compiles each version of the loops, by name; those that take longest come first.
VERSIONS: dict[str, Callable[[], None]] = {
    f"{sharing} {np.dtype(dtype).name}": partial(_run_all, dtype, sharing, features)
    for dtype, (sharing, features) in product((np.float64, np.float32), (("multi", None), ("hybrid", "frequency")))
} | {
    "many rows float64": partial(_run_quick, np.float64),
    "many rows float32": partial(_run_quick, np.float32),
    "entropy": _run_entropic,
    "sequences": _run_sequences,
    "kernels": _run_kernels,
    "single vectors": _run_vectors,
    "trials": _run_trials,
    "dicts": _run_dicts,
    "states": _run_blocks,
}
