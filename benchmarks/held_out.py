"""Learning a set of texts once and labelling others, compared with batch learners: LIBLINEAR, fastText and others.

Every program gets the same training texts in the same random order. Its setting is the one of its grid that labels the
most of a random fifth of the training texts right after learning the rest; then it learns all of them.
"""

import gzip
import importlib.util
import json
import random
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np

from benchmarks.peers.held_out import PROGRAMS, SEED, Program, Settings
from benchmarks.report import Bar, Report, Sheet, at_least
from hinged.datasets import folder

AS_IT_COMES, BY_DATE = "hinged, no setting, one pass", "hinged, no setting, one pass by date"
WARM = 100  # rows learnt before the clock starts, so that nothing is compiled or loaded afterwards


class Split(NamedTuple):
    """Texts and labels to learn, in order of time, and others to judge by."""

    X: list[str]
    y: list[str]
    X_test: list[str]
    y_test: list[str]

    def some(self, rows: Sequence[int]) -> tuple[list[str], list[str]]:
        """Training texts and labels of these rows."""
        return [self.X[i] for i in rows], [self.y[i] for i in rows]


class Measured(NamedTuple):
    """Processor and wall seconds of training, processor seconds of labelling, and the share that is right."""

    seconds: float
    wall: float
    predicting: float
    right: float


def run(quick: bool) -> Report:
    """Search and measure all programs on both collections.

    Parameters
    ----------
    quick : bool
        1,000 training texts, 500 to judge by, two settings of each grid, and one repeat in place of 3.
    """
    repeats, most = (1, 1000) if quick else (3, None)
    sheets: list[Sheet] = []
    bars: list[Bar] = []
    absent = [name for name, program in PROGRAMS.items() if not _installed(program)]
    for title, read in (("20 Newsgroups, 20 labels", _news), ("Reuters-21578, stories of one topic", _stories)):
        try:
            split = read(most)
        except FileNotFoundError:
            continue
        sheet, more = _compare(title, split, repeats, 2 if quick else None)
        sheets.append(sheet)
        bars += more
    grids = "; ".join(f"{name}: {_grid(program)}" for name, program in PROGRAMS.items() if len(program.grid) > 1)
    return Report(
        "held_out",
        "20 Newsgroups (by date; subject and body) and the stories of Reuters-21578 (ModApte) with exactly one topic "
        "that has stories in both parts, training part and test part as published"
        if sheets
        else "none: set HINGED_DATA to the folder that holds twenty_newsgroups and reuters21578",
        f"each training in a new process that has learnt {WARM} texts before; processor time of all threads, best of "
        f"{repeats} interleaved, from texts in memory to a trained model, words and files included; shares right are "
        "the mean of these runs. Training texts in "
        f"one random order, seed {SEED}, the same for all, but for the row by date. Settings: the one of each "
        "grid that is right most often on a random fifth of the training texts after learning the rest. "
        f"{grids}. LIBLINEAR and scikit-learn get the same rows, TfidfVectorizer(sublinear_tf=True) of words; fastText "
        "without vectors from elsewhere and with ten threads (with fewer it leaves part of its weights as it finds the "
        "memory), Vowpal Wabbit with --oaa and 22 bits, both from a file of lower-case words; "
        "hinged the texts, TextClassifier" + (f". Not installed: {', '.join(absent)}" if absent else ""),
        sheets,
        bars,
    )


def _grid(program: Program) -> str:
    """Return the choices of a grid in words; what never changes stands with its value."""
    names = program.grid[0]
    choices = {name: list(dict.fromkeys(settings[name] for settings in program.grid)) for name in names}
    return ", ".join(f"{name} {' or '.join(map(str, tried))}" for name, tried in choices.items() if len(tried) > 1)


def _installed(program: Program) -> bool:
    return all(importlib.util.find_spec(module) for module in program.needs)


# ------------------------------------------------------------------ the texts
def _news(most: int | None) -> Split:
    posts = _lines("twenty_newsgroups", "twenty_newsgroups")
    return _split([(one["split"], one["group"], f"{one['subject']} {one['body']}") for one in posts], most)


def _stories(most: int | None) -> Split:
    stories = [one for one in _lines("reuters21578", "reuters21578") if len(one["topics"]) == 1]
    return _split([(one["modapte"], one["topics"][0], f"{one['title']} {one['body']}") for one in stories], most)


