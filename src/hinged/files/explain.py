"""Explain the prediction of one example."""

from __future__ import annotations

import io
import json
from collections.abc import Hashable
from typing import NamedTuple

from hinged.estimators.label_learner import LabelLearner
from hinged.estimators.sequence import SequenceTagger
from hinged.files.answers import answer, answer_vectors
from hinged.files.examples import FileLearner, FileRows, OneVector, as_dicts, reads_text, rows_for, vector_rows
from hinged.files.sentences import words_of
from hinged.io.examples import Chunk, Sentence, read
from hinged.text.window import window

__all__ = ["Reason", "TagReason", "explain_one", "explain_tags"]


class Reason(NamedTuple):
    """Why a label has its score.

    Attributes
    ----------
    label : the label explained
    score, rank, n_labels : its score, and its rank among `n_labels` labels
    rival : the runner-up of the best label; for another label, the best one
    lead : its score minus that of the rival
    confidence : chance that the best label is right; None for models without a ranking
    features : (feature, share) pairs that sum to the score, largest first
    unknown : features of the example that the model has not seen
    """

    label: Hashable
    score: float
    rank: int
    n_labels: int
    rival: Hashable | None
    lead: float
    confidence: float | None
    features: list[tuple[Hashable, float]]
    unknown: list[str]


def explain_one(model: LabelLearner | OneVector, text: str, label: Hashable | None = None) -> Reason:
    """Explain one example: a text, a JSON object of field → text, VW's |features, or index:value pairs.

    Examples
    --------
    >>> import hinged
    >>> model = hinged.TextClassifier()
    >>> for words, folder in [("tax form", "work"), ("cake recipe", "home"), ("tax office", "work")] * 2:
    ...     model.learn_one(words, folder)
    >>> reason = explain_one(model, "Tax and cake", "work")
    >>> reason.features[0][0], reason.unknown
    ('tax', ['and'])
    """
    chunk = _example(model, text)
    if isinstance(model, OneVector):
        return _of_one_vector(model, chunk, label)
    said = answer(model, chunk)
    ranking = said.ranking(0)
    names = [name for name, _ in ranking]
    label = names[0] if label is None else label
    if label not in names:
        near = ", ".join(map(str, names[:5]))
        raise ValueError(f"the model knows no label {label!r}; the best ones here are {near}.")
    rank = names.index(label)
    score = ranking[rank][1]
    rival, its_score = next((other for other in ranking[:2] if other[0] != label), (None, score))
    given = rows_for(model, chunk, False)
    return Reason(
        label=label,
        score=score,
        rank=rank + 1,
        n_labels=len(names),
        rival=rival,
        lead=score - its_score,
        confidence=float(said.confidence[0]),
        features=model.explain(given, label, top=None),
        unknown=_unknown(model, chunk, given),
    )


class TagReason(NamedTuple):
    """Why a word has its tag: features with their share of the score, largest first."""

    word: str
    tag: Hashable
    features: list[tuple[Hashable, float]]


def explain_tags(model: SequenceTagger, text: str, top: int) -> list[TagReason]:
    """Explain the tag of each word: words are separated by blanks, further columns follow a word after a slash."""
    tokens = [tuple(word.split("/")) for word in text.split()]
    if not tokens:
        raise ValueError("there is nothing to explain: the text is empty.")
    words = words_of(model, Sentence(tokens, [], 1), "the text")
    sentence = window(words)
    tags = model.predict([sentence])[0]
    return [TagReason(word[0], tags[i], model.explain(sentence, i, top=top)) for i, word in enumerate(words)]


def _of_one_vector(model: OneVector, chunk: Chunk, label: Hashable | None) -> Reason:
    """Explain a model that has one score for all answers."""
    if label is not None:
        raise ValueError(f"this model has one score and no label of its own to explain; got {label!r}. Leave it out.")
    (said,), scores = answer_vectors(model, chunk)
    rows = vector_rows(model, chunk, False)
    return Reason(said, float(scores[0]), 1, 0, None, 0.0, None, model.explain(rows, top=None), _unnamed(model, chunk))


def _unnamed(model: FileLearner, chunk: Chunk) -> list[str]:
    """The names of an example that a model of names has not met."""
    known = set(getattr(model, "feature_names_", ()))
    return [str(name) for name in as_dicts(chunk)[0] if name not in known] if known else []


def _example(model: FileLearner, text: str) -> Chunk:
    """The example in a text typed by a user."""
    text = " ".join(text.split())
    if not text:
        raise ValueError("there is nothing to explain: the text is empty.")
    if not reads_text(model) and not hasattr(model, "feature_names_"):
        return _read(text, "svmlight")
    if text.startswith("|"):
        return _read(text, "vw")
    known, numbers = model.notes.get("fields") or [], model.notes.get("numbers") or []
    if text.startswith("{"):
        return _read(text, "jsonl", None if numbers else _text_fields(text, known))
    _check_one_text(text, known, numbers)
    return _read("\t" + text, "lines")


def _check_one_text(text: str, known: list[str], numbers: list[str]) -> None:
    """Refuse a plain text where a model knows a table, or several fields of which none is the text."""
    if numbers:
        example = json.dumps(dict.fromkeys(numbers[:2], 1) | dict.fromkeys(known[:2], "…"), ensure_ascii=False)
        raise ValueError(f"this model was taught a table; give a JSON object of its columns, such as {example}.")
    if len(known) > 1 and "text" not in known:
        example = json.dumps({known[-1]: text[:20] + ("…" if len(text) > 20 else "")}, ensure_ascii=False)
        raise ValueError(
            f"this model was taught the fields {', '.join(known)}; name the field of the text, as in {example}."
        )


def _text_fields(text: str, known: list[str]) -> list[str] | None:
    """The fields of a JSON object that hold text: those that a model knows, else all; None without any."""
    try:
        fields = json.loads(text)
    except ValueError as problem:
        raise ValueError(f"the text begins like a JSON object but is not valid JSON ({problem}).") from None
    texts = [name for name, value in fields.items() if isinstance(value, str)]
    return [name for name in texts if name in known] or texts or None


def _read(line: str, format: str, text: list[str] | None = None) -> Chunk:
    chunks = list(read(io.BytesIO(line.encode("utf-8", "replace")), format, text=text))
    if not chunks:
        raise ValueError(f"there is no example in {line[:40]!r}.")
    return chunks[0]


def _unknown(model: FileLearner, chunk: Chunk, given: FileRows) -> list[str]:
    """The features of an example that a model does not have."""
    if not reads_text(model):
        return _unnamed(model, chunk)
    if model.bits is not None or (isinstance(given, Chunk) and not given.texts and given.named is None):
        return []
    from sklearn.base import clone

    space = model.text_space_
    all_of_them = clone(space).fit(given).get_feature_names_out().tolist()
    known = {space.name_of(column) for column in space.transform(given).indices.tolist()}
    return [name for name in all_of_them if name not in known]
