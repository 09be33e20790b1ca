"""The rules by name: the three words each is made of, which settings it reads, and where it cannot run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

from hinged.rules.words import CONSTANT, INTERIOR, JOINT, MEAN, MISSING, ONE, OWN, PA, PA1, PA2, WORST, WRONG, Words

__all__ = [
    "ON_ONE",
    "RULES",
    "UP_TO_THE_MARGIN",
    "Mira",
    "Optimal",
    "Rule",
    "Step",
    "cap_of",
    "check_no_slack",
    "check_runs",
    "entropic",
    "has_own_margin",
    "has_slack",
    "name_of",
    "on_mistakes",
    "positive",
    "reads_cap",
    "resolve",
]


@dataclass(frozen=True)
class Mira:
    """Crammer and Singer's MIRA: the joint step of `"optimal"` with a small margin `beta` and its own cap.

    Parameters
    ----------
    beta : float
        The margin to be met, positive (from all-zero weights a margin of 0 would never move).
    cap : float
        Bound on the right label's coefficient: infinity projects exactly; 1 is Crammer and Singer's own problem.

    Examples
    --------
    >>> Mira(cap=1.0)
    Mira(beta=0.01, cap=1.0)
    """

    beta: float = 0.01
    cap: float = math.inf


@dataclass(frozen=True)
class Optimal:
    """The rule `"optimal"` with its settings.

    Parameters
    ----------
    solver : "search" or "interior-point"
        How the joint problem is solved. "search" is exact: sorting for Euclidean prototypes, a one-dimensional search
        under entropy, an active-set method on the Gram matrix for shared vectors. "interior-point" is the
        label-ranking paper's method, in either geometry, for labels with vectors of their own.
    slack : float
        How far the scores of one row may stay from where the margin wants them: each of them may miss by ζ, at a cost
        of ζ²/(2 slack) beside C. As if the row had one more feature, of size √slack, that no other row has. 0 for
        none. For labels with vectors of their own, and for ranks.

    Examples
    --------
    >>> Optimal(slack=1.0)
    Optimal(solver='search', slack=1.0)
    """

    solver: str = "search"
    slack: float = 0.0


class Rule(NamedTuple):
    """One row of the table."""

    words: Words
    meaning: str
    reads: tuple[str, ...] = ("C", "margin", "weights")  # a sample weight s replaces C by sC
    certified: bool = True  # has a dual certificate


RULES = {
    "perceptron": Rule(Words(WORST, CONSTANT, ONE), "C on the worst pair, on mistakes only"),
    "pa": Rule(Words(WORST, PA, ONE), "the smallest move that meets the worst pair's margin", ("margin",)),
    "pa1": Rule(Words(WORST, PA1, ONE), "the same, no longer than C"),
    "pa2": Rule(Words(WORST, PA2, ONE), "the same, softened by 1/(2C)"),
    "simperc": Rule(Words(WRONG, CONSTANT, MEAN), "C shared by all pairs ranked wrongly"),
    "simproj": Rule(Words(MISSING, PA1, MEAN), "the mean of pa1's steps over all pairs that miss the margin"),
    "conproj": Rule(Words(WRONG, PA1, MEAN), "the mean of pa1's steps over all pairs ranked wrongly"),
    "optimal": Rule(Words(MISSING, PA1, JOINT), "the exact joint step over all pairs"),
    "mira": Rule(Words(MISSING, PA, JOINT), "the exact projection onto all pairs, margin 0.01", ()),
    "uniform": Rule(
        Words(WRONG, CONSTANT, MEAN),
        "the multiclass Perceptron: 1 up, 1/|E| down on each offending label",
        ("margin",),
    ),
}

#: The rules that move along one constraint, and those of them that go as far as its margin asks for.
ON_ONE = tuple(name for name, row in RULES.items() if row.words.combine == ONE)
UP_TO_THE_MARGIN = tuple(name for name in ON_ONE if RULES[name].words.length != CONSTANT)

#: Where a rule may be refused → the ways of combining that have no step there.
NOT_HERE = {
    "with a kernel": (INTERIOR,),
    "in Trials": (OWN,),
    "in a SequenceTagger": (INTERIOR, OWN),
    "on a single vector": (INTERIOR, OWN),
}
#: Where constraints bring margins of their own, so that a rule with one of its own has no meaning.
GIVEN_MARGINS = ("in a SequenceTagger",)
#: Where `check_runs` lets a joint step have slack.
TAKES_SLACK = ("on a single vector",)


class Step(NamedTuple):
    """A rule with its numbers settled, as the loops read it."""

    words: Words
    C: float
    margin: float
    uses_weight: bool  # a sample weight s replaces C by sC
    certified: bool  # the rule has a dual certificate
    slack: float = 0.0  # squared length of a feature that a row shares with no other


def name_of(rule: object) -> str | None:
    """Return the name of a rule given by name or object; None for a user's own function.

    Examples
    --------
    >>> name_of(Mira(cap=1.0)), name_of("pa1"), name_of(len)
    ('mira', 'pa1', None)
    """
    if isinstance(rule, str):
        return rule
    return {Mira: "mira", Optimal: "optimal"}.get(type(rule))


def has_own_margin(rule: object) -> bool:
    """Return True if a rule brings its own margin and cap in place of the learner's.

    Examples
    --------
    >>> has_own_margin(Mira()), has_own_margin("pa1")
    (True, False)
    """
    row = RULES.get(name_of(rule) or "")
    return row is not None and "margin" not in row.reads


def cap_of(name: str, C: float) -> float:
    """Return `C`, or 1 for a rule of constant steps that does not read it.

    Examples
    --------
    >>> cap_of("simperc", 0.5), cap_of("uniform", 0.5)
    (0.5, 1.0)
    """
    row = RULES[name]
    return 1.0 if "C" not in row.reads and row.words.length == CONSTANT else C


def reads_cap(rule: object) -> bool:
    """Return True if a rule, by name or as a function, reads C.

    Examples
    --------
    >>> reads_cap("pa1"), reads_cap("pa"), reads_cap("mira")
    (True, False, False)
    """
    name = name_of(rule)
    return name is None or "C" in RULES[name].reads


def check_runs(where: str, rule: object, words: Words) -> None:
    """Refuse a rule, by name, where it has no step.

    Examples
    --------
    >>> check_runs("with a kernel", "pa1", RULES["pa1"].words)
    """
    if where not in TAKES_SLACK:
        check_no_slack(where, rule)
    given = where in GIVEN_MARGINS
    if words.combine in NOT_HERE[where] or (given and has_own_margin(rule)):
        names = ", ".join(
            name
            for name, row in RULES.items()
            if row.words.combine not in NOT_HERE[where] and not (given and has_own_margin(name))
        )
        raise ValueError(f"rule={rule!r} does not run {where}; use {names}.")


def entropic(words: Words) -> bool:
    """Return True if a rule has a meaning for weights on a simplex, where the geometry says how far a step goes.

    Examples
    --------
    >>> [name for name, row in RULES.items() if not entropic(row.words)]
    ['pa', 'pa2', 'mira']
    """
    return words.length in (CONSTANT, PA1) and words.combine != OWN


def on_mistakes(words: Words) -> bool:
    """Return True if a rule steps on mistakes only.

    Examples
    --------
    >>> [name for name, row in RULES.items() if on_mistakes(row.words)]
    ['perceptron', 'simperc', 'conproj', 'uniform']
    """
    return words.choose == WRONG or words.length == CONSTANT


def resolve(rule: object, C: object, margin: object) -> tuple[Step, Any]:
    """Settle a rule given by name, object or compiled function; return its numbers and the function, if one.

    Examples
    --------
    >>> resolve("pa1", 0.5, 1.0)[0]
    Step(words=Words(choose=0, length=2, combine=0), C=0.5, margin=1.0, uses_weight=True, certified=True, slack=0.0)
    """
    margin = positive("margin", margin, "1 is usual")
    if margin == math.inf:
        raise ValueError("margin must be finite; got margin=inf. 1 is usual.")
    if rule == "mira":
        rule = Mira()
    if isinstance(rule, Mira):
        beta = positive("beta", rule.beta, "0.01 is usual")
        cap = positive("cap", rule.cap, "inf projects exactly, 1 is Crammer and Singer's")
        return Step(RULES["mira"].words, cap, beta, False, cap < math.inf), None
    if isinstance(rule, Optimal):
        if rule.solver not in ("search", "interior-point"):
            raise ValueError(f"solver must be 'search' or 'interior-point'; got solver={rule.solver!r}.")
        slack = _slack(rule)
        if rule.solver == "interior-point":
            C = positive("C", C, "1.0, or solver='search' with inf")
            if math.inf == C:
                raise ValueError("C must be finite for solver='interior-point'; got C=inf. Use solver='search'.")
            return Step(RULES["optimal"].words._replace(combine=INTERIOR), C, margin, True, True), None
        step, own = resolve("optimal", C, margin)
        return step._replace(slack=slack), own
    C = positive("C", C, "0.01 for noisy labels, inf for the plain step")
    if isinstance(rule, str):
        if rule not in RULES:
            raise ValueError(f"rule must be one of {', '.join(RULES)}, or a compiled function; got rule={rule!r}.")
        row, C = RULES[rule], cap_of(rule, C)
        if math.inf == C and row.words.length in (CONSTANT, PA2):
            raise ValueError(
                f"C must be finite for rule={rule!r}; got C=inf. Try 1.0, or rule='pa' for the plain step."
            )
        return Step(row.words, C, margin, "weights" in row.reads, row.certified), None
    if hasattr(rule, "py_func") or callable(rule):
        return Step(Words(MISSING, PA1, OWN), C, margin, True, True), rule
    raise TypeError(
        f"rule must be a name, hinged.rules.Mira, hinged.rules.Optimal or a compiled function; got {rule!r}. "
        f"Names: {', '.join(RULES)}."
    )


def _slack(rule: Optimal) -> float:
    """Return the slack of a rule, or raise an error that says what was given and what to try."""
    if rule.slack == 0:
        return 0.0
    slack = positive("slack", rule.slack, "1.0, or 0 for none")
    if rule.solver != "search" or slack == math.inf:
        raise ValueError(f"slack must be finite, and needs solver='search'; got {rule!r}. Try Optimal(slack=1.0).")
    return slack


def has_slack(rule: object) -> bool:
    """Return True if the scores of a row may miss the margin at a price of their own.

    Examples
    --------
    >>> has_slack(Optimal(slack=1.0)), has_slack("optimal")
    (True, False)
    """
    return isinstance(rule, Optimal) and bool(rule.slack)


def check_no_slack(where: str, rule: object) -> None:
    """Refuse, by name, a slack where rows cannot have one.

    Examples
    --------
    >>> check_no_slack("with a kernel", Optimal())
    """
    if has_slack(rule):
        raise ValueError(f"{rule!r} does not run {where}; use slack=0, or labels with vectors of their own, or ranks.")


def positive(name: str, value: object, hint: str) -> float:
    """Return a positive number, or raise an error that says what was given and what to try."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number; got {name}={value!r}. Try: {hint}.")
    if not float(value) > 0:
        raise ValueError(f"{name} must be positive; got {name}={value!r}. Try: {hint}.")
    return float(value)
