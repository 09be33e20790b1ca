"""One pass of linear one-vs-rest learners, as scikit-learn's SGD and River take their steps: predict, then learn.

Calling either for every row takes milliseconds where there are many labels. This is the same arithmetic in one compiled
loop: `check` holds it to scikit-learn's coefficients and to River's predictions.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy import sparse

from benchmarks.real_streams import RealStream

HINGE, LOGISTIC, SQUARED, ABSOLUTE = range(4)
OPTIMAL, CONSTANT, FALLING, PA1 = range(4)
LOSSES = {"hinge": HINGE, "log_loss": LOGISTIC, "squared_error": SQUARED, "epsilon_insensitive": ABSOLUTE}
SCHEDULES = {"optimal": OPTIMAL, "constant": CONSTANT, "invscaling": FALLING, "pa1": PA1}
EPSILON, ALPHA, POWER = 0.1, 1e-4, 0.25  # defaults of SGDRegressor and SGDClassifier
SPARSE_INTERCEPT = 0.01  # scikit-learn lets the intercept of sparse rows learn so much slower


class Steps(NamedTuple):
    """How a peer learns.

    Attributes
    ----------
    loss : str
        A name of `LOSSES`; "hinge" and "log_loss" learn labels, the others numbers.
    schedule : str
        A name of `SCHEDULES`.
    rate : float
        The rate eta0; for "pa1", C.
    rows : "raw", "scaled" or "unit"
        As they are, standardised by the statistics so far, or of unit length.
    """

    loss: str
    schedule: str = "optimal"
    rate: float = 0.01
    rows: str = "raw"

    def __str__(self) -> str:
        rate = "" if self.schedule == "optimal" else f" {self.rate:g}"
        return f"{self.loss}, {self.schedule}{rate}{'' if self.rows == 'raw' else f', {self.rows}'}"


@njit(cache=True)
def _pass(
    indptr: Any,
    indices: Any,
    seen: Any,
    learnt: Any,
    T: Any,
    first: Any,
    how: Any,
    numbers: Any,
    W: Any,
    b: Any,
    S: Any,
) -> None:
    """Fill `S` (rows, outputs) with the scores before each row is learnt; change `W` and `b` in place."""
    # seen, learnt: values of a row when it is predicted and when it is learnt · T targets · s scores · η rate
    # first: the row in which an output begins to learn · W (features, outputs) holds the weights divided by scale
    loss, schedule = how
    rate, alpha, intercept_rate, start, epsilon, two_rows = numbers
    m = W.shape[1]
    s = np.empty(m)
    scale, t = 1.0, 1.0
    for i in range(T.shape[0]):
        q = 0.0
        s[:] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            for r in range(m):
                s[r] += seen[k] * W[indices[k], r]
        for r in range(m):
            S[i, r] = scale * s[r] + b[r] if i > first[r] else -np.inf
        if two_rows:
            s[:] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            q += learnt[k] * learnt[k]
            if two_rows:
                for r in range(m):
                    s[r] += learnt[k] * W[indices[k], r]
        if schedule == PA1 and q == 0.0:
            continue
        if schedule == OPTIMAL:
            η = 1.0 / (alpha * (start + t - 1.0))
        elif schedule == FALLING:
            η = rate / t**POWER
        else:
            η = rate
        for r in range(m):
            y, p = T[i, r], scale * s[r] + b[r]
            if schedule == PA1:
                if loss == HINGE:
                    step = y * min(rate, max(0.0, 1.0 - y * p) / q)
                else:
                    step = np.sign(y - p) * min(rate, max(0.0, abs(y - p) - epsilon) / q)
            elif loss == HINGE:
                step = η * y if y * p <= 1.0 else 0.0
            elif loss == LOGISTIC:
                step = η * y / (1.0 + np.exp(min(700.0, y * p)))
            elif loss == SQUARED:
                step = η * max(-1e12, min(1e12, y - p))
            elif epsilon == 0.0:  # River moves up where nothing is wrong
                step = η if y >= p else -η
            else:
                step = η * np.sign(y - p) if abs(y - p) > epsilon else 0.0
            s[r] = step if i >= first[r] else 0.0
        if alpha > 0.0 and schedule != PA1:
            scale *= max(0.0, 1.0 - η * alpha)
            if scale < 1e-9:
                W *= scale
                scale = 1.0
        for r in range(m):
            b[r] += s[r] * intercept_rate
            s[r] /= scale
        for k in range(indptr[i], indptr[i + 1]):
            for r in range(m):
                W[indices[k], r] += s[r] * learnt[k]
        t += 1.0
    W *= scale


def targets(stream: RealStream, numbers: bool) -> np.ndarray:
    """What each output learns: ±1 for every label, one output for two labels; or the number itself."""
    if stream.kind == "numbers" or numbers:
        return stream.y.astype(float)[:, None]
    if stream.kind == "sets":
        return np.where(stream.y, 1.0, -1.0)
    right = stream.y[:, None] == np.arange(stream.n_labels)
    return np.where(right[:, 1:] if stream.n_labels == 2 else right, 1.0, -1.0)


class Values(NamedTuple):
    """Values of CSR rows when a row is predicted and when it is learnt."""

    seen: np.ndarray
    learnt: np.ndarray


def values(stream: RealStream, rows: str, river: bool) -> Values:
    """Values of `stream.csr()`, raw, of unit length, or standardised as the peer's own scaler would."""
    X = stream.csr()
    if rows == "raw":
        return Values(X.data, X.data)
    if rows == "unit":
        lengths = np.sqrt(np.add.reduceat(np.append(X.data**2, 0.0), X.indptr[:-1]) * (np.diff(X.indptr) > 0))
        unit = X.data / np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(X.indptr))
        return Values(unit, unit)
    if not stream.dense:
        raise ValueError("sparse rows are not standardised: a mean would fill them.")
    n = np.arange(1, len(stream.X) + 1)[:, None]
    away = stream.X - stream.X[0]  # the variance of differences does not cancel
    means = np.cumsum(away, axis=0) / n
    spread = np.sqrt(np.maximum(np.cumsum(away**2, axis=0) / n - means**2, 0.0))
    spread[spread < 1e-7 * np.abs(means)] = 0.0
    known = np.where(spread > 0, spread, np.inf if river else 1.0)
    learnt = (away - means) / known
    if not river:  # StandardScaler.partial_fit comes before transform
        return Values(learnt.ravel(), learnt.ravel())
    before = np.zeros_like(away)  # River's pipelines predict with the statistics of earlier rows
    before[1:] = (away[1:] - means[:-1]) / known[:-1]
    return Values(before.ravel(), learnt.ravel())


