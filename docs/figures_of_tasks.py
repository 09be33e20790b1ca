"""The picture of docs/tasks.md, with the figures of its text; called by docs/make_figures.py."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import hinged
from hinged.evaluate import plots, progressive

BLUE, ORANGE, GREEN, PINK = plots.COLOURS[:4]
WEEK = 24 * 7


def adults() -> tuple[Any, np.ndarray]:
    """Rows of a9a, and whether the person earns more than 50,000 dollars."""
    with np.load(hinged.datasets.folder("binary") / "a9a.npz") as held:
        indptr, indices, y = held["X_train_indptr"], held["X_train_indices"], held["y_train"]
        n_features = int(held["n_features"])
    return csr_array((np.ones(len(indices)), indices, indptr), shape=(len(y), n_features)), y


def bikes() -> tuple[list[dict[str, float]], np.ndarray]:
    """Hours of two years in order: what was known of each, and how many bikes were rented."""
    with gzip.open(hinged.datasets.folder("regression") / "bike_sharing_hour.csv.gz", "rt", encoding="utf-8") as file:
        hours = list(csv.DictReader(file))
    return [_hour(hour) for hour in hours], np.array([float(hour["cnt"]) for hour in hours])


def _hour(hour: dict[str, str]) -> dict[str, float]:
    names = (f"hour {hour['hr']}", f"month {hour['mnth']}", f"weather {hour['weathersit']}")
    work = f"work {hour['workingday']} hour {hour['hr']}"
    numbers = {name: float(hour[name]) for name in ("temp", "hum", "windspeed", "yr")}
    return dict.fromkeys((*names, work, f"day {hour['weekday']} hour {hour['hr']}"), 1.0) | numbers


def tasks(panels: Callable[..., Any]) -> None:
    """Binary, regression, ordinal and one-class learning on real data."""
    title = "Four more questions a stream can ask, and the same rules that answer them"
    note = "income (a9a), bikes rented each hour, the quality of red wine, handwritten zeros (USPS)"
    with panels("tasks", 4, (12.6, 3.7), title, note) as axes:
        _two_labels(axes[0])
        _numbers(axes[1])
        _ranks(axes[2])
        _one_class(axes[3])


def _two_labels(ax: Any) -> None:
    X, y = adults()
    for (rule, C), colour in zip(
        (("pa1", 0.01), ("pa2", 0.01), ("pa", 1.0), ("perceptron", 1.0)), (BLUE, GREEN, ORANGE, PINK), strict=True
    ):
        told = progressive(hinged.BinaryClassifier(rule, C, scaling=None), X, y, classes=[-1, 1])
        ax.plot(100 * told.curve / np.arange(1, len(y) + 1), color=colour, linewidth=1.7, label=rule)
        print(f"  two labels, {rule} C={C:g}: {100 * told.rate:.1f} % mistakes")
    ax.set_ylim(14, 30)
    ax.set_xlabel("two labels: people seen")
    ax.xaxis.set_major_formatter(lambda x, _: f"{x / 1000:g}k")
    ax.yaxis.set_major_formatter("{x:g} %")
    ax.legend(frameon=False)


def _numbers(ax: Any) -> None:
    X, y = bikes()
    model = hinged.Regressor("pa1", C=10.0, epsilon=5.0, scaling=None)
    ours = np.empty(len(y))
    for i, (hour, rented) in enumerate(zip(X, y.tolist(), strict=True)):  # the whole error, also what is within ε
        ours[i] = abs(rented - (model.predict_one(hour) if i else 0.0))
        model.learn_one(hour, rented)
    naive = np.abs(np.diff(y, prepend=0.0))
    for errors, colour, name in ((naive, ORANGE, "as an hour ago"), (ours, BLUE, "Regressor")):
        week = np.convolve(errors, np.ones(WEEK) / WEEK, "valid")
        ax.plot(np.arange(len(week)) / WEEK, week, color=colour, linewidth=1.7, label=name)
        print(f"  numbers, {name}: mean error {errors.mean():.1f} bikes")
    ax.set_xlabel("numbers: weeks; mean error in bikes")
    ax.set_ylim(0)
    ax.legend(frameon=False)


def _ranks(ax: Any) -> None:
    raw, y = hinged.datasets.ordinal_sets()["wine_red"]
    X = StandardScaler().fit_transform(raw)
    model = hinged.OrdinalClassifier(
        "conproj", C=0.1, scaling=None, average=True, epochs=5, shuffle=True, random_state=0
    ).fit(X, y)
    scores = model.decision_function(X)
    noise = np.random.default_rng(0).uniform(-0.32, 0.32, len(y))
    ax.scatter(scores, y + 3 + noise, s=3, color=BLUE, alpha=0.35, linewidths=0)
    for threshold in model.thresholds_:
        ax.axvline(threshold, color=ORANGE, linewidth=1.2)
    folds = KFold(5, shuffle=True, random_state=0)
    held_out = cross_val_predict(make_pipeline(StandardScaler(), clone(model)), raw, y, cv=folds)
    print(f"  ranks: off by {np.abs(held_out - y).mean():.2f} on wines that were not learnt, of five parts each")
    ax.set_xlabel("ranks: score, and thresholds; quality")


def _one_class(ax: Any) -> None:
    with np.load(hinged.datasets.folder("usps") / "usps.npz") as held:
        X, y, held_out, digit = held["x_train"], held["y_train"], held["x_test"], held["y_test"]
    X, held_out = (images / np.linalg.norm(images, axis=1, keepdims=True) for images in (X, held_out))
    model = hinged.Uniclass("pa1", C=0.01, radius="learn", max_radius=0.7, epochs=3).fit(X[y == 0])
    distances = -model.score_samples(held_out)
    bins = np.linspace(0, distances.max(), 45)
    for some, colour, name in ((digit == 0, BLUE, "zeros"), (digit != 0, ORANGE, "other digits")):
        ax.hist(distances[some], bins, density=True, color=colour, alpha=0.75, label=name)
    inside = [100 * float((distances[some] <= model.radius_).mean()) for some in (digit == 0, digit != 0)]
    print(f"  one class: radius {model.radius_:.2f}; inside {inside[0]:.0f} % of zeros, {inside[1]:.0f} % of others")
    ax.axvline(model.radius_, color="black", linewidth=1.0, linestyle=(0, (4, 3)))
    ax.set_yticks([])
    ax.set_xlabel("one class: distance from the centre")
    ax.legend(frameon=False)
