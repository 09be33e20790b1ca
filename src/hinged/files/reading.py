"""What is read of a table, and what was chosen for it, in one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hinged.estimators.auto import settled_as_json
from hinged.files.examples import FileLearner
from hinged.io.examples.columns import Layout

__all__ = ["chosen", "reading"]

SHOWN = 3  # names of columns of each kind
SHOWN_SETTINGS = ("rule", "C", "scaling", "normalize", "average", "bias", "sharing")


def chosen(model: FileLearner) -> dict[str, Any]:
    """The settings by which a learner reads rows and moves, as far as it has them; what it chose in place of "auto"."""
    settings = model.get_params(deep=False)
    return {name: settings[name] for name in SHOWN_SETTINGS if name in settings} | settled_as_json(model)


def reading(model: FileLearner, layout: Layout) -> str:
    """Say what is read of a table, and how it is scaled.

    Examples
    --------
    >>> import hinged
    >>> model = hinged.Classifier(scaling="standard", C="auto")
    >>> reading(model, Layout("rain", numbers=("wind", "dew", "visibility", "gust")))
    "4 columns of numbers ('wind', 'dew', 'visibility' and 1 more), standardised; label 'rain'; C='auto'"
    """
    scaling = getattr(model, "scaling", None)
    numbers = ", standardised" if scaling is not None else ", as they are"
    words = {"idf": ", by idf", "standard": ", one feature a word"}.get(scaling or "", "")
    parts = [
        _part(layout.numbers, "column", "of numbers", numbers),
        _part(layout.categories, "category", "", words if not layout.texts else ""),
        _part(layout.texts, "column", "of text", words),
        _part(layout.features, "column", "of features", ""),
        f"label {layout.label!r}" if layout.label else "no label",
        f"not used: {_named(layout.unused)}" if layout.unused else "",
    ]
    C = getattr(model, "C", None)
    return "; ".join([*filter(None, parts), *([f"C={C!r}"] if isinstance(C, str) else [])])


def _part(names: Sequence[str], one: str, what: str, how: str) -> str:
    """So many columns of a kind, a few by name, and what is done to them; nothing for none."""
    if not names:
        return ""
    several = one[:-1] + "ies" if one.endswith("y") else one + "s"
    counted = " ".join(filter(None, [f"{len(names):,}", one if len(names) == 1 else several, what]))
    return f"{counted} ({_named(names)}){how}"


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(map(repr, names[:SHOWN])) + more
