"""Kernel learning on plain arrays, with NumPy alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinged.mercer.blocked import Machine
from hinged.mercer.budget import Budget, check_budget, resolve_budget
from hinged.mercer.device import resolve_device
from hinged.mercer.fourier import FeatureMap
from hinged.mercer.functions import Centred, Kernel, check_kernel, check_scale
from hinged.mercer.rounds import LabelRounds
from hinged.mercer.steps import Rule
from hinged.rules.table import RULES, cap_of
from hinged.tasks.labels import check_novel

__all__ = ["Learnt", "learn"]


class Learnt(NamedTuple):
    """What `learn` returns: the memory, to score rows with or go on from, and what the rounds amounted to."""

    machine: Machine
    n_labels: int
    flags: np.ndarray  # int8 (rows,): 1 a mistake, 0 right, -1 a label seen for the first time
    mistakes: int
    updates: int
    rounds: int = 0  # with those of the calls before
    losses: np.ndarray = np.zeros(0)  # float64 (rows,): hinge loss of each before its step

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Scores (rows, labels)."""
        return self.machine.scores(X, self.n_labels)


def learn(
    X: np.ndarray,
    y: np.ndarray,
    kernel: Kernel,
    rule: str = "pa1",
    C: float = 1.0,
    *,
    sharing: str = "multi",
    margin: float = 1.0,
    n_labels: int | None = None,
    novel: str = "learn",
    budget: Budget | int | None = None,
    before: Learnt | None = None,
    block: int | None = None,
    tile: int | None = None,
    device: object = "cpu",
) -> Learnt:
    """Learn labelled rows in order; exactly what plain rounds give, at the speed of matrix products.

    Parameters
    ----------
    X : array (rows, features), float32 or float64
    y : int array (rows,)
        Labels from 0 on.
    kernel : Polynomial, Gaussian, Linear, Centred, or a function of two matrices
    rule : str
        A name of `hinged.rules.RULES`, as it is with this `C` and this `margin`.
    C, margin : float
        The cap on steps and the margin asked for.
    sharing : "multi", "single" or "hybrid"
        The last two with `Centred` only.
    n_labels : int, optional
        Labels known from the start; None lets them appear, in the order of their numbers.
    novel : "learn" or "skip", default "learn"
        Whether the row that brings a new label is learnt, or only makes it known; it is not counted either way.
    budget : int or Budget, optional
        How many rows may be remembered; with "single" and "hybrid", how many rounds.
    before : Learnt, optional
        Where to go on from; it stays as it is.
    block, tile : int, optional
        Rounds scored by one product, and values of the kernel held at once; results do not depend on them.
    device : "cpu", "cuda", "auto" or a torch.device, default "cpu"
        Where rows and coefficients live; others than "cpu" need PyTorch, and call a kernel of one's own with tensors.

    Examples
    --------
    >>> from hinged.mercer import Polynomial
    >>> X, y = np.array([[0.0], [2.0], [-2.0], [0.0]]), np.array([0, 1, 1, 0])
    >>> learnt = learn(X, y, Polynomial(1.0, 2), n_labels=2)
    >>> learnt.mistakes, learnt.scores(X).argmax(axis=1).tolist()
    (3, [0, 1, 1, 0])
    """
    _check(kernel, rule, sharing)
    within, where = resolve_budget(budget), resolve_device(device)
    check_budget(within, sharing)
    X, y = np.asarray(X), np.asarray(y, np.int64)
    X = X if X.dtype == np.float32 else X.astype(np.float64, copy=False)
    if before is None:
        before = Learnt(Machine(kernel, sharing, X.dtype, 0, within, where), n_labels or 0, np.zeros(0, np.int8), 0, 0)
    machine, known, done = before.machine.copy(), before.n_labels, before.rounds
    asked = Rule(RULES[rule].words, cap_of(rule, C), margin, learns_new=check_novel(novel))
    rounds = LabelRounds(asked, np.arange(len(y) + 1), y, np.zeros(0), known)
    machine.learn(X, rounds, max(known, int(y.max(initial=-1)) + 1), done, block, tile)
    mistakes = int((rounds.flags == 1).sum())
    return Learnt(machine, rounds.n_known, rounds.flags, mistakes, rounds.updates, done + len(y), rounds.losses)


def _check(kernel: object, rule: str, sharing: str) -> None:
    if isinstance(kernel, FeatureMap):
        raise ValueError(f"kernel={kernel!r} is for estimators such as hinged.Classifier; here use Gaussian(gamma).")
    check_kernel(kernel)
    check_scale(kernel)
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(RULES)}; got rule={rule!r}.")
    if (sharing != "multi") != isinstance(kernel, Centred):
        raise ValueError(f"sharing={sharing!r} does not go with kernel={kernel!r}: Centred is for 'single', 'hybrid'.")
