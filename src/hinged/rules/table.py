"""The rules by name: what each one is called in the loops, and which settings it reads."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, NamedTuple

from hinged.rules import codes
from hinged.rules.mira import Mira
from hinged.rules.optimal import Optimal

__all__ = ["RULES", "Step", "check_runs", "resolve"]

#: Name of each rule → its code and one line of meaning.
RULES = {
    "perceptron": (codes.PERCEPTRON, "C on the worst pair, on mistakes only"),
    "pa": (codes.PA, "the smallest move that meets the worst pair's margin"),
    "pa1": (codes.PA1, "the same, no longer than C"),
    "pa2": (codes.PA2, "the same, softened by 1/(2C)"),
    "simperc": (codes.SIMPERC, "C shared by all pairs ranked wrongly"),
    "simproj": (codes.SIMPROJ, "the mean of pa1's steps over all pairs that miss the margin"),
    "conproj": (codes.CONPROJ, "the mean of pa1's steps over all pairs ranked wrongly"),
    "optimal": (codes.OPTIMAL, "the exact joint step over all pairs"),
    "mira": (codes.MIRA, "the exact projection onto all pairs, margin 0.01"),
    "uniform": (codes.SIMPERC, "the multiclass Perceptron: 1 up, 1/|E| down on each offending label"),
}

_ON_ONE_PAIR = (codes.PERCEPTRON, codes.PA, codes.PA1, codes.PA2)
_SIMULTANEOUS = (codes.SIMPERC, codes.SIMPROJ, codes.CONPROJ)
_JOINT = (codes.OPTIMAL, codes.MIRA)

#: Where rules are chosen by their code beside the plain learners of labels → the codes known there.
RUNS = {
    "with cost=": (*_ON_ONE_PAIR, *_SIMULTANEOUS, *_JOINT, codes.INTERIOR, codes.OWN),
    "with a kernel": (*_ON_ONE_PAIR, *_SIMULTANEOUS, *_JOINT, codes.OWN),
    "in Trials": (*_ON_ONE_PAIR, *_SIMULTANEOUS, *_JOINT, codes.INTERIOR),
    "in a SequenceTagger": (*_ON_ONE_PAIR, *_SIMULTANEOUS, codes.OPTIMAL),
    "on a single vector": (*_ON_ONE_PAIR, *_SIMULTANEOUS, *_JOINT),
}


def check_runs(where: str, rule: Any, code: int) -> None:
    """Refuse a rule where nothing runs it: another one would run in its place.

    Examples
    --------
    >>> check_runs("with a kernel", "pa1", codes.PA1)
    """
    if code not in RUNS[where]:
        names = ", ".join(name for name, (other, _) in RULES.items() if other in RUNS[where])
        raise ValueError(f"rule={rule!r} does not run {where}; use {names}.")


def _check_codes() -> None:
    """Two rules with one code would be one rule under two names."""
    named: dict[int, str] = {}
    for name, code in vars(codes).items():
        if name.isupper() and named.setdefault(code, name) != name:
            raise ImportError(
                f"hinged/rules/codes.py gives {named[code]} and {name} the same number, {code}; use a free one."
            )


_check_codes()


class Step(NamedTuple):
    """A rule with its numbers settled, as the loops read it."""

    code: int
    C: float
    margin: float
    uses_weight: bool  # a sample weight s replaces C by sC
    certified: bool  # the rule has a dual certificate


def resolve(rule: Any, C: Any, margin: Any) -> tuple[Step, Any]:
    """Settle a rule given by name, object or compiled function; return its numbers and the function, if one.

    Examples
    --------
    >>> resolve("pa1", 0.5, 1.0)[0]
    Step(code=2, C=0.5, margin=1.0, uses_weight=True, certified=True)
    """
    margin = positive("margin", margin, "1 is usual")
    if margin == math.inf:
        raise ValueError("margin must be finite; got margin=inf. 1 is usual.")
    if rule == "mira":
        rule = Mira()
    if isinstance(rule, Mira):
        beta = positive("beta", rule.beta, "0.01 is usual")
        cap = positive("cap", rule.cap, "inf projects exactly, 1 is Crammer and Singer's")
        return Step(codes.MIRA, cap, beta, False, cap < math.inf), None
    if isinstance(rule, Optimal):
        if rule.solver not in ("search", "interior-point"):
            raise ValueError(f"solver must be 'search' or 'interior-point'; got solver={rule.solver!r}.")
        if rule.solver == "interior-point":
            C = positive("C", C, "1.0, or solver='search' with inf")
            if math.inf == C:
                raise ValueError("C must be finite for solver='interior-point'; got C=inf. Use solver='search'.")
            return Step(codes.INTERIOR, C, margin, True, True), None
        rule = "optimal"
    C = positive("C", C, "0.01 for noisy labels, inf for the plain step")
    if isinstance(rule, str):
        if rule not in RULES:
            raise ValueError(f"rule must be one of {', '.join(RULES)}, or a compiled function; got rule={rule!r}.")
        code = RULES[rule][0]
        if rule == "uniform":
            return Step(code, 1.0, margin, False, True), None
        if math.inf == C and rule in ("perceptron", "simperc", "pa2"):
            raise ValueError(
                f"C must be finite for rule={rule!r}; got C=inf. Try 1.0, or rule='pa' for the plain step."
            )
        return Step(code, C, margin, rule != "pa", True), None
    if hasattr(rule, "py_func") or callable(rule):
        return Step(codes.OWN, C, margin, True, True), rule
    raise TypeError(
        f"rule must be a name, hinged.rules.Mira, hinged.rules.Optimal or a compiled function; got {rule!r}. "
        f"Names: {', '.join(RULES)}."
    )


def positive(name: str, value: Any, hint: str) -> float:
    """A positive number, or a sentence that says what was given and what to try."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number; got {name}={value!r}. Try: {hint}.")
    if not float(value) > 0:
        raise ValueError(f"{name} must be positive; got {name}={value!r}. Try: {hint}.")
    return float(value)
