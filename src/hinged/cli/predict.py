"""`hinged predict`: what a model says about examples, a line each."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hinged.cli.inputs import Inputs
from hinged.cli.options import READING, Files, Model, takes
from hinged.cli.tables import emit

if TYPE_CHECKING:
    from hinged.evaluate.answers import Answers
    from hinged.io.examples import Chunk

__all__ = ["predict"]

ESCAPED = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


@takes(READING)
def predict(
    files: Files = None,
    *,
    model: Model,
    top: Annotated[
        int | None, typer.Option(min=1, metavar="K", help="The best K labels, each followed by its score.")
    ] = None,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="End the line with the chance that the best label is right.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="A JSON object a line: file, line, tag, label, confidence, ranking.")
    ] = False,
    **options: Any,
) -> None:
    """Predict the label of each example.

    A line each, in their order; the input needs no labels. Tabs separate columns, commas the labels of a ranker. A
    model of numbers prints numbers, an outlier detector 1 and -1; a tagger prints the tokens it reads, each with its
    tag, and an empty line between sentences.

    Example: hinged predict new.jsonl --model mail.hinged --top 3
    """
    from hinged.cli.lean import import_lean
    from hinged.cli.progress import Foot

    inputs = Inputs(files, options)
    import_lean()
    from hinged.evaluate.answers import answer, pieces
    from hinged.evaluate.examples import load_learner, reads_text
    from hinged.evaluate.tagging import is_tagger
    from hinged.evaluate.vector_tasks import is_vector

    learner = load_learner(model, sentences=True)
    inputs.remember(learner)
    if is_vector(learner):
        from hinged.cli.vectors import print_answers

        return print_answers(learner, inputs, top, confidence, as_json)
    if is_tagger(learner):
        from hinged.cli.tagging import print_tags

        return print_tags(learner, inputs, top, confidence, as_json)
    with Foot() as foot:
        for whole in inputs.chunks(foot, labels=False, plain=reads_text(learner)):
            for chunk in pieces(learner, whole):
                said = answer(learner, chunk)
                if sys.stdout.isatty():
                    foot.clear()
                rows = range(len(chunk))
                lines = (_object(chunk, said, i, top) if as_json else _columns(said, i, top, confidence) for i in rows)
                emit("\n".join(lines))
    inputs.report_skipped()
    inputs.check_any()


def _columns(said: Answers, i: int, top: int | None, confidence: bool) -> str:
    if top is None:
        cells = [",".join(map(_name, said.predicted(i)))]
    else:
        cells = [cell for label, score in said.ranking(i, top) for cell in (_name(label), f"{score:.4g}")]
    return "\t".join([*cells, f"{said.confidence[i]:.3f}"] if confidence else cells)


def _name(label: Any) -> str:
    return str(label).translate(ESCAPED)


def _object(chunk: Chunk, said: Answers, i: int, top: int | None) -> str:
    about: dict[str, Any] = {"file": chunk.source, "line": int(chunk.lines[i])}
    if chunk.tags and chunk.tags[i]:
        about["tag"] = chunk.tags[i]
    about["label"] = said.best(i)
    if said.above is not None:
        about["labels"] = said.predicted(i)
    about["confidence"] = round(float(said.confidence[i]), 4)
    about["ranking"] = [{"label": label, "score": score} for label, score in said.ranking(i, top)]
    return json.dumps(about, ensure_ascii=False)
