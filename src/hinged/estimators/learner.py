"""The base of all learners: parts put together, writers in turn, what was learnt, and the model file."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Self, TypeAlias, TypeVar

import numpy as np

from hinged.estimators.auto import FirstRow, is_auto
from hinged.estimators.labels import LabelIndex
from hinged.estimators.merging import merge
from hinged.estimators.parts import Before, M_co, Parts, R_co, rounds_of, runs_functions
from hinged.estimators.state import ModelState, arrays_to_restore, blocks_of_pages, kinds_of_stores
from hinged.interface import Estimator, not_fitted
from hinged.io import to_json, write
from hinged.loops.hearing import BetweenRounds
from hinged.loops.ledger import MISTAKES, NOVEL, UPDATES
from hinged.sharing.plan import chosen_features

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
            write(path, *self._described())

    def _described(self) -> State:
        """What was learnt, with the class and the settings that it belongs to."""
        about, arrays, names = self._state()
        return about | self._settings_as_json(), arrays, names

    def _settings_as_json(self) -> dict[str, Any]:
        """The class and the settings, as plain JSON."""
        params = {name: to_json(name, value) for name, value in self.get_params(deep=False).items()}
        return {"estimator": type(self).__name__, "params": params}

    # ------------------------------------------------------------------ what was learnt, as plain values
    def get_state(self) -> ModelState:
        """What was learnt, as plain values: NumPy arrays, names of labels and features, facts as JSON.

        Later learning does not change it. `set_state` brings it back, bit for bit; `merge` makes one of several.

        Examples
        --------
        >>> import hinged
        >>> model = hinged.Classifier().fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
        >>> state = model.get_state()
        >>> state.names["labels"], int(state.counts[0])
        (['a', 'b'], 2)
        """
        kinds = kinds_of_stores(self._fitted())
        with self._writing():
            facts, arrays, names = self._state()
            about = json.loads(json.dumps(facts)) | self._settings_as_json()
            return ModelState(about, blocks_of_pages(arrays, kinds), names)

    def set_state(self, state: ModelState) -> Self:
        """Become what `get_state` described, of a learner of the same class and settings; what was learnt here is gone.

        Learning goes on as it would have gone on there, to the same bits.

        Parameters
        ----------
        state : ModelState
            Its arrays are copied.

        Examples
        --------
        >>> import hinged
        >>> state = hinged.Classifier().fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"]).get_state()
        >>> hinged.Classifier().set_state(state).predict([[2.0, 0.0]]).tolist()
        ['a']
        """
        self._check_state(state)
        fresh = type(self)(**self.get_params(deep=False))
        try:
            fresh._restore(self._spelt_out(dict(state.about)), arrays_to_restore(state), state.names)
        except (AttributeError, KeyError, TypeError, IndexError, OverflowError, ValueError) as problem:
            raise ValueError(f"this is not a sound state of a {type(self).__name__}: {problem}.") from problem
        with self._writing():
            self._become(fresh)
            self._notes = fresh._notes
        return self

    def merge(self, states: Iterable[ModelState], base: ModelState | None = None, weights: str = "uniform") -> Self:
        """Become one of several learners that began alike and learnt different examples; linear learners only.

        Weights become the mean of theirs. Counters become base + Σ (theirs - base). Labels and features that only some
        have met are united by name. States that learnt nothing since `base` leave the others as they are; one state
        alone stays as it is, to the last bit. The certificate (`dual_`) is None after several were merged.

        Parameters
        ----------
        states : iterable of ModelState
            Of learners of this class and these settings.
        base : ModelState, optional
            Where all of them began; nothing learnt by default.
        weights : "uniform", "updates" or "mistakes", default "uniform"
            What a state counts for in the mean: all alike, or by its rounds that took a step, or that were predicted
            wrongly, since `base`.

        References
        ----------
        McDonald, Hall and Mann (2010), iterative parameter mixing.

        Examples
        --------
        >>> import hinged
        >>> half = [hinged.Classifier("pa1", C=1.0, scaling=None, bias=0.0, average=False) for _ in range(2)]
        >>> for model, x in zip(half, ([[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]])):
        ...     _ = model.partial_fit(x, ["a", "b"])
        >>> both = half[0].merge([model.get_state() for model in half])
        >>> both.n_rounds_, both.coef_.tolist()
        (4, [[-0.25, -0.25], [0.25, 0.25]])
        """
        return self.set_state(merge(states, base, weights))

    def _check_state(self, state: ModelState) -> None:
        """Refuse the state of a learner of another class or of other settings."""
        if not isinstance(state, ModelState):
            raise TypeError(f"a state is what get_state() returns; got a {type(state).__name__}.")
        kind, theirs = state.about.get("estimator"), state.about.get("params", {})
        if kind != type(self).__name__:
            raise ValueError(f"this is the state of a {kind}; got it for a {type(self).__name__}.")
        ours = self._settings_as_json()["params"]
        if ours == theirs:
            return
        ours = json.loads(json.dumps(ours))
        for name, value in self.get_params(deep=False).items():
            if name in theirs and ours[name] != theirs[name] and not self._means_the_same(name, ours, theirs):
                raise ValueError(
                    f"this state was learnt with {name}={theirs[name]!r}; this learner has {value!r}. "
                    "Make a learner of the same settings for it."
                )

    def _means_the_same(self, name: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> bool:
        """Return True for label features that one side leaves to "auto" and the other spells out, as journals do."""
        if name != "features" or "auto" not in (ours[name], theirs[name]):
            return False
        chosen = to_json(name, chosen_features(ours["sharing"], "auto", ours.get("kernel")))
        spelt = theirs[name] if ours[name] == "auto" else ours[name]
        return bool(json.loads(json.dumps(chosen)) == spelt)

    def _spelt_out(self, about: dict[str, Any]) -> dict[str, Any]:
        """Return the facts of a state with label features among what was chosen, where they were given there."""
        features = about.get("params", {}).get("features", "auto")
        left_to_it = is_auto(getattr(self, "features", None)) and features != "auto"
        return about | {"chosen": {"features": features} | about.get("chosen", {})} if left_to_it else about

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
