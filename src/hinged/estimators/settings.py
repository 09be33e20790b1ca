"""A learner's settings, checked together and resolved into what the loops need."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from numbers import Integral, Real
from typing import NamedTuple, TypedDict

import numpy as np
from numpy.typing import DTypeLike

from hinged.estimators.auto import is_auto
from hinged.estimators.forgetting_settings import check_half_life, weights_fade
from hinged.estimators.geometry_settings import check_entropic_rule, check_metric
from hinged.estimators.inputs import LARGEST, LEAST
from hinged.estimators.kernel_model import KernelLabelModel
from hinged.estimators.kernel_settings import check_kernel_settings, check_linear, new_machine, reading_of
from hinged.estimators.options import (
    ClassWeight,
    DType,
    LabelSettings,
    OwnRule,
    RowSettings,
    ScaledSettings,
)
from hinged.estimators.protocol import LabelModelLike
from hinged.geometry.choice import metric_of, on_simplex
from hinged.geometry.entropy import Entropy
from hinged.geometry.forgetting import half_lives
from hinged.loops.costs import Costs
from hinged.loops.entropic import EntropicModel
from hinged.loops.experts import BOLD, SINGLE, SOFT
from hinged.loops.model import LabelModel
from hinged.loops.rows import LARGEST_VALUE, MOMENTS, SCALINGS
from hinged.loops.steps import Setting
from hinged.mercer.fourier import FeatureMap, feature_map_of, remembers_rows
from hinged.mercer.functions import Kernel as PastRows
from hinged.rules.table import Step, check_no_slack, has_own_margin, has_slack, reads_cap
from hinged.rules.table import resolve as resolve_rule
from hinged.rules.words import is_interior, is_joint
from hinged.sharing.evidence import BAYES
from hinged.sharing.features import EXPLICIT, FREQUENCY, TFIDF
from hinged.sharing.plan import Plan
from hinged.sharing.plan import resolve as resolve_sharing
from hinged.tasks.cost import cost_matrix
from hinged.tasks.labels import check_novel

__all__ = [
    "LARGEST_JOINT",
    "Settled",
    "check_dtype",
    "check_options",
    "check_sizes",
    "check_switches",
    "check_unchanged",
    "give_costs",
    "is_same",
    "random_generator",
    "scaled_as",
    "setting_of",
    "settle",
    "whole",
]

LARGEST_JOINT = 2000


#: What to try instead of a number that is too large.
USUAL = {
    "C": "1.0, or inf where no step is too long",
    "cap": "1.0, or inf where no step is too long",
    "margin": "1.0",
    "beta": "0.01",
    "bias": "0.1, or 0 for none",
    "epsilon": "0.1",
    "radius": "1.0",
    "max_radius": "10.0",
    "often": "2.0",
    "seldom": "-1.0",
    "cost": "costs between 0 and 100",
}


CAPS = ("C", "cap")  # of steps; inf for none
VALUES = ("bias", "often", "seldom")  # what becomes a value of a row, or multiplies one


class Settled(NamedTuple):
    """Settings of a learner of labels, found sound."""

    rule: Setting
    certified: bool
    sizes: dict[str, float]  # what must fit the range of the weights' type
    own: OwnRule | None
    plan: Plan
    most_labels: float
    geometry: Entropy | None
    kernel: PastRows | None = None
    caps: tuple[float, ...] = ()  # C of learners side by side; empty where C is a number
    mean: bool = False  # whether the mean weights of the last of them answer beside them

    def check_range(self, dtype: DTypeLike) -> None:
        """Refuse numbers that are too large for weights of that type."""
        check_sizes(self.sizes, np.dtype(np.float64 if self.geometry is not None else dtype).name)

    def change(self, model: LabelModelLike) -> None:
        """Let a model go on by this rule."""
        if len(self.caps) + self.mean != len(getattr(model, "experts", ((), ()))[1]):
            raise ValueError(
                "C cannot change between 'auto' and a number once something is learnt, nor, with C='auto', the rule to "
                "one that does not read C: learners side by side have weights of their own. Set it back, or call fit "
                "to start anew."
            )
        model.setting = self.rule._replace(least_norm=model.setting.least_norm)
        model.own = self.own

    def new_model(self, who: LabelSettings, dtype: DTypeLike) -> LabelModelLike:
        """Empty memory for a learner with these settings; all kinds take the same calls."""
        if self.kernel is not None:
            assert isinstance(who.sharing, str)
            machine = new_machine(who, self.kernel, dtype, who.sharing)
            return KernelLabelModel(machine, self.rule, self.own, reading_of(who))
        if self.geometry is not None:
            model = EntropicModel(self.geometry, self.rule, **scaled_as(who))
            model.widen(who.n_features or 0)
            return model
        return LabelModel(who.dtype or dtype, self.plan, self.rule, self.own, self.caps, self.mean, **scaled_as(who))


class Scaled(TypedDict):
    """What happens to rows before they are scored, whether mean weights are kept, and in which metric steps are."""

    scaling: str | None
    unit: bool
    bias: float
    average: bool
    adaptive: float  # r of a metric that learns, 0 for none
    feature_map: FeatureMap | None
    half_lives: tuple[float, float]  # of weights and of statistics, 0 for none


def scaled_as(who: ScaledSettings) -> Scaled:
    """The settings of linear models, as they are named there."""
    metric = metric_of(who.geometry)
    return {
        "scaling": who.scaling,
        "unit": bool(who.normalize),
        "bias": float(who.bias),
        "average": not is_auto(who.average) and bool(who.average),
        "adaptive": 0.0 if metric is None else float(metric.r),
        "feature_map": feature_map_of(getattr(who, "kernel", None)),
        "half_lives": half_lives(getattr(who, "half_life", None)),
    }


def settle(who: LabelSettings) -> Settled:
    """Check every setting of an estimator, by name; say what was wrong, what was given and what to do."""
    step, own = resolve_rule(who.rule, 1.0 if is_auto(who.C) else who.C, who.margin)
    if own is not None and not hasattr(own, "py_func"):
        raise TypeError(
            f"a rule of your own must be compiled: decorate it with numba.njit; got {own!r}. "
            "docs/adding_a_rule.md shows one."
        )
    if remembers_rows(who.kernel):
        return _with_kernel(who, who.kernel, step, own)
    plan = resolve_sharing(who.sharing, who.features)
    geometry, metric = on_simplex(who.geometry), metric_of(who.geometry)
    if geometry is not None:
        check_entropic(who, step, plan)  # which leaves no shared vectors
    check_plan(who, step, plan)
    check_options(who)
    if metric is not None:
        check_metric(plan)
    check_linear(who, plan)
    check_half_life(who, plan)
    check_cost(who, geometry is not None)
    sizes = _sizes(who, step, plan) | ({} if geometry is None else {"radius": geometry.radius})
    check_sizes(sizes, np.dtype(who.dtype or np.float64).name)
    most_labels = LARGEST_JOINT if is_joint(step.words) and shares_vectors(plan) else math.inf
    caps, mean = side_by_side(who)
    certified = step.certified and not caps and metric is None and not weights_fade(who)
    return Settled(setting_of(step, who), certified, sizes, own, plan, most_labels, geometry, None, caps, mean)


def side_by_side(who: ScaledSettings) -> tuple[tuple[float, ...], bool]:
    """C of the learners that C="auto" stands for, and whether the mean of the last one answers too.

    With `average` all answers are by mean weights; one learner alone is not side by side with any. A mean over all
    rounds has no place beside learners that forget.
    """
    if not (is_auto(who.C) and reads_cap(who.rule)):
        return (), False
    caps, mean = BOLD if who.scaling == "standard" else SINGLE, is_auto(who.average) and not weights_fade(who)
    caps = SOFT if has_slack(who.rule) else caps
    return (caps, mean) if len(caps) + mean > 1 else ((), False)


def shares_vectors(plan: Plan) -> bool:
    """Return True if labels have anything but vectors of their own."""
    return len(plan.parts) > 0 or not plan.per_label


def check_plan(who: LabelSettings, step: Step, plan: Plan) -> None:
    """Refuse, by name, sharing that a rule cannot work with, and label features that do not go together."""
    if is_interior(step.words) and shares_vectors(plan):
        raise ValueError(
            f"solver='interior-point' needs labels with vectors of their own, sharing='multi'; got "
            f"sharing={who.sharing!r}. Use solver='search'."
        )
    if shares_vectors(plan):
        check_no_slack(f"with sharing={who.sharing!r}", who.rule)
    codes = {part.code for part in plan.parts}
    counting = codes & {FREQUENCY, TFIDF} or BAYES in plan.evidence
    if who.scaling in MOMENTS and counting:
        raise ValueError(
            "label features 'frequency' and 'tfidf' and the evidence of 'bayes' count the rows that have a word, and "
            f"with scaling={who.scaling!r} a row may have every column. Use scaling='idf', features='first' or "
            "'distance', or hinged.features.Evidence(('centroid', 'recency'), words=None)."
        )
    if EXPLICIT in codes and len(codes) > 1:
        raise ValueError("label features of your own cannot be mixed with built-in ones in one model; use either.")


def setting_of(step: Step, who: object) -> Setting:
    """A rule as the loops read it, for a learner; those without labels have no `novel`."""
    learns_new = check_novel(getattr(who, "novel", "skip"))
    return Setting(step.words, step.C, step.margin, step.uses_weight, learns_new=learns_new, slack=step.slack)


def _with_kernel(who: LabelSettings, kernel: PastRows, step: Step, own: OwnRule | None) -> Settled:
    """The settings of a learner whose memory is past rows."""
    check_kernel_settings(who, step)
    check_options(who)
    plan = resolve_sharing("multi", None)
    sizes = _sizes(who, step, plan)
    check_sizes(sizes, np.dtype(who.dtype or np.float64).name)
    joint = is_joint(step.words) and who.sharing != "multi"
    certified, most_labels = step.certified and who.budget is None, LARGEST_JOINT if joint else math.inf
    return Settled(setting_of(step, who), certified, sizes, own, plan, most_labels, None, kernel)


def check_cost(who: LabelSettings, entropic: bool) -> None:
    """Refuse, by name, what cannot be done with costs."""
    if who.constraint not in ("prediction", "max-loss"):
        raise ValueError(f"constraint must be 'prediction' or 'max-loss'; got constraint={who.constraint!r}.")
    if who.cost is None:
        return
    if entropic:
        raise ValueError(
            "cost asks for a margin of each pair's own, which geometry='entropy' has not; use 'euclidean'."
        )
    if not callable(who.cost):
        cost_matrix(who.cost, ())


def give_costs(model: LabelModelLike, who: LabelSettings, labels: Sequence[Hashable]) -> None:
    """Give a model the costs of these labels, where mistakes have costs."""
    if who.cost is None or not isinstance(model, LabelModel):
        return
    now = (labels, who.cost, who.constraint)
    before = getattr(model, "priced", None)
    if before is None or any(a is not b for a, b in zip(now, before, strict=True)):
        rho = cost_matrix(who.cost, labels)
        check_sizes({"cost": float(rho.max(initial=0.0))}, model.dtype.name)
        vars(model).update(costs=Costs(rho, who.constraint == "prediction"), priced=now)


def check_options(who: RowSettings) -> None:
    """Refuse, by name, what cannot be done to rows; for every kind of learner, as far as it has the option."""
    scaling, bias = getattr(who, "scaling", None), getattr(who, "bias", 0.0)
    if scaling not in SCALINGS:
        raise ValueError(f"scaling must be 'auto', None, 'idf', 'standard' or 'mixed'; got scaling={scaling!r}.")
    check_switches(who, ("normalize", "shuffle"))
    if not is_auto(getattr(who, "average", False)):
        check_switches(who, ("average",))
    check_class_weight(getattr(who, "class_weight", None))
    if isinstance(bias, bool) or not isinstance(bias, Real) or not math.isfinite(bias):
        raise ValueError(f"bias must be a finite number; got bias={bias!r}. Try 0.1, or 0 for none.")
    if who.n_features is not None:
        whole("n_features", who.n_features, 1)
    check_dtype(who.dtype)


def check_switches(who: object, names: Iterable[str]) -> None:
    """Refuse, by name, settings that are neither on nor off, as far as a learner has them."""
    for name in names:
        value = getattr(who, name, False)
        if not isinstance(value, bool | np.bool_):
            raise ValueError(f"{name} must be True or False; got {name}={value!r}.")


def check_class_weight(by_label: ClassWeight) -> None:
    """Refuse weights of labels that are no sound weights."""
    balanced = isinstance(by_label, str) and by_label == "balanced"
    if not (by_label is None or balanced or isinstance(by_label, dict)):
        raise ValueError(
            f"class_weight must be None, 'balanced' (fit only) or a dict of label → weight; got {by_label!r}."
        )
    for label, weight in by_label.items() if isinstance(by_label, dict) else ():
        if not isinstance(weight, Real) or not 0 <= float(weight) < math.inf:
            raise ValueError(f"class_weight must hold finite numbers that are not negative; got {label!r}: {weight!r}.")


def check_dtype(dtype: DType) -> None:
    """Refuse types that weights cannot have."""
    if dtype is not None and dtype not in ("float32", "float64", np.float32, np.float64, float):
        raise ValueError(f"dtype must be float32 or float64; got dtype={dtype!r}.")


def _sizes(who: LabelSettings, step: Step, plan: Plan) -> dict[str, float]:
    """Numbers that could leave the range of the weights, or make every other number vanish beside them."""
    own_names = has_own_margin(who.rule)
    sizes = {"cap" if own_names else "C": step.C, "beta" if own_names else "margin": step.margin}
    sizes["bias"] = float(who.bias)
    for part in plan.parts:
        sizes |= {"often": part.factors[0], "seldom": part.factors[1]} if part.code == FREQUENCY else {}
    return sizes


def check_sizes(sizes: dict[str, float], dtype: str) -> None:
    """Refuse numbers, by name, that are too large for weights of that type."""
    for name, value in sizes.items():
        most = LARGEST_VALUE[dtype] if name in VALUES else LARGEST[dtype]
        endless = name in CAPS and value == math.inf
        if abs(value) > most and not endless:
            raise ValueError(
                f"{name} must not exceed {most:g} where weights are {dtype}; got {name}={value!r}. Try: {USUAL[name]}."
            )
        if name in CAPS and value < LEAST:
            raise ValueError(f"{name} must be at least {LEAST:g}; got {name}={value!r}. Try: {USUAL[name]}.")


def random_generator(seed: object) -> np.random.RandomState:
    """Return the generator that `random_state` stands for, by scikit-learn's rules."""
    from sklearn.utils import check_random_state

    generator: np.random.RandomState = check_random_state(seed)
    return generator


