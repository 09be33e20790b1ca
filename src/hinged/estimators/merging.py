"""One state of several that began alike and learnt different examples: iterative parameter mixing, on plain arrays.

With states n_i, their common base n_0 and shares μ_i that sum to 1:

    weights        Σ μ_i w_i
    counters       n_0 + Σ (n_i - n_0)
    moments        of all values together: mean and Σ (v - mean)², by the counts behind them
    late sums      mass(T) Σ μ_i late_i / mass(T_i), so that the mean weights w - late / mass(T) are mixed like w

A state that learnt nothing since the base counts for nothing. Labels and features are united by name (`united.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from hinged.estimators.mixed_stores import Mixed, late_factors, merged_store, squares
from hinged.estimators.united import check_mergeable, spread, unite
from hinged.loops.ledger import LABELS, LEARNT, MISTAKES, RANKED, ROUNDS, THRESHOLD, UPDATES

if TYPE_CHECKING:
    from hinged.estimators.state import ModelState

__all__ = ["WEIGHTS", "merge"]

#: What a state counts for in the mean → the counter behind it; None: each state alike.
WEIGHTS: dict[str, int | None] = {"uniform": None, "updates": UPDATES, "mistakes": MISTAKES}
MERGED = "merged"  # in `about`: how many states were merged to one
#: Arrays of models whose weights are merged: of label learners, and of one vector.
MEANS = (
    "ledger.odds", "ledger.records", "ledger.leads", "experts.shares", "experts.mistakes", "shares", "losses", "w", "b"
)  # fmt: skip
TOTALS = ("label_rows", "totals.occurrences", "df", "seen", "cost", "experts.sums")
SETTINGS = ("experts.growth", "experts.by_best", "growth")
APART = (
    "ledger.counts", "ledger.sums", "counts", "sums", "first_rounds", "n_features", "late", "late_b",
    "totals.last", "totals.squares",
    "means", "spreads", "target", "words.hashes", "words.ends", "words.arena",
)  # fmt: skip
STORES = ("store0", "store1", "store2", "store4")  # weights, shared vectors, counts, sums
NEVER = np.iinfo(np.int64).max


def merge(states: Iterable[ModelState], base: ModelState | None = None, weights: str = "uniform") -> ModelState:
    """Return the merge of states of linear learners; see `merge` of a learner.

    Merging some states of a round first and the results later gives the same up to rounding, and so does any order.

    Examples
    --------
    >>> import hinged
    >>> model = hinged.BinaryClassifier("pa1", C=1.0, scaling=None, average=False).declare(["no", "yes"])
    >>> start = model.partial_fit([[1.0, 0.0]], ["yes"]).get_state()
    >>> one = model.set_state(start).partial_fit([[0.0, 4.0]], ["yes"]).get_state()
    >>> two = model.set_state(start).partial_fit([[0.0, 2.0]], ["no"]).get_state()
    >>> both = merge([one, two], base=start)
    >>> both.arrays["w"].tolist(), int(both.arrays["counts"][0])
    ([0.0, 1.0, -0.125], 3)
    """
    if weights not in WEIGHTS:
        raise ValueError(f"weights must be one of {', '.join(WEIGHTS)}; got weights={weights!r}.")
    given = list(states)
    known = given if base is None else [*given, base]
    if not known:
        raise ValueError("merge needs at least one state; got none. Learners give theirs by get_state().")
    check_mergeable(known)
    _check_arrays(known)
    learnt = [state for state in given if _rounds(state) > (0 if base is None else _rounds(base))]
    if not learnt:
        return given[0] if base is None else base
    united = unite(learnt, base)
    if len(learnt) == 1 and united.is_of(learnt[0]):
        return learnt[0]
    mixed = Mixed(learnt, base, _shares(learnt, base, weights), united)
    arrays = _merged_arrays(mixed)
    first = learnt[0].about
    several = len(learnt) > 1
    about = {
        **first,
        "edited": several or any(state.about.get("edited") for state in learnt),
        "columns": united.columns,
        "notes": (base or learnt[0]).about.get("notes") or first.get("notes"),
        MERGED: sum(state.about.get(MERGED, 1) for state in learnt),
    }
    return type(learnt[0])(about, arrays | united.words, united.names)


def _check_arrays(states: Sequence[ModelState]) -> None:
    """Refuse arrays for which there is no rule here."""
    for name in chain.from_iterable(state.arrays for state in states):
        if name not in (*MEANS, *TOTALS, *SETTINGS, *APART) and not name.startswith("store"):
            raise ValueError(f"this learner cannot be merged: it keeps {name!r}, for which there is no rule.")


def _rounds(state: ModelState) -> int:
    return int(state.counts[ROUNDS])


def _shares(states: Sequence[ModelState], base: ModelState | None, weights: str) -> np.ndarray:
    """Return what each state counts for, by its own counter or by how many were merged to it; in all, 1."""
    counter = WEIGHTS[weights]
    before = 0 if base is None or counter is None else int(base.counts[counter])
    if counter is not None:
        each = [float(state.counts[counter] - before) for state in states]
    if counter is None or sum(each) <= 0.0:
        each = [float(state.about.get(MERGED, 1)) for state in states]
    return np.array(each) / sum(each)


def _merged_arrays(mixed: Mixed) -> dict[str, np.ndarray]:
    """Return the merged arrays."""
    first = mixed.states[0].arrays
    arrays: dict[str, np.ndarray] = {}
    for name in dict.fromkeys(chain.from_iterable(state.arrays for state in mixed.states)):
        if name in MEANS:
            arrays[name] = _sum(mixed, name, mixed.shares, None)
        elif name in TOTALS:
            arrays[name] = _total(mixed, name)
        elif name in SETTINGS:
            arrays[name] = first[name]
    n_labels, learnt = len(mixed.united.names["labels"]), _total(mixed, _counts_name(first))
    if "ledger.counts" in first:
        learnt[LABELS] = n_labels
        arrays["first_rounds"] = _first_rounds(mixed)
        arrays["n_features"] = np.array([mixed.united.n_features])
    arrays[_counts_name(first)] = learnt
    arrays[_sums_name(first)] = _merged_sums(mixed)
    if "means" in first:
        arrays["means"], arrays["spreads"] = _merged_moments(mixed)
    if "target" in first:
        arrays["target"] = _merged_target(mixed)
    _merge_late(mixed, arrays, int(learnt[LEARNT]))
    for store in STORES:
        if any(f"{store}.owners" in state.arrays for state in mixed.states):
            arrays |= merged_store(mixed, store, int(learnt[LEARNT]))
    if "totals.last" in first:
        arrays["totals.last"] = _last_rounds(mixed, int(learnt[LEARNT]))
        arrays["totals.squares"] = squares(arrays, n_labels)
    if "store3.owners" in first:  # first rows: of none, as `check_mergeable` saw to
        arrays |= {name: array for name, array in first.items() if name.startswith("store3.")}
    return arrays


def _counts_name(arrays: dict[str, np.ndarray]) -> str:
    return "ledger.counts" if "ledger.counts" in arrays else "counts"


def _sums_name(arrays: dict[str, np.ndarray]) -> str:
    return "ledger.sums" if "ledger.sums" in arrays else "sums"


# ------------------------------------------------------------------ plain arrays
def _spread(mixed: Mixed, name: str, i: int | None) -> np.ndarray | None:
    """Return an array of a state with its features or labels where they went; None where the state has none."""
    state = mixed.base if i is None else mixed.states[i]
    if state is None or name not in state.arrays:
        return None
    return spread(mixed.united, name, state, len(mixed.states) if i is None else i)


def _sum(mixed: Mixed, name: str, factors: Sequence[float] | np.ndarray, of_base: float | None) -> np.ndarray:
    """Return the sum of an array of all states, each multiplied by its factor, in float64; then as its own type."""
    total: Any = 0.0
    for i, factor in [*enumerate(factors), *([] if of_base is None else [(None, of_base)])]:
        array = _spread(mixed, name, i)
        if array is not None:
            total = total + (array if factor == 1.0 else float(factor) * array)
    dtype = next(state.arrays[name].dtype for state in mixed.states if name in state.arrays)
    return np.asarray(total, dtype)


def _total(mixed: Mixed, name: str) -> np.ndarray:
    """Return n_0 + Σ (n_i - n_0), in whole numbers where these are."""
    arrays = [array for i in range(len(mixed.states)) if (array := _spread(mixed, name, i)) is not None]
    total = arrays[0].astype(np.result_type(arrays[0], np.int64) if arrays[0].dtype.kind == "i" else np.float64)
    for array in arrays[1:]:
        total = total + array
    base = _spread(mixed, name, None)
    if base is not None and len(arrays) > 1:
        total = total - (len(arrays) - 1) * base
    dtype = arrays[0].dtype
    return np.minimum(total, np.iinfo(dtype).max).astype(dtype) if dtype.kind == "i" else total


def _merged_sums(mixed: Mixed) -> np.ndarray:
    """Return the sums of the ledger: totals, but the threshold between right and wrong is a mean."""
    name = _sums_name(mixed.states[0].arrays)
    sums = _total(mixed, name)
    ranked = np.array([state.arrays[name][RANKED] for state in mixed.states])
    before = 0.0 if mixed.base is None else mixed.base.arrays[name][RANKED]
    by = np.where(ranked > before, mixed.shares, 0.0)
    if by.sum() > 0.0:
        sums[THRESHOLD] = by @ np.array([state.arrays[name][THRESHOLD] for state in mixed.states]) / by.sum()
    return sums


def _first_rounds(mixed: Mixed) -> np.ndarray:
    """Return the earliest first round of each label among the states that had a row of it."""
    firsts = np.full(len(mixed.united.names["labels"]), NEVER)
    for i, state in enumerate(mixed.states):
        _, labels = mixed.places(i)
        seen = state.arrays["label_rows"] > 0
        np.minimum.at(firsts, labels[seen], state.arrays["first_rounds"][seen])
    return np.where(firsts == NEVER, 0, firsts)


def _last_rounds(mixed: Mixed, rounds: int) -> np.ndarray:
    """Return after how many of all rounds each label's last row came, the least long ago that a state says."""
    ages = np.full(len(mixed.united.names["labels"]), rounds)
    for i, state in enumerate(mixed.states):
        _, labels = mixed.places(i)
        last = state.arrays["totals.last"]
        seen = state.arrays["label_rows"] > 0
        np.minimum.at(ages, labels[seen], (int(state.counts[LEARNT]) - last)[seen])
    return rounds - ages


