"""What a learner holds: labels and weights that change together, writers in turn, and calls that leave no trace."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from hinged.estimators.dicts import FeatureNames
from hinged.estimators.labels import LabelIndex
from hinged.loops.ledger import ROUNDS

__all__ = ["Held", "Holds", "must_be_undone"]

ONE_AT_A_TIME = threading.Lock()


class Held(NamedTuple):
    """Labels and the model that knows them: replaced as one, so that no reader pairs the old with the new."""

    labels: LabelIndex | None = None
    model: Any = None  # a LabelModel, or whatever this kind of learner learns with


class Holds:
    """The learner's memory, and who may change it."""

    _held: Held = Held()
    _names: FeatureNames | None = None

    @property
    def _labels(self) -> LabelIndex | None:
        return self._held.labels

    @property
    def _model(self) -> Any:
        return self._held.model

    def _known(self) -> list[Hashable]:
        labels = self._held.labels
        return [] if labels is None else labels.labels

    def _writing(self) -> Any:
        """The lock of those who change this model; readers need none."""
        lock = vars(self).get("_lock")
        if lock is None:
            with ONE_AT_A_TIME:
                lock = vars(self).get("_lock") or threading.RLock()
                self._lock = lock
        return lock

    @contextmanager
    def _or_undone(self, several: bool) -> Iterator[None]:
        """Hold the lock for a call on one or several rows; where it fails, the model is as it was before.

        Rounds that were done when a call is interrupted stay, with their labels; only where label features or a
        kernel may have failed between them everything goes back, because then somebody refused the call.
        """
        with self._writing():
            before = Before(self, several and must_be_undone(self._model))
            try:
                yield
            except BaseException:
                before.bring_back(self)
                raise


class Before:
    """A learner as it was before a call; `whole` where rounds have to be undone too."""

    def __init__(self, who: Holds, whole: bool) -> None:
        self.whole, self.attributes = whole, dict(vars(who))
        labels, model = who._held
        self.rounds = rounds_of(model)
        self.n_labels = 0 if labels is None else len(labels)
        self.n_names = 0 if who._names is None else len(who._names.listed)
        self.sizes = (0, 0, 0) if model is None else model.sizes
        if whole and labels is not None and model is not None:
            self.attributes["_held"] = Held(LabelIndex(labels.labels), model.copy())
            if who._names is not None:
                self.attributes["_names"] = FeatureNames(who._names.listed)

    def bring_back(self, who: Holds) -> None:
        model = who._model
        fresh = "_held" not in self.attributes or self.attributes["_held"].model is None
        undo_rounds = self.whole or (fresh and must_be_undone(model))
        if rounds_of(model) != self.rounds and not undo_rounds:
            return
        now = vars(who)
        now.update(self.attributes)
        for name in set(now) - set(self.attributes):
            del now[name]
        labels, model = who._held
        if labels is not None:
            labels.cut(self.n_labels)
        if who._names is not None:
            who._names.cut(self.n_names)
        if model is not None:
            model.cut(*self.sizes)


def must_be_undone(model: Any) -> bool:
    """Whether functions of the user's run between the rounds of a call, so that one that fails is undone whole."""
    return model is not None and (bool(model.functions) or getattr(model, "all_or_nothing", False))


def rounds_of(model: Any) -> int:
    """Rounds a model has gone through; 0 where there is none yet."""
    return 0 if model is None else int(model.ledger.counts[ROUNDS])
