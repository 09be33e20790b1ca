"""Labels, features and words of several states under common names, and which states can be merged at all."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hinged.geometry.choice import on_simplex
from hinged.io import from_json
from hinged.sharing.plan import resolve as resolve_sharing

if TYPE_CHECKING:
    from hinged.estimators.state import ModelState

__all__ = ["United", "check_mergeable", "spread", "unite"]

LINEAR = (
    "BinaryClassifier", "Classifier", "OrdinalClassifier", "Ranker", "Regressor", "TextClassifier", "TextRanker",
)  # fmt: skip
OF_LABELS = ("Classifier", "Ranker", "TextClassifier", "TextRanker")
OF_WORDS = ("words.hashes", "words.ends", "words.arena")


class United(NamedTuple):
    """Where the features and labels of each state went."""

    places: list[tuple[np.ndarray, np.ndarray]]  # features, with the bias first, and labels; for each state
    turned: list[bool]  # whether a state of two labels had them the other way round
    names: dict[str, list[Hashable]]
    words: dict[str, np.ndarray]
    columns: int | None
    n_features: int
    own_columns: bool  # whether labels have columns of weights of their own
    numbers: int  # features whose moments are kept where the others are words; -1 where those of all are
    evidence: int  # kinds of evidence, which come before the features in the shared vector

    def by_label(self, store: str) -> bool:
        """Return True if the columns of a store are labels."""
        return self.own_columns if store == "store0" else store != "store1"

    def owners(self, store: str, features: np.ndarray) -> np.ndarray:
        """Return where the rows of a store went, if these are the places of a state's features."""
        first = self.evidence if store == "store1" else 0
        return np.concatenate([np.arange(first), first + features])

    def is_of(self, state: ModelState) -> bool:
        """Return True if a state knows all these names, in this order."""
        n_words = len(state.arrays.get("words.hashes", ()))
        return state.names == self.names and n_words == len(self.words.get("words.hashes", ()))


# ------------------------------------------------------------------ what can be merged
def check_mergeable(states: Sequence[ModelState]) -> None:
    """Refuse, by name, states of learners that cannot be merged, or that do not belong together."""
    first = states[0].about
    for state in states:
        _check_linear(state.about, state)
        for what in ("estimator", "params", "chosen", "dtype", "numbers"):
            if state.about.get(what) != first.get(what):
                raise ValueError(
                    f"states can be merged where learners began alike; got {what}={first.get(what)!r} and "
                    f"{state.about.get(what)!r}. Let all go on from one state."
                )


def _check_linear(about: dict[str, Any], state: ModelState) -> None:
    kind, params = about.get("estimator"), about.get("params", {})
    reason = None
    if kind not in LINEAR:
        reason = f"a {kind} has no linear weights of rows"
    elif params.get("kernel") is not None:
        reason = "with kernel= its weights do not belong to columns"
    elif on_simplex(from_json("geometry", params.get("geometry", "euclidean"), {})) is not None:
        reason = f"weights with geometry={params['geometry']!r} are no sums of moves"
    elif params.get("half_life") is not None:
        reason = f"with half_life={params['half_life']!r} what each forgot depends on how much it learnt alone"
    elif state.names.get("phi") or "callable" in str(params.get("features")):
        reason = "label features of your own have no common meaning"
    elif len(state.arrays.get("store3.owners", ())):
        reason = "label features by each label's first row know one first row"
    if reason is not None:
        raise ValueError(f"this learner cannot be merged: {reason}. Merge linear learners with plain settings.")


# ------------------------------------------------------------------ common names
def unite(learnt: Sequence[ModelState], base: ModelState | None) -> United:
    """Return the common names of states and of their base, whose places come last.

    Names of the base come first, others in the order in which the states have them.
    """
    states = [*learnt, base] if base is not None else list(learnt)
    in_order = [base, *learnt] if base is not None else states
    about = states[0].about
    kind, params = about["estimator"], about["params"]
    labels = _united_labels(in_order, kind)
    names: dict[str, list[Hashable]] = {name: [] for name in states[0].names}
    words: dict[str, np.ndarray] = {}
    numbers, hashed = len(about.get("numbers", ())), params.get("bits") is not None
    if "words.hashes" in states[0].arrays:
        listed = _listed_words(in_order, hashed)
        words = _word_arrays(listed)
        n_features = max(_width(s) for s in states) if hashed else numbers + len(listed)
        features = [_places_of_words(state, listed, numbers, hashed) for state in states]
    elif "features" in names:
        position = _positions(state.names["features"] for state in in_order)
        names["features"], n_features = list(position), len(position)
        features = [_shifted([position[name] for name in state.names["features"]]) for state in states]
    else:
        n_features = max(_width(state) for state in states)
        features = [np.arange(_width(state) + 1) for state in states]
    if "frame" in names:
        names["frame"] = _longest([state.names.get("frame", []) for state in in_order])
    places = []
    turned = []
    for state, feature in zip(states, features, strict=True):
        to = np.array([labels.index(label) for label in state.names["labels"]], np.int64)
        places.append((feature, to))
        turned.append(kind == "BinaryClassifier" and len(to) > 0 and to[0] == 1)
    names["labels"] = labels
    columns = [state.about.get("columns") for state in states]
    scaling = about.get("chosen", {}).get("scaling", params.get("scaling"))
    return United(
        places,
        turned,
        names,
        words,
        max((c for c in columns if c is not None), default=None),
        n_features,
        kind in OF_LABELS and params.get("sharing") in ("multi", "hybrid"),
        numbers if scaling == "idf" else -1,
        _n_evidence(about),
    )


