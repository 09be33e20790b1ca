"""What a wrong answer costs: ρ(right, answered), as a matrix in the order of the labels.

Crammer et al. (2006), section 8. A pair's margin is √ρ, so that dearer mistakes must be further away.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["Tree", "cost_matrix"]


@dataclass(frozen=True)
class Tree:
    """Cost by distance in a hierarchy of labels: the number of edges from one label to the other.

    Parameters
    ----------
    separator : str, default "/"
        What stands between the levels of a label, such as "work/projects"; for labels that are paths.
    parents : dict of label → its parent, optional
        The hierarchy, where labels are not paths. What has no parent is a root; all roots have one parent in common.

    Examples
    --------
    >>> cost = Tree()
    >>> cost("work/tax", "work/travel"), cost("work/tax", "home"), cost("work", "work/tax")
    (2.0, 3.0, 1.0)
    >>> Tree(parents={"cat": "animal", "dog": "animal"})("cat", "oak")
    3.0
    """

    separator: str = "/"
    parents: Mapping[Hashable, Hashable] | None = None

    def __call__(self, right: Hashable, answered: Hashable) -> float:
        """Edges between two labels."""
        a, b = self._path(right), self._path(answered)
        common = 0
        while common < min(len(a), len(b)) and a[common] == b[common]:
            common += 1
        return float(len(a) + len(b) - 2 * common)

    def _path(self, label: Hashable) -> list:
        """A label's way down from the root."""
        if self.parents is None:
            if not isinstance(label, str):
                raise TypeError(f"labels must be paths such as 'work/tax', or parents= be given; got {label!r}.")
            return label.split(self.separator)
        path = [label]
        while path[-1] in self.parents:
            parent = self.parents[path[-1]]
            if parent in path:
                raise ValueError(f"a hierarchy has no circles; got {parent!r} above itself.")
            path.append(parent)
        return path[::-1]


def cost_matrix(
    cost: Mapping[tuple[Hashable, Hashable], float] | Callable[[Hashable, Hashable], float] | ArrayLike,
    labels: Sequence[Hashable],
) -> np.ndarray:
    """ρ[right, answered] for these labels; refused by name where it is none.

    Parameters
    ----------
    cost : array, dict of (right, answered) → cost, or function of both
        What a dict does not name costs 1.
    labels : the labels, in order

    Examples
    --------
    >>> cost_matrix({("spam", "ham"): 5.0}, ["ham", "spam"]).tolist()
    [[0.0, 1.0], [5.0, 0.0]]
    """
    if isinstance(cost, Mapping):
        for pair in cost:
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise ValueError(f"cost as a dict is by (right, answered) pairs of labels; got the key {pair!r}.")
        rho = _by_function(lambda y, r: cost.get((y, r), float(y != r)), labels)
    else:
        rho = _by_function(cost, labels) if callable(cost) else _by_matrix(cost, len(labels))
    wrong = np.argwhere(~(np.isfinite(rho) & (rho >= 0.0)))
    if len(wrong):
        y, r = wrong[0]
        raise ValueError(
            f"costs must be finite and not negative; got {rho[y, r]} in row {y}, column {r} of the matrix."
        )
    if np.diag(rho).any():
        y = int(np.flatnonzero(np.diag(rho))[0])
        raise ValueError(f"the right answer costs nothing; got cost {rho[y, y]} for label number {y} itself.")
    return rho[: len(labels), : len(labels)].copy()


def _by_matrix(cost: ArrayLike, k: int) -> np.ndarray:
    try:
        rho = np.array(cost, np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"cost must be a square matrix, a dict of (right, answered) → cost, or a function; got {cost!r}."
        ) from None
    if rho.ndim != 2 or rho.shape[0] != rho.shape[1]:
        raise ValueError(f"cost must be a square matrix in the order of classes_; got shape {rho.shape}.")
    if len(rho) < k:
        raise ValueError(
            f"cost is a matrix for {len(rho)} labels, and there are {k} now; give a larger one, a dict or a function."
        )
    return rho


def _by_function(cost: Callable[[Hashable, Hashable], object], labels: Sequence[Hashable]) -> np.ndarray:
    rho = np.empty((len(labels), len(labels)))
    for i, y in enumerate(labels):
        for j, r in enumerate(labels):
            value = cost(y, r)
            if isinstance(value, bool) or not isinstance(value, Real | np.number):
                raise TypeError(f"a cost is a number; got {value!r} for {r!r} in place of {y!r}.")
            rho[i, j] = float(value)
    return rho
