"""Tagged sentences from files, as a tagger takes them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hinged.estimators.learner import Learner
from hinged.estimators.parts import Reader
from hinged.estimators.protocol import Model
from hinged.io.examples.conll import Sentence
from hinged.text.window import window

__all__ = ["SentenceChunk", "sentence_rows", "words_of"]


@dataclass
class SentenceChunk:
    """Some consecutive sentences of a file; the counterpart of `Chunk`."""

    sentences: list[Sentence]
    source: str
    skipped: int = 0
    weights: None = None
    layout: None = None

    def __len__(self) -> int:
        return len(self.sentences)

    @property
    def answers(self) -> list[list[str]]:
        """The tags of each sentence."""
        return [sentence.tags for sentence in self.sentences]

    @property
    def sizes(self) -> np.ndarray:
        """Tokens of each sentence."""
        return np.array([len(sentence.tokens) for sentence in self.sentences], np.int64)

    def taken(self, rows: slice | np.ndarray) -> SentenceChunk:
        """Some of these sentences."""
        return replace(self, sentences=[self.sentences[i] for i in np.arange(len(self))[rows]], skipped=0)


def sentence_rows(model: Learner[Model, Reader], chunk: SentenceChunk) -> list[list[list[str]]]:
    """The features of each token of each sentence."""
    return [window(words_of(model, sentence, chunk.source)) for sentence in chunk.sentences]


def words_of(model: Learner[Model, Reader], sentence: Sentence, source: str) -> list[tuple[str, ...]]:
    """The columns of a sentence that a model was taught; one more, a tag, is left out."""
    notes = model.notes
    known, given = notes.get("columns"), len(sentence.tokens[0])
    if not isinstance(known, int):
        raise ValueError("this tagger was not taught from a file, so its columns are not known; use it from Python.")
    if given < known or (sentence.tags and given != known):
        found = f"{given} columns" + (" and a tag" if sentence.tags else "")
        raise ValueError(f"this model was taught {known} columns a token; {source}:{sentence.line} has {found}.")
    return [token[:known] for token in sentence.tokens]