def whole(name: str, value: object, least: int) -> int:
    """A whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {name}={value!r}.")
    return int(value)


def check_unchanged(names: Iterable[str], before: Iterable[object], now: Iterable[object]) -> None:
    """Refuse changes of settings that memory is built for."""
    for name, old, new in zip(names, before, now, strict=True):
        if not is_same(old, new):
            raise ValueError(
                f"{name} cannot change once something is learnt; it was {old!r}, now {new!r}. "
                "Set it back, or call fit to start anew."
            )


def is_same(a: object, b: object) -> bool:
    """Return True if settings are equal; arrays are equal where they are the same ones."""
    try:
        return bool(a == b)
    except ValueError:
        return False


def check_entropic(who: LabelSettings, step: Step, plan: Plan) -> None:
    """Refuse, by name, what has no meaning for weights on a simplex."""
    check_entropic_rule(who.rule, step)
    if shares_vectors(plan):
        raise ValueError(
            f"geometry='entropy' gives each label a simplex of its own, sharing='multi'; got sharing={who.sharing!r}. "
            "Shared vectors are Euclidean."
        )
    if who.dtype is not None and np.dtype(who.dtype) != np.float64:
        raise ValueError(
            f"geometry='entropy' computes in float64, whose range exponentials need; got dtype={who.dtype!r}. "
            "Leave it out: float32 rows are welcome."
        )
