"""A new account whose assistant begins with a model that learnt elsewhere, from the same person's mail or not."""

from __future__ import annotations

from pathlib import Path

from hinged.estimators.learner import Learner
from hinged.estimators.text import TextClassifier, TextRanker
from hinged.journal.folder import JOURNAL
from hinged.mail.features import FIELDS

__all__ = ["check_beginning"]


def check_beginning(state: Path, model: Learner) -> None:
    """Refuse a model that an assistant cannot begin with: of something else, or for an account that has learnt.

    Examples
    --------
    >>> import hinged
    >>> check_beginning(Path("nowhere"), hinged.Regressor())
    Traceback (most recent call last):
    ...
    ValueError: an assistant begins with a TextClassifier or a TextRanker that has learnt; got a Regressor.
    """
    if not isinstance(model, TextClassifier | TextRanker) or not model.known_labels():
        kind = type(model).__name__ + (" that has learnt nothing" if isinstance(model, TextClassifier) else "")
        raise ValueError(f"an assistant begins with a TextClassifier or a TextRanker that has learnt; got a {kind}.")
    odd = [label for label in model.known_labels() if type(label) is not str]
    if odd:
        raise ValueError(f"labels are names of folders here; the model has {odd[0]!r}.")
    fields = list(model.notes.get("fields", FIELDS))
    if not set(fields) & set(FIELDS):
        raise ValueError(
            f"the model reads {', '.join(map(str, fields))}, none of which a message has; "
            f"name the columns it learns from as these: {', '.join(FIELDS[:5])}."
        )
    if (state / JOURNAL).exists():
        raise ValueError(f"{state} has an assistant already; only a new one can begin with a model.")
