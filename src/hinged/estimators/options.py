"""Types of what users may set and give, for annotations; what is given is checked where it is read."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from hinged.geometry.adaptive import Adaptive
from hinged.geometry.entropy import Entropy
from hinged.geometry.forgetting import HalfLife
from hinged.mercer.budget import Budget
from hinged.mercer.fourier import FeatureMap
from hinged.mercer.functions import Centred, Gaussian, Linear, Polynomial
from hinged.rules.table import Mira, Optimal
from hinged.sharing.evidence import Evidence
from hinged.sharing.features import Distance, First, Frequency, Tfidf
from hinged.sharing.groups import Groups
from hinged.tasks.cost import Tree

__all__ = [
    "BUILT_FOR",
    "AsBudget",
    "AsHalfLife",
    "ClassWeight",
    "Cost",
    "DType",
    "Features",
    "Geometry",
    "Kernel",
    "KernelSettings",
    "LabelSettings",
    "Lengths",
    "OwnRule",
    "RandomState",
    "RowSettings",
    "Rule",
    "SampleWeight",
    "ScaledSettings",
    "Sharing",
]

OwnRule: TypeAlias = Callable[..., float]  # a compiled function; Numba's dispatchers have no types
Rule: TypeAlias = str | Mira | Optimal | OwnRule
Sharing: TypeAlias = str | Groups
Features: TypeAlias = (
    str | First | Frequency | Distance | Tfidf | Evidence | Callable[..., Mapping[Hashable, float]] | None
)
Geometry: TypeAlias = str | Entropy | Adaptive
AsHalfLife: TypeAlias = float | HalfLife | None
Cost: TypeAlias = ArrayLike | Mapping[tuple[Hashable, Hashable], float] | Tree | Callable[..., float] | None
Kernel: TypeAlias = (
    Linear | Polynomial | Gaussian | Centred | FeatureMap | Callable[[np.ndarray, np.ndarray], ArrayLike]
)
AsBudget: TypeAlias = int | Budget | None
ClassWeight: TypeAlias = dict[Hashable, float] | str | None
RandomState: TypeAlias = int | np.random.RandomState | None
DType: TypeAlias = DTypeLike | None
Lengths: TypeAlias = ArrayLike | None
SampleWeight: TypeAlias = ArrayLike | None


#: Settings that the memory of every linear learner of rows is built for.
BUILT_FOR = ("kernel", "geometry", "half_life", "scaling", "normalize", "average", "bias", "dtype")


class RowSettings(Protocol):
    """Settings of every learner of rows; `check_options` looks for others by name."""

    n_features: int | None
    dtype: DType


class KernelSettings(Protocol):
    """Settings of learners that may have a kernel."""

    rule: Rule
    kernel: Kernel | None
    device: str
    budget: AsBudget
    dtype: DType


class ScaledSettings(Protocol):
    """Settings of linear weights: what happens to rows before they are scored, and whether mean weights are kept."""

    rule: Rule
    C: float | str
    scaling: str | None
    normalize: bool | str
    average: bool | str
    bias: float | str
    half_life: AsHalfLife

    @property
    def geometry(self) -> Geometry: ...


class LabelSettings(RowSettings, KernelSettings, ScaledSettings, Protocol):
    """Settings of learners of labels."""

    margin: float
    sharing: Sharing
    features: Features
    geometry: Geometry
    cost: Cost
    constraint: str
