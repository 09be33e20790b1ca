"""What a sequence learner is asked for, what it answers, and its whole state."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable
from itertools import pairwise
from typing import Any, NamedTuple, cast

import numpy as np
from scipy import sparse

from hinged.compiling.arrays import Ints
from hinged.estimators.inputs import dtype_of
from hinged.estimators.labels import LabelIndex
from hinged.estimators.learner import Learner, State
from hinged.estimators.options import DType, Lengths
from hinged.estimators.parts import Parts, at_one_moment
from hinged.estimators.sentences import (
    Names,
    SentenceReader,
    from_rows,
    from_tokens,
    is_matrices,
    listed,
    sizes_of,
    stacked,
)
from hinged.estimators.settings import whole
from hinged.interface import not_fitted
from hinged.loops.chain import ChainModel
from hinged.loops.explain import Share
from hinged.loops.ledger import LABELS
from hinged.loops.metric import adapts
from hinged.loops.sequence import COST, Wish
from hinged.loops.tokens import Answer, Sentences

__all__ = ["Batch", "Tagging"]

LARGEST_DENSE = 20_000_000


class Batch(NamedTuple):
    """Sentences as the loops read them; the width of their matrix, 0 for names."""

    sentences: Sentences
    dtype: np.dtype
    width: int


class Tagging(Learner[ChainModel, SentenceReader]):
    """Reading sentences, answering them, and what exists after learning."""

    _parts: Parts[ChainModel, SentenceReader] = Parts(None, None, SentenceReader())
    dtype: DType

    @abstractmethod
    def check_settings(self) -> Wish:
        """Check every setting, by name; return what they stand for. A ValueError says what was wrong."""

    @abstractmethod
    def _costs(self, labels: list[Hashable]) -> np.ndarray:
        """Costs by position (tags, tags); empty for the number of wrong tags, and for a function."""

    @abstractmethod
    def _new_model(self, dtype: np.dtype, wish: Wish, rho: np.ndarray) -> ChainModel:
        """An empty model for a type of weights, settings and costs."""

    # ------------------------------------------------------------------ answers
    def predict(self, X: object, lengths: Lengths = None) -> list[list[Hashable]]:
        """The best tags of each sentence, a list per sentence."""
        labels, batch, (_, tags, _, _) = self._answer(X, lengths, 1)
        named = [labels[t] for t in tags[0].tolist()]
        return [named[a:b] for a, b in pairwise(batch.sentences.ends.tolist())]

    def predict_one(self, sentence: object) -> list[Hashable]:
        """The best tags of one sentence; empty before any tag is known."""
        return [] if self._model is None or not self.known_labels() else self.predict([sentence])[0]

    def rank(self, X: object, top: int = 5, lengths: Lengths = None) -> list[list[tuple[list[Hashable], float]]]:
        """The best `top` taggings of each sentence with their scores, best first; there may be fewer."""
        labels, batch, (_, tags, tops, found) = self._answer(X, lengths, whole("top", top, 1))
        return [
            [([labels[t] for t in tags[j, a:b].tolist()], float(tops[j, i])) for j in range(int(found[i]))]
            for i, (a, b) in enumerate(pairwise(batch.sentences.ends.tolist()))
        ]

    def rank_one(self, sentence: object, top: int = 5) -> list[tuple[list[Hashable], float]]:
        """The best `top` taggings of one sentence with their scores; empty before any tag is known."""
        return [] if self._model is None or not self.known_labels() else self.rank([sentence], top)[0]

    def decision_function(self, X: object, lengths: Lengths = None) -> list[np.ndarray]:
        """What the tokens say of each tag: per sentence an array (tokens, tags), in the order of `classes_`."""
        _, batch, (emissions, _, _, _) = self._answer(X, lengths, 0)
        return [emissions[a:b].copy() for a, b in pairwise(batch.sentences.ends.tolist())]

    def score(self, X: object, y: object, lengths: Lengths = None) -> float:
        """Share of tokens tagged right."""
        answers = self.predict(X, lengths)
        given = [tag for tags in self._tag_lists(y, np.array([*map(len, answers)]), lengths) for tag in tags]
        return sum(a == b for a, b in zip((t for tags in answers for t in tags), given, strict=True)) / len(given)

    @at_one_moment
    def explain(
        self, sentence: object, position: int, tag: Hashable = None, top: int | None = 10
    ) -> list[tuple[Hashable, float]]:
        """What speaks for a tag at a position: its features, and the tags predicted beside it; largest first.

        Parameters
        ----------
        sentence : a list of tokens
        position : int
            Which token, from 0; negative from the end.
        tag : a known tag
            The predicted one by default.
        top : how many, None for all
            All of them sum to the tag's score at that position: emission, transition in and transition out. A
            transition is named by its two tags, a tuple.

        Examples
        --------
        >>> import hinged
        >>> model = hinged.SequenceTagger().fit([[["the"], ["cat"]], [["a"], ["dog"]]], [["D", "N"], ["D", "N"]])
        >>> [name for name, _ in model.explain([["the"], ["cat"]], 1)]
        ['cat', ('D', 'N')]
        """
        top = None if top is None else whole("top", top, 1)
        labels, batch, (_, tags, _, _) = self._answer([sentence], None, 1)
        n = len(tags[0])
        if isinstance(position, bool) or not isinstance(position, int | np.integer) or not -n <= position < n:
            raise ValueError(f"position must be one of the {n} tokens, 0 to {n - 1}; got position={position!r}.")
        i, model = int(position) % n, self._fitted()
        at = int(tags[0][i]) if tag is None else LabelIndex(labels).find(tag)
        total = self._by_name(model.explain(batch.sentences, i, len(labels), at))
        across = model.transitions(len(labels))
        path = [*tags[0][:i].tolist(), at, *tags[0][i + 1 :].tolist()]
        for a, b in pairwise(path[max(0, i - 1) : i + 2]):
            total[labels[a], labels[b]] = total.get((labels[a], labels[b]), 0.0) + float(across[a, b])
        return sorted((item for item in total.items() if item[1] != 0.0), key=lambda item: -abs(item[1]))[:top]

    def _by_name(self, shares: Iterable[Share]) -> dict[Hashable, float]:
        """Shares of a score by the names of their features; None for features that are not known."""
        known = self._parts.reader.names
        names = None if known is None else list(known)
        total: dict[Hashable, float] = {}
        for share in shares:
            number = cast(int, share.feature)
            name = number if names is None else names[number] if number < len(names) else None
            total[name] = total.get(name, 0.0) + share.value
        return total

    # ------------------------------------------------------------------ what was learnt
    @property
    def coef_(self) -> np.ndarray | sparse.csr_array:
        """Weights (tags, features) of the features, in the order of `feature_names_`; sparse when large."""
        model = self._learnt("coef_")
        k, n = int(model.counts[LABELS]), model.n_features
        if k * n <= LARGEST_DENSE:
            return np.ascontiguousarray(model.rows(np.arange(n), k).T)
        learnt = np.flatnonzero(model.view.slots[:n])
        kept = sparse.coo_array(model.rows(learnt, k))
        return sparse.csr_array((kept.data, (kept.col, learnt[kept.row])), shape=(k, n))

    @property
    def transitions_(self) -> np.ndarray:
        """Weights of transitions (tags, tags), [previous, current]."""
        model = self._learnt("transitions_")
        return model.transitions(int(model.counts[LABELS]))

    @property
    def feature_names_(self) -> list[Hashable]:
        """Names of the features, in the order they came; numbers where sentences are matrices."""
        model = self._learnt("feature_names_")
        names = self._parts.reader.names
        return list(range(model.n_features)) if names is None else list(names)

    @property
    def total_cost_(self) -> float:
        """Σ ρ(right, predicted) so far; the number of wrong tags where no cost was set."""
        return float(self._learnt("total_cost_").sums[COST])

    @property
    def dual_(self) -> float | None:
        """The dual certificate: no fixed weights have a smaller objective.

        None once the rule was changed, and in a metric that learns.
        """
        model = self._learnt("dual_")
        return None if self._edited or adapts(model.metric) else model.dual

    # ------------------------------------------------------------------ keeping
    def _state(self) -> State:
        model, reader = self._learnt("state"), self._parts.reader
        about = {"dtype": model.dtype.name, "edited": self._edited, "columns": reader.width, "notes": self._notes}
        names: dict[str, list[Hashable]] = {"labels": list(self.known_labels())}
        if reader.names is not None:
            names["features"] = list(reader.names)
        return about, model.arrays(), names

    def _restore(self, about: dict[str, Any], arrays: dict[str, np.ndarray], names: dict[str, list[Hashable]]) -> None:
        """Become the model of that state."""
        if about["dtype"] not in ("float32", "float64"):
            raise ValueError("its numbers are damaged")
        model = self._new_model(np.dtype(about["dtype"]), self.check_settings(), self._costs(names["labels"]))
        model.restore(arrays, (), len(names["labels"]))
        if model.n_features != (len(names["features"]) if "features" in names else about["columns"]):
            raise ValueError("its features do not fit their names")
        reader = SentenceReader(Names(names["features"]) if "features" in names else None, about["columns"])
        self._parts, self._edited = Parts(LabelIndex(names["labels"]), model, reader), bool(about["edited"])
        self._notes = about.get("notes")

    # ------------------------------------------------------------------ reading
    def _parse(self, X: object, lengths: Lengths, grow: bool) -> Batch:
        """Sentences of any kind of input; where they may `grow`, new names are given their numbers."""
        if lengths is not None:
            self._check_unnamed()
            return self._parse_matrix(X, sizes_of(lengths), self._dtype(dtype_of(X)), grow)
        sentences = listed(X)
        if is_matrices(sentences):
            self._check_unnamed()
            dtype = self._dtype(np.result_type(*map(dtype_of, sentences)))
            return self._parse_matrix(*stacked(sentences), dtype, grow)
        dtype = self._dtype(np.dtype(np.float64))
        return Batch(from_tokens(sentences, self._names(), dtype, grow), dtype, 0)

    def _names(self) -> Names:
        """The numbers of feature names, if this model is taught with names."""
        reader = self._parts.reader
        if reader.width is not None:
            raise ValueError("this model was taught with matrices; got tokens with feature names. Give matrices.")
        names = Names() if reader.names is None else reader.names
        if names is not reader.names:
            self._parts = self._parts._replace(reader=reader._replace(names=names))
        return names

    def _check_unnamed(self) -> None:
        if self._parts.reader.names is not None:
            raise ValueError("this model was taught with feature names; got a matrix. Give lists of names, or dicts.")

    def _parse_matrix(self, X: object, sizes: Ints, dtype: np.dtype, grow: bool) -> Batch:
        """Sentences of so many rows of a matrix each."""
        sentences, width = from_rows(X, sizes, self, dtype)
        known = self._parts.reader.width
        if known is not None and (width < known or (width > known and not grow)):
            raise ValueError(f"X has {width} features, but {type(self).__name__} is expecting {known} features.")
        return Batch(sentences, dtype, width)

    def _dtype(self, found: np.dtype) -> np.dtype:
        model = self._parts.model
        return model.dtype if model is not None else np.dtype(self.dtype or found)

    @at_one_moment
    def _answer(self, X: object, lengths: Lengths, m: int) -> tuple[tuple[Hashable, ...], Batch, Answer]:
        model, labels = self._fitted(), self.known_labels()
        if not labels:
            raise not_fitted("no tag is known, so none can be predicted; learn some sentences.")
        batch = self._parse(X, lengths, grow=False)
        return labels, batch, model.answer(batch.sentences, len(labels), m)

    @staticmethod
    def _tag_lists(y: object, sizes: np.ndarray, lengths: Lengths) -> list[list[Hashable]]:
        """The tags of each sentence, as many as it has tokens."""
        if y is None or isinstance(y, str | bytes | dict | set | frozenset) or not hasattr(y, "__iter__"):
            raise TypeError(f"y must be a list of tag lists, one per sentence; got {y!r}.")
        if lengths is not None:
            return _cut(_plain(y), sizes)
        if len(lists := list(y)) != len(sizes):
            raise ValueError(
                f"X and y must have as many sentences; got {len(sizes)} sentences and {len(lists)} tag lists."
            )
        return [_tags_of(i, tags, n) for i, (tags, n) in enumerate(zip(lists, sizes.tolist(), strict=True))]


def _plain(tags: Any) -> list[Hashable]:
    """Tags as plain Python values."""
    return tags.tolist() if hasattr(tags, "tolist") else list(tags)


def _cut(flat: list[Hashable], sizes: np.ndarray) -> list[list[Hashable]]:
    """One tag per row of a matrix, cut into sentences."""
    if len(flat) != int(sizes.sum()):
        raise ValueError(f"y must hold one tag per row; got {len(flat)} tags for {int(sizes.sum())} rows.")
    ends = np.cumsum(sizes)[:-1].tolist()
    return [flat[a:b] for a, b in pairwise([0, *ends, len(flat)])]


def _tags_of(i: int, tags: object, n: int) -> list[Hashable]:
    """The tags of sentence `i`, as many as it has tokens."""
    if isinstance(tags, str | bytes | dict | set | frozenset) or not hasattr(tags, "__len__"):
        raise TypeError(f"the tags of a sentence must be a list; those of sentence {i} are {tags!r}.")
    if len(tags) != n:
        raise ValueError(
            f"a sentence needs a tag for each token; sentence {i} (counted from 0) has {n} tokens and {len(tags)} tags."
        )
    return _plain(tags)
