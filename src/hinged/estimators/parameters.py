"""What the shared settings of learners mean, written once: docstrings of classes are assembled from this table."""

from __future__ import annotations

import re
from textwrap import dedent
from typing import TypeVar

__all__ = ["PARAMETERS", "documented"]

PARAMETERS = {
    "C": """float or "auto", default "auto"
        Longest step, positive. Small for noisy labels or targets; inf for the plain step. "auto": learners with
        different C learn side by side, with the mean weights of one as one more of them, and answer together; those
        with fewer mistakes of late count for more (docs/maths.md). Where that is not possible (a kernel that
        remembers rows, shared vectors, a simplex) it is 1.""",
    "novel": """"learn" or "skip", default "learn"
        What to do with the example that brings a new label: learn it like any other once the label is known, or only
        make the label known, as the papers do. Either way it is not counted as right or wrong.""",
    "geometry": """"euclidean", "adaptive" or hinged.geometry.Adaptive, default "euclidean"
        "adaptive": a feature moves less the more it has moved, by a variance that each has. `dual_` is None then;
        docs/maths.md, "A metric that learns".""",
    "half_life": """float or hinged.geometry.HalfLife, optional
        Learnt rounds after which what was learnt counts for half, for streams that drift: weights, and the means and
        deviations of values and targets; ``HalfLife(weights=..., statistics=...)`` for each apart. None forgets
        nothing. `dual_` is None where weights fade; docs/maths.md, "Forgetting".""",
    "kernel": """hinged.mercer kernel or function, optional
        What takes the place of inner products: `Polynomial(a, d)`, `Gaussian(gamma)`, `Centred(gamma)` for shared
        vectors, or a function of two matrices; `Fourier(n)` for a Gaussian at constant time a row, `Products()` for
        products of pairs in sparse rows; docs/kernels.md.""",
    "scaling": """"auto", None, "idf", "standard" or "mixed", default "auto"
        What values are brought to, by what has been seen of their features so far. "idf" multiplies them by how rare
        their feature is: words. "standard" gives columns of numbers mean 0 and deviation 1. "mixed" decides for each
        feature: one that nine rows in ten have is a column, any other a word. None leaves rows as they are.
        "auto": "standard" where the first row has a value in every column, else "mixed"; docs/which_rule.md.""",
    "normalize": """bool or "auto", default "auto"
        Divide each row by its L2 norm. "auto": with "idf".""",
    "average": """bool or "auto", default "auto"
        Answer with the mean of the weights after each round. "auto": see `C`; else False.""",
    "bias": """float or "auto", default "auto"
        Value of a constant feature; 0 for none. "auto": as large as one more column where columns are scaled; none for
        words and for rows that are not scaled; for label sets at least 0.5 where rows are scaled.""",
    "class_weight": """dict of label → weight, "balanced" (fit only) or None
        Multiplies the sample weights.""",
    "n_features": """int, optional
        Width of the input, where it is known in advance: matrices up to that width are welcome at any time, the
        columns they lack count as zeros.""",
    "epochs": """int, default 1
        Passes over the rows in `fit`.""",
    "shuffle": """bool, default False
        Another order in each epoch of `fit`.""",
    "random_state": """int, RandomState or None
        For `shuffle`.""",
    "device": """"cpu", "cuda" or "auto", default "cpu"
        Where a kernel is computed.""",
    "budget": """int or hinged.mercer.Budget, optional
        With a kernel that remembers rows, how many at most, and which go; `dual_` is None then.""",
    "dtype": """float32, float64 or None
        Type of the weights; None takes the first input's (float32 stays, all else becomes float64).""",
}

Kind = TypeVar("Kind", bound=type)


def documented(kind: Kind) -> Kind:
    """Decorator of learners: a line such as {C, epochs} in the docstring becomes what those settings mean.

    Examples
    --------
    >>> import inspect
    >>> @documented
    ... class Learner:
    ...     '''Learns.
    ...
    ...     {epochs}
    ...     '''
    >>> print(inspect.getdoc(Learner).splitlines()[2])
    epochs : int, default 1
    """

    def meanings(found: re.Match[str]) -> str:
        lines = "\n".join(f"    {name} : {PARAMETERS[name]}" for name in found[2].split(", "))
        return lines if found[1] else dedent(lines)  # since Python 3.13 docstrings are not indented

    kind.__doc__ = re.sub(r"^( {4})?\{([\w, ]+)\}$", meanings, kind.__doc__ or "", flags=re.MULTILINE)
    return kind