def scores(stream: RealStream, steps: Steps, river: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores (rows, outputs) before each row is learnt, the last weights (features, outputs) and intercepts."""
    X, held = stream.csr(), values(stream, steps.rows, river)
    T = targets(stream, steps.loss not in ("hinge", "log_loss"))
    m = T.shape[1]
    first = np.full(m, -1)  # scikit-learn is given all labels; River learns of one when it first comes
    if river and stream.kind in ("labels", "ranks") and m > 1:
        first = np.array([np.flatnonzero(np.append(column > 0, True))[0] for column in T.T])
    alpha = 0.0 if river or steps.schedule == "pa1" else ALPHA
    typical = np.sqrt(1.0 / np.sqrt(ALPHA))
    gradient = {"hinge": -1.0, "log_loss": -1.0 / (1.0 + np.exp(-typical))}.get(steps.loss, 0.0)
    start = max(1.0, gradient) / (typical * ALPHA)
    slower = 1.0 if river or stream.dense else SPARSE_INTERCEPT
    W, b, S = np.zeros((X.shape[1], m)), np.zeros(m), np.empty(T.shape)
    how = LOSSES[steps.loss], SCHEDULES[steps.schedule]
    rate = steps.rate * (2.0 if river and steps.loss == "squared_error" else 1.0)  # scikit-learn halves the square
    numbers = (rate, alpha, slower, start, 0.0 if river else EPSILON, held.seen is not held.learnt)
    with np.errstate(all="ignore"):
        _pass(X.indptr, X.indices, held.seen, held.learnt, T, first, how, numbers, W, b, S)
    return _as_river_says(S, first) if first.max() >= 0 else S, W, b


def _as_river_says(S: np.ndarray, first: np.ndarray) -> np.ndarray:
    """1 for the label that River answers, 0 for others: its probabilities are 0 or 1 beyond ±30, and ties are common.

    In a tie the label that came first wins.
    """
    order = np.argsort(first, kind="stable")
    clipped = np.where(np.isinf(S), S, np.clip(S, -30.0, 30.0))[:, order]
    return (order[clipped.argmax(axis=1)][:, None] == np.arange(S.shape[1])).astype(float)


def check_scikit_learn(stream: RealStream, steps: Steps) -> None:
    """Assert that `scores` ends with the weights of SGDClassifier or SGDRegressor, within rounding."""
    from sklearn.linear_model import SGDClassifier, SGDRegressor

    kind: Any = SGDClassifier if steps.loss in ("hinge", "log_loss") else SGDRegressor
    rate = {"eta0": steps.rate, "penalty": None if steps.schedule == "pa1" else "l2"}
    model = kind(loss=steps.loss, learning_rate=steps.schedule, shuffle=False, **rate)
    _, W, b = scores(stream, steps)
    csr = stream.csr()
    X: Any = sparse.csr_array((values(stream, steps.rows, False).learnt, csr.indices, csr.indptr), shape=csr.shape)
    X = X.toarray() if stream.dense else X
    known = {"classes": np.arange(stream.n_labels)} if kind is SGDClassifier else {}
    model.partial_fit(X, stream.y, **known)
    theirs, most = np.atleast_2d(model.coef_).T, max(np.abs(model.coef_).max(), 1e-12)
    off = max(np.abs(theirs - W).max() / most, np.abs(model.intercept_ - b).max() / max(np.abs(b).max(), 1e-12))
    assert off < 1e-6, f"the twin of {model} is off by {off:.1e} on {stream.name}"


def check_river(stream: RealStream, steps: Steps, model: Any) -> None:
    """Assert that River's `model`, called row by row, predicts as `scores` does."""
    S, _, _ = scores(stream, steps, river=True)
    X, same = stream.csr(), 0
    for i in range(X.shape[0]):
        part = slice(X.indptr[i], X.indptr[i + 1])
        x = dict(zip(X.indices[part].tolist(), X.data[part].tolist(), strict=True))
        said: Any = model.predict_one(x)
        if steps.loss in ("squared_error", "epsilon_insensitive"):
            same += bool(np.isclose(said, S[i, 0], rtol=1e-6))
        else:
            right = bool(S[i, 0] > 0) if S.shape[1] == 1 else int(S[i].argmax())
            same += said == right or (i == 0)
        y = stream.y[i]
        model.learn_one(x, bool(y) if S.shape[1] == 1 and stream.n_labels == 2 else y.item())
    assert same >= 0.98 * X.shape[0], f"the twin of {model} agrees on {same} of {X.shape[0]} rows of {stream.name}"
