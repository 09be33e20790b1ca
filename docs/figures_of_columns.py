"""The table of docs/which_rule.md on columns of numbers; called by docs/make_figures.py --tables."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from typing import Any

import numpy as np
from figures_of_tasks import adults

import hinged
from hinged.evaluate import progressive

LEARNERS: dict[str, dict[str, Any]] = {
    "`Classifier()`": {},
    "`Classifier(average=False)`": {"average": False},
    **{f"`Classifier(C={C})`": {"C": C} for C in (0.1, 0.3, 1, 3)},
    '`Classifier("pa1", C=1, scaling=None)`, plain': {"rule": "pa1", "C": 1, "scaling": None},
}


def sets() -> Iterator[tuple[str, Any, np.ndarray]]:
    """Rows and labels of real tables, in the order they come."""
    for name, rows, labels in (("letter", "X", "y"), ("usps", "x_train", "y_train")):
        with np.load(hinged.datasets.folder(name) / f"{name}.npz") as held:
            yield name, held[rows].astype(float), held[labels]
    with np.load(hinged.datasets.folder("binary") / "spambase.npz") as held:
        order = np.random.default_rng(0).permutation(len(held["y"]))  # it comes sorted by label
        yield "spambase", held["X"][order].astype(float), held["y"][order]
    yield "a9a", *adults()
    for name in ("elec2", "noaa_weather"):
        with gzip.open(hinged.datasets.folder("streams") / f"{name}.csv.gz", "rt", encoding="utf-8") as file:
            table = np.array(list(csv.reader(file))[1:], float)
        yield name, table[:, :-1], table[:, -1].astype(int)


def columns() -> list[list[str]]:
    """Percent of online mistakes, all labels known, of every learner on every set."""
    found: dict[str, list[str]] = {learner: [learner] for learner in LEARNERS}
    head = ["learner"]
    for name, X, y in sets():
        head.append(name)
        for learner, settings in LEARNERS.items():
            told = progressive(hinged.Classifier(**settings), X, y, classes=np.unique(y))
            found[learner].append(f"{100 * told.rate:.1f}")
    return [head, *found.values()]


def noise() -> list[list[str]]:
    """Percent of mistakes on correctly labelled rows where a share of the labels is drawn at random, by rule."""
    head, rows = ["stream", "random"], []
    learners: dict[str, dict[str, Any]] = {
        "`Classifier()`": {},
        '`Classifier("pa1")`': {"rule": "pa1"},
        '`Classifier("simproj")`': {"rule": "simproj"},
    }
    for name, X, y in sets():
        if name not in ("letter", "usps"):
            continue
        labels, numbers = np.unique(y, return_inverse=True)
        for share in (0.0, 0.1, 0.3):
            rng = np.random.default_rng(0)
            wrong = rng.random(len(y)) < share
            heard = np.where(wrong, rng.integers(0, len(labels), len(y)), numbers)
            row = [name, f"{100 * share:.0f} %"]
            for settings in learners.values():
                flags = progressive(hinged.Classifier(**settings), X, heard, classes=range(len(labels))).flags
                row.append(f"{100 * np.mean(flags[~wrong] == 1):.1f}")
            rows.append(row)
    return [[*head, *learners], *rows]
