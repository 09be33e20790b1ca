"""Passive-aggressive learners and noise: two Gaussians in the plane, instances or labels contaminated.

Crammer et al. (2006), section 10, figures 3 to 5. Labels ±1 with equal chance; instances from a Gaussian around (1, 1)
or (-1, -1) with variances 0.2 and 2; 4,000 examples, ten repetitions, no bias.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hinged.estimators.binary import BinaryClassifier
from hinged.evaluate import progressive
from studies.study import PLAIN, Advance, Curves, Outcome, Study, Table

__all__ = ["EFFECT_OF_C", "EFFECT_OF_T", "ROBUSTNESS", "best_fixed", "gaussians"]

ROUNDS, REPEATS, SMALL_C = 4000, 10, 0.001
RULES = {"PA": "pa", "PA-I": "pa1", "PA-II": "pa2"}
INSTANCE_NOISE = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0)
LABEL_NOISE = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
CAPS = tuple(10.0**p for p in range(-5, 5))


def gaussians(
    seed: int, rounds: int = ROUNDS, instance_noise: float = 0.0, label_noise: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Instances and labels ±1."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], rounds)
    X = y[:, np.newaxis] + rng.normal(size=(rounds, 2)) * np.sqrt([0.2, 2.0])
    X = X + rng.normal(size=(rounds, 2)) * np.sqrt(instance_noise)
    return X, np.where(rng.random(rounds) < label_noise, -y, y)


def best_fixed(X: np.ndarray, y: np.ndarray) -> float:
    """Error of the linear classifier through the origin that makes the fewest mistakes, found exactly.

    In the plane the number of mistakes changes only where the classifier's normal passes a right angle to an instance,
    so one walk over the sorted angles meets every classifier.

    Examples
    --------
    >>> best_fixed(np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]), np.array([1, 1, -1]))
    0.0
    """
    turned = X * y[:, np.newaxis]
    angle = np.arctan2(turned[:, 1], turned[:, 0])  # right within a quarter turn on either side
    starts, ends = np.mod(angle - np.pi / 2, 2 * np.pi), np.mod(angle + np.pi / 2, 2 * np.pi)
    events = np.concatenate((starts, ends))
    change = np.concatenate((np.ones(len(X), int), -np.ones(len(X), int)))
    order = np.lexsort((-change, events))
    right = int((starts > ends).sum()) + np.cumsum(change[order])
    return 1.0 - max(int(right.max()), int((starts > ends).sum())) / len(X)


def _mean(rule: str, C: float, streams: list[tuple[np.ndarray, np.ndarray]]) -> tuple[float, float]:
    """Average error and average loss over the repetitions."""
    told = [progressive(BinaryClassifier(rule, C, **PLAIN), X, y, classes=[-1, 1]) for X, y in streams]
    losses = [float(t.losses.mean()) for t in told if t.losses is not None]
    return float(np.mean([t.rate for t in told])), float(np.mean(losses))


def robustness(advance: Advance) -> Outcome:
    """Figure 3: error and loss against the error of the best fixed classifier."""
    tables, drawn = [], []
    for title, levels, name in (
        ("Instance noise", INSTANCE_NOISE, "instance_noise"),
        ("Label noise", LABEL_NOISE, "label_noise"),
    ):
        rows = []
        for level in levels:
            noise: dict[str, Any] = {name: level}
            streams = [gaussians(seed, **noise) for seed in range(REPEATS)]
            best = float(np.mean([best_fixed(X, y) for X, y in streams]))
            means = {name_of: _mean(rule, SMALL_C, streams) for name_of, rule in RULES.items()}
            errors, losses = zip(*means.values(), strict=True)
            rows.append([level, 100 * best, *(100 * error for error in errors), *losses])
            advance(f"{title.lower()} {level:g}")
        shown = [*(f"{rule} error %" for rule in RULES), *(f"{rule} loss" for rule in RULES)]
        columns = [name.replace("_", " "), "best fixed %", *shown]
        tables.append(Table(title, columns, rows))
        errs = {"best fixed": 1, **{rule: at for at, rule in enumerate(RULES, start=2)}}
        series = {who: [row[at] / 100 for row in rows] for who, at in errs.items()}
        places, ticks = list(levels), [f"{level:g}" for level in levels]
        picture = f"{title}: average error, against the best fixed linear classifier"
        drawn.append(Curves(picture, series, name.replace("_", " "), percent=True, places=places, ticks=ticks))
    worst: Any = tables[1].rows[-1]
    remarks = [
        "The paper shows curves, no numbers. It finds that all three perform equally at low noise, and that PA-I and "
        "PA-II both outperform PA as noise grows; here, at the highest label noise, PA errs on "
        f"{worst[2]:.1f} %, PA-I on {worst[3]:.1f} %, PA-II on {worst[4]:.1f} %, the best fixed one on "
        f"{worst[1]:.1f} %."
    ]
    about = f"C = {SMALL_C:g}; {ROUNDS:,} examples, mean of {REPEATS} repetitions (seeds 0 to {REPEATS - 1}). "
    about += "The best fixed classifier is found exactly, by a sweep over all angles."
    return Outcome(ROBUSTNESS.name, ROBUSTNESS.title, ROBUSTNESS.source, about, tables, drawn, remarks)


def effect_of_c(advance: Advance) -> Outcome:
    """Figure 4: error and loss by C at three levels of label noise."""
    tables, drawn = [], []
    for shown, rule in list(RULES.items())[1:]:
        rows = []
        for C in CAPS:
            row: list[float] = [C]
            for level in (0.0, 0.1, 0.2):
                error, loss = _mean(rule, C, [gaussians(s, label_noise=level) for s in range(REPEATS)])
                row += [100 * error, loss]
            rows.append(row)
            advance(f"{shown}, C={C:g}")
        columns = ["C", *(f"{what} at p={p:g}" for p in (0.0, 0.1, 0.2) for what in ("error %", "loss"))]
        tables.append(Table(f"{shown} by C", columns, rows))
        series = {f"p = {p:g}": [row[at] / 100 for row in rows] for p, at in ((0.0, 1), (0.1, 3), (0.2, 5))}
        places, ticks = [float(np.log10(C)) for C in CAPS], [f"{C:g}" for C in CAPS]
        picture = f"{shown}: average error at three levels of label noise"
        drawn.append(Curves(picture, series, "C", percent=True, places=places, ticks=ticks))
    best = {t.title.split()[0]: min(t.rows, key=lambda row: row[5])[0] for t in tables}
    remarks = [
        "As in the paper, C should be small if labels are noisy: at p = 0.2 the fewest mistakes are made with "
        + " and ".join(f"C = {C:g} ({name})" for name, C in best.items())
        + "."
    ]
    about = f"{ROUNDS:,} examples, mean of {REPEATS} repetitions."
    return Outcome(EFFECT_OF_C.name, EFFECT_OF_C.title, EFFECT_OF_C.source, about, tables, drawn, remarks)


def effect_of_t(advance: Advance) -> Outcome:
    """Figure 5: average error so far, for a small and a large C."""
    X, y = gaussians(0, 10_000, label_noise=0.02)
    curves, rows = [], []
    for shown, rule in list(RULES.items())[1:]:
        series = {}
        for C in (100.0, 0.001):
            told = progressive(BinaryClassifier(rule, C, **PLAIN), X, y, classes=[-1, 1])
            series[f"C = {C:g}"] = told.curve / np.arange(1, len(y) + 1)
            advance(f"{shown}, C={C:g}")
        curves.append(Curves.thinned(f"{shown}: average error so far", series, "rounds", percent=True))
        rows += [
            [shown, name, *(100 * float(curve[t - 1]) for t in (100, 1000, 10_000))] for name, curve in series.items()
        ]
    table = Table("Average error after T rounds, in percent", ["rule", "C", "T = 100", "1,000", "10,000"], rows)
    remarks = ["As in the paper, which shows curves and no numbers, a large C learns faster but ends worse."]
    about = "10,000 examples with 2 % of the labels flipped, seed 0."
    return Outcome(EFFECT_OF_T.name, EFFECT_OF_T.title, EFFECT_OF_T.source, about, [table], curves, remarks)


ROBUSTNESS = Study(
    "pa-noise", "Robustness to noise", "PA, figure 3", (), len(INSTANCE_NOISE) + len(LABEL_NOISE), robustness
)
EFFECT_OF_C = Study("pa-c", "The effect of C", "PA, figure 4", (), 2 * len(CAPS), effect_of_c)
EFFECT_OF_T = Study("pa-t", "The effect of the number of rounds", "PA, figure 5", (), 4, effect_of_t)
