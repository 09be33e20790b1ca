"""Mercer kernels: functions of two rows that are inner products in some other space."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from numbers import Integral, Real
from typing import Any

import numpy as np

from hinged.mercer.sparse import Sparse

__all__ = [
    "Centred",
    "Gaussian",
    "Linear",
    "Polynomial",
    "check_kernel",
    "check_scale",
    "compiled",
    "diagonal",
    "formula",
    "gram",
    "lengths",
    "matrix",
    "reads_scaled",
    "squares",
]

#: Values from which on a compiled loop is worth calling.
MANY = 4096
#: What rounding may do to the two halves of a symmetric matrix, relative to its diagonal.
ASYMMETRY = {"float64": 1e-8, "float32": 1e-3}


@cache
def compiled() -> Any:
    """Return the module `hinged.mercer.compiled`, imported at the first call; None where Numba is not installed."""
    try:
        from hinged.mercer import compiled as loops
    except ImportError:
        return None
    return loops


@dataclass(frozen=True)
class Linear:
    """K(x, x') = ⟨x, x'⟩: the inner product itself.

    Examples
    --------
    >>> Linear()
    Linear()
    """

    def from_products(self, products: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        """Turn inner products into values of the kernel, in place; `left` and `right` are the rows' squared norms."""


@dataclass(frozen=True)
class Polynomial:
    """K(x, x') = (a + ⟨x, x'⟩)^d.

    Parameters
    ----------
    a : float, default 1.0
        What is added to the inner product, not negative; 0 leaves only the terms of degree d.
    d : int, default 2
        The degree, at least 1.

    References
    ----------
    Crammer et al. (2006), section 10.3: d = 3, a = 0 for USPS; d = 5, a = 0.5 for MNIST.

    Examples
    --------
    >>> matrix(Polynomial(a=1.0, d=2), np.array([[1.0, 2.0]]), np.array([[0.5, 0.25]])).tolist()
    [[4.0]]
    """

    a: float = 1.0
    d: int = 2

    def __post_init__(self) -> None:
        if isinstance(self.a, bool) or not isinstance(self.a, Real) or not 0.0 <= float(self.a) < math.inf:
            raise ValueError(f"a must be a finite number that is not negative; got a={self.a!r}. Try 1.0.")
        if isinstance(self.d, bool) or not isinstance(self.d, Integral) or self.d < 1:
            raise ValueError(f"d must be a whole number of at least 1; got d={self.d!r}. Try 2 or 3.")

    def from_products(self, products: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        """(a + p)^d by repeated squaring, in place."""
        loops = compiled() if products.size >= MANY and products.flags.c_contiguous else None
        if loops is not None:
            loops.raise_all(products.reshape(-1), float(self.a), int(self.d))
            return
        if self.a != 0.0:
            products += products.dtype.type(self.a)
        bits = f"{int(self.d):b}"
        if len(bits) == 1:
            return
        base = products.copy() if "1" in bits[1:] else products
        for bit in bits[1:]:
            products *= products
            if bit == "1":
                products *= base


@dataclass(frozen=True)
class Gaussian:
    """K(x, x') = exp(-gamma · ‖x - x'‖²).

    Parameters
    ----------
    gamma : float or "scale", default 1.0
        The exponent's coefficient, positive: 1/(2σ²) for a width of σ. "scale" is scikit-learn's 1 / (columns ·
        variance) on rows that the learner scales itself: 1, because these have a mean squared length of about 1. With
        it, scaling="auto" scales rows unless normalize=True divides them by their length; see `Fourier`.

    Examples
    --------
    >>> float(matrix(Gaussian(gamma=0.5), np.array([[1.0, 2.0]]), np.array([[1.0, 2.0]]))[0, 0])
    1.0
    """

    gamma: float | str = 1.0

    def __post_init__(self) -> None:
        if not (isinstance(self.gamma, str) and self.gamma == "scale"):
            _check_gamma(self.gamma)

    @property
    def coefficient(self) -> float:
        """Gamma as a number."""
        return 1.0 if isinstance(self.gamma, str) else float(self.gamma)

    def from_products(self, products: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        """exp(-gamma (‖x‖² + ‖x'‖² - 2p)), in place; rounding below a distance of 0 counts as 0."""
        one = products.dtype.type
        products *= one(2.0 * self.coefficient)
        products -= one(self.coefficient) * left[:, None]
        products -= one(self.coefficient) * right[None, :]
        np.minimum(products, one(0.0), out=products)
        np.exp(products, out=products)


@dataclass(frozen=True)
class Centred:
    """K((x, r), (x', s)) = exp(-gamma · ‖(x - p^r) - (x' - p'^s)‖²): rows seen from the means of the labels.

    p^r is the mean of the label's earlier rows, 0 before the first; p'^s is the mean when x' was learnt. The kernel
    tells labels apart, so one shared vector is enough: sharing="single", or "hybrid" with the same kernel of rows as
    they are for the labels' own vectors.

    Parameters
    ----------
    gamma : float, default 1.0
        The exponent's coefficient, positive. The paper writes 1/(2σ): gamma = 1/(2σ), not 1/(2σ²).
    kernel : Polynomial, Linear, or a function of two matrices, optional
        What rows are compared by in place of that Gaussian: K((x, r), (x', s)) = kernel(x - p^r, x' - p'^s).

    References
    ----------
    Fink et al. (2006), eq. 11.

    Examples
    --------
    >>> Centred(gamma=0.25), Centred(kernel=Polynomial(1.0, 2))
    (Centred(gamma=0.25), Centred(kernel=Polynomial(a=1.0, d=2)))
    """

    gamma: float = 1.0
    kernel: RowKernel | None = None

    def __post_init__(self) -> None:
        _check_gamma(self.gamma)
        if isinstance(self.kernel, Centred):
            raise ValueError(
                f"rows are centred once; got kernel={self.kernel!r} within Centred. Give {self.of_rows!r}."
            )
        if self.kernel is not None:
            check_kernel(self.kernel)

    def __repr__(self) -> str:
        return f"Centred(gamma={self.gamma!r})" if self.kernel is None else f"Centred(kernel={self.kernel!r})"

    @property
    def of_rows(self) -> RowKernel:
        """The kernel of rows that were centred already."""
        return Gaussian(self.gamma) if self.kernel is None else self.kernel


#: A kernel of two rows, and one that may tell labels apart besides.
RowKernel = Linear | Polynomial | Gaussian | Callable[[np.ndarray, np.ndarray], Any]
Kernel = RowKernel | Centred


def _check_gamma(gamma: object) -> None:
    if isinstance(gamma, bool) or not isinstance(gamma, Real) or not 0.0 < float(gamma) < math.inf:
        raise ValueError(f"gamma must be a finite positive number; got gamma={gamma!r}. Try 1 / number of features.")


def check_kernel(kernel: object) -> None:
    """Refuse what is no kernel."""
    if isinstance(kernel, type) or not (
        isinstance(kernel, Linear | Polynomial | Gaussian | Centred) or callable(kernel)
    ):
        raise ValueError(
            "kernel must be hinged.mercer.Polynomial(a, d), Gaussian(gamma), Linear(), Centred(gamma), Fourier(n), "
            "Products(), or a function of two matrices that returns K of every pair of their rows; got "
            f"kernel={kernel!r}."
        )


def reads_scaled(kernel: object) -> bool:
    """Return True for gamma="scale", which is a number for rows that a learner scales.

    Examples
    --------
    >>> reads_scaled(Gaussian("scale")), reads_scaled(Gaussian(1.0))
    (True, False)
    """
    return isinstance(kernel, Gaussian) and isinstance(kernel.gamma, str)


def check_scale(kernel: object) -> None:
    """Refuse gamma="scale" of rows that nobody scales: plain arrays, and rows less the means of labels.

    Examples
    --------
    >>> check_scale(Gaussian(1.0))
    """
    if reads_scaled(kernel.kernel if isinstance(kernel, Centred) else kernel):
        raise ValueError(
            "gamma='scale' is for a Gaussian on rows that an estimator such as hinged.Classifier scales, not on plain "
            "arrays and not within Centred. Give gamma a number: 1 / (columns · variance of all values)."
        )


def squares(X: np.ndarray | Sparse) -> np.ndarray:
    """‖x‖² of each row."""
    return X.squares() if isinstance(X, Sparse) else np.einsum("ij,ij->i", X, X)


def matrix(
    kernel: RowKernel,
    A: np.ndarray,
    B: np.ndarray,
    left: np.ndarray | None = None,
    right: np.ndarray | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """K of every row of A with every row of B; `left` and `right` are their squared norms where they are known."""
    if isinstance(kernel, Linear | Polynomial | Gaussian):
        values = np.matmul(A, B.T, out=out)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            kernel.from_products(values, squares(A) if left is None else left, squares(B) if right is None else right)
        return values
    values = np.asarray(kernel(A, B), A.dtype)
    if values.shape != (len(A), len(B)):
        raise ValueError(
            f"a kernel must return an array of shape {(len(A), len(B))} for matrices of {len(A)} and {len(B)} rows; "
            f"got shape {values.shape}."
        )
    return values


def diagonal(kernel: RowKernel, X: np.ndarray, sq: np.ndarray) -> np.ndarray | None:
    """K(x, x) of each row, without rounding where it is known in closed form; None for a user's own function."""
    if isinstance(kernel, Gaussian):
        return np.ones(len(X), X.dtype)
    if isinstance(kernel, Linear | Polynomial):
        values = sq.astype(X.dtype)[:, None].copy()
        with np.errstate(over="ignore"):
            kernel.from_products(values, sq, sq[:1])
        return values[:, 0]
    return None


def formula(kernel: object) -> tuple[float, int] | None:
    """A built-in kernel in two numbers: (gamma, 0) for `Gaussian`, else (a, d); None for a user's own function.

    Examples
    --------
    >>> formula(Polynomial(0.5, 5)), formula(Linear()), formula(Gaussian(0.25))
    ((0.5, 5), (0.0, 1), (0.25, 0))
    """
    if isinstance(kernel, Polynomial):
        return float(kernel.a), int(kernel.d)
    if isinstance(kernel, Gaussian):
        return kernel.coefficient, 0
    return (0.0, 1) if isinstance(kernel, Linear) else None


def lengths(kernel: RowKernel, X: np.ndarray, sq: np.ndarray) -> np.ndarray:
    """K(x, x) of each row by a built-in kernel, checked: where they are finite, so is K of any two of the rows."""
    values = diagonal(kernel, X, sq)
    assert values is not None
    if not (np.isfinite(values).all() and np.isfinite(sq).all()):
        _refuse(kernel, bool(np.isnan(values).any() or np.isnan(sq).any()))
    return values


def _refuse(kernel: object, nan: bool) -> None:
    what = "NaN" if nan else "infinity"
    raise ValueError(f"the kernel gives {what}; kernel={kernel!r}. Scale the rows down, or take a smaller degree.")


def gram(kernel: RowKernel, X: np.ndarray, sq: np.ndarray) -> np.ndarray:
    """K among the rows of X, checked: finite, symmetric, K(x, x) not negative."""
    values = matrix(kernel, X, X, sq, sq)
    exact = diagonal(kernel, X, sq)
    if exact is not None:
        np.fill_diagonal(values, exact)
    check_values(kernel, values, symmetric=exact is not None)
    return values


def check_values(kernel: object, values: np.ndarray, symmetric: bool = False) -> None:
    """Refuse values that cannot be K among some rows; `symmetric` says that the formula makes them symmetric."""
    if not np.isfinite(values).all():
        _refuse(kernel, bool(np.isnan(values).any()))
    across = np.diagonal(values)
    if (across < 0.0).any():
        i = int(np.argmin(across))
        raise ValueError(
            f"K(x, x) must not be negative, it is a squared length; kernel={kernel!r} gives {across[i]:g} for one row. "
            "Use a kernel that is an inner product."
        )
    if not symmetric:
        allowed = ASYMMETRY[values.dtype.name] * max(1.0, float(across.max(initial=0.0)))
        apart = np.abs(values - values.T)
        if (apart > allowed).any():
            row, column = np.unravel_index(int(np.argmax(apart)), apart.shape)
            raise ValueError(
                f"a kernel must be symmetric, K(x, z) = K(z, x); kernel={kernel!r} gives {values[row, column]:g} and "
                f"{values[column, row]:g} for two rows. Use a kernel that is an inner product."
            )
