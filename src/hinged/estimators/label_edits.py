"""Edits of the label set: folders are renamed, joined and deleted while the stream goes on."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Self

import numpy as np

from hinged.estimators.labels import LabelIndex, as_labels
from hinged.estimators.options import Features, Sharing
from hinged.estimators.protocol import LabelModelLike
from hinged.estimators.row_learner import RowLearner
from hinged.estimators.settings import Settled
from hinged.loops.model import LabelModel
from hinged.sharing.groups import Groups
from hinged.sharing.plan import resolve as resolve_sharing

__all__ = ["LabelEdits"]


class LabelEdits(RowLearner[LabelModelLike, Settled]):
    """Rename, merge and remove labels of a learner; readers see all of an edit or nothing of it."""

    sharing: Sharing
    features: Features

    def rename_label(self, old: Hashable, new: Hashable) -> Self:
        """Call a label by another name; what was learnt stays, and so does its place in `classes_`.

        Examples
        --------
        >>> import hinged
        >>> hinged.Classifier().declare(["a", "b"]).rename_label("a", "z").classes_.tolist()
        ['z', 'b']
        """
        with self._writing():
            model: LabelModelLike | None = self._model
            at, (new,) = self._position(old), as_labels([new], 1)
            labels = list(self.known_labels())
            if new in labels and new != old:
                raise ValueError(f"label {new!r} exists already; use merge_labels({old!r}, {new!r}) to join the two.")
            labels[at] = new
            changed = self._renamed(old, new)
            if isinstance(self.sharing, Groups):  # their sets name the labels
                sharing = _renamed_in(self.sharing, old, new)
                if isinstance(model, LabelModel):
                    model = model.with_plan(resolve_sharing(sharing, self.features))
                changed |= {"sharing": sharing, "_set_to": None}
            parts = self._parts._replace(labels=LabelIndex(labels), model=model)
            self.__dict__.update(changed, _parts=parts)  # in one step, for readers
            if model is not None and self._set_to is None:
                self._keep_up()
        return self

    def _renamed(self, old: Hashable, new: Hashable) -> dict[str, object]:
        """Attributes that go by the names of labels, as they are once one has another name."""
        return {}

    def merge_labels(self, source: Hashable, into: Hashable) -> Self:
        """Make one label of two: weights and statistics add up, as if every past round of `source` had said `into`.

        The certificate spoke of the problem with both labels, so `dual_` is None from here on.

        Examples
        --------
        >>> import hinged
        >>> hinged.Classifier().declare(["a", "b", "c"]).merge_labels("a", into="c").classes_.tolist()
        ['b', 'c']
        """
        with self._writing():
            a, b = self._position(source), self._position(into)
            if a == b:
                raise ValueError(f"merge_labels needs two labels; got {source!r} twice.")
            self._drop(a, b, **self._renamed(source, self.known_labels()[b]))
        return self

    def remove_label(self, label: Hashable) -> Self:
        """Forget a label and what was learnt for it alone; `dual_` is None from here on.

        Examples
        --------
        >>> import hinged
        >>> hinged.Classifier().declare(["a", "b"]).remove_label("a").classes_.tolist()
        ['b']
        """
        with self._writing():
            self._drop(self._position(label), -1)
        return self

    def _drop(self, gone: int, into: int, **changed: object) -> None:
        """Remove the label at one position, adding what was learnt of it to another; -1 for none."""
        labels, model = self.known_labels(), self._model
        onto = np.arange(len(labels))
        onto[gone] = into
        onto = np.where(onto > gone, onto - 1, onto)
        left = [label for i, label in enumerate(labels) if i != gone]
        if model is not None:
            model = model.with_labels(onto, len(left))
        parts = self._parts._replace(labels=LabelIndex(left), model=model)
        self.__dict__.update(changed, _parts=parts, _edited=True)  # in one step, for readers

    def _position(self, label: Hashable) -> int:
        return (self._labels or LabelIndex()).find(label)


def _renamed_in(groups: Groups, old: Hashable, new: Hashable) -> Groups:
    """The groups in which a label has another name."""
    sets = [{new if label == old else label for label in members} for members in groups.sets]
    return Groups(sets, groups.features)