def _lines(name: str, file: str) -> list[dict[str, Any]]:
    with gzip.open(folder(name) / f"{file}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _split(rows: list[tuple[str, str, str]], most: int | None) -> Split:
    parts: dict[str, list[tuple[str, str]]] = {"train": [], "test": []}
    for part, label, text in rows:
        if part in parts:
            parts[part].append((label, " ".join(text.split())))
    if most:
        dice = random.Random(SEED)
        parts = {"train": dice.sample(parts["train"], most), "test": dice.sample(parts["test"], most // 2)}
    shared = set.intersection(*({label for label, _ in part} for part in parts.values()))
    (y, X), (y_test, X_test) = (
        map(list, zip(*((label, text) for label, text in part if label in shared), strict=True))
        for part in parts.values()
    )
    return Split(X, y, X_test, y_test)


# ------------------------------------------------------------------ measuring
def _compare(title: str, split: Split, repeats: int, most: int | None) -> tuple[Sheet, list[Bar]]:
    """Return a table of what each program labels right and how long it takes, best first, and the targets."""
    in_time = list(range(len(split.X)))
    mixed = random.Random(SEED).sample(in_time, len(in_time))
    held, rest = mixed[: len(mixed) // 5], mixed[len(mixed) // 5 :]
    tuned = Split(*split.some(rest), *split.some(held))
    shuffled = Split(*split.some(mixed), split.X_test, split.y_test)
    chosen = {name: _search(name, tuned, most) for name, program in PROGRAMS.items() if _installed(program)}
    entries = {name: (name, settings, shuffled) for name, settings in chosen.items()}
    entries[BY_DATE] = (AS_IT_COMES, chosen[AS_IT_COMES], split)
    runs: dict[str, list[Measured]] = {name: [] for name in entries}
    dice, order = random.Random(SEED), list(entries)
    for _ in range(repeats):
        dice.shuffle(order)
        for name in order:
            program, settings, rows = entries[name]
            runs[name] += _alone(program, [settings], rows)
    best = {
        name: Measured(*map(min, list(zip(*each, strict=True))[:3]), float(np.mean([one.right for one in each])))
        for name, each in runs.items()
    }
    columns = ["who", "setting", "right %", "training s", "wall s", "labelling s", "learns more texts"]
    sheet = Sheet(f"{title}, {len(split.X):,} texts to learn, {len(split.X_test):,} to label", columns)
    for name in sorted(best, key=lambda name: -best[name].right):
        program, settings, _ = entries[name]
        shown = ", ".join(f"{one}={value}" for one, value in settings.items() if one not in ("shuffle", "random_state"))
        times = [best[name].seconds, best[name].wall, best[name].predicting]
        sheet.rows.append(
            [name, shown, f"{100 * best[name].right:.2f}", *times, "yes" if PROGRAMS[program].goes_on else "no"]
        )
    return sheet, _bars(title, best)


def _bars(title: str, best: dict[str, Measured]) -> list[Bar]:
    peers = [name for name in best if not name.startswith("hinged")]
    ahead = max(best[name].right for name in peers)
    bars = []
    for name in ("hinged", AS_IT_COMES):
        promise = f"{title}: {name}, at most 1 point below the best of the others"
        figure = f"{100 * best[name].right:.2f} against {100 * ahead:.2f}"
        bars.append(Bar(promise, figure, best[name].right >= ahead - 0.01))
    for name in peers:
        ratio = best[name].seconds / best[AS_IT_COMES].seconds
        bars.append(at_least(f"{title}: training without a setting, speed over {name}", ratio, 1))
    return bars


def _search(name: str, split: Split, most: int | None) -> Settings:
    """Return the setting of a program's grid that is right most often, the first of equals."""
    tried = PROGRAMS[name].grid[:most]
    if len(tried) == 1:
        return tried[0]
    return tried[int(np.argmax([one.right for one in _alone(name, tried, split)]))]


def _alone(name: str, tried: Sequence[Settings], split: Split) -> list[Measured]:
    """Measure one program in a process of its own, with each of the settings."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return [pool.submit(_measure, name, settings, split).result() for settings in tried]


def _measure(name: str, settings: Settings, split: Split) -> Measured:
    fit = PROGRAMS[name].fit
    fit(split.X[:WARM], split.y[:WARM], settings)(split.X_test[:WARM])
    wall, start = time.perf_counter(), time.process_time()
    label = fit(split.X, split.y, settings)
    seconds, wall = time.process_time() - start, time.perf_counter() - wall
    start = time.process_time()
    found = label(split.X_test)
    predicting = time.process_time() - start
    return Measured(seconds, wall, predicting, float(np.mean(np.array(found) == np.array(split.y_test))))
