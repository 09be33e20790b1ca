"""Groups of labels that share weights: any sets, a hierarchy among them."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence

__all__ = ["Groups"]


class Groups:
    """One weight vector per set of labels; a label's score sums those of the sets it belongs to.

    The general mixing of the hypothesis-sharing paper (eq. 7): `multi` is the list of singletons, `single` one set of
    everything with label features, `hybrid` both. A label in no set scores 0.

    Parameters
    ----------
    sets : sequence of collections of labels
        Exactly these sets, singletons included by hand. Labels may be named before they are seen.
    features : None or sequence
        Label features for each set, None for the row itself; None altogether for the row everywhere. Functions of
        your own and built-in label features cannot stand in one model.

    Examples
    --------
    >>> Groups([{"a"}, {"b"}, {"a", "b"}])
    Groups([{'a'}, {'b'}, {'a', 'b'}])
    >>> Groups.tree(["work", "work/tax", "home"])
    Groups([{'home'}, {'work'}, {'work/tax'}, {'work', 'work/tax'}])
    """

    def __init__(self, sets: Sequence[Collection[Hashable]], features: Sequence[object] | None = None) -> None:
        self.sets = [frozenset(members) for members in sets]
        self.features = None if features is None else list(features)
        if not self.sets:
            raise ValueError("Groups needs at least one set of labels; got none. Groups([{'a'}, {'b'}]) is one each.")
        if self.features is not None and len(self.features) != len(self.sets):
            raise ValueError(
                f"Groups needs label features for each set (None for the row itself); got {len(self.features)} "
                f"for {len(self.sets)} sets."
            )

    @classmethod
    def tree(cls, labels: Iterable[str], separator: str = "/") -> Groups:
        """Groups of a folder tree: one set per label, and one per folder that has others below it."""
        labels = sorted(set(labels))
        sets = [{label} for label in labels]
        parts = [label.split(separator) for label in labels]
        for inner in sorted({tuple(p[:n]) for p in parts for n in range(1, len(p) + 1)}):
            below = {label for label, p in zip(labels, parts, strict=True) if tuple(p[: len(inner)]) == inner}
            if len(below) > 1:
                sets.append(below)
        return cls(sets)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Groups) and (self.sets, self.features) == (other.sets, other.features)

    def __hash__(self) -> int:
        return hash((tuple(self.sets), None if self.features is None else tuple(map(repr, self.features))))

    def __repr__(self) -> str:
        sets = ", ".join("{" + ", ".join(sorted(map(repr, s))) + "}" for s in self.sets)
        features = "" if self.features is None else f", features={self.features!r}"
        return f"Groups([{sets}]{features})"
