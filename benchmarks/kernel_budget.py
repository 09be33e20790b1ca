"""Mistakes with a limited number of support vectors, on handwritten digits."""

import time

import hinged
from benchmarks.report import Bar, Report, Sheet
from hinged.mercer import Budget
from studies.digits import SETS, digits

SIZES = (50, 100, 200, 400, 800, 1600)
LARGEST_PROJECTION = 400  # each removal costs O(size³)


def run(quick: bool) -> Report:
    """Learn USPS by PA-I within budgets.

    Parameters
    ----------
    quick : bool
        The first 1,000 rows, and two budgets.
    """
    X, y = digits("usps")
    X, y, sizes = (X[:1000], y[:1000], SIZES[:2]) if quick else (X, y, SIZES)
    sheet = Sheet("Online mistakes and seconds by budget", ["budget", *(f"{d}{u}" for d in DROPS for u in ("", ", s"))])
    most = 0
    for size in sizes:
        row: list[int | float | None] = [size]
        for drop in DROPS:
            if drop == "project" and size > LARGEST_PROJECTION:
                row += [None, None]
                continue
            start = time.process_time()
            model = learnt(X, y, Budget(size, drop))
            row += [model.n_mistakes_, time.process_time() - start]
            most = max(most, len(model.support_) - size)
        sheet.rows.append(row)
    start = time.process_time()
    free = learnt(X, y, None)
    sheet.rows.append([f"none, {len(free.support_):,} at the end", free.n_mistakes_, time.process_time() - start])
    sheet.rows[-1] += [None] * (len(sheet.columns) - len(sheet.rows[-1]))
    bars = [Bar("no more rows than the budget", f"{most} more at most", most <= 0)]
    return Report(
        "kernel_budget",
        f"the first {len(X):,} training rows of USPS, the mean subtracted, mean squared norm 1, float32",
        "PA-I, C = 100, kernel ⟨x, z⟩³; one run each, CPU seconds. In the last row, without a budget, the mistakes "
        "are in the first column, and the number of support vectors at the end is given",
        [sheet],
        bars,
    )


DROPS = ("oldest", "smallest", "project")


def learnt(X, y, budget):  # type: ignore[no-untyped-def]
    """A learner after all rows."""
    model = hinged.Classifier("pa1", C=100.0, kernel=SETS["usps"], budget=budget)
    return model.partial_fit(X, y, classes=range(10))
