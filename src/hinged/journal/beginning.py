"""What a journal begins with: the settings of its model and, where that has learnt elsewhere, its base: what it knew.

The base lies in the journal's file in the compact form of a state, and edits of labels change it in the transaction
that changes the lines. The model is the base and all lines behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path

from hinged.estimators.learner import Learner
from hinged.estimators.state import ModelState
from hinged.journal.errors import JournalError
from hinged.journal.estimator_settings import agrees, estimator_of, plain_settings
from hinged.journal.journal import Journal
from hinged.journal.schema import VERSION_WITH_BASE

__all__ = ["begun", "forget", "keep_settings", "rename"]

OF_ANOTHER = ("journal", "seq")  # notes of a snapshot, which name the journal it belongs to


def keep_settings(journal: Journal, model: Learner | Callable[[], Learner] | None, folder: Path) -> Learner | None:
    """Store the settings of a new journal, or check those of an existing one; return the given estimator, if any."""
    stored = journal.get("model")
    if stored is None:
        return _keep_first(journal, model, folder)
    if model is None or callable(model):  # a function is called only for a new folder
        return None
    if not agrees(model, stored):
        raise ValueError(
            f"{folder} contains a {stored['estimator']} of other settings than those given; omit the model to "
            "continue with it, or choose another folder."
        )
    return estimator_of(stored, model)  # without what it has learnt


def _keep_first(journal: Journal, model: Learner | Callable[[], Learner] | None, folder: Path) -> Learner:
    if model is None:
        raise ValueError(f"{folder} contains no model yet; name the estimator: DurableModel(folder, model).")
    new: Learner = model() if callable(model) else model
    plain = plain_settings(new)
    with journal.transaction():
        journal.put("model", plain)
        if new.__sklearn_is_fitted__():
            _keep_base(journal, new)
    return estimator_of(plain, new)


# ------------------------------------------------------------------ what the model knew
def _keep_base(journal: Journal, model: Learner) -> None:
    """Store what the model of a new journal begins with, inside a transaction; programs from before refuse it then."""
    state = model.get_state()
    notes = {name: value for name, value in model.notes.items() if name not in OF_ANOTHER}
    journal.run("CREATE TABLE base (state BLOB NOT NULL)")
    state.about.update(notes=notes)
    journal.run("INSERT INTO base VALUES (?)", (state.to_bytes(),))
    journal.run(f"PRAGMA user_version={VERSION_WITH_BASE}")


def _state(journal: Journal) -> ModelState | None:
    if not journal.ask("SELECT 1 FROM sqlite_master WHERE name = 'base'"):
        return None
    try:
        ((data,),) = journal.ask("SELECT state FROM base")
        return ModelState.from_bytes(data)
    except (TypeError, ValueError) as problem:
        raise JournalError(
            f"the model that {journal.path} begins with is damaged ({problem}); restore a copy of the journal, or "
            "start again. Its examples can still be exported."
        ) from problem


def begun(journal: Journal, given: Learner | None) -> Learner:
    """Return the model before the first line of a journal; functions among its settings are taken from `given`."""
    model, state = estimator_of(journal.get("model"), given), _state(journal)
    if state is None:
        return model
    now = plain_settings(model)
    if state.about["estimator"] != now["estimator"]:  # it became a ranker: a label is a set of one, of the same weights
        state.about["column"] = False
    state.about.update(estimator=now["estimator"], params=now["settings"])
    return model.set_state(state)


def _labels_of_base(journal: Journal) -> list[Hashable]:
    """Return the labels that the model began with."""
    state = _state(journal)
    return [] if state is None else list(state.names.get("labels", ()))


def rename(journal: Journal, old: Hashable, new: Hashable, given: Learner | None, kind: str = "rename") -> None:
    """Replace a label in every line so far and in the base, which adds it to one of that name, inside a transaction."""
    journal.rename(old, new, kind)
    known = _labels_of_base(journal)
    if old in known:
        model = begun(journal, given)
        _put(journal, model.merge_labels(old, new) if new in known else model.rename_label(old, new))


def forget(journal: Journal, label: Hashable, given: Learner | None) -> None:
    """Remove a label from every line so far and from the base, inside a transaction."""
    journal.forget(label)
    if label in _labels_of_base(journal):
        _put(journal, begun(journal, given).remove_label(label))


def _put(journal: Journal, model: Learner) -> None:
    journal.run("UPDATE base SET state = ?", (model.get_state().to_bytes(),))
