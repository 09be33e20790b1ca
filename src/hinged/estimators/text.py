"""Text in, ranked labels out."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from hinged.estimators.classifier import Classifier
from hinged.estimators.dicts import BEYOND
from hinged.estimators.holding import rounds_of
from hinged.estimators.ranker import Ranker
from hinged.estimators.reading import Batch
from hinged.io.examples.chunk import Chunk
from hinged.loops.hearing import BetweenRounds
from hinged.text import Hasher, Vocabulary
from hinged.text.words import WordList

__all__ = ["TextClassifier", "TextRanker"]

TEXT_SETTINGS = ("words", "chars", "values", "lowercase", "field_limit")
HASH_SETTINGS = ("bits", "seed", "signed")


class ReadsText:
    """Reads documents where its neighbour in the class reads rows; the words it knows are part of the model."""

    _model: Any
    _dtype: Any
    n_features: int | None = None  # as many as there are words
    geometry: Any = "euclidean"  # words may come at any time
    _space_: Vocabulary | Hasher | None = None
    _space_of: dict[str, Any] | None = None
    _before = {"field_limit": None}  # noqa: RUF012, what files from before a setting existed mean

    def __init__(
        self,
        rule: Any = "optimal",
        C: float = 1.0,
        *,
        words: Any = (1, 1),
        chars: Any = None,
        values: str = "binary",
        lowercase: bool = True,
        field_limit: int | None = 36,
        bits: int | None = None,
        seed: int = 0,
        signed: bool = False,
        sharing: Any = "hybrid",
        features: Any = "auto",
        margin: float = 1.0,
        cost: Any = None,
        constraint: str = "max-loss",
        scaling: str | None = "idf",
        normalize: bool = True,
        average: bool = False,
        bias: float = 0.0,
        class_weight: Any = None,
        epochs: int = 1,
        shuffle: bool = False,
        random_state: Any = None,
        dtype: Any = None,
    ) -> None:
        self.rule = rule
        self.C = C
        self.words = words
        self.chars = chars
        self.values = values
        self.lowercase = lowercase
        self.field_limit = field_limit
        self.bits = bits
        self.seed = seed
        self.signed = signed
        self.sharing = sharing
        self.features = features
        self.margin = margin
        self.cost = cost
        self.constraint = constraint
        self.scaling = scaling
        self.normalize = normalize
        self.average = average
        self.bias = bias
        self.class_weight = class_weight
        self.epochs = epochs
        self.shuffle = shuffle
        self.random_state = random_state
        self.dtype = dtype

    @property
    def text_space_(self) -> Vocabulary | Hasher:
        """The `Vocabulary` or `Hasher` between the text and the learner."""
        names = (*TEXT_SETTINGS, *(() if self.bits is None else HASH_SETTINGS))
        settings = {name: getattr(self, name) for name in names}
        if self._space_ is None or (self._model is None and self._space_of != settings):
            self._space_ = (Vocabulary if self.bits is None else Hasher)(**settings)
            self._space_of = settings
        elif self._space_of != settings:
            raise ValueError(
                f"how text is read cannot change once something is learnt; it was {self._space_of}, now {settings}. "
                "Set it back, or call fit to start anew."
            )
        return self._space_

    @staticmethod
    def _one_row(x: Any) -> Any:
        return x if isinstance(x, Chunk) else [x]

    def _parse(self, X: Any, grow: bool) -> Batch:
        space = self.text_space_
        known = space.width()
        rows = space.read(X, grow)
        if not grow and len(rows.indices) and (beyond := rows.indices >= known).any():
            rows = rows._replace(indices=rows.indices + np.where(beyond, np.int32(BEYOND), np.int32(0)))
        if not len(rows.indptr) - 1:
            raise ValueError("a batch must hold at least one document; got none.")
        dtype = self._dtype(np.dtype(np.float32))
        if rows.data.dtype != dtype:
            rows = rows._replace(data=rows.data.astype(dtype))
        return Batch(rows, dtype, space.width(), None, None)

    def _check(self, *args: Any, **more: Any) -> Any:
        with self._words_undone():
            return super()._check(*args, **more)  # type: ignore[misc]

    @contextmanager
    def _or_undone(self, several: bool) -> Iterator[None]:
        with self._writing(), self._words_undone(), super()._or_undone(several):  # type: ignore[misc, attr-defined]
            yield

    @contextmanager
    def _words_undone(self) -> Iterator[None]:
        """Words of a call that is refused are forgotten."""
        space, rounds = self.text_space_, rounds_of(self._model)
        words, known = space.word_list_, 0 if space.word_list_ is None else len(space.word_list_)
        try:
            yield
        except BaseException:
            with BetweenRounds():  # another signal waits until all is back
                if rounds_of(self._model) == rounds:
                    space.word_list_ = words
                    if words is not None:
                        words.truncate(known)
            raise

    @property
    def n_known_features(self) -> int:
        """How many words were met so far."""
        words = self.text_space_.word_list_
        return 0 if words is None else len(words)

    def _take_in(self, batch: Batch) -> None:
        self._model.widen(batch.width)

    def _feature_name(self, feature: int) -> Hashable:
        return "bias" if feature == 0 else self.text_space_.name_of(feature - 1)

    def _state(self) -> Any:
        about, arrays, names = super()._state()  # type: ignore[misc]
        words = self.text_space_.word_list_ or WordList()
        return about, {**arrays, **{f"words.{name}": array for name, array in words.arrays().items()}}, names

    def _restore(self, about: Any, arrays: Any, names: Any) -> None:
        pieces = {name: arrays.pop(f"words.{name}") for name in ("hashes", "ends", "arena")}
        space = self.text_space_
        space.word_list_ = WordList.from_arrays(**pieces)
        super()._restore(about, arrays, names)  # type: ignore[misc]
        self._model.widen(space.width())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


class TextClassifier(ReadsText, Classifier):
    """One right label for each text: `learn_one("text", "label")`, then `predict_one("text")`.

    A document is a text, or a dict of field → text; data frames give a field per column. The defaults were chosen on
    evidence across data sets (docs/text.md).

    Parameters
    ----------
    rule, C, sharing, features, margin, scaling, normalize, average, bias
    class_weight, epochs, shuffle, random_state, dtype
        As in `Classifier`, with defaults that suit text: the joint step, online IDF, unit rows, weights of each
        label's own and shared ones. Beyond 2,000 labels use rule="pa1" or sharing="multi". features="auto" is
        `hinged.features.Frequency(high=0.4)` where `sharing` uses label features, and none where it does not.
    words : (int, int) or None, default (1, 1)
        Shortest and longest run of words that is a feature.
    chars : (int, int) or None, default None
        Shortest and longest run of characters within a word.
    values : "binary", "counts" or "log", default "binary"
    lowercase : bool, default True
    field_limit : int or None, default 36
        A field with more distinct words than this weighs as much as one of so many; see `Vocabulary`.
    bits : int or None, default None
        None keeps a vocabulary that grows with the stream; a number hashes into 2 to that power columns.
    seed, signed
        Of the hash, where `bits` is given.

    Attributes
    ----------
    text_space_ : Vocabulary or Hasher

    Examples
    --------
    >>> import hinged
    >>> model = hinged.TextClassifier()
    >>> for text, folder in [("tax form due", "work"), ("cake recipe", "home"), ("the tax office", "work")] * 2:
    ...     model.learn_one(text, folder)
    >>> model.predict_one("a tax question"), model.rank_one("chocolate cake")
    ('work', ['home', 'work'])
    """


class TextRanker(ReadsText, Ranker):
    """Several right labels for each text, ranked above all others; takes the parameters of `TextClassifier`.

    Examples
    --------
    >>> import hinged
    >>> model = hinged.TextRanker()
    >>> stream = [("late goal", {"sport"}), ("vote on budget", {"politics"}), ("goal of the vote", {"politics"})]
    >>> for text, topics in stream * 2:
    ...     model.learn_one(text, topics)
    >>> model.rank_one("late goal")
    ['sport', 'politics']
    """
