"""Vowpal Wabbit on the same documents: their words, or exactly the rows that our learner reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from hinged.estimators.text import TextClassifier
from hinged.loops.fading import FOREVER
from hinged.loops.products import UNHASHED
from hinged.loops.rows import IDF, Rows, Scaling, enter_row, longest_row, read_row
from hinged.text import Vocabulary

__all__ = ["READINGS", "Best", "Reading", "best_of", "row_lines", "word_lines"]


class Best(NamedTuple):
    """The fewest mistakes of several settings, and the setting that made them."""

    mistakes: int
    setting: str


def word_lines(documents: Sequence[Any]) -> list[str]:
    """The words of each document, by number; Vowpal Wabbit scales them in its own way.

    Examples
    --------
    >>> word_lines(["tax form", "tax"])
    ['0 1', '0']
    """
    X = Vocabulary().fit_transform(documents)
    return [" ".join(map(str, X.indices[a:b])) for a, b in zip(X.indptr, X.indptr[1:], strict=False)]


def row_lines(documents: Sequence[Any]) -> list[str]:
    """Each row with the values that `TextClassifier` learns from: long fields limited, online IDF, unit length.

    Examples
    --------
    >>> row_lines(["tax form", "tax"])
    ['1:0.707106769 2:0.707106769', '1:1']
    """
    X = TextClassifier().text_space_.fit_transform(documents)
    rows = Rows(X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data.astype(np.float32))
    df, logs, none = np.zeros(X.shape[1] + 1, np.int32), np.log(np.arange(len(documents) + 1) + 0.5), np.zeros(1)
    known = {"df": df, "logs": logs, "means": none, "spreads": none, "turns": np.zeros((1, 0), np.float32)}
    scaling = Scaling(IDF, unit=True, bias=0.0, counts=True, hashing=UNHASHED, fading=FOREVER, held=none, **known)
    f, v = np.empty(longest_row(rows), np.int64), np.empty(longest_row(rows), np.float32)
    lines = []
    for i in range(len(documents)):
        n, _ = read_row(rows, i, scaling, i, f, v)
        lines.append(" ".join(f"{a}:{b:.9g}" for a, b in zip(f[:n].tolist(), v[:n].tolist(), strict=True)))
        enter_row(scaling, rows, i, i)
    return lines


class Reading(NamedTuple):
    """How documents become lines, and the options and learning rates of which the best is taken."""

    lines: Callable[[Sequence[Any]], list[str]]
    options: str
    rates: tuple[float, ...]

    def settings(self) -> list[str]:
        """Each loss at each rate."""
        return [f"{self.options} --loss_function {loss} -l {r}" for loss, r in product(LOSSES, self.rates)]

    def described(self) -> str:
        """The settings in words."""
        options = f"{self.options}, " if self.options else ""
        return f"{options}{' or '.join(LOSSES)} loss, -l {', '.join(map(str, self.rates))}"


LOSSES = ("hinge", "logistic")
#: On rows of unit length plain steps of a constant rate do best, so there that is what Vowpal Wabbit is given.
READINGS = {
    "words": Reading(word_lines, "", (0.5, 1, 2)),
    "rows": Reading(row_lines, "--sgd --noconstant --power_t 0", (2, 4, 8, 16, 32)),
}


def best_of(reading: str, documents: Sequence[Any], labels: Sequence[str], most: int | None = None) -> Best:
    """Mistakes at the best of a reading's settings, or of the first `most`; a label's first round does not count."""
    numbers = {label: i for i, label in enumerate(dict.fromkeys(labels), start=1)}
    lines = [
        f"{numbers[label]} | {line}" for label, line in zip(labels, READINGS[reading].lines(documents), strict=True)
    ]
    right = [numbers[label] for label in labels]
    tried = [Best(_mistakes(lines, right, setting), setting.strip()) for setting in READINGS[reading].settings()[:most]]
    return min(tried, key=lambda best: best.mistakes)


def _mistakes(lines: list[str], right: list[int], setting: str) -> int:
    """Rounds that are predicted wrongly before they are learnt."""
    from vowpalwabbit import Workspace  # type: ignore[import-untyped, import-not-found, unused-ignore]

    workspace = Workspace(f"--oaa {max(right)} --quiet -b 22 {setting}")
    seen: set[int] = set()
    wrong = 0
    for line, label in zip(lines, right, strict=True):
        example = workspace.parse(line)
        workspace.learn(example)
        wrong += label in seen and example.get_multiclass_prediction() != label
        workspace.finish_example(example)
        seen.add(label)
    workspace.finish()
    return wrong
