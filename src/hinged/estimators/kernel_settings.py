"""What a kernel can be combined with, checked by name, and the memory that one needs."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from hinged.estimators.options import Kernel, KernelSettings, Sharing
from hinged.mercer.blocked import Machine
from hinged.mercer.budget import check_budget, resolve_budget
from hinged.mercer.device import resolve_device
from hinged.mercer.functions import Centred, check_kernel
from hinged.rules.table import Step, check_runs
from hinged.rules.words import is_interior
from hinged.sharing.plan import chosen_features

__all__ = ["check_kernel_settings", "check_without_kernel", "new_machine"]

#: Settings that have no meaning with a kernel: what they must be, and what to do instead.
LEFT_OUT = {
    "geometry": ("euclidean", "weights on a simplex have no kernel"),
    "features": (None, "label features of a kernel are those of hinged.mercer.Centred"),
    "cost": (None, "costs are for linear weights"),
    "scaling": (None, "past rows would have to be scaled anew in every round; scale the rows first"),
    "average": (False, "the mean of weights would need every past round"),
    "bias": (0.0, "a constant is part of the kernel: hinged.mercer.Polynomial(a, d) has one"),
}


def new_machine(
    who: KernelSettings, kernel: Kernel, dtype: DTypeLike, sharing: str = "multi", n_outputs: int = 0
) -> Machine:
    """Empty memory for an estimator with a kernel."""
    budget = resolve_budget(who.budget)
    device = None if budget is not None else resolve_device(who.device)
    return Machine(kernel, sharing, np.dtype(who.dtype or dtype), n_outputs, budget, device)


def check_without_kernel(who: KernelSettings) -> None:
    """Refuse, by name, what only a kernel gives a meaning."""
    if resolve_device(who.device) is not None and who.device != "auto":
        raise ValueError(f"device={who.device!r} is for learners with a kernel. Set one, or leave device at 'cpu'.")
    if who.budget is not None:
        raise ValueError(f"budget bounds what a kernel remembers; got budget={who.budget!r} and no kernel. Set one.")


def check_kernel_settings(who: KernelSettings, step: Step) -> None:
    """Refuse, by name, what has no meaning with a kernel."""
    check_kernel(who.kernel)
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
