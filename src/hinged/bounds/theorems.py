"""The bounds of the four papers, as functions of a stream and a comparator u.

Each holds for every u; a good one, found in hindsight by `hindsight`, makes it say most. They speak of a learner that
starts from zero and meets rounds of equal weight. The common argument of all but the passive-aggressive paper: a
mistake adds at least so much to the dual, and the dual stays below what any fixed u pays.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from hinged.bounds import formulas
from hinged.bounds.comparators import Sums, check_cap, entropy_of, read, sums_of
from hinged.bounds.formulas import Bound, last
from hinged.rules.table import RULES
from hinged.rules.words import is_constant

__all__ = ["AGAINST_IT", "condition"]
__all__ += ["pa_theorem_2", "pa_theorem_3", "pa_theorem_4", "pa_theorem_5", "pa_theorem_10"]
__all__ += ["hs_theorem_1", "lr_equation_2", "simproj_bound", "sp_corollary_1", "sp_theorem_1"]

Costs: TypeAlias = ArrayLike | Callable[[Hashable, Hashable], float]
UPDATES = ("perceptron", "pa1", "optimal")  # I, II and III of the label-ranking paper
AGAINST_IT = "Shorten the rows, or give h=None."


def pa_theorem_2(stream: object, u: object) -> Bound:
    r"""PA theorem 2 and corollary 8, for `pa` where u has no loss: :math:`\sum_t ℓ_t^2 ≤ R^2 ‖u‖^2`.

    R is the longest ‖V_r - V_s‖ between a right and a wrong label: √2 max‖x‖ where each label has its own vector.

    Parameters
    ----------
    stream : Stream or (X, y)
    u : array, sparse matrix, or a pair of them
        Comparator without loss; `hindsight(stream, C=inf)` finds one where there is one.

    Raises
    ------
    ValueError
        Where u has a loss.

    References
    ----------
    Crammer et al. (2006), theorem 2 and corollary 8.

    Examples
    --------
    >>> from hinged.bounds import as_stream
    >>> pa_theorem_2(as_stream(np.eye(2), [0, 1], classes=[0, 1]), np.eye(2))
    Bound(squared loss ≤ 4 by PA theorem 2: 4 for complexity, 0 for loss)
    """
    return last("PA theorem 2", formulas.pa_separable(_sums(stream, u)))


def pa_theorem_3(stream: object, u: object) -> Bound:
    r"""PA theorem 3, for `pa` on rows of one length: :math:`\sum_t ℓ_t^2 ≤ (R‖u‖ + 2 \sqrt{\sum_t ℓ_t(u)^2})^2`.

    The paper has ‖z‖ = 1; here all ‖V_r - V_s‖ are some R, which is the same after rescaling the rows.

    Parameters
    ----------
    stream : Stream or (X, y)
    u : array, sparse matrix, or a pair of them

    Raises
    ------
    ValueError
        Where lengths differ.

    References
    ----------
    Crammer et al. (2006), theorem 3.

    Examples
    --------
    >>> from hinged.bounds import as_stream
    >>> pa_theorem_3(as_stream(np.eye(2)[[0, 1, 0, 1]], [0, 1, 0, 1], classes=[0, 1]), 0.5 * np.eye(2)).value
    9.0
    """
    return last("PA theorem 3", formulas.pa_equal_lengths(_sums(stream, u)))


def pa_theorem_4(stream: object, u: object, C: float = 1.0) -> Bound:
    r"""PA theorem 4, for `pa1`: :math:`M ≤ \max\{R^2, 1/C\} (‖u‖^2 + 2C \sum_t ℓ_t(u))`.

    With a margin m, max{R²/m², 1/(Cm)}.

    Parameters
    ----------
    stream : Stream or (X, y)
    u : array, sparse matrix, or a pair of them
    C : float, default 1.0
        The learner's.

    References
    ----------
    Crammer et al. (2006), theorem 4; section 7 for several labels.

    Examples
    --------
    >>> from hinged.bounds import as_stream
    >>> pa_theorem_4(as_stream(np.eye(2), [0, 1], classes=[0, 1]), np.eye(2), C=0.25)
    Bound(mistakes ≤ 8 by PA theorem 4: 8 for complexity, 0 for loss)
    """
    return last("PA theorem 4", formulas.passive_aggressive_1(_sums(stream, u), check_cap(C)))


def pa_theorem_5(stream: object, u: object, C: float = 1.0) -> Bound:
    r"""PA theorem 5, for `pa2`: :math:`\sum_t ℓ_t^2 ≤ (R^2 + 1/2C) (‖u‖^2 + 2C \sum_t ℓ_t(u)^2)`.

    Parameters
    ----------
    stream : Stream or (X, y)
    u : array, sparse matrix, or a pair of them
        `hindsight(stream, C, squared=True)` finds a good one.
    C : float, default 1.0
        The learner's.

    References
    ----------
    Crammer et al. (2006), theorem 5.

    Examples
    --------
    >>> from hinged.bounds import as_stream
    >>> pa_theorem_5(as_stream(np.eye(2), [0, 1], classes=[0, 1]), np.eye(2), C=0.25).value
    8.0
    """
    return last("PA theorem 5", formulas.passive_aggressive_2(_sums(stream, u), check_cap(C)))


def pa_theorem_10(stream: object, u: object, cost: Costs, C: float = 1.0) -> Bound:
    r"""PA theorem 10, for the max-loss `pa1` with costs: :math:`\sum_t ρ(y_t, ŷ_t) ≤ ‖u‖^2 + 2C \sum_t ℓ_{ML}(u)`.

    The loss of u is max_r (√ρ(y, r) + ⟨u, V_r - V_y⟩). As printed where ‖V_y - V_r‖ ≤ 1 and √ρ ≤ C; beyond, the same
    argument gives max{R², max√ρ / C} times as much.

    Parameters
    ----------
    stream : Stream or (X, y)
        One right label per round.
    u : array, sparse matrix, or a pair of them
    cost : matrix (labels, labels) or function of (true, predicted)
        ρ[true, predicted] ≥ 0, in the order of the stream's labels.
    C : float, default 1.0
        The learner's.

    References
    ----------
    Crammer et al. (2006), theorem 10.

    Examples
    --------
    >>> from hinged.bounds import as_stream
    >>> stream = as_stream(0.5 * np.eye(2), [0, 1], classes=[0, 1])
    >>> pa_theorem_10(stream, np.eye(2), cost=[[0, 1], [1, 0]])
    Bound(cost ≤ 4 by PA theorem 10: 2 for complexity, 2 for loss)
    """
    stream = read(stream)
    if (np.diff(stream.right.indptr)[np.diff(stream.starts) > 0] != 1).any():
        raise ValueError("PA theorem 10 does not apply: it is for one right label per round; got rounds with several.")
    rho = _costs(stream.labels, cost)
    others = rho[~np.eye(len(rho), dtype=bool)]
    largest, smallest = float(others.max(initial=0.0)), float(others.min(initial=math.inf))
    s = sums_of(stream, u, margins=np.sqrt(rho))
    return last("PA theorem 10", formulas.cost(s, check_cap(C), largest, smallest))


def _costs(labels: list[Hashable], cost: Costs) -> np.ndarray:
    """Costs as a matrix, checked."""
    if callable(cost):
        cost = [[0.0 if a == b else cost(a, b) for b in labels] for a in labels]
    rho, k = np.asarray(cost, np.float64), len(labels)
    if rho.shape != (k, k) or not np.isfinite(rho).all() or (rho < 0).any() or np.diagonal(rho).any():
        raise ValueError(
            f"cost must be a matrix of {k} × {k} numbers that are finite and not negative, 0 on the diagonal; "
            f"got shape {rho.shape}."
        )
    return rho


def condition(s: Sums, h: float) -> str:
    """A sentence where a stream breaks the condition of LR eq. 2 on the Hessian, ⟨x, Hx⟩ ≤ h; else nothing.

    Lemma 1 of the paper has h = ½: ‖x‖² ≤ ½ for Euclidean weights, spans of values up to √2 for those on the simplex.
    """
    needed = float(s.curvature[-1]) if len(s.curvature) else 0.0
    if needed <= h * (1 + 1e-12):
        return ""
    return (
        f"LR eq. 2 needs ⟨x, Hx⟩ ≤ {h:g}, but this stream reaches {needed:g}: it does not apply as printed, and "
        f"λ = γC - hC² with h = {needed:g} stands in its place."
    )


def sp_theorem_1(stream: object, u: object, C: float | None = None, *, geometry: object = "euclidean") -> Bound:
    r"""SP theorem 1, for `simperc` (and `uniform`): :math:`M ≤ (½‖u‖^2 + C \sum_t ℓ_t(u)) / (C - ½C^2R^2)`.

    What SimPerc predicts does not depend on C, so any C may stand in the bound. Left out, it is the best one, which
    gives L + ½R²‖u‖² + ½√(R⁴‖u‖⁴ + 4R²‖u‖²L) with L the sum of losses; the paper prints that without the 4.

    Parameters
    ----------
    stream : Stream or (X, y)
    u : array, sparse matrix, or a pair of them
    C : float, optional
        Below 2m/R². Under the entropic geometry, the learner's own.
    geometry : "euclidean", "entropy" or hinged.geometry.Entropy

    Raises
    ------
    ValueError
        Where C is so large that a mistake need not add to the dual.

    References
    ----------
    Amit, Shalev-Shwartz and Singer (2006), theorem 1; docs/maths.md, "Slips in the papers".

    Examples
    --------
    >>> from hinged.bounds import as_stream
    >>> stream = as_stream(np.eye(2), [0, 1], classes=[0, 1])
    >>> sp_theorem_1(stream, np.eye(2), C=0.5).value, sp_theorem_1(stream, np.eye(2)).value
    (4.0, 4.0)
    """
    return _perceptron("SP theorem 1", "simperc", stream, u, C, geometry)


def sp_corollary_1(stream: object, u: object, C: float = 1.0, *, geometry: object = "euclidean") -> Bound:
    r"""SP corollary 1, for `conproj`: :math:`M ≤ (½‖u‖^2 + C \sum_t ℓ_t(u)) / (C - ½C^2R^2)`.

    From C = m/R² on ConProj's steps may be shorter than C, and the step m/R² stands for C in the denominator: the bound
    then holds for every C, where the paper's ends at 2/R².

    Parameters
    ----------
    stream : Stream or (X, y)
    u : array, sparse matrix, or a pair of them
    C : float, default 1.0
        The learner's.
    geometry : "euclidean", "entropy" or hinged.geometry.Entropy

    References
    ----------
    Amit, Shalev-Shwartz and Singer (2006), corollary 1.

    Examples
    --------
    >>> from hinged.bounds import as_stream
    >>> stream = as_stream(np.eye(2), [0, 1], classes=[0, 1])
    >>> sp_corollary_1(stream, np.eye(2), C=0.5).value, sp_corollary_1(stream, np.eye(2), C=8.0).value
    (4.0, 4.0)
    """
    s = _sums(stream, u, geometry)
    return last("SP corollary 1", formulas.dual_ascent("conproj", s, check_cap(C, endless=True)))


def simproj_bound(stream: object, u: object, C: float = 1.0, *, geometry: object = "euclidean") -> Bound:
    r"""A bound for `simproj`, by the argument of SP theorem 1; the papers give none.

    SimProj averages over all constraints that miss the margin. In a round with a mistake one of them adds what
    ConProj's step would, the others perhaps nothing, so the denominator of `sp_corollary_1` is divided by the most
    constraints of a round. Seldom tight.

    Parameters
    ----------
    stream : Stream or (X, y)
    u : array, sparse matrix, or a pair of them
    C : float, default 1.0
        The learner's.
    geometry : "euclidean", "entropy" or hinged.geometry.Entropy

    Examples
    --------
    >>> from hinged.bounds import as_stream
    >>> simproj_bound(as_stream(np.eye(3), [0, 1, 2], classes=[0, 1, 2]), np.eye(3), C=0.5).value
    12.0
    """
    s = _sums(stream, u, geometry)
    return last("the argument of SP theorem 1", formulas.dual_ascent("simproj", s, check_cap(C, endless=True)))


def lr_equation_2(
    stream: object,
    u: object,
    C: float | None = 1.0,
    *,
    rule: str = "pa1",
    geometry: object = "euclidean",
    h: float | None = 0.5,
) -> Bound:
    r"""LR eq. 2, for `perceptron`, `pa1` and `optimal`: :math:`M ≤ (F(u) + C \sum_t ℓ_t(u)) / λ`, λ = γC - ½C².

    It needs ⟨x, H(θ)x⟩ ≤ h = ½, H the Hessian of G: ‖x‖² ≤ ½ for Euclidean weights, spans of values up to √2 for
    weights on the simplex. A larger h of the stream is put in its place, λ = γC - hC², with a warning. Updates II and
    III (`pa1`, `optimal`) gain at least as much by the best step α ≤ C, and α = γ/2h stands for C beyond it.

    Parameters
    ----------
    stream : Stream or (X, y)
        Its margin is γ.
    u : array, sparse matrix, or a pair of them
        Under the entropic geometry every row on the simplex (signed: Σ|u| at most the radius).
    C : float or None, default 1.0
        The learner's. None, for the Euclidean Perceptron, whose predictions do not depend on it: the best one.
    rule : "perceptron", "pa1" or "optimal"
        Update I, II or III.
    geometry : "euclidean", "entropy" or hinged.geometry.Entropy
    h : float or None, default 0.5
        The bound on ⟨x, Hx⟩; None for the least that is true of this stream.

    Warns
    -----
    UserWarning
        Where the stream violates the condition on the Hessian.

    References
    ----------
    Shalev-Shwartz and Singer (2007), eq. 2 and lemma 1.

    Examples
    --------
    >>> from hinged.bounds import as_stream
    >>> stream = as_stream(0.5 * np.eye(2), [0, 1], classes=[0, 1])
    >>> lr_equation_2(stream, 2 * np.eye(2), C=1.0)
    Bound(mistakes ≤ 8 by LR eq. 2: 8 for complexity, 0 for loss)
    """
    if rule not in UPDATES:
        raise ValueError(f"LR eq. 2 is for rule='perceptron', 'pa1' or 'optimal'; got rule={rule!r}.")
    s = _sums(stream, u, geometry)
    if h is not None:
        why = condition(s, h)
        if why:
            warnings.warn(f"{why} {AGAINST_IT}", stacklevel=2)
        s = s._replace(curvature=np.maximum(s.curvature, h))
    if is_constant(RULES[rule].words):
        return _perceptron("LR eq. 2", rule, s, u, C, geometry)
    if C is None:
        raise ValueError(f"C must be the learner's for rule={rule!r}; got C=None.")
    return last("LR eq. 2", formulas.dual_ascent(rule, s, check_cap(C, endless=True)))


def hs_theorem_1(stream: object, u: object) -> Bound:
    r"""HS theorem 1, for `perceptron` on any sharing scheme: :math:`M ≤ L + κ + \sqrt{Lκ}`, κ = ρR²‖u‖².

    L is the sum of the losses of u, ρ the most vectors that a label reads (2 for "hybrid"), R twice the longest
    φ(x, r), x itself among them where labels have vectors of their own. Labels may appear on the way.

    Parameters
    ----------
    stream : Stream or (X, y)
    u : array, sparse matrix, or a pair of them

    References
    ----------
    Fink, Shalev-Shwartz, Singer and Ullman (2006), theorem 1.

    Examples
    --------
    >>> from hinged.bounds import as_stream
    >>> hs_theorem_1(as_stream(np.eye(2)[[0, 1, 0, 1]], [0, 1, 0, 1], classes=[0, 1]), 0.5 * np.eye(2))
    Bound(mistakes ≤ 6 by HS theorem 1: 2 for complexity, 2 for loss, 2 for both)
    """
    return last("HS theorem 1", formulas.hypothesis_sharing(_sums(stream, u)))


def _sums(stream: object, u: object, geometry: object = "euclidean") -> Sums:
    return sums_of(read(stream), u, geometry)


def _perceptron(theorem: str, rule: str, stream: object, u: object, C: float | None, geometry: object) -> Bound:
    s = stream if isinstance(stream, Sums) else _sums(stream, u, geometry)
    if C is not None:
        return last(theorem, formulas.dual_ascent(rule, s, check_cap(C)))
    if entropy_of(geometry) is not None:
        raise ValueError("under the entropic geometry predictions depend on C; give the learner's.")
    return last(f"{theorem} at the best C", formulas.at_best_cap(s))
