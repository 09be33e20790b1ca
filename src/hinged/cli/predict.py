"""`hinged predict`: the answers of a model, a line for each example."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from hinged.cli.inputs import Inputs
from hinged.cli.options import READING, Files, Model, flag, option, takes
from hinged.cli.progress import ProgressLine
from hinged.cli.tables import emit, emit_json, json_line

if TYPE_CHECKING:
    from hinged.estimators.label_learner import LabelLearner
    from hinged.estimators.sequence import SequenceTagger
    from hinged.files.answers import Answers
    from hinged.files.examples import OneVector
    from hinged.io.examples import Chunk

__all__ = ["predict"]

CONFIDENCE = "End the line with the chance that the best label is right."
LINES = "A JSON object a line: file, line, tag, label, confidence, ranking."
Taggings: TypeAlias = Sequence[tuple[Sequence[Hashable], float]]  # best first, with their scores
ESCAPED = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


@takes(READING)
def predict(
    files: Files = None,
    *,
    model: Model,
    top: Annotated[int | None, option("K", "The best K labels, each followed by its score.", min=1)] = None,
    confidence: Annotated[bool, flag("--confidence", CONFIDENCE)] = False,
    as_json: Annotated[bool, flag("--json", LINES)] = False,
    **options: object,
) -> None:
    """Predict the label of each example.

    One line for each example, in order; the input needs no labels. Tabs separate columns, commas a ranker's labels. A
    regressor prints numbers, an outlier detector 1 and -1; a tagger prints the tokens it reads, each with its tag, and
    an empty line between sentences.

    Example: hinged predict new.jsonl --model mail.hinged --top 3
    """
    inputs = Inputs(files, options)
    from hinged.estimators.label_learner import LabelLearner
    from hinged.estimators.sequence import SequenceTagger
    from hinged.files.examples import load_learner

    learner = load_learner(model)
    inputs.remember(learner)
    if isinstance(learner, SequenceTagger):
        if confidence:
            raise typer.BadParameter("--confidence is for single labels; a tagger has none")
        _print_tags(learner, inputs, top, as_json)
    elif isinstance(learner, LabelLearner):
        _print_labels(learner, inputs, top, confidence, as_json)
    else:
        if top is not None or confidence:
            raise typer.BadParameter("--top and --confidence are for rankings of labels; this model gives one answer")
        _print_answers(learner, inputs, as_json)
    inputs.report_skipped()
    inputs.check_any()


def _print_labels(learner: LabelLearner, inputs: Inputs, top: int | None, confidence: bool, as_json: bool) -> None:
    """Print the best label of each example, or several with their scores."""
    from hinged.files.answers import answer, pieces
    from hinged.files.examples import reads_text

    with ProgressLine() as progress:
        for whole in inputs.chunks(progress, labels=False, plain=reads_text(learner)):
            for chunk in pieces(learner, whole):
                said = answer(learner, chunk)
                if sys.stdout.isatty():
                    progress.clear()
                rows = range(len(chunk))
                lines = (_object(chunk, said, i, top) if as_json else _columns(said, i, top, confidence) for i in rows)
                emit("\n".join(lines))


def _print_answers(learner: OneVector, inputs: Inputs, as_json: bool) -> None:
    """Print the one answer to each example: a label, a number, or 1 and -1 for inside and outside."""
    from hinged.files.answers import answer_vectors

    with ProgressLine() as progress:
        for chunk in inputs.chunks(progress, labels=False):
            answers, scores = answer_vectors(learner, chunk)
            progress.clear()
            if not as_json:
                emit("\n".join(f"{a:.6g}" if isinstance(a, float) else str(a) for a in answers))
                continue
            for i, said in enumerate(answers):
                about = _about(chunk, i) | {"answer": said, "score": float(scores[i])}
                emit_json(about, one_line=True)


def _print_tags(learner: SequenceTagger, inputs: Inputs, top: int | None, as_json: bool) -> None:
    """Print each token with its tags; as JSON, an object for each sentence."""
    from hinged.files.sentences import sentence_rows, words_of

    at_once = 1 if "-" in inputs.files else 64  # a user at a terminal expects an answer to each sentence
    for chunk in inputs.sentences(tagged=False, at_once=at_once):
        ranked = learner.rank(sentence_rows(learner, chunk), top or 1)
        for sentence, best in zip(chunk.sentences, ranked, strict=True):
            tokens = words_of(learner, sentence, chunk.source)
            emit(_tags_object(sentence.line, tokens, best, top) if as_json else _tags_columns(tokens, best))


def _tags_object(line: int, tokens: list[tuple[str, ...]], best: Taggings, top: int | None) -> str:
    about: dict[str, object] = {"line": line, "words": [token[0] for token in tokens], "tags": best[0][0]}
    if top:
        about["ranking"] = [{"tags": tags, "score": round(score, 6)} for tags, score in best]
    return json_line(about)


def _tags_columns(tokens: list[tuple[str, ...]], best: Taggings) -> str:
    columns = zip(tokens, *(tags for tags, _ in best), strict=True)
    return "\n".join(" ".join([*token, *map(str, tags)]) for token, *tags in columns) + "\n"


def _columns(said: Answers, i: int, top: int | None, confidence: bool) -> str:
    if top is None:
        cells = [",".join(map(_name, said.predicted(i)))]
    else:
        cells = [cell for label, score in said.ranking(i, top) for cell in (_name(label), f"{score:.4g}")]
    return "\t".join([*cells, f"{said.confidence[i]:.3f}"] if confidence else cells)


def _name(label: object) -> str:
    return str(label).translate(ESCAPED)


def _object(chunk: Chunk, said: Answers, i: int, top: int | None) -> str:
    about = _about(chunk, i) | {"label": said.best(i)}
    if said.above is not None:
        about["labels"] = said.predicted(i)
    about["confidence"] = round(float(said.confidence[i]), 4)
    about["ranking"] = [{"label": label, "score": score} for label, score in said.ranking(i, top)]
    return json_line(about)


def _about(chunk: Chunk, i: int) -> dict[str, object]:
    """Where example i comes from."""
    tag = {"tag": chunk.tags[i]} if chunk.tags and chunk.tags[i] else {}
    return {"file": chunk.source, "line": int(chunk.lines[i]), **tag}
