"""Which columns of a table, or keys of an object, hold label, text, weight and name: by option or by common name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

__all__ = [
    "Layout",
    "Options",
    "Roles",
    "find_name",
    "find_role",
    "is_text",
    "is_unused",
    "kind_of",
    "looks_like_number",
]

#: Names of the label, the first that is there wins. Case does not matter in any of these lists.
LABELS = (
    *("label", "labels", "y", "target", "class", "classes", "category", "categories"),
    *("folder", "group", "topic", "topics", "tags"),
)
#: Those that are never text, even where another column is the label.
ALWAYS_LABEL = frozenset(LABELS[:4])
#: Label columns whose cells hold several labels, separated by "|" unless an option says otherwise.
PLURAL = frozenset({"labels", "classes", "categories", "topics", "tags"})
#: Names of importance weights. A plain "weight" is none: it may be in kilograms.
WEIGHTS = ("importance", "sample_weight")
#: Names of the column that identifies an example, for predictions.
TAGS = ("id", "_id", "tag", "uid", "uuid", "guid")
#: Neither text nor feature: they identify an example, or say when and where it was stored.
UNUSED = frozenset(
    {*TAGS, *WEIGHTS, "date", "time", "datetime", "timestamp", "created", "created_at", "updated_at", "modified"}
    | {"file", "filename", "path", "url", "uri", "split", "fold", "index"}
)
#: Text whatever the first cell looks like.
TEXTS = frozenset(
    {"text", "texts", "body", "subject", "content", "contents", "message", "title", "document", "doc", "sentence"}
    | {"comment", "review", "description", "abstract", "summary", "question", "query", "headline", "tweet", "post"}
)


class Options(NamedTuple):
    """Names of columns, and sizes, as `hinged.io.examples.read` explains them; None: guess from common names."""

    text: tuple[str, ...] | None = None
    label: str | None = None
    weight: str | None = None
    tag: str | None = None
    label_sep: str | None = None
    quote: str = '"'
    chunk_bytes: int = 1 << 22


def is_text(name: str, value: str) -> bool:
    """Return True if a string is text, not one of a few values: its column's name says so, or it has several words."""
    return name.lower() in TEXTS or len(value.split(None, 2)) > 1


def is_unused(name: str) -> bool:
    """Return True if a column is neither text nor feature unless asked for; pandas calls row numbers "Unnamed: 0"."""
    lower = name.lower()
    return lower in UNUSED or lower in ALWAYS_LABEL or lower.startswith("unnamed:")


def find_first(names: Iterable[str], common: tuple[str, ...]) -> str | None:
    """Return the first of the common names that is among `names`, whatever its case, as it is written there."""
    lower = {name.lower(): name for name in reversed(list(names))}
    return next((lower[name] for name in common if name in lower), None)


def find_name(wanted: str, names: Iterable[str]) -> str | None:
    """Return a name as it is written among `names`; case matters only where two names differ by nothing else.

    Examples
    --------
    >>> find_name("Label", ["id", "label"]), find_name("a", ["A", "a"]), find_name("a", ["b"])
    ('label', 'a', None)
    """
    names = list(names)
    return wanted if wanted in names else find_first(names, (wanted.lower(),))


def find_role(wanted: str | None, names: Iterable[str], common: tuple[str, ...], but: Iterable[str] = ()) -> str | None:
    """Return the name that an option asks for, else the first of the common names but those in `but`."""
    return find_name(wanted, names) if wanted else find_first((name for name in names if name not in but), common)


class Layout(NamedTuple):
    """Which columns (or keys) of a file are read as what, and which are not used."""

    label: str | None
    texts: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, names: Collection[str], own: Sequence[str | None], texts: Sequence[str], features: Sequence[str]
    ) -> Layout:
        """Return the layout of a file with these names; `own` are the names of label, weight and tag."""
        used = {*own, *texts, *features}
        label = own[0] if own[0] in names else None
        return cls(label, tuple(texts), tuple(features), tuple(name for name in names if name not in used))

    @property
    def columns(self) -> list[str]:
        """All columns, used or not."""
        return [*filter(None, [self.label]), *self.texts, *self.features, *self.unused]

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
    """What each column of a table holds, decided by the header and the first row.

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
        _check_names(kinds, options, source)
        self.texts = [str(find_name(name, kinds)) for name in options.text or ()]
        self.label = find_role(options.label, kinds, LABELS, self.texts)
        self.weight = find_role(options.weight, kinds, WEIGHTS)
        self.tag = find_role(options.tag, kinds, TAGS)
        self.numbers: list[str] = []
        self.words: list[str] = []
        own = (self.label, self.weight, self.tag)
        if options.text is None:
            self._divide({name: kind for name, kind in kinds.items() if name not in own and not is_unused(name)})
        self.layout = Layout.of(kinds, own, self.texts, self.numbers + self.words)

    def _divide(self, kinds: dict[str, str]) -> None:
        """Divide the columns that have no other role into text and features."""
        if "text" in kinds.values() or "number" not in kinds.values():
            self.texts = _of_kind(kinds, "text", "word", "empty")
        else:
            self.numbers, self.words = _of_kind(kinds, "number", "empty"), _of_kind(kinds, "word")


def _check_names(columns: Collection[str], options: Options, source: str) -> None:
    """Refuse names of columns that a file does not have."""
    for wanted in filter(None, (*(options.text or ()), options.label, options.weight, options.tag)):
        if find_name(wanted, columns) is None:
            raise ValueError(f"{source} has no column {wanted!r}; its columns are {_listed(columns, 40)}.")


def _of_kind(kinds: dict[str, str], *wanted: str) -> list[str]:
    return [name for name, kind in kinds.items() if kind in wanted]


def kind_of(name: str, cell: str) -> str:
    """Classify a cell of the first row: "text", "word", "number" or "empty"."""
    if name.lower() in TEXTS:
        return "text"
    if not cell.strip():
        return "empty"
    if looks_like_number(cell):
        return "number"
    return "text" if is_text(name, cell) else "word"


def looks_like_number(cell: str) -> bool:
    """Return True if a cell is written as a number, finite or not."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell
