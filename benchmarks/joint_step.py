"""The joint step under entropy, compared with SciPy and with the step on one pair; interior-point iterations."""

from itertools import product

import numpy as np
from scipy.optimize import minimize

import hinged
from benchmarks.report import Bar, Report, Sheet, at_least, at_most
from benchmarks.streams import topics
from benchmarks.timing import Contender, Thunk, race
from hinged.rules import Responses, by_search, interior_point, linear
from hinged.rules.response import LOGISTIC, respond

SEED = 7
LABELS = 100
EMPTY = np.zeros((0, 0)), np.zeros(0), 0.0, 1.0


def run(quick: bool) -> Report:
    """Time problems alone, then whole rounds, then count iterations.

    Parameters
    ----------
    quick : bool
        A twentieth of the rounds and problems, and 1 repeat in place of 3.
    """
    n_rows, n_problems, repeats = (500, 10, 1) if quick else (10_000, 200, 3)
    alone, faster = _alone(4 if quick else 20, repeats)
    rounds, ratios = _rounds(n_rows, repeats)
    counted, most = _iterations(n_problems)
    return Report(
        "joint_step",
        f"{n_rows:,} binary rows of 64 words, and the same with values from 0.2 to 1; 5,000 features, {LABELS} labels; "
        f"random problems; seed {SEED}",
        f"CPU time, one thread, best of {repeats}; SLSQP has gradients and ftol 1e-10",
        [alone, rounds, counted],
        [
            at_least("update III by search, faster than SLSQP", faster, 20.0),
            at_most("update III beside update II, per round", max(ratios), 4.0, "×"),
            *(Bar(f"iterations for k = {k}", str(n), n <= (30 if k <= 100 else 60)) for k, n in most.items()),
        ],
    )


