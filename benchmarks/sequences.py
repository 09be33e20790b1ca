"""Sequence tagging compared with CRFsuite, with the same features: chunks, parts of speech, handwritten words.

The setting for text, the defaults of `SequenceTagger` with averaging and shuffling, was chosen by cross-validation on
CoNLL-2000's training sentences. The setting for handwriting was chosen on a third of the words of each of three
training folds; since these words are test words of other folds, that choice is not fully independent of the test data.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pycrfsuite

import hinged
from benchmarks.report import Bar, Report, Sheet, at_least
from benchmarks.timing import Contender, Thunk, race
from hinged.evaluate import span_f1
from hinged.io.examples import read_sentences
from hinged.text import window

SEED = 0
PASSES = 10
TEXT = {"rule": "pa1", "C": 1.0, "average": True, "shuffle": True, "random_state": SEED}
LETTERS = {**TEXT, "C": 0.01, "constraint": "max-loss"}
LETTER_PASSES = 20

Tags = list[list[str]]


class Split(NamedTuple):
    """Training and test sentences with their tags."""

    X: list[list[list[str]]]
    y: Tags
    X_test: list[list[list[str]]]
    y_test: Tags


def run(quick: bool) -> Report:
    """Train and test on the three data sets.

    Parameters
    ----------
    quick : bool
        300 sentences, 2 passes, 2 folds and 1 repeat in place of 3.
    """
    repeats, passes = (1, 2) if quick else (3, PASSES)
    most = 300 if quick else None
    sheets: list[Sheet] = []
    bars: list[Bar] = []
    for measure in (_chunks, _parts_of_speech):
        _attempt(lambda measure=measure: measure(most, passes, repeats), sheets, bars)
    _attempt(lambda: _letters(2 if quick else 10, 2 if quick else LETTER_PASSES), sheets, bars)
    return Report(
        "sequences",
        "CoNLL-2000 chunks, UD English EWT parts of speech, OCR letters in words"
        if sheets
        else "none: set HINGED_DATA to the folder that holds conll2000, ud_english_ewt and ocr_letters",
        f"{passes} passes over text, {2 if quick else LETTER_PASSES} over letters, for all trainers except lbfgs, "
        f"which runs until it converges; CPU time from lists of feature names to a trained model, best of {repeats}; "
        f"hinged on text {_said(TEXT)}, on letters {_said(LETTERS)}; CRFsuite with default settings",
        sheets,
        bars,
    )


def _said(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in settings.items())


def _attempt(measure: Callable[[], tuple[Sheet, list[Bar]]], sheets: list[Sheet], bars: list[Bar]) -> None:
    try:
        sheet, theirs = measure()
    except FileNotFoundError:
        return
    sheets.append(sheet)
    bars += theirs


# ------------------------------------------------------------------ text
def _chunks(most: int | None, passes: int, repeats: int) -> tuple[Sheet, list[Bar]]:
    folder = hinged.datasets.folder("conll2000")
    sides = [_features(folder / f"{part}.txt.gz", most, affixes=0, shape=False) for part in ("train", "test")]
    split = Split(*sides[0], *sides[1])
    timed = race({name: _learner(name, split, passes, TEXT) for name in ("hinged", "pa", "ap")}, repeats)
    sheet = Sheet("CoNLL-2000 chunks", ["trainer", "span F1 %", "tokens right %", "s"])
    found = {}
    for name, one in timed.items():
        answers = one.value(split.X_test)
        found[name] = 100 * span_f1(split.y_test, answers)
        sheet.rows.append([name, f"{found[name]:.2f}", f"{100 * _right(split.y_test, answers):.2f}", one.seconds])
    bars = [_ahead(f"span F1 at least CRFsuite's {name}", found["hinged"], found[name]) for name in ("pa", "ap")]
    for name in ("pa", "ap"):
        ratio = timed[name].seconds / timed["hinged"].seconds
        bars.append(at_least(f"training, faster than CRFsuite's {name}", ratio, 3.0))
    return sheet, bars


def _parts_of_speech(most: int | None, passes: int, repeats: int) -> tuple[Sheet, list[Bar]]:
    folder = hinged.datasets.folder("ud_english_ewt")
    sides = [_features(folder / f"{part}.conllu.gz", most) for part in ("train", "test")]
    split = Split(*sides[0], *sides[1])
    timed = race({name: _learner(name, split, passes, TEXT) for name in ("hinged", "ap")}, 1)
    sheet = Sheet("UD English EWT, universal parts of speech", ["trainer", "tokens right %", "s"])
    found = {name: 100 * _right(split.y_test, one.value(split.X_test)) for name, one in timed.items()}
    sheet.rows += [[name, f"{found[name]:.2f}", timed[name].seconds] for name in timed]
    return sheet, [_ahead("accuracy at least CRFsuite's ap", found["hinged"], found["ap"])]


def _features(path: Path, most: int | None, **options: Any) -> tuple[list[list[list[str]]], Tags]:
    X, y = [], []
    for sentence in read_sentences(path):
        X.append(window(sentence.tokens, **options))
        y.append(sentence.tags)
        if most is not None and len(X) == most:
            break
    return X, y


def _ahead(promise: str, ours: float, theirs: float) -> Bar:
    return Bar(promise, f"{ours:.2f} against {theirs:.2f}", ours >= theirs)


def _right(y: Tags, answers: Tags) -> float:
    pairs = [(a, b) for one, other in zip(y, answers, strict=True) for a, b in zip(one, other, strict=True)]
    return sum(a == b for a, b in pairs) / len(pairs)


# ------------------------------------------------------------------ handwriting
def _letters(folds: int, passes: int) -> tuple[Sheet, list[Bar]]:
    """Train on one fold and test on the other nine, as the set's authors did; features are the dark pixels."""
    with np.load(hinged.datasets.folder("ocr_letters") / "ocr_letters.npz") as stored:
        dark, offsets, fold = np.unpackbits(stored["X"], axis=1).astype(bool), stored["offsets"], stored["fold"]
        letters = [chr(97 + c) for c in stored["y"]]
    names = np.array([f"pixel{i}" for i in range(dark.shape[1])])
    places = list(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True))
    X = [[names[row].tolist() for row in dark[a:b]] for a, b in places]
    y = [letters[a:b] for a, b in places]
    errors: dict[str, list[float]] = {name: [] for name in ("hinged", "ap", "pa", "arow", "lbfgs")}
    for i in range(folds):
        one, others = np.flatnonzero(fold == i).tolist(), np.flatnonzero(fold != i).tolist()
        split = Split([X[j] for j in one], [y[j] for j in one], [X[j] for j in others], [y[j] for j in others])
        for name in errors:
            tag = _learner(name, split, passes, LETTERS)()()
            errors[name].append(100 - 100 * _right(split.y_test, tag(split.X_test)))
    means = {name: float(np.mean(values)) for name, values in errors.items()}
    sheet = Sheet(f"OCR letters, {folds} folds", ["trainer", "letters wrong %", "± between folds"])
    sheet.rows += [[name, f"{means[name]:.2f}", f"{np.std(values):.2f}"] for name, values in errors.items()]
    bars = [
        Bar(f"error below CRFsuite's {name}", f"{means['hinged']:.2f} % against {means[name]:.2f} %", ahead)
        for name in ("ap", "pa", "arow")
        for ahead in [means["hinged"] < means[name]]
    ]
    figure = f"{means['hinged']:.2f} % against {means['lbfgs']:.2f} %"
    bars.append(Bar("error within one point of CRFsuite's lbfgs", figure, means["hinged"] <= means["lbfgs"] + 1.0))
    return sheet, bars


# ------------------------------------------------------------------ learners
def _learner(name: str, split: Split, passes: int, settings: dict[str, Any]) -> Contender:
    """Prepare a learner; the timed function trains it and returns a function from sentences to tags."""

    def ours() -> Thunk:
        model = hinged.SequenceTagger(epochs=passes, **settings)
        return lambda: model.fit(split.X, split.y).predict

    def theirs() -> Thunk:
        return lambda: _crfsuite(name, split, passes)

    return ours if name == "hinged" else theirs


def _crfsuite(algorithm: str, split: Split, passes: int) -> Callable[[list[list[list[str]]]], Tags]:
    trainer = pycrfsuite.Trainer(algorithm=algorithm, verbose=False)
    if algorithm != "lbfgs":
        trainer.set_params({"max_iterations": passes})
    for sentence, tags in zip(split.X, split.y, strict=True):
        trainer.append(sentence, tags)
    tagger = pycrfsuite.Tagger()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        trainer.train(path)
        tagger.open(path)  # reads all of it
    return lambda sentences: [tagger.tag(sentence) for sentence in sentences]
