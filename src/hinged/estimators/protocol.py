"""What a learner asks of the model that learns for it: one typed protocol, whatever the weights look like."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, Self, TypeAlias

import numpy as np

from hinged.compiling.arrays import Ints
from hinged.estimators.options import OwnRule
from hinged.loops.explain import Share
from hinged.loops.labels import Targets
from hinged.loops.ledger import Ledger, Told
from hinged.loops.rows import Dense, Rows
from hinged.loops.steps import Setting

__all__ = ["Advance", "Describe", "LabelModelLike", "Model", "RowModel", "VectorModelLike"]

#: Called now and then with the number of rounds done since its last call.
Advance: TypeAlias = Callable[[int], None]
#: A scaled row, its features and values, as a dict for label features of the user's own.
Describe: TypeAlias = Callable[[np.ndarray, np.ndarray], Mapping[Hashable, float]]


class Model(Protocol):
    """Weights and counts that learn, are undone, copied and kept.

    Attributes
    ----------
    dtype : of the weights
    counts : int64 array, indexed by ROUNDS, LEARNT, MISTAKES, UPDATES, NOVEL and LABELS of `hinged.loops.ledger`
    functions : label features of the user's own, which run between rounds
    all_or_nothing : whether a call that fails must be undone whole, its finished rounds too
    fixed_space : whether the number of features is fixed, so that a feature not met yet has a weight already
    """

    dtype: np.dtype
    all_or_nothing: bool
    fixed_space: bool

    @property
    def functions(self) -> Sequence[Callable[..., Any]]: ...

    @property
    def counts(self) -> Ints: ...

    @property
    def dual(self) -> float:
        """The dual certificate of the rounds so far."""
        ...

    @property
    def sizes(self) -> tuple[int, ...]:
        """How much is known; `cut` takes the model back to it where nothing was learnt since."""
        ...

    @property
    def cut(self) -> Callable[..., None]: ...

    def widen(self, n_features: int) -> None:
        """Admit columns up to `n_features`."""
        ...

    def copy(self) -> Self: ...

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything learnt, as plain arrays."""
        ...

    def restore(self, arrays: dict[str, np.ndarray], names: Sequence[Hashable], n_labels: int, /) -> None:
        """Become what `arrays` described, or raise ValueError where it makes no sense."""
        ...


class RowModel(Model, Protocol):
    """A model of rows whose scores are sums over features."""

    ledger: Ledger
    setting: Setting
    n_features: int

    @property
    def lock(self) -> AbstractContextManager[bool, None]: ...

    def explain(
        self, rows: Rows, labels: Sequence[Hashable] = (), at: int = 0, describe: Describe | None = None
    ) -> list[Share]:
        """What the features of one row add to the score of label `at`, or to the only score."""
        ...


class LabelModelLike(RowModel, Protocol):
    """A model with a score for each label: linear, on a simplex, or with a kernel."""

    own: OwnRule | None
    notes: np.ndarray
    label_rows: Ints

    @property
    def n_learnt(self) -> int:
        """How many features have weights, or how many past rows are remembered."""
        ...

    def declare(self, n_labels: int) -> None:
        """Make labels known before any of their rows came."""
        ...

    def learn(
        self,
        rows: Rows,
        targets: Targets,
        labels: Sequence[Hashable],
        delay: int = 0,
        describe: Describe | None = None,
        advance: Advance | None = None,
    ) -> Told:
        """Learn rows in order; `labels` are all labels after them."""
        ...

    def score(
        self, rows: Rows, labels: Sequence[Hashable], describe: Describe | None = None, current: bool = False
    ) -> np.ndarray:
        """Scores (rows, labels)."""
        ...

    def with_labels(self, onto: Ints, n_labels: int) -> Self:
        """A model in which what was learnt of label r is added to label onto[r], or dropped where that is -1."""
        ...


class VectorModelLike(RowModel, Protocol):
    """A model with one score for each row: linear, or with a kernel."""

    def learn(
        self, rows: Rows | Dense, targets: np.ndarray, weights: np.ndarray, judged: bool = True
    ) -> tuple[np.ndarray, np.ndarray]:
        """Learn rows in order; return each round's flag and loss."""
        ...

    def score(self, rows: Rows | Dense, current: bool = False) -> np.ndarray:
        """Scores (rows,)."""
        ...