# ------------------------------------------------------------------ one problem
def _problem(
    rng: np.random.Generator, k: int, euclidean: bool
) -> tuple[Responses, np.ndarray, np.ndarray, float, float]:
    """Return a random problem: response curves of k labels, scores, the relevant labels, a margin and a cap."""
    right = np.zeros(k, np.bool_)
    right[rng.choice(k, int(rng.choice([1, max(1, k // 2)])), replace=False)] = True
    start = rng.normal(size=k) * rng.choice([0.3, 1.0, 3.0])
    curves = linear(start, 1.0) if euclidean else Responses(LOGISTIC, start, 1.0, 0.0, 1.0, *EMPTY)
    scores = np.array([respond(curves, r, 0.0)[1] for r in range(k)])
    return curves, scores, right, float(rng.choice([0.3, 0.9])), float(10 ** rng.uniform(-2, 1.5))


def _alone(n: int, repeats: int) -> tuple[Sheet, float]:
    problems = [_problem(np.random.default_rng([SEED, i]), LABELS, False) for i in range(n)]

    def by_scipy() -> Thunk:
        return lambda: [_slsqp(*problem) for problem in problems]

    def searched() -> Thunk:
        def solve() -> list[np.ndarray]:
            answers = [np.zeros(LABELS) for _ in problems]
            for g, (curves, scores, right, margin, C) in zip(answers, problems, strict=True):
                by_search(curves, scores, right, margin, C, g)
            return answers

        return solve

    def by_points() -> Thunk:
        def solve() -> list[np.ndarray]:
            answers = [np.zeros(LABELS) for _ in problems]
            for g, (curves, _, right, margin, C) in zip(answers, problems, strict=True):
                interior_point(curves, right, margin, C, 1e-10, 100, g)
            return answers

        return solve

    contenders: dict[str, Contender] = {"search": searched, "interior points": by_points, "SLSQP": by_scipy}
    timed = race(contenders, repeats)
    sheet = Sheet(
        f"One problem of {LABELS} labels, logistic curves", ["solver", "µs", "worst objective below the search's"]
    )
    best = [_gain(problem, g) for problem, g in zip(problems, timed["search"].value, strict=True)]
    for name, one in timed.items():
        behind = max(b - _gain(p, g) for b, p, g in zip(best, problems, one.value, strict=True))
        sheet.rows.append([name, 1e6 * one.seconds / n, f"{behind:.1e}"])
    return sheet, timed["SLSQP"].seconds / timed["search"].seconds


def _gain(problem: tuple, g: np.ndarray) -> float:
    curves, _, right, margin, _ = problem
    return float(margin * g[right].sum() - sum(respond(curves, r, a)[0] for r, a in enumerate(g)))


def _slsqp(curves: Responses, scores: np.ndarray, right: np.ndarray, margin: float, C: float) -> np.ndarray:
    sign = np.where(right, 1.0, -1.0)

    def loss(a: np.ndarray) -> tuple[float, np.ndarray]:
        z = curves.start + sign * a
        value = np.logaddexp(0.0, z).sum() - np.logaddexp(0.0, curves.start).sum() - margin * a[right].sum()
        return value, sign / (1.0 + np.exp(-z)) - margin * right

    answer = minimize(
        loss,
        np.full(len(sign), 0.01 * C / len(sign)),
        jac=True,
        bounds=[(0.0, C)] * len(sign),
        constraints=[
            {"type": "eq", "fun": lambda a: sign @ a, "jac": lambda a: sign},
            {"type": "ineq", "fun": lambda a: C - a[right].sum(), "jac": lambda a: -1.0 * right},
        ],
        method="SLSQP",
        options={"ftol": 1e-10, "maxiter": 200},
    )
    return sign * answer.x


# ------------------------------------------------------------------ whole rounds
def _rounds(n_rows: int, repeats: int) -> tuple[Sheet, list[float]]:
    X, y = topics(n_rows, 5_000, LABELS, 64, own_words=200, seed=SEED)
    X.data[:] = 1.0
    real = X.astype(np.float64)
    real.data = np.random.default_rng(SEED).uniform(0.2, 1.0, len(real.data))
    sets = [{int(label), *range(20)} for label in y]
    sheet = Sheet(f"A round with {LABELS} labels", ["rows", "right labels", "C", "margin", "update", "µs", "mistakes"])
    ratios = []
    for rows, many, (C, margin) in product((X, real), (False, True), ((1.0, 0.5), (1.0, 0.1))):
        answers = sets if many else y
        timed = race({rule: _learner(rule, C, margin, rows, answers, many) for rule in ("pa1", "optimal")}, repeats)
        for rule, one in timed.items():
            name = {"pa1": "II", "optimal": "III"}[rule]
            about = ["real" if rows is real else "binary", "20 or 21" if many else "1", C, margin, name]
            sheet.rows.append([*about, 1e6 * one.seconds / n_rows, one.value.mistakes])
        ratios.append(timed["optimal"].seconds / timed["pa1"].seconds)
    return sheet, ratios


def _learner(rule: str, C: float, margin: float, X: object, y: object, many: bool) -> Contender:
    def prepare() -> Thunk:
        kind = hinged.Ranker if many else hinged.Classifier
        model = kind(rule, C=C, margin=margin, geometry="entropy")
        return lambda: hinged.evaluate.progressive(model, X, y, classes=range(LABELS))

    return prepare


# ------------------------------------------------------------------ iterations
def _iterations(n: int) -> tuple[Sheet, dict[int, int]]:
    sheet = Sheet(
        "Interior points to a relative gap of 1e-10", ["k", "curves", "problems", "mean", "most", "largest gap"]
    )
    most: dict[int, int] = {}
    for k in (10, 100, 1_000):
        for euclidean in (True, False):
            counts, gaps = [], []
            for i in range(n if k < 1_000 else max(1, n // 10)):
                curves, scores, right, margin, C = _problem(np.random.default_rng([SEED, k, i]), k, euclidean)
                if scores[right].min() - scores[~right].max() < margin:
                    _, iterations, gap = interior_point(curves, right, margin, C, 1e-10, 100, np.zeros(k))
                    counts.append(iterations)
                    gaps.append(gap)
            kind = "linear" if euclidean else "logistic"
            sheet.rows.append([k, kind, len(counts), float(np.mean(counts)), max(counts), f"{max(gaps):.1e}"])
            most[k] = max(most.get(k, 0), *counts)
    return sheet, most
