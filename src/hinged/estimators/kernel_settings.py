"""What a kernel can be combined with, checked by name, and the memory that one needs."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from hinged.estimators.kernel_rows import Reading
from hinged.estimators.options import Kernel, KernelSettings, Sharing
from hinged.estimators.reader import Batch, ReadsRows
from hinged.geometry.choice import on_simplex
from hinged.loops.rows import MOMENTS
from hinged.mercer.blocked import Machine
from hinged.mercer.budget import check_budget, resolve_budget
from hinged.mercer.device import resolve_device
from hinged.mercer.fourier import FeatureMap, Fourier, feature_map_of
from hinged.mercer.functions import Centred, check_kernel, check_scale, reads_scaled
from hinged.mercer.functions import Kernel as PastRows
from hinged.rules.table import Step, check_runs
from hinged.rules.words import is_interior
from hinged.sharing.plan import Plan, chosen_features

__all__ = ["check_columns", "check_kernel_settings", "check_linear", "new_machine", "reading_of"]

#: Settings that have no meaning with a kernel: what they must be, and what to do instead.
LEFT_OUT = {
    "half_life": (None, "past rounds keep the multipliers they got; hinged.mercer.Fourier(n) has weights that fade"),
    "geometry": ("euclidean", "neither weights on a simplex nor a metric of features have a kernel"),
    "features": (None, "label features of a kernel are those of hinged.mercer.Centred"),
    "cost": (None, "costs are for linear weights"),
    "average": (False, "the mean of weights would need every past round"),
    "bias": (0.0, "a constant is part of the kernel: hinged.mercer.Polynomial(a, d) has one"),
}


def new_machine(
    who: KernelSettings, kernel: PastRows, dtype: DTypeLike, sharing: str = "multi", n_outputs: int = 0
) -> Machine:
    """Empty memory for an estimator with a kernel."""
    budget = resolve_budget(who.budget)
    device = None if budget is not None else resolve_device(who.device)
    return Machine(kernel, sharing, np.dtype(who.dtype or dtype), n_outputs, budget, device)


def reading_of(who: KernelSettings) -> Reading:
    """What happens to rows before a kernel compares and keeps them."""
    return Reading(bool(getattr(who, "normalize", False)), getattr(who, "scaling", None))


def check_linear(who: KernelSettings, plan: Plan | None = None) -> None:
    """Refuse, by name, what only a kernel gives a meaning, and what random features do not go with."""
    made, has = feature_map_of(who.kernel), "no kernel" if who.kernel is None else f"kernel={who.kernel!r}"
    if resolve_device(who.device) is not None and who.device != "auto":
        raise ValueError(
            f"device={who.device!r} is for learners with a kernel that remembers rows; got {has}. Set one, such as "
            "hinged.mercer.Gaussian, or leave device at 'cpu'."
        )
    if who.budget is not None:
        raise ValueError(
            f"budget bounds what a kernel remembers; got budget={who.budget!r} and {has}. Set one that remembers rows, "
            "such as hinged.mercer.Gaussian, or leave budget out."
        )
    if made is not None:
        _check_feature_map(who, made, plan)


def _check_feature_map(who: KernelSettings, made: FeatureMap, plan: Plan | None) -> None:
    """Refuse, by name, what random features do not go with."""
    geometry = getattr(who, "geometry", "euclidean")
    if on_simplex(geometry) is not None:
        raise ValueError(
            f"kernel={made!r} has features of either sign, which do not go with geometry={geometry!r}. Use "
            "'euclidean' or 'adaptive'."
        )
    if plan is not None and plan.parts:
        raise ValueError(
            f"kernel={made!r} has no label features, so labels cannot share a vector; got "
            f"sharing={getattr(who, 'sharing', None)!r}. Use sharing='multi'."
        )
    if isinstance(made, Fourier) and made.gamma == "scale":
        _check_scaled(who)


def _check_scaled(who: KernelSettings) -> None:
    """Refuse gamma="scale" for rows that have neither columns of variance 1 nor length 1."""
    unit, scaling = reading_of(who)
    if scaling not in MOMENTS and not unit:
        raise ValueError(
            f"gamma='scale' is for rows that the learner scales; got scaling={scaling!r} and normalize={unit!r}. Use "
            "scaling='standard' or 'mixed', or normalize=True, or give gamma a number."
        )


def check_columns(kernel: Kernel | None, batch: Batch, reader: ReadsRows) -> None:
    """Refuse rows that would bring a model to more columns than random features are made for."""
    made = feature_map_of(kernel)
    if made is not None:
        made.check_columns(batch.width if batch.names is None else len(batch.names) + len(reader.names or ()))


def check_kernel_settings(who: KernelSettings, step: Step) -> None:
    """Refuse, by name, what has no meaning with a kernel."""
    check_kernel(who.kernel)
    if reads_scaled(who.kernel):
        _check_scaled(who)
    else:
        check_scale(who.kernel)
    resolve_device(who.device)
    _check_left_out(who)
    if is_interior(step.words):
        raise ValueError("solver='interior-point' is for linear weights; with a kernel use solver='search'.")
    check_runs("with a kernel", who.rule, step.words)
    sharing = getattr(who, "sharing", "multi")
    check_budget(resolve_budget(who.budget), sharing)
    if who.budget is not None and who.device not in ("cpu", "auto"):
        raise ValueError(f"a budget keeps what is remembered on the CPU; got device={who.device!r}. Use device='cpu'.")
    _check_kernel_sharing(who, sharing)


def _check_left_out(who: KernelSettings) -> None:
    """Refuse settings of `LEFT_OUT`, as far as a learner has them."""
    for name, (only, why) in LEFT_OUT.items():
        value = getattr(who, name, only)
        if name == "features" and value is not None:
            value = chosen_features(getattr(who, "sharing", None), value, who.kernel)
        if value is not only and (not isinstance(value, str | bool | int | float) or value != only):
            raise ValueError(f"{name} cannot be used with a kernel; got {name}={value!r}: {why}.")
    scaling = reading_of(who).scaling
    if scaling is not None and scaling not in MOMENTS:
        raise ValueError(
            f"with a kernel, scaling must be 'standard', 'mixed' or None; got scaling={scaling!r}. Use 'mixed', which "
            "weighs words by how rare they are."
        )


def _check_kernel_sharing(who: KernelSettings, sharing: Sharing) -> None:
    """Refuse sharing schemes that a kernel has not, and kernels that do not suit theirs."""
    if not isinstance(sharing, str) or sharing not in ("multi", "single", "hybrid"):
        raise ValueError(f"with a kernel, sharing must be 'multi', 'single' or 'hybrid'; got sharing={sharing!r}.")
    if sharing != "multi" and not isinstance(who.kernel, Centred):
        raise ValueError(
            f"sharing={sharing!r} needs a kernel that tells labels apart, hinged.mercer.Centred(gamma); "
            f"got kernel={who.kernel!r}. Use Centred, or sharing='multi'."
        )
    if sharing == "multi" and isinstance(who.kernel, Centred):
        where = "sharing='single' or 'hybrid'" if hasattr(who, "sharing") else "a Classifier or Ranker"
        raise ValueError(
            f"kernel={who.kernel!r} is for one vector shared by labels: {where}. Use hinged.mercer.Gaussian here."
        )
