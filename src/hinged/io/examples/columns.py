"""Which columns of a table, or keys of an object, hold label, text, weight and name: by option or by common name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

__all__ = [
    "SAMPLE",
    "Layout",
    "Options",
    "Roles",
    "divided",
    "find_name",
    "find_role",
    "is_unused",
    "kind_of",
    "kind_of_strings",
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


#: Rows by which a column of strings is called a category or text, and the most words that a category's name may have.
SAMPLE, CATEGORY_WORDS = 100, 3


class Options(NamedTuple):
    """Names of columns, and sizes, as `hinged.io.examples.read` explains them; None: guess from common names."""

    text: tuple[str, ...] | None = None
    label: str | None = None
    weight: str | None = None
    tag: str | None = None
    label_sep: str | None = None
    quote: str = '"'
    chunk_bytes: int = 1 << 22
    numbers: tuple[str, ...] | None = None

    @property
    def names_columns(self) -> bool:
        """Whether the columns to read are named, so that there is nothing to guess."""
        return self.text is not None or self.numbers is not None


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
    """Which columns (or keys) of a file are read as what, and which are not used.

    Categories and texts are both read word by word; a category has few words.
    """

    label: str | None
    numbers: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    @classmethod
    def of(cls, kinds: Collection[str], own: Sequence[str | None], **read: Sequence[str]) -> Layout:
        """Return the layout of a file with these names; `own` are the names of label, weight and tag."""
        used = {*own, *(name for names in read.values() for name in names)}
        label = own[0] if own[0] in kinds else None
        given = {kind: tuple(names) for kind, names in read.items()}
        return cls(label, **given, unused=tuple(name for name in kinds if name not in used))

    @property
    def columns(self) -> list[str]:
        """All columns, used or not."""
        return [*filter(None, [self.label]), *(name for names in self[1:] for name in names)]

    def __str__(self) -> str:
        label = f"label from {self.label!r}" if self.label else "no label"
        kinds = {"numbers": self.numbers, "categories": self.categories, "text": self.texts, "features": self.features}
        read = [f"{kind} from {_listed(names)}" for kind, names in kinds.items() if names] or ["text from no column"]
        unused = [f"not used: {_listed(self.unused)}"] if self.unused else []
        return "; ".join([label, *read, *unused])


def _listed(names: Iterable[str], most: int = 12) -> str:
    quoted = [repr(name) for name in names]
    more = f" and {len(quoted) - most} more" if len(quoted) > most else ""
    return ", ".join(quoted[:most]) + more


class Roles:
    """What each column of a table holds, decided by the header and the first rows.

    Attributes
    ----------
    label, weight, tag : str or None
    numbers, texts : list of str
        Columns of numbers, and of strings.
    layout : Layout
        The same in short, with categories apart from texts, and with the columns that are not used.

    Notes
    -----
    A column is text, a word (a category), a number, or empty, by its first rows (`kind_of`). Empty ones are read with
    the strings if there are any, else with the numbers. A column of another kind can be a label only. Where options
    name columns of text or numbers, no others are read.

    Examples
    --------
    >>> roles = Roles({"label": "word", "subject": "text", "size": "number"}, Options(), "x.csv")
    >>> roles.texts, roles.numbers
    (['subject'], ['size'])
    >>> roles = Roles({"sex": "word", "length": "number", "rings": "number"}, Options(label="rings"), "x.csv")
    >>> print(roles.layout)
    label from 'rings'; numbers from 'length'; categories from 'sex'
    """

    def __init__(self, kinds: dict[str, str], options: Options, source: str) -> None:
        _check_names(kinds, options, source)
        self.texts = [str(find_name(name, kinds)) for name in options.text or ()]
        self.numbers = [str(find_name(name, kinds)) for name in options.numbers or ()]
        self.label = find_role(options.label, kinds, LABELS, self.texts + self.numbers)
        self.weight = find_role(options.weight, kinds, WEIGHTS)
        self.tag = find_role(options.tag, kinds, TAGS)
        own = (self.label, self.weight, self.tag)
        if not options.names_columns:
            self._divide({name: kind for name, kind in kinds.items() if name not in own and not is_unused(name)})
        self.layout = Layout.of(kinds, own, numbers=self.numbers, **divided(self.texts, kinds))

    def _divide(self, kinds: dict[str, str]) -> None:
        """Divide the columns that have no other role into strings and numbers."""
        self.texts, self.numbers = _of_kind(kinds, "text", "word"), _of_kind(kinds, "number")
        if self.numbers and not self.texts:
            self.numbers = _of_kind(kinds, "number", "empty")
        else:
            self.texts = _of_kind(kinds, "text", "word", "empty")


def divided(strings: Sequence[str], kinds: dict[str, str]) -> dict[str, tuple[str, ...]]:
    """Divide columns of strings into categories and texts."""
    categories = tuple(name for name in strings if kinds[name] == "word")
    return {"categories": categories, "texts": tuple(name for name in strings if name not in categories)}


def _check_names(columns: Collection[str], options: Options, source: str) -> None:
    """Refuse names of columns that a file does not have."""
    read = (*(options.numbers or ()), *(options.text or ()))
    for wanted in filter(None, (*read, options.label, options.weight, options.tag)):
        if find_name(wanted, columns) is None:
            raise ValueError(f"{source} has no column {wanted!r}; its columns are {_listed(columns, 40)}.")


def _of_kind(kinds: dict[str, str], *wanted: str) -> list[str]:
    return [name for name, kind in kinds.items() if kind in wanted]


def kind_of(name: str, cells: Iterable[str]) -> str:
    """Classify a column by its first cells: "number" if the first that is not blank is one, "text", "word" or "empty".

    Examples
    --------
    >>> kind_of("size", ["", "1.5"]), kind_of("cut", ["Very Good"]), kind_of("note", ["", "it does not work"])
    ('number', 'word', 'text')
    """
    filled = [cell for cell in cells if cell.strip()]
    if name.lower() in TEXTS:
        return "text"
    if not filled:
        return "empty"
    return "number" if looks_like_number(filled[0]) else kind_of_strings(name, filled)


def kind_of_strings(name: str, cells: Iterable[str | None]) -> str:
    """Classify a column of strings: "text" if its name says so or a cell has more than three words, else "word"."""
    long = any(len(cell.split(None, CATEGORY_WORDS)) > CATEGORY_WORDS for cell in cells if cell)
    return "text" if name.lower() in TEXTS or long else "word"


def looks_like_number(cell: str) -> bool:
    """Return True if a cell is written as a number, finite or not."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell
