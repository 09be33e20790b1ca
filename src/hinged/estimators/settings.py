"""An estimator's settings, checked together and turned into what the loops need."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from hinged.estimators.geometry import check_entropic
from hinged.estimators.inputs import LARGEST, LEAST
from hinged.estimators.kernel_model import KernelLabelModel
from hinged.estimators.kernels import check_kernel_settings, check_without_kernel, new_machine
from hinged.estimators.protocol import LabelModelLike
from hinged.geometry.entropy import Entropy
from hinged.geometry.entropy import resolve as resolve_geometry
from hinged.loops.entropic import EntropicModel
from hinged.loops.model import LabelModel
from hinged.loops.rows import LARGEST_VALUE
from hinged.loops.steps import Setting
from hinged.rules.table import Step, has_own_margin
from hinged.rules.table import resolve as resolve_rule
from hinged.rules.words import INTERIOR, JOINT
from hinged.sharing.features import EXPLICIT, FREQUENCY
from hinged.sharing.plan import Plan
from hinged.sharing.plan import resolve as resolve_sharing
from hinged.tasks.cost import cost_matrix

__all__ = ["LARGEST_JOINT", "Settled", "check_options", "check_sizes", "settle", "whole"]

LARGEST_JOINT = 2000


#: Settings a learner may change between rounds, and those its memory is built for.
STEPPING = ("rule", "C", "margin", "cost", "constraint")
BUILT_FOR = ("sharing", "features", "geometry", "kernel", "budget", "scaling", "normalize", "average", "bias", "dtype")


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
    """Settings that were found sound."""

    rule: Setting
    own: Any
    plan: Plan
    certified: bool
    most_labels: float
    geometry: Entropy | None
    kernel: Any = None

    def change(self, model: Any) -> None:
        """Let a model go on by this rule."""
        model.setting = self.rule._replace(least_norm=model.setting.least_norm)
        model.own = self.own

    def new_model(self, who: Any, dtype: Any) -> LabelModelLike:
        """Empty memory for a learner with these settings; all kinds take the same calls."""
        if self.kernel is not None:
            machine = new_machine(who, self.kernel, dtype, who.sharing)
            return KernelLabelModel(machine, self.rule, self.own, unit=bool(who.normalize))
        if self.geometry is not None:
            options = {
                "idf": who.scaling == "idf",
                "unit": bool(who.normalize),
                "bias": float(who.bias),
                "average": bool(who.average),
            }
            model = EntropicModel(self.geometry, self.rule, **options)
            model.widen(who.n_features or 0)
            return model
        return LabelModel(
            who.dtype or dtype,
            self.plan,
            self.rule,
            self.own,
            idf=who.scaling == "idf",
            unit=bool(who.normalize),
            bias=float(who.bias),
            average=bool(who.average),
        )


def settle(who: Any, dtype: Any = np.float64) -> Settled:
    """Check every setting of an estimator, by name; say what was wrong, what was given and what to do.

    `dtype` is that of the weights, where no setting says so.
    """
    step, own = resolve_rule(who.rule, who.C, who.margin)
    if own is not None and not hasattr(own, "py_func"):
        raise TypeError(
            f"a rule of your own must be compiled: decorate it with numba.njit; got {own!r}. "
            "docs/adding_a_rule.md shows one."
        )
    kernel = getattr(who, "kernel", None)
    if kernel is not None:
        return _with_kernel(who, kernel, step, own, dtype)
    check_without_kernel(who)
    plan = resolve_sharing(who.sharing, who.features)
    geometry = resolve_geometry(who.geometry)
    if geometry is not None:
        check_entropic(who, step, plan)
        dtype = np.float64
    elif step.words.combine == INTERIOR and (plan.parts or not plan.per_label):
        raise ValueError(
            f"solver='interior-point' needs labels with vectors of their own, sharing='multi'; got "
            f"sharing={who.sharing!r}. Use solver='search'."
        )
    codes = {part.code for part in plan.parts}
    if EXPLICIT in codes and len(codes) > 1:
        raise ValueError("label features of your own cannot be mixed with built-in ones in one model; use either.")
    check_options(who)
    check_cost(who, geometry is not None)
    _check_sizes(who, step, plan, np.dtype(who.dtype or dtype).name)
    check_sizes({} if geometry is None else {"radius": geometry.radius}, "float64")
    joint = step.words.combine == JOINT and (len(plan.parts) > 0 or not plan.per_label)
    rule = Setting(step.words, step.C, step.margin, step.uses_weight)
    return Settled(rule, own, plan, step.certified, LARGEST_JOINT if joint else math.inf, geometry)


def _with_kernel(who: Any, kernel: Any, step: Step, own: Any, dtype: Any) -> Settled:
    """The settings of a learner whose memory is past rows."""
    check_kernel_settings(who, step)
    check_options(who)
    plan = resolve_sharing("multi", None)
    _check_sizes(who, step, plan, np.dtype(who.dtype or dtype).name)
    joint = step.words.combine == JOINT and who.sharing != "multi"
    rule = Setting(step.words, step.C, step.margin, step.uses_weight)
    certified = step.certified and who.budget is None
    return Settled(rule, own, plan, certified, LARGEST_JOINT if joint else math.inf, None, kernel)


def check_cost(who: Any, entropic: bool) -> None:
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


def check_options(who: Any) -> None:
    """Refuse, by name, what cannot be done to rows; for every kind of learner, as far as it has the option."""
    if getattr(who, "scaling", None) not in (None, "idf"):
        raise ValueError(f"scaling must be None or 'idf'; got scaling={who.scaling!r}.")
    for name in ("normalize", "average", "shuffle"):
        value = getattr(who, name, False)
        if not isinstance(value, bool | np.bool_):
            raise ValueError(f"{name} must be True or False; got {name}={value!r}.")
    by_label = getattr(who, "class_weight", None)
    if isinstance(by_label, dict):
        for label, weight in by_label.items():
            if not isinstance(weight, Real) or not 0 <= float(weight) < math.inf:
                raise ValueError(
                    f"class_weight must hold finite numbers that are not negative; got {label!r}: {weight!r}."
                )
    bias = getattr(who, "bias", 0.0)
    if isinstance(bias, bool) or not isinstance(bias, Real) or not math.isfinite(bias):
        raise ValueError(f"bias must be a finite number; got bias={bias!r}. Try 0.1, or 0 for none.")
    if who.n_features is not None:
        whole("n_features", who.n_features, 1)
    if who.dtype is not None and who.dtype not in ("float32", "float64", np.float32, np.float64, float):
        raise ValueError(f"dtype must be float32 or float64; got dtype={who.dtype!r}.")


def _check_sizes(who: Any, step: Step, plan: Plan, dtype: str) -> None:
    """Refuse numbers that would leave the range of the weights, or make every other number vanish beside them."""
    own_names = has_own_margin(who.rule)
    sizes = {"cap" if own_names else "C": step.C, "beta" if own_names else "margin": step.margin, "bias": who.bias}
    for part in plan.parts:
        sizes |= {"often": part.factors[0], "seldom": part.factors[1]} if part.code == FREQUENCY else {}
    check_sizes(sizes, dtype)


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


def whole(name: str, value: Any, least: int) -> int:
    """A whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {name}={value!r}.")
    return int(value)
