"""What the shared settings of learners mean, written once: docstrings of classes are assembled from this table."""

from __future__ import annotations

import re
from typing import TypeVar

__all__ = ["PARAMETERS", "documented"]

PARAMETERS = {
    "C": """float, default 1.0
        Longest step, positive. Small for noisy labels or targets; inf for the plain step. `Classifier` and `Ranker`
        with ``sharing="multi"`` also take "auto": five C learn side by side and answer together, those with smaller
        losses so far counting for more.""",
    "novel": """"learn" or "skip", default "learn"
        What to do with the example that brings a new label: learn it like any other once the label is known, or only
        make the label known, as the papers do. Either way it is not counted as right or wrong.""",
    "kernel": """hinged.mercer kernel or function, optional
        What takes the place of inner products: `Polynomial(a, d)`, `Gaussian(gamma)`, `Centred(gamma)` for shared
        vectors, or a function of two matrices; docs/kernels.md.""",
    "scaling": """None, "idf" or "standard", default None
        "idf" multiplies every value by how rare its feature has been so far. "standard" brings columns of numbers to
        mean 0 and deviation 1 as they have been so far; sparse features keep their zeros. docs/maths.md.""",
    "normalize": """bool, default False
        Divide each row by its L2 norm.""",
    "average": """bool, default False
        Answer with the mean of the weights after each round.""",
    "bias": """float, default 0.0
        Value of a constant feature; 0 for none, which is right for normalised text. Numbers far from 0 need one.""",
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
        With a kernel, how many past rows are remembered at most, and which go; `dual_` is None then.""",
    "dtype": """float32, float64 or None
        Type of the weights; None takes the first input's (float32 stays, all else becomes float64).""",
}

Kind = TypeVar("Kind", bound=type)


def documented(kind: Kind) -> Kind:
    """Decorator of learners: a line such as {C, epochs} in the docstring becomes what those settings mean.

    Examples
    --------
    >>> @documented
    ... class Learner:
    ...     '''Learns.
    ...
    ...     {epochs}
    ...     '''
    >>> print(Learner.__doc__.splitlines()[2])
        epochs : int, default 1
    """

    def meanings(found: re.Match[str]) -> str:
        return "\n".join(f"    {name} : {PARAMETERS[name]}" for name in found[1].split(", "))

    kind.__doc__ = re.sub(r"^ {4}\{([\w, ]+)\}$", meanings, kind.__doc__ or "", flags=re.MULTILINE)
    return kind
