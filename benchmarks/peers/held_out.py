"""Programs that learn a set of texts and then label others: what each reads, its grid, and how it is run.

A program takes raw texts and their labels and returns a function from texts to labels. Its clock runs from the texts to
the trained model, so it includes splitting them into words, and writing the file where a program reads files only.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import SGDClassifier

import hinged

Texts = Sequence[str]
Settings = Mapping[str, Any]
Predict = Callable[[Texts], Sequence[Any]]
Fit = Callable[[Texts, Sequence[str], Settings], Predict]

WORD = re.compile(r"\w+")
SEED = 0


class Program(NamedTuple):
    """A program, the settings that are tried, the modules it needs, and whether it can learn more rows afterwards."""

    fit: Fit
    grid: tuple[Settings, ...]
    needs: tuple[str, ...] = ()
    goes_on: bool = True


def grid(**choices: Sequence[Any]) -> tuple[Settings, ...]:
    """Every combination of the choices."""
    return tuple(dict(zip(choices, values, strict=True)) for values in product(*choices.values()))


def words(text: str) -> str:
    """Lower-case words of a text, for programs that split at blanks alone."""
    return " ".join(WORD.findall(text.lower()))


# ------------------------------------------------------------------ hinged
def _hinged(X: Texts, y: Sequence[str], settings: Settings) -> Predict:
    return hinged.TextClassifier(**settings).fit(X, y).predict


# ------------------------------------------------------------------ scikit-learn and LIBLINEAR, on the same rows
def _rows(X: Texts) -> tuple[TfidfVectorizer, Any]:
    vectorizer = TfidfVectorizer(sublinear_tf=True, token_pattern=r"\w+")
    return vectorizer, vectorizer.fit_transform(X)


def _scikit_learn(X: Texts, y: Sequence[str], settings: Settings) -> Predict:
    vectorizer, rows = _rows(X)
    model = SGDClassifier(random_state=SEED, **settings).fit(rows, y)
    return lambda texts: model.predict(vectorizer.transform(texts))


def _liblinear(X: Texts, y: Sequence[str], settings: Settings) -> Predict:
    from liblinear.liblinearutil import predict, train

    vectorizer, rows = _rows(X)
    labels, numbers = np.unique(y, return_inverse=True)
    model = train(numbers.astype(float), rows, f"-s {settings['solver']} -c {settings['C']} -q")

    def answer(texts: Texts) -> Sequence[Any]:
        found, *_ = predict([], vectorizer.transform(texts), model, "-q")
        return labels[np.array(found, int)]

    return answer


# ------------------------------------------------------------------ fastText and Vowpal Wabbit, from files
def _fasttext(X: Texts, y: Sequence[str], settings: Settings) -> Predict:
    import fasttext

    labels, numbers = np.unique(y, return_inverse=True)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "rows.txt"
        file.write_text("".join(f"__label__{n} {words(text)}\n" for n, text in zip(numbers, X, strict=True)))
        # Fewer than ten threads leave part of the weights as they find the memory, and some runs end in NaN.
        model = fasttext.train_supervised(str(file), thread=10, verbose=0, **settings)

    def answer(texts: Texts) -> Sequence[Any]:
        found, _ = model.predict([words(text) for text in texts])
        return labels[[int(one[0].removeprefix("__label__")) for one in found]]

    return answer


def _vowpal_wabbit(X: Texts, y: Sequence[str], settings: Settings) -> Predict:
    import pylibvw
    from vowpalwabbit import Workspace

    labels, numbers = np.unique(y, return_inverse=True)
    with TemporaryDirectory() as folder:
        file, model = Path(folder) / "rows.txt", Path(folder) / "model"
        file.write_text("".join(f"{n + 1} | {words(text)}\n" for n, text in zip(numbers, X, strict=True)))
        options = f"--oaa {len(labels)} -b 22 --loss_function {settings['loss']} -l {settings['rate']}"
        more = f"--passes {settings['passes']} --holdout_off --cache_file {folder}/cache -k"
        workspace = Workspace(f"{options} {more} -d {file} -f {model} --quiet")
        pylibvw.vw.run_parser(workspace)
        workspace.finish()
        stored = model.read_bytes()

    def answer(texts: Texts) -> Sequence[Any]:
        with TemporaryDirectory() as folder:
            model = Path(folder) / "model"
            model.write_bytes(stored)
            workspace = Workspace(f"-t -i {model} --quiet")
            found = [workspace.predict(f"| {words(text)}") for text in texts]
            workspace.finish()
        return labels[np.array(found) - 1]

    return answer


NO_SETTING: Settings = {}
PROGRAMS: dict[str, Program] = {
    "hinged, no setting, one pass": Program(_hinged, (NO_SETTING,)),
    "hinged": Program(
        _hinged,
        grid(
            sharing=("hybrid", "multi"),
            epochs=(3, 10),
            average=(False, True),
            shuffle=(True,),
            random_state=(SEED,),
        ),
    ),
    "LIBLINEAR": Program(_liblinear, grid(solver=(1, 4, 7), C=(0.3, 1.0, 3.0)), ("liblinear",), goes_on=False),
    "fastText": Program(_fasttext, grid(lr=(0.5, 1.0), epoch=(5, 25), wordNgrams=(1, 2)), ("fasttext",), goes_on=False),
    "Vowpal Wabbit": Program(
        _vowpal_wabbit, grid(loss=("hinge", "logistic"), passes=(3, 10), rate=(0.5, 2.0)), ("vowpalwabbit",)
    ),
    "scikit-learn": Program(_scikit_learn, grid(loss=("hinge", "modified_huber"), alpha=(1e-5, 3e-5, 1e-4, 3e-4))),
}
