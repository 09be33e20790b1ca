"""The base of all learners: parts put together, writers in turn, what was learnt, and the model file."""

from __future__ import annotations

import os
import threading
from collections.abc import Hashable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Self, TypeAlias, TypeVar

import numpy as np

from hinged.estimators.auto import FirstRow, is_auto
from hinged.estimators.labels import LabelIndex
from hinged.estimators.parts import Before, M_co, Parts, R_co, rounds_of, runs_functions
from hinged.interface import Estimator, not_fitted
from hinged.io import to_json, write
from hinged.loops.hearing import BetweenRounds
from hinged.loops.ledger import MISTAKES, NOVEL, UPDATES

__all__ = ["Learner", "State"]

ONE_AT_A_TIME = threading.Lock()

Value = TypeVar("Value")

#: What a model file holds: facts for JSON, arrays, and lists of labels and names.
State: TypeAlias = tuple[dict[str, Any], dict[str, np.ndarray], dict[str, list[Hashable]]]


class Learner(Estimator, Generic[M_co, R_co]):
    """Settings (the parameters), a reader, labels and a model: the last three in `_parts`, replaced as one."""

    task: ClassVar[str]  # what is learnt: "classify", "rank", "binary", ...
    _forgotten: ClassVar[tuple[str, ...]] = ("_parts", "_settled", "_set_to", "_chosen")  # what `fit` forgets first
    _before: ClassVar[dict[str, object]] = {}  # what files from before a setting existed mean
    _parts: Parts[M_co, R_co]
    _settled: Any = None  # the settings that the model goes by, resolved
    _chosen: Mapping[str, object] = MappingProxyType({})  # what each "auto" stands for, once there was a first row
    _edited: bool = False  # whether the certificate's problem changed on the way
    _notes: dict[str, Any] | None = None

    def _store(self, parameters: dict[str, object]) -> None:
        """Keep the arguments of `__init__`, its `locals()`, as they are."""
        self.__dict__.update((name, value) for name, value in parameters.items() if name not in ("self", "__class__"))

    # ------------------------------------------------------------------ for programs built on a learner
    def known_labels(self) -> tuple[Hashable, ...]:
        """The labels known so far, in the order of `classes_`; empty before the first."""
        labels = self._parts.labels
        return () if labels is None else labels.labels

    @property
    def model_(self) -> M_co:
        """The model that learns: weights, counts and the rule. Read it; the learner's methods change it."""
        return self._learnt("model_")

    @property
    def n_known_features(self) -> int:
        """How many features were met so far: names, words or columns."""
        return self._parts.reader.n_known

    @property
    def notes(self) -> dict[str, Any]:
        """What a program keeps beside the model, as plain JSON: `save` writes it, `hinged.load` brings it back.

        Assign a new dict to change it.
        """
        return dict(self._notes) if isinstance(self._notes, dict) else {}

    @notes.setter
    def notes(self, notes: dict[str, Any]) -> None:
        self._notes = dict(notes)

    # ------------------------------------------------------------------ settings that are "auto"
    def _choices(self, row: FirstRow | None) -> dict[str, object]:
        """What settings would be if they were "auto", by the first row to be learnt; nothing where none may be."""
        return {}

    def _plainly(self) -> Self:
        """A learner of the same settings in which every "auto" has been replaced; itself where there is none."""
        chosen = self._left_to_it({**self._choices(None), **self._chosen})
        return type(self)(**{**self.get_params(deep=False), **chosen}) if chosen else self

    def _left_to_it(self, choices: dict[str, object]) -> dict[str, object]:
        """The choices for settings that are "auto"."""
        return {name: value for name, value in choices.items() if is_auto(getattr(self, name))}

    @property
    def settled_(self) -> dict[str, object]:
        """The settings that this model goes by, with what it has chosen in place of "auto".

        A tuple in place of `C` holds those of learners side by side; `average` is "expert" where mean weights answer
        beside current ones, as `experts_` shows.
        """
        self._learnt("settled_")
        plain, settled = self._plainly(), self._settled
        settings = {name: getattr(plain, name) for name in self._choices(None)}
        if is_auto(settings.get("C")):
            settings["C"] = settled.caps or settled.rule.C
        if is_auto(settings.get("average")):
            settings["average"] = "expert" if getattr(settled, "mean", False) else False
        return settings

    # ------------------------------------------------------------------ what was learnt
    @property
    def classes_(self) -> np.ndarray:
        """The known labels: sorted after `fit` or where declared, else in order of appearance."""
        labels = self._parts.labels
        if labels is None:
            raise AttributeError("classes_ exists after the first label is known.")
        return labels.array()

    @property
    def n_features_in_(self) -> int:
        """Columns of the matrices met so far."""
        return self._of_reader("n_features_in_", self._parts.reader.width)

    @property
    def n_rounds_(self) -> int:
        """Rounds so far."""
        return rounds_of(self._learnt("n_rounds_"))

    @property
    def n_mistakes_(self) -> int:
        """Rounds that were predicted wrongly; a tie is a mistake."""
        return int(self._learnt("n_mistakes_").counts[MISTAKES])

    @property
    def n_updates_(self) -> int:
        """Rounds that took a step."""
        return int(self._learnt("n_updates_").counts[UPDATES])

    @property
    def n_novel_(self) -> int:
        """Rounds with a label seen for the first time; they are not counted as mistakes."""
        return int(self._learnt("n_novel_").counts[NOVEL])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, whole or not at all; `hinged.load` reads it."""
        if self._model is None:
            raise ValueError("there is nothing to save yet: call fit, partial_fit or learn_one first.")
        with self._writing():
            about, tensors, names = self._state()
            about["estimator"] = type(self).__name__
            about["params"] = {name: to_json(name, value) for name, value in self.get_params(deep=False).items()}
            write(path, about, tensors, names)

    def _state(self) -> State:
        """Facts for JSON, arrays, and lists of labels and names."""
        raise NotImplementedError

    def _learnt(self, name: str) -> M_co:
        model = self._parts.model
        if model is None:
            raise AttributeError(f"{name} exists after learning: call fit, partial_fit or learn_one first.")
        return model

    def _fitted(self) -> M_co:
        model = self._parts.model
        if model is None:
            raise not_fitted(
                f"This {type(self).__name__} instance is not fitted yet: it has learnt nothing. "
                "Call fit, partial_fit or learn_one first."
            )
        return model

    def _of_reader(self, name: str, value: Value | None) -> Value:
        if value is None:
            raise AttributeError(f"{name} exists after rows of that kind were learnt.")
        return value

    def __getstate__(self) -> dict[str, Any]:
        state = dict(vars(self))
        state.pop("_lock", None)
        return state

    def __sklearn_is_fitted__(self) -> bool:
        return self._model is not None

    # ------------------------------------------------------------------ parts
    @property
    def _labels(self) -> LabelIndex | None:
        return self._parts.labels

    @property
    def _model(self) -> M_co | None:
        return self._parts.model

    def _now(self) -> Self:
        """This learner at this moment, for reading: what a writer puts in place later is not in it.

        Copying a dict is one step to other threads. So is updating one, which is how a writer changes attributes that
        belong together.
        """
        attributes = self.__dict__.copy()
        if "_frozen" in attributes:  # one question may ask others
            return self
        twin = object.__new__(type(self))
        twin.__dict__ = attributes
        attributes["_frozen"] = True
        labels = twin._parts.labels
        if labels is not None:
            attributes["_parts"] = twin._parts._replace(labels=labels.now())
        return twin

    # ------------------------------------------------------------------ writing
    def _writing(self) -> AbstractContextManager[bool, None]:
        """The lock of threads that change this model; readers need none."""
        lock = vars(self).get("_lock")
        if lock is None:
            with ONE_AT_A_TIME:
                lock = vars(self).get("_lock") or threading.RLock()
                self._lock = lock
        return lock

    def _become(self, fresh: Self) -> None:
        """Take over what another learner of the same settings has learnt, in one step."""
        kept = {*self.get_params(deep=False), "_lock", "_notes"}
        with self._writing():
            ours = {name: value for name, value in vars(self).items() if name in kept or name not in self._forgotten}
            self.__dict__ = ours | {name: value for name, value in vars(fresh).items() if name not in kept}

    def _runs_functions(self) -> bool:
        """Return True if functions of the user run between the rounds of a call, so that a failure undoes all of it."""
        return runs_functions(self._model)

    def _between_rounds(self) -> AbstractContextManager[object, None]:
        """While open, signals are handled between two rounds only; at any moment where the call is undone whole."""
        return nullcontext() if self._runs_functions() else BetweenRounds()

    @contextmanager
    def _or_undone(self, several: bool) -> Iterator[None]:
        """Hold the lock for a call on one or several rows; where it fails, the model is as it was before.

        Rounds that were done when a call is interrupted stay, with their labels; only where label features or a
        kernel may have failed between them everything goes back, because then the call was refused.
        """
        with self._writing():
            model = self._parts.model
            at_once = model is not None and model.all_or_nothing
            before = Before(self, (several or at_once) and self._runs_functions())
            try:
                yield
            except BaseException:
                with BetweenRounds():  # another signal waits until all is back
                    before.bring_back(self)
                raise
