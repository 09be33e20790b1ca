"""What forgetting can be combined with, checked by name."""

from __future__ import annotations

from hinged.estimators.options import ScaledSettings
from hinged.geometry.choice import on_simplex
from hinged.geometry.forgetting import half_lives
from hinged.sharing.plan import Plan

__all__ = ["check_half_life", "weights_fade"]


def weights_fade(who: object) -> bool:
    """Return True if a learner forgets weights, not statistics alone."""
    return half_lives(getattr(who, "half_life", None))[0] > 0.0


def check_half_life(who: ScaledSettings, plan: Plan | None = None) -> None:
    """Refuse, by name, a half-life that is none, and settings under which nothing can fade."""
    value = who.half_life
    if half_lives(value) == (0.0, 0.0):
        return
    if on_simplex(who.geometry) is not None:
        raise ValueError(
            f"half_life is for weights that steps are added to, and with geometry={who.geometry!r} they are multiplied "
            f"and sum to the radius; got half_life={value!r}. Use geometry='euclidean' or 'adaptive'."
        )
    if plan is not None and plan.parts:
        raise ValueError(
            "half_life is for labels with vectors of their own: label features follow from counts of all rounds, which "
            f"do not fade; got half_life={value!r}. Use sharing='multi'."
        )
    if weights_fade(who) and not isinstance(who.average, str) and who.average:
        raise ValueError(
            f"average=True answers by a mean over all rounds, which do not fade; got half_life={value!r}. Use "
            "average=False, or hinged.geometry.HalfLife(statistics=...) to let weights be."
        )