# ------------------------------------------------------------------ means and deviations
def _joined(a: tuple[Any, Any, Any], b: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    """Return count, mean and Σ (v - mean)² of two sets of numbers together (Chan, Golub and LeVeque, 1979)."""
    n, off = a[0] + b[0], b[1] - a[1]
    share = np.divide(b[0], n, out=np.zeros_like(n), where=n > 0)
    return n, a[1] + off * share, a[2] + b[2] + off * off * a[0] * share


def _without(a: tuple[Any, Any, Any], b: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    """Return the same of the numbers of `a` that are not in `b`, which is a part of it."""
    n = a[0] - b[0]
    mean = np.divide(a[0] * a[1] - b[0] * b[1], n, out=np.zeros_like(n), where=n > 0)
    off = np.where(n > 0, mean - b[1], 0.0)
    rest = a[2] - b[2] - off * off * np.divide(b[0] * n, a[0], out=np.zeros_like(n), where=a[0] > 0)
    return n, mean, np.where(n > 0, np.maximum(rest, 0.0), 0.0)


def _together(each: list[tuple[Any, Any, Any]], base: tuple[Any, Any, Any] | None) -> tuple[Any, Any, Any]:
    total = each[0]
    for other in each[1:]:
        total = _joined(total, other if base is None else _without(other, base))
    return total


def _merged_moments(mixed: Mixed) -> tuple[np.ndarray, np.ndarray]:
    """Return the means and spreads of all values of each feature."""

    def moments(i: int | None) -> tuple[Any, Any, Any] | None:
        df, means, spreads = (_spread(mixed, name, i) for name in ("df", "means", "spreads"))
        return None if df is None or means is None else (df[: len(means)].astype(np.float64), means, spreads)

    each = [found for i in range(len(mixed.states)) if (found := moments(i)) is not None]
    _, means, spreads = _together(each, moments(None))
    return means, spreads


def _merged_target(mixed: Mixed) -> np.ndarray:
    """Return mean and spread of all targets."""

    def moments(state: ModelState) -> tuple[Any, Any, Any]:
        mean, spread = state.arrays["target"][:, None]
        return np.array([float(state.counts[LEARNT])]), mean, spread

    base = None if mixed.base is None else moments(mixed.base)
    _, mean, spread = _together([moments(state) for state in mixed.states], base)
    return np.concatenate([mean, spread])


def _merge_late(mixed: Mixed, arrays: dict[str, np.ndarray], rounds: int) -> None:
    """Put in place the late sums of one vector and of its thresholds."""
    for name in ("late", "late_b"):
        if name in mixed.states[0].arrays:
            arrays[name] = _sum(mixed, name, late_factors(mixed, rounds), None)
