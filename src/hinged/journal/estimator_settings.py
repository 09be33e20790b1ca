"""The estimator of a journal and its settings, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypedDict

from hinged.estimators.files import KINDS, load, settings_from_before
from hinged.estimators.learner import Learner
from hinged.io import from_json, to_json
from hinged.sharing import Evidence
from hinged.sharing.plan import BEFORE_EVIDENCE, chosen_features

__all__ = [
    "agrees",
    "complete",
    "estimator_of",
    "functions_of",
    "model_in",
    "new_estimator",
    "plain_settings",
]


#: What settings were by default before they became "auto"; the rule of ranks was "simproj".
DEFAULTS_BEFORE_AUTO: dict[str, object] = {
    "rule": "pa1",
    "C": 1.0,
    "epsilon": 0.1,
    "scaling": None,
    "normalize": False,
    "average": False,
    "bias": 0.0,
}


def new_estimator(kind: str, settings: Mapping[str, object]) -> Learner:
    """Return an unfitted estimator of a kind; it checks its settings when it learns.

    Examples
    --------
    >>> new_estimator("Classifier", {"C": 0.5}).get_params()["C"]
    0.5
    """
    make: Callable[..., Learner] = KINDS[kind]
    return make(**settings)


class Stored(TypedDict):
    """An estimator in a journal."""

    estimator: str
    settings: dict[str, Any]


def plain_settings(model: Learner) -> Stored:
    """Return the kind and the settings of an estimator.

    Examples
    --------
    >>> import hinged
    >>> plain_settings(hinged.Classifier("pa2"))["settings"]["rule"]
    'pa2'
    """
    kind = type(model).__name__
    if KINDS.get(kind) is not type(model) or not hasattr(model, "learn_one"):
        raise TypeError(f"a journal needs an estimator of hinged that has learn_one; got a {kind}.")
    settings = model.get_params(deep=False)
    if "features" in settings:  # stored explicitly, because the meaning of "auto" may change
        settings["features"] = chosen_features(settings["sharing"], settings["features"], settings.get("kernel"))
    return {"estimator": kind, "settings": {name: to_json(name, value) for name, value in settings.items()}}


def complete(stored: Stored) -> Stored:
    """Return what a journal stored, with the settings that did not exist when it did: it goes on as it began.

    Examples
    --------
    >>> complete({"estimator": "Classifier", "settings": {"rule": "pa2"}})["settings"]
    {'novel': 'skip', 'rule': 'pa2'}
    """
    kind = stored["estimator"]
    return {"estimator": kind, "settings": {**settings_from_before(kind), **stored["settings"]}}


def agrees(model: Learner, stored: Stored) -> bool:
    """Return True if a journal may go on that is opened with this estimator.

    A setting that did not exist when the journal was created, or had another default then, may be given as it was then,
    or be left at its default.

    Examples
    --------
    >>> from hinged import Classifier
    >>> before = plain_settings(Classifier("pa1", C=1.0, scaling=None, normalize=False, average=False, bias=0.0))
    >>> agrees(Classifier(), before), agrees(Classifier(C=0.5), before)
    (True, False)
    """
    given, kept = plain_settings(model), complete(stored)
    if given["estimator"] != kept["estimator"]:
        return False
    usual = plain_settings(type(model)())["settings"]
    left_out = {n for n, value in given["settings"].items() if value == usual[n]}
    excused = left_out - (stored["settings"].keys() - _usual_before_auto(kept, usual))
    return _without(given["settings"], excused) == _without(kept["settings"], excused)


def _usual_before_auto(kept: Stored, usual: Mapping[str, object]) -> set[str]:
    """Return the settings that have the default from before it became "auto", or before "auto" meant evidence."""
    before = DEFAULTS_BEFORE_AUTO | ({"rule": "simproj"} if kept["estimator"] == "OrdinalClassifier" else {})
    found = {n for n, value in before.items() if usual.get(n) == "auto" and kept["settings"].get(n, "auto") == value}
    now, then = (to_json("features", value) for value in (Evidence(), BEFORE_EVIDENCE))
    if usual.get("features") == now and kept["settings"].get("features") == then:
        found.add("features")
    return found


def _without(settings: Mapping[str, object], names: set[str]) -> dict[str, object]:
    return {name: value for name, value in settings.items() if name not in names}


def estimator_of(plain: Stored, given: Learner | None = None) -> Learner:
    """Return an unfitted estimator of these settings; functions among them are taken from `given`."""
    functions = functions_of(given)
    settings = {
        name: from_json(name, value, {name: functions[name]} if name in functions else {})
        for name, value in complete(plain)["settings"].items()
    }
    return new_estimator(plain["estimator"], settings)


def functions_of(model: Learner | None) -> dict[str, object]:
    """Return the settings that are functions, which no file can store."""
    return {} if model is None else {n: v for n, v in model.get_params(deep=False).items() if callable(v)}


def model_in(path: Path, given: Learner | None) -> Learner | None:
    """Return the model of a snapshot; None if there is none, or it is damaged: the journal is complete."""
    try:
        return load(path, **functions_of(given)) if path.exists() else None
    except (OSError, ValueError):
        return None
