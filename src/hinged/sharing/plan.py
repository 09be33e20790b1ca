"""A sharing scheme in detail: which weight vectors exist, which labels read them, and through which features."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hinged.sharing import features as label_features
from hinged.sharing.evidence import FREQUENT_OR_RARE, Evidence, codes_of
from hinged.sharing.groups import Groups

__all__ = ["BEFORE_EVIDENCE", "Part", "Plan", "chosen_features", "resolve"]


@dataclass(frozen=True)
class Part:
    """One shared vector: its label features, and the labels that read it (None: all, also those yet to come).

    `evidence` holds the codes of kinds of evidence that it weighs beside single words.
    """

    code: int
    thresholds: tuple[int, ...]
    factors: tuple[float, float]
    function: Callable[..., Any] | None
    members: frozenset[Hashable] | None
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True)
class Plan:
    """The vectors that multiply the row itself (`per_label`: one each; else `sets`), then the shared parts."""

    per_label: bool
    sets: tuple[frozenset[Hashable], ...]
    parts: tuple[Part, ...]

    @property
    def functions(self) -> list[Callable[..., Any]]:
        """The user's own label features, which run in Python, row by row."""
        return [part.function for part in self.parts if part.function is not None]

    @property
    def evidence(self) -> tuple[int, ...]:
        """Codes of the kinds of evidence that a shared vector weighs."""
        return self.parts[0].evidence if self.parts else ()

    def n_columns(self, n_labels: int) -> int:
        """How many vectors multiply the row itself."""
        return n_labels if self.per_label else len(self.sets)

    def columns(self, labels: Sequence[Hashable]) -> tuple[np.ndarray, np.ndarray]:
        """Columns of each label as (offsets, indices); empty where every label has its own."""
        if self.per_label:
            return np.zeros(1, np.int64), np.zeros(0, np.int64)
        owned = [[c for c, members in enumerate(self.sets) if label in members] for label in labels]
        offsets = np.concatenate([[0], np.cumsum([len(c) for c in owned], dtype=np.int64)]).astype(np.int64)
        return offsets, np.array([c for cs in owned for c in cs], np.int64)

    def members(self, labels: Sequence[Hashable]) -> np.ndarray:
        """Which labels read which part, (parts, labels); (parts, 0) where all read all."""
        if all(part.members is None for part in self.parts):
            return np.zeros((len(self.parts), 0), np.bool_)
        return np.array(
            [[part.members is None or label in part.members for label in labels] for part in self.parts], np.bool_
        ).reshape(len(self.parts), len(labels))


#: What features="auto" meant for shared vectors before there was evidence.
BEFORE_EVIDENCE = FREQUENT_OR_RARE


def chosen_features(sharing: object, features: object, kernel: object = None, best: object = Evidence()) -> object:
    """What ``features="auto"`` means: none where the sharing scheme has no use for them, or where a kernel has its own.

    Others stay as given.

    Examples
    --------
    >>> chosen_features("hybrid", "auto").kinds, chosen_features("multi", "auto"), chosen_features("hybrid", "tfidf")
    (('centroid', 'bayes', 'recency'), None, 'tfidf')
    """
    if not isinstance(features, str) or features != "auto":
        return features
    shared = kernel is None and isinstance(sharing, str) and sharing in ("single", "hybrid")
    return best if shared else None


def resolve(sharing: object, features: object) -> Plan:
    """The plan of a sharing scheme given by name or as `Groups`, with its label features.

    Examples
    --------
    >>> resolve("multi", None)
    Plan(per_label=True, sets=(), parts=())
    """
    features = chosen_features(sharing, features)
    if isinstance(sharing, Groups):
        if features is not None:
            raise ValueError(
                f"Groups carries its own label features, Groups(sets, features=[...]); got features={features!r} too."
            )
        kinds: Collection[object] = sharing.features or [None] * len(sharing.sets)
        pairs = list(zip(sharing.sets, kinds, strict=True))
        plain = tuple(members for members, kind in pairs if kind is None)
        parts = tuple(_part(kind, members) for members, kind in pairs if kind is not None)
        return Plan(False, plain, parts)
    if sharing == "multi":
        if features is not None:
            raise ValueError(
                f"sharing='multi' has no label features; got features={features!r}. Use sharing='hybrid' for both."
            )
        return Plan(True, (), ())
    if sharing in ("single", "hybrid"):
        return Plan(sharing == "hybrid", (), (_part(features, None, sharing),))
    raise ValueError(
        f"sharing must be 'multi', 'single', 'hybrid' or hinged.sharing.Groups(...); got sharing={sharing!r}."
    )


def _part(kind: object, members: frozenset[Hashable] | None, sharing: str = "groups") -> Part:
    if isinstance(kind, str) and kind == "evidence":
        kind = Evidence()
    if not isinstance(kind, Evidence):
        return Part(*label_features.resolve(kind, sharing), members)
    if sharing == "groups":
        raise ValueError(f"{kind!r} is for one vector that all labels share: sharing='hybrid' or 'single', not Groups.")
    codes = codes_of(kind.kinds)
    if kind.words is None:
        return Part(label_features.NO_WORDS, label_features.NO_THRESHOLDS, (0.0, 0.0), None, members, codes)
    part = Part(*label_features.resolve(kind.words, sharing), members, codes)
    if part.function is not None:
        raise ValueError(f"words of Evidence must be label features of hinged.features or None; got {kind.words!r}.")
    return part
