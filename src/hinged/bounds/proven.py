"""What is proven of a learner: the theorems of its rule, by its geometry."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from hinged.bounds import formulas
from hinged.bounds.comparators import Sums, entropy_of
from hinged.bounds.formulas import Terms
from hinged.bounds.streams import Watchable
from hinged.estimators.label_learner import LabelLearner
from hinged.estimators.options import Rule
from hinged.estimators.stream import settled_like
from hinged.estimators.trials import Trials
from hinged.geometry.choice import metric_of
from hinged.rules.table import RULES, has_slack, name_of
from hinged.rules.words import is_constant, is_one, is_softened, is_uncapped

__all__ = ["Case", "case_of", "named_rule_of"]

Curves = dict[str, Callable[[Sums, float], Terms]]  # theorem → from the sums and C to its terms after each round

#: What is proven of each rule.
PROVEN: dict[str, Curves] = {
    "perceptron": {
        "LR eq. 2 at the best C": lambda s, C: formulas.at_best_cap(s),
        "HS theorem 1": lambda s, C: formulas.hypothesis_sharing(s),
    },
    "simperc": {"SP theorem 1 at the best C": lambda s, C: formulas.at_best_cap(s)},
    "uniform": {"SP theorem 1 at the best C": lambda s, C: formulas.at_best_cap(s)},
    "conproj": {"SP corollary 1": partial(formulas.dual_ascent, "conproj")},
    "simproj": {"the argument of SP theorem 1": partial(formulas.dual_ascent, "simproj")},
    "pa": {
        "PA theorem 2": lambda s, C: formulas.pa_separable(s),
        "PA theorem 3": lambda s, C: formulas.pa_equal_lengths(s),
    },
    "pa1": {"PA theorem 4": formulas.passive_aggressive_1, "LR eq. 2": partial(formulas.dual_ascent, "pa1")},
    "pa2": {"PA theorem 5": formulas.passive_aggressive_2},
    "optimal": {"LR eq. 2": partial(formulas.dual_ascent, "optimal")},
    "mira": {"LR eq. 2": partial(formulas.dual_ascent, "mira")},
}
#: The same for weights on the simplex, where predictions depend on C.
PROVEN_ENTROPIC: dict[str, Curves] = {
    rule: {theorem: partial(formulas.dual_ascent, rule)}
    for theorem, rules in {
        "LR eq. 2": ("perceptron", "pa1", "optimal"),
        "SP theorem 1": ("simperc", "uniform"),
        "SP corollary 1": ("conproj",),
        "the argument of SP theorem 1": ("simproj",),
    }.items()
    for rule in rules
}


class Case(NamedTuple):
    """A learner's rule by name, its C, its geometry, and what is proven of it."""

    rule: str
    C: float
    geometry: Any
    proven: Curves
    free_of_cap: bool  # predictions do not depend on C
    squared: bool = False  # its problem has squared losses
    separable: bool = False  # its problem allows no loss


def case_of(model: Watchable, named: bool = True) -> Case:
    """What is proven of a learner."""
    if metric_of(model.geometry) is not None:
        raise ValueError(
            "no theorem of the papers covers geometry='adaptive', a metric that learns; use "
            "hinged.bounds.adaptive_bound, or geometry='euclidean'."
        )
    check_no_forgetting(model)
    if isinstance(model, Trials):
        given, C = model.rule, model.check_settings().step.C
    else:
        given, C = _rule_of(model)
    rule = name_of(given) or given
    if not isinstance(rule, str):
        if named:
            raise ValueError(f"no theorem covers a rule of your own; got rule={rule!r}.")
        return Case(getattr(rule, "__name__", "own"), C, model.geometry, {}, False)
    words, is_euclidean = RULES[rule].words, entropy_of(model.geometry) is None
    proven = (PROVEN if is_euclidean else PROVEN_ENTROPIC).get(rule, {})
    one_step = is_uncapped(words) and is_one(words)
    return Case(rule, C, model.geometry, proven, is_constant(words) and is_euclidean, is_softened(words), one_step)


def named_rule_of(model: LabelLearner) -> tuple[str, float]:
    """The rule that a learner of labels goes by, by its name, and its C; others are refused."""
    check_no_forgetting(model)
    given, C = _rule_of(model)
    rule = name_of(given)
    if rule is None:
        raise ValueError(f"no theorem covers a rule of your own; got rule={given!r}.")
    if has_slack(given):
        raise ValueError(f"no theorem covers a rule with slack; got rule={given!r}. Use rule='optimal'.")
    return rule, C


def check_no_forgetting(model: object) -> None:
    """Refuse a learner whose weights fade: it takes steps back that no theorem counts."""
    half_life = getattr(model, "half_life", None)
    if half_life is not None:
        raise ValueError(
            f"no theorem of the papers covers weights that fade; got half_life={half_life!r}. Use half_life=None."
        )


def _rule_of(model: LabelLearner) -> tuple[Rule, float]:
    """The rule that a learner of labels goes by, and its C; several C side by side are refused."""
    settled = model.check_settings()
    if settled.caps:
        raise ValueError(
            "no theorem of the papers covers C='auto', learners side by side; pass C=1, and for the papers' plain "
            "learner scaling=None, normalize=False, average=False and bias=0 too."
        )
    return settled_like(model).rule, settled.rule.C
