"""A Cholesky factor that grows and shrinks by one vector at a time, in O(n²)."""

from __future__ import annotations

import math

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats
from hinged.compiling.lanes import dot

__all__ = ["append", "remove", "solve"]


@compiled(helper=True)
def _forward(L: Floats, n: int, x: Floats) -> None:
    for i in range(n):
        x[i] = (x[i] - dot(L[i], x, i)) / L[i, i]


@compiled(helper=True)
def _backward(L: Floats, n: int, x: Floats) -> None:
    for i in range(n - 1, -1, -1):
        x[i] /= L[i, i]
        for j in range(i):
            x[j] -= L[i, j] * x[i]


@compiled(helper=True)
def solve(L: Floats, n: int, x: Floats) -> None:
    """Replace x by the solution y of L L' y = x."""
    _forward(L, n, x)
    _backward(L, n, x)


@compiled(helper=True)
def append(L: Floats, n: int, products: Floats, square: float) -> float:
    """Write the row of a vector that joins the `n` in the factor, all but its diagonal; return the diagonal's square.

    `products` are its inner products with them, `square` that with itself. On return `products` are the
    coefficients of its projection on their span, and the square is what lies outside: 0 up to rounding if nothing
    does. What to write then is the caller's to say.
    """
    _forward(L, n, products)
    for i in range(n):
        L[n, i] = products[i]
    outside = square - dot(products, products, n)
    _backward(L, n, products)
    return outside


@compiled(helper=True)
def remove(L: Floats, n: int, i: int) -> None:
    """Take vector `i` out of the `n` in the factor; rotations make what is left triangular again."""
    for a in range(i, n - 1):
        for b in range(a + 2):
            L[a, b] = L[a + 1, b]
    for a in range(i, n - 1):
        radius = math.hypot(L[a, a], L[a, a + 1])
        c, s = L[a, a] / radius, L[a, a + 1] / radius
        for b in range(a, n - 1):
            x, y = L[b, a], L[b, a + 1]
            L[b, a], L[b, a + 1] = c * x + s * y, c * y - s * x