def _n_evidence(about: dict[str, Any]) -> int:
    """Return how many kinds of evidence learners weigh."""
    params = about["params"]
    features = from_json("features", about.get("chosen", {}).get("features", params.get("features")), {})
    return 0 if features is None else len(resolve_sharing(params["sharing"], features).evidence)


def _united_labels(states: Sequence[ModelState], kind: str) -> list[Hashable]:
    labels = list(_positions(state.names["labels"] for state in states))
    if kind == "BinaryClassifier" and len(labels) > 2:
        raise ValueError(f"a BinaryClassifier has two labels; the states to be merged have {labels!r}.")
    if kind == "OrdinalClassifier" and any(list(state.names["labels"]) != labels for state in states):
        each = " and ".join(repr(list(state.names["labels"])) for state in states[:2])
        raise ValueError(
            f"ranks can be merged where all states know the same; got {each}. Declare all, or give order=."
        )
    return labels


def _positions(lists: Iterable[Iterable[Hashable]]) -> dict[Hashable, int]:
    """Return the place of each name, in order of appearance."""
    position: dict[Hashable, int] = {}
    for names in lists:
        for name in names:
            position.setdefault(name, len(position))
    return position


def _longest(frames: Sequence[list[Hashable]]) -> list[Hashable]:
    """Return the names of the widest frame, of which all others are the beginning."""
    longest = max(frames, key=len)
    for frame in frames:
        if frame != longest[: len(frame)]:
            raise ValueError(f"states of data frames with other columns cannot be merged; got {frame!r}, {longest!r}.")
    return longest


def _width(state: ModelState) -> int:
    """Return how many features a state has room for."""
    arrays = state.arrays
    return int(arrays["n_features"][0]) if "n_features" in arrays else len(arrays["w"]) - 1


def _shifted(places: Sequence[int] | np.ndarray, before: int = 0) -> np.ndarray:
    """Return where each feature went: the bias and the first ones stay, the others follow."""
    return np.concatenate([np.arange(before + 1), np.asarray(places, np.int64) + before + 1])


# ------------------------------------------------------------------ words
def _texts(state: ModelState) -> list[bytes]:
    arena, ends = state.arrays["words.arena"].tobytes(), state.arrays["words.ends"].tolist()
    return [arena[a:b] for a, b in pairwise(ends)]


def _listed_words(states: Sequence[ModelState], hashed: bool) -> dict[Hashable, tuple[int, bytes]]:
    """Return hash and text of each word, by the text; of hashed features by the hash, the first text in the alphabet.

    Words are listed in order of appearance.
    """
    listed: dict[Hashable, tuple[int, bytes]] = {}
    for state in states:
        for value, text in zip(state.arrays["words.hashes"].tolist(), _texts(state), strict=True):
            key = value if hashed else text
            if key not in listed or (hashed and text < listed[key][1]):
                listed[key] = value, text
    return listed


def _word_arrays(listed: dict[Hashable, tuple[int, bytes]]) -> dict[str, np.ndarray]:
    """Return a list of words as the arrays of a state."""
    texts = [text for _, text in listed.values()]
    ends = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=ends[1:])
    hashes = np.array([value for value, _ in listed.values()], np.uint64)
    return dict(zip(OF_WORDS, (hashes, ends, np.frombuffer(b"".join(texts), np.uint8)), strict=True))


def _places_of_words(state: ModelState, listed: dict[Hashable, tuple[int, bytes]], numbers: int, hashed: bool) -> Any:
    if hashed:
        return np.arange(_width(state) + 1)
    place = {text: i for i, text in enumerate(listed)}
    return _shifted([place[text] for text in _texts(state)], numbers)


# ------------------------------------------------------------------ arrays
def spread(united: United, name: str, state: ModelState, i: int) -> np.ndarray:
    """Return an array of state i with each feature or label in its common place."""
    array, (features, labels) = state.arrays[name], united.places[i]
    if name in ("label_rows", "ledger.records", "totals.occurrences"):
        return _put(array, labels, len(united.names["labels"]))
    if name in ("means", "spreads") and united.numbers >= 0:
        return array
    by_feature = ("df", "means", "spreads", "w", "late", "seen")
    if name not in by_feature or (array.shape[0] <= 1 and name not in ("w", "seen")):
        return array
    out = _put(array, features[: len(array)], united.n_features + 1)
    return -out if united.turned[i] and name in ("w", "late") else out


def _put(array: np.ndarray, places: np.ndarray, n: int) -> np.ndarray:
    out = np.zeros((n, *array.shape[1:]), array.dtype)
    out[places] = array[: len(places)]
    return out
