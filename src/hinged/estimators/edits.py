"""Edits of the label set: folders are renamed, joined and deleted while the stream goes on."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Self

import numpy as np

from hinged.estimators.labels import LabelIndex, as_labels
from hinged.sharing.groups import Groups
from hinged.sharing.plan import resolve as resolve_sharing

__all__ = ["LabelEdits"]


class LabelEdits:
    """Rename, merge and remove labels of a learner."""

    _labels: LabelIndex | None
    _model: Any
    _edited: bool = False
    _learnt_with: tuple | None
    _keep_up: Any
    _writing: Any
    sharing: Any
    features: Any

    def rename_label(self, old: Hashable, new: Hashable) -> Self:
        """Call a label by another name; what was learnt stays, and so does its place in `classes_`.

        Examples
        --------
        >>> import hinged
        >>> hinged.Classifier().declare(["a", "b"]).rename_label("a", "z").classes_.tolist()
        ['z', 'b']
        """
        at, (new,) = self._position(old), as_labels([new], 1)
        assert self._labels is not None
        if new in self._labels.position and new != old:
            raise ValueError(f"label {new!r} exists already; use merge_labels({old!r}, {new!r}) to join the two.")
        with self._writing():
            labels = list(self._labels.labels)
            labels[at] = new
            self._rename_in_groups(old, new)
            self._labels = LabelIndex(labels)
        return self

    def _rename_in_groups(self, old: Hashable, new: Hashable) -> None:
        """Groups name their labels, so their sets follow a rename."""
        if isinstance(self.sharing, Groups):
            sets = [{new if label == old else label for label in members} for members in self.sharing.sets]
            self.sharing = Groups(sets, self.sharing.features)
            if self._model is not None:
                self._model.use_plan(resolve_sharing(self.sharing, self.features))
                self._learnt_with = None
                self._keep_up()

    def merge_labels(self, source: Hashable, into: Hashable) -> Self:
        """Make one label of two: weights and statistics add up, as if every past round of `source` had said `into`.

        The certificate spoke of the problem with both labels, so `dual_` is None from here on.

        Examples
        --------
        >>> import hinged
        >>> hinged.Classifier().declare(["a", "b", "c"]).merge_labels("a", into="c").classes_.tolist()
        ['b', 'c']
        """
        a, b = self._position(source), self._position(into)
        if a == b:
            raise ValueError(f"merge_labels needs two labels; got {source!r} twice.")
        with self._writing():
            self._drop(a, b)
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

    def _drop(self, gone: int, heir: int) -> None:
        assert self._labels is not None
        onto = np.arange(len(self._labels.labels))
        onto[gone] = heir
        onto = np.where(onto > gone, onto - 1, onto)
        labels = [label for i, label in enumerate(self._labels.labels) if i != gone]
        if self._model is not None:
            self._model.move_labels(onto, len(labels))
        self._labels = LabelIndex(labels)
        self._edited = True

    def _position(self, label: Hashable) -> int:
        labels = self._labels if self._labels is not None else LabelIndex()
        if label not in labels.position:
            raise ValueError(f"label {label!r} is not known; known are {labels.labels[:10]!r}.")
        return labels.position[label]
