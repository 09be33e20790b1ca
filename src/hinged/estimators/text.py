"""Text in, ranked labels out."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from hinged.estimators.classifier import Classifier
from hinged.estimators.dicts import BEYOND
from hinged.estimators.inputs import check_finite
from hinged.estimators.learner import State
from hinged.estimators.options import (
    AsHalfLife,
    ClassWeight,
    Cost,
    DType,
    Features,
    Geometry,
    RandomState,
    Rule,
    Sharing,
)
from hinged.estimators.parts import Parts
from hinged.estimators.protocol import LabelModelLike
from hinged.estimators.ranker import Ranker
from hinged.estimators.reader import Batch, Reads
from hinged.estimators.row_learner import RowLearner
from hinged.estimators.settings import Settled
from hinged.io.examples.chunk import Chunk
from hinged.loops.base import ScaledModel
from hinged.text import Hasher, Vocabulary
from hinged.text.documents import split_numbers
from hinged.text.tables import beside_numbers
from hinged.text.words import WordList

__all__ = ["TextClassifier", "TextRanker"]

TEXT_SETTINGS = ("words", "chars", "values", "lowercase", "field_limit")
ALL_SETTINGS = (*TEXT_SETTINGS, "bits", "seed", "signed")  # where words are hashed


@dataclass(frozen=True)
class TextReader:
    """How documents are read: by a space of words, which grows with what it reads."""

    space: Vocabulary | Hasher | None = None  # None until the first document
    settings: dict[str, Any] | None = None  # what the space was made of
    numbers: tuple[str, ...] | None = None  # columns of numbers, the first features; None until the first batch
    names: ClassVar[None] = None  # of dicts
    width: ClassVar[None] = None  # of matrices
    frame: ClassVar[None] = None  # of data frames

    @staticmethod
    def one(x: object) -> object:
        """One document as a batch of one."""
        return x if isinstance(x, Chunk) else [x]

    def read(self, who: Reads, X: object, grow: bool) -> Batch:
        """Documents as rows; where they may `grow`, new words are taken in, else they have no weight."""
        assert isinstance(who, TextLearner)
        space = who.text_space_
        known = space.width()
        X, columns = split_numbers(X, self.numbers)
        names = tuple(columns) if self.numbers is None else self.numbers
        rows = space.read(X, grow)
        if not grow and len(rows.indices) and (beyond := rows.indices >= known).any():
            rows = rows._replace(indices=rows.indices + np.where(beyond, np.int32(BEYOND), np.int32(0)))
        if not len(rows.indptr) - 1:
            raise ValueError("a batch must hold at least one document; got none.")
        dtype = who._dtype(np.dtype(np.float64 if names else np.float32))
        if names:
            rows = beside_numbers([columns.get(name) for name in names], rows)
            check_finite(rows.data, dtype)
        if rows.data.dtype != dtype:
            rows = rows._replace(data=rows.data.astype(dtype))
        return Batch(rows, dtype, len(names) + space.width(), None, names)

    def admit(self, who: Reads, batch: Batch) -> TextReader:
        """Make room in the model for the words of a batch."""
        model = who._model
        assert model is not None
        model.widen(batch.width)
        if self.numbers is not None:
            return self
        assert isinstance(batch.given, tuple)
        if isinstance(model, ScaledModel):
            model.take_numbers(len(batch.given))
        return replace(self, numbers=batch.given)

    @property
    def n_known(self) -> int:
        """How many words were met."""
        words = None if self.space is None else self.space.word_list_
        return len(self.numbers or ()) + (0 if words is None else len(words))

    def name_of(self, feature: int) -> Hashable:
        """The column of numbers or the word behind a feature; feature 0 is the bias."""
        assert self.space is not None
        numbers = self.numbers or ()
        if feature <= len(numbers):
            return "bias" if feature == 0 else numbers[feature - 1]
        return self.space.name_of(feature - 1 - len(numbers))

    def mark(self) -> Callable[[], TextReader]:
        """Remember this moment; the function forgets the words that came after it."""
        space, known = self.space, self.n_known - len(self.numbers or ())
        words = None if space is None else space.word_list_

        def back() -> TextReader:
            if space is not None:
                space.word_list_ = words
                if words is not None:
                    words.truncate(known)
            return self

        return back


class TextLearner(RowLearner[LabelModelLike, Settled]):
    """Settings of text, and a reader of documents in place of one of rows; the words it knows are part of the model."""

    geometry: Geometry = "euclidean"  # words may come at any time
    half_life: AsHalfLife = None  # counts of label features do not fade
    _parts: Parts[LabelModelLike, TextReader] = Parts(None, None, TextReader())
    _before: ClassVar[dict[str, object]] = {"field_limit": None, "novel": "skip"}
    bits: int | None

    def __init__(
        self,
        rule: Rule = "optimal",
        C: float | str = 1.0,
        *,
        words: tuple[int, int] | None = (1, 1),
        chars: tuple[int, int] | None = None,
        values: str = "binary",
        lowercase: bool = True,
        field_limit: int | None = 36,
        bits: int | None = None,
        seed: int = 0,
        signed: bool = False,
        sharing: Sharing = "hybrid",
        features: Features = "auto",
        margin: float = 1.0,
        cost: Cost = None,
        constraint: str = "max-loss",
        novel: str = "learn",
        scaling: str | None = "idf",
        normalize: bool | str = True,
        average: bool | str = False,
        bias: float | str = 0.0,
        class_weight: ClassWeight = None,
        epochs: int = 1,
        shuffle: bool = False,
        random_state: RandomState = None,
        dtype: DType = None,
    ) -> None:
        self._store(locals())

    @property
    def text_space_(self) -> Vocabulary | Hasher:
        """The `Vocabulary` or `Hasher` between the text and the learner."""
        settings = {name: getattr(self, name) for name in (TEXT_SETTINGS if self.bits is None else ALL_SETTINGS)}
        space, made_of = self._parts.reader.space, self._parts.reader.settings
        if space is None or (self._model is None and made_of != settings):
            return self._new_space(settings)
        if made_of != settings:
            raise ValueError(
                f"how text is read cannot change once something is learnt; it was {made_of}, now {settings}. "
                "Set it back, or call fit to start anew."
            )
        return space

    def _new_space(self, settings: dict[str, Any]) -> Vocabulary | Hasher:
        """A space of words for documents still to come."""
        with self._writing():
            if self._parts.reader.settings != settings:  # another thread may have been quicker
                reader = TextReader((Vocabulary if self.bits is None else Hasher)(**settings), settings)
                self._parts = self._parts._replace(reader=reader)
            space = self._parts.reader.space
            assert space is not None
            return space

    def _state(self) -> State:
        about, arrays, names = super()._state()
        words = self.text_space_.word_list_ or WordList()
        about["numbers"] = list(self._parts.reader.numbers or ())
        return about, {**arrays, **{f"words.{name}": array for name, array in words.arrays().items()}}, names

    def _restore(self, about: dict[str, Any], arrays: dict[str, np.ndarray], names: dict[str, list[Hashable]]) -> None:
        pieces = {name: arrays.pop(f"words.{name}") for name in ("hashes", "ends", "arena")}
        space = self.text_space_
        space.word_list_ = WordList.from_arrays(**pieces)
        super()._restore(about, arrays, names)
        self._learnt("words").widen(len(self._parts.reader.numbers or ()) + space.width())

    def _reader_of(self, about: dict[str, Any], names: dict[str, list[Hashable]]) -> TextReader:
        return replace(self._parts.reader, numbers=tuple(about.get("numbers", ())))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


class TextClassifier(TextLearner, Classifier):
    """One right label for each text: `learn_one("text", "label")`, then `predict_one("text")`.

    A document is a text, or a dict of field → text or number; data frames give a field per column. The first batch
    decides which fields hold numbers; None is a missing one. The defaults were chosen on evidence across data sets
    (docs/text.md).

    Parameters
    ----------
    rule, C, sharing, features, margin, novel, scaling, normalize, average, bias
    class_weight, epochs, shuffle, random_state, dtype
        As in `Classifier`, with defaults that suit text: the joint step, online IDF, unit rows, weights of each
        label's own and shared ones. Beyond 2,000 labels use rule="pa1" or sharing="multi". features="auto" is
        `hinged.features.Evidence()` where `sharing` uses label features, and none where it does not.
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


class TextRanker(TextLearner, Ranker):
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
