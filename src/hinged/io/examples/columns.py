"""Which columns of a table, or keys of an object, hold the label, text, a weight, a name; by option or by custom."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from hinged.io.examples.options import Options

__all__ = [
    "LABELS",
    "PLURAL",
    "TAGS",
    "TEXTS",
    "WEIGHTS",
    "Layout",
    "Roles",
    "find_first",
    "is_apart",
    "is_text",
    "spelt",
]

#: Names of the label, the first that is there wins. Case does not matter in any of these lists.
LABELS = (
    *("label", "labels", "y", "target", "class", "classes", "category", "categories"),
    *("folder", "group", "topic", "topics", "tags"),
)
#: Of these, those that are never text, even where another column is the label.
ALWAYS_LABEL = frozenset(LABELS[:4])
#: Label columns whose cells hold several labels, separated by "|" unless told otherwise.
PLURAL = frozenset({"labels", "classes", "categories", "topics", "tags"})
#: Names of importance weights. A plain "weight" is none: it may be in kilograms.
WEIGHTS = ("importance", "sample_weight")
#: What an example is called, for predictions.
TAGS = ("id", "_id", "tag", "uid", "uuid", "guid")
#: Neither text nor feature: they tell an example apart, or say when and where it was kept.
APART = frozenset(
    {*TAGS, *WEIGHTS, "date", "time", "datetime", "timestamp", "created", "created_at", "updated_at", "modified"}
    | {"file", "filename", "path", "url", "uri", "split", "fold", "index"}
)
#: Text whatever the first cell looks like.
TEXTS = frozenset(
    {"text", "texts", "body", "subject", "content", "contents", "message", "title", "document", "doc", "sentence"}
    | {"comment", "review", "description", "abstract", "summary", "question", "query", "headline", "tweet", "post"}
)


def is_text(name: str, value: str) -> bool:
    """Whether a string is text, not one of a few values: its name says so, or it has several words."""
    return name.lower() in TEXTS or len(value.split(None, 2)) > 1


def is_apart(name: str) -> bool:
    """Whether a column is neither text nor feature unless asked for; pandas calls its row numbers "Unnamed: 0"."""
    lower = name.lower()
    return lower in APART or lower in ALWAYS_LABEL or lower.startswith("unnamed:")


def find_first(names: Iterable[str], customary: tuple[str, ...]) -> str | None:
    """The first customary name that is there, as it is spelt there."""
    lower = {name.lower(): name for name in reversed(list(names))}
    return next((lower[name] for name in customary if name in lower), None)


def spelt(wanted: str, names: Iterable[str]) -> str | None:
    """The name that was asked for as it is spelt there; case matters only where two names differ by nothing else.

    Examples
    --------
    >>> spelt("Label", ["id", "label"]), spelt("a", ["A", "a"]), spelt("a", ["b"])
    ('label', 'a', None)
    """
    names = list(names)
    return wanted if wanted in names else find_first(names, (wanted.lower(),))


class Layout(NamedTuple):
    """Which columns (or keys) of a file are read as what, and which are not used."""

    label: str | None
    texts: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        """All of them."""
        return [*([self.label] if self.label else []), *self.texts, *self.features, *self.unused]

    def __str__(self) -> str:
        label = f"label from {self.label!r}" if self.label else "no label"
        kind, read = ("text", self.texts) if self.texts or not self.features else ("features", self.features)
        unused = f"; not used: {_listed(self.unused)}" if self.unused else ""
        return f"{label}; {kind} from {_listed(read) or 'no column'}{unused}"


def _listed(names: Iterable[str], most: int = 12) -> str:
    quoted = [repr(name) for name in names]
    more = f" and {len(quoted) - most} more" if len(quoted) > most else ""
    return ", ".join(quoted[:most]) + more


class Roles:
    """What each column of a table is, decided by the header and the first row.

    Attributes
    ----------
    label, weight, tag : str or None
    texts : list of str
        Columns of text, empty where the rows are features.
    numbers, words : list of str
        Columns of features: name → value, and name=word → 1.
    layout : Layout
        The same in short, with the columns that are not used.

    Notes
    -----
    A column of the first row is text (by name, or several words), a word, a number, or empty. One text column, or no
    number at all, makes the file one of text: texts, words and empty cells are its fields, numbers are left out.
    Otherwise the rows are features, and an empty cell is the start of a column of numbers. A column of another kind
    can be a label only.

    Examples
    --------
    >>> Roles({"label": "word", "subject": "text", "size": "number"}, Options(), "x.csv").texts
    ['subject']
    >>> roles = Roles({"sex": "word", "length": "number", "rings": "number"}, Options(label="rings"), "x.csv")
    >>> roles.label, roles.numbers, roles.words
    ('rings', ['length'], ['sex'])
    """

    def __init__(self, kinds: dict[str, str], options: Options, source: str) -> None:
        def asked(wanted: str) -> str:
            found = spelt(wanted, kinds)
            if found is None:
                raise ValueError(f"{source} has no column {wanted!r}; its columns are {_listed(kinds, 40)}.")
            return found

        given = [asked(name) for name in options.text or ()]
        self.label = asked(options.label) if options.label else find_first((n for n in kinds if n not in given), LABELS)
        self.weight = asked(options.weight) if options.weight else find_first(kinds, WEIGHTS)
        self.tag = asked(options.tag) if options.tag else find_first(kinds, TAGS)
        self.texts = given
        self.numbers: list[str] = []
        self.words: list[str] = []
        if options.text is None:
            self._divide(kinds)
        features = (*self.numbers, *self.words)
        taken = {self.label, self.weight, self.tag, *self.texts, *features}
        unused = tuple(name for name in kinds if name not in taken)
        self.layout = Layout(self.label, tuple(self.texts), features, unused)

    def _divide(self, kinds: dict[str, str]) -> None:
        """Take every column for text or features that is nothing else."""
        own = (self.label, self.weight, self.tag)
        kinds = {n: kind for n, kind in kinds.items() if n not in own and not is_apart(n) and kind != "other"}
        if "text" in kinds.values() or "number" not in kinds.values():
            self.texts = [name for name, kind in kinds.items() if kind != "number"]
        else:
            self.numbers = [name for name, kind in kinds.items() if kind != "word"]
            self.words = [name for name, kind in kinds.items() if kind == "word"]


def kind_of(name: str, cell: str) -> str:
    """What a cell is: "text", "word", "number" or "empty"."""
    if name.lower() in TEXTS:
        return "text"
    if not cell.strip():
        return "empty"
    if looks_like_number(cell):
        return "number"
    return "text" if is_text(name, cell) else "word"


def looks_like_number(cell: str) -> bool:
    """Whether a cell is a finite number, or would be but for its value."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell
