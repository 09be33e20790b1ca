"""Every peer on a real stream: its losses row by row, at what a newcomer would write and at each setting of a grid.

The first setting of a grid is the default. Losses are those of predictions made before the row was learnt: 1 for a
wrong label, 1 - average precision of a set, the absolute error of a number or rank.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.peers.one_vs_rest import Steps, check_river, check_scikit_learn, scores
from benchmarks.real_streams import RealStream
from hinged.evaluate.metrics import ranking_metrics

Losses = np.ndarray
Tried = Iterator[tuple[str, Losses]]

CHECKED = 200


def losses(stream: RealStream, said: np.ndarray) -> Losses:
    """Loss of each row, from scores (rows, outputs): of labels, or of the one number that is said."""
    if stream.kind == "sets":
        return 1.0 - ranking_metrics(said, stream.y).average_precision
    if stream.kind == "numbers":
        return np.abs(said[:, 0] - stream.y)
    if stream.kind == "ranks":
        said = np.nan_to_num(said)
        numbers = np.clip(np.rint(said[:, 0]), 0, stream.n_labels - 1) if said.shape[1] == 1 else said.argmax(axis=1)
        return np.abs(numbers - stream.y)
    labels = said[:, 0] > 0 if said.shape[1] == 1 else said.argmax(axis=1)
    return (labels != stream.y).astype(float)


def _checked(stream: RealStream, n: int) -> RealStream:
    """Return the first `n` rows that a twin is checked on; of sets, one label, as even as there is."""
    head = stream.head(n)
    if stream.kind != "sets":
        return head
    often = np.argmin(np.abs(head.y.mean(axis=0) - 0.5))
    return head._replace(kind="labels", y=head.y[:, often].astype(int), n_labels=2)


# ------------------------------------------------------------------ scikit-learn
SQUARED = ("squared_error", "invscaling", 0.01)
SCIKIT_LEARN: dict[str, tuple[Steps, ...]] = {
    "dense": (
        Steps("hinge"),
        Steps("hinge", rows="scaled"),
        Steps("log_loss", rows="scaled"),
        Steps("log_loss", "constant", 0.01, "scaled"),
        *(Steps("hinge", "pa1", C, "scaled") for C in (0.001, 0.01, 0.1)),
    ),
    "sparse": (
        Steps("hinge"),
        Steps("log_loss"),
        Steps("hinge", "pa1", 0.01),
        Steps("hinge", rows="unit"),
        Steps("log_loss", rows="unit"),
        Steps("hinge", "pa1", 1.0, "unit"),
    ),
    "numbers": (
        Steps(*SQUARED),
        Steps(*SQUARED, "scaled"),
        Steps("squared_error", "constant", 0.001, "scaled"),
        *(Steps("epsilon_insensitive", "pa1", C, "scaled") for C in (0.01, 0.1, 1.0, 10.0)),
    ),
}
SCIKIT_LEARN["text"] = (SCIKIT_LEARN["sparse"][3], *SCIKIT_LEARN["sparse"][:3], *SCIKIT_LEARN["sparse"][4:])
SCIKIT_LEARN["ranks"] = (*SCIKIT_LEARN["dense"][:3], *SCIKIT_LEARN["numbers"][1:5])


def scikit_learn(stream: RealStream, most: int | None) -> Tried:
    """SGDClassifier, one per label for sets, or SGDRegressor, with `partial_fit`; HashingVectorizer's rows are unit."""
    for steps in _grid(SCIKIT_LEARN, stream)[:most]:
        check_scikit_learn(_checked(stream, CHECKED), steps)
        yield str(steps), losses(stream, scores(stream, steps)[0])


# ------------------------------------------------------------------ River
RIVER: dict[str, tuple[Steps, ...]] = {
    "dense": (
        Steps("log_loss", "constant", 0.01, "scaled"),
        *(Steps("log_loss", "constant", rate, "scaled") for rate in (0.001, 0.1)),
        *(Steps("hinge", "pa1", C, "scaled") for C in (0.01, 1.0)),
    ),
    "sparse": (
        *(Steps("log_loss", "constant", rate) for rate in (0.01, 0.1, 1.0)),
        *(Steps("hinge", "pa1", C) for C in (0.01, 1.0)),
    ),
    "numbers": (
        *(Steps("squared_error", "constant", rate, "scaled") for rate in (0.01, 0.001)),
        *(Steps("epsilon_insensitive", "constant", rate, "scaled") for rate in (0.01, 0.1, 1.0)),  # Absolute: ε is 0
    ),
}
RIVER["text"], RIVER["ranks"] = RIVER["sparse"], RIVER["numbers"]


def river(stream: RealStream, most: int | None) -> Tried:
    """StandardScaler for dense rows, then a linear model; one per label as labels come, all of them for sets."""
    for steps in _grid(RIVER, stream)[:most]:
        part = _checked(stream, CHECKED // 2)
        check_river(part, steps, _river_model(part, steps))
        yield str(steps), losses(stream, scores(stream, steps, river=True)[0])


def _river_model(stream: RealStream, steps: Steps) -> Any:
    from river import linear_model, multiclass, optim, preprocessing

    own: dict[str, Any] = {"optimizer": optim.SGD(steps.rate), "intercept_lr": steps.rate}
    model: Any
    if steps.loss == "hinge":
        model = linear_model.PAClassifier(C=steps.rate, mode=1)  # type: ignore[no-untyped-call]
    elif steps.loss == "log_loss":
        model = linear_model.LogisticRegression(**own)
    elif steps.loss == "epsilon_insensitive":  # PARegressor measures its error against 2y - 1
        model = linear_model.LinearRegression(loss=optim.losses.Absolute(), **own)
    else:
        model = linear_model.LinearRegression(**own)
    if stream.kind == "labels" and stream.n_labels > 2:
        model = multiclass.OneVsRestClassifier(model)
    return preprocessing.StandardScaler() | model if steps.rows == "scaled" else model


# ------------------------------------------------------------------ Vowpal Wabbit
RATES = (0.1, 0.5, 2)
BITS = "-b 22"


def vowpal_wabbit(stream: RealStream, most: int | None) -> Tried:
    """--oaa, --binary for two labels, --multilabel_oaa and --csoaa for sets; ranks are numbers, rounded."""
    with TemporaryDirectory() as folder:
        cached: dict[str, Path] = {}
        for options in _options(stream)[:most]:
            form = options.split()[0] if stream.kind == "sets" else ""
            if form not in cached:
                cached[form] = _vw_cache(stream, form, Path(folder) / f"rows{len(cached)}", options)
            yield options.replace(BITS, "").strip(), losses(stream, _vw_scores(stream, cached[form], options))


def _options(stream: RealStream) -> list[str]:
    if stream.kind in ("numbers", "ranks"):
        squared = [f"--loss_function squared -l {rate}" for rate in (0.5, 0.1, 2)]
        return squared + [f"--loss_function quantile -l {rate}" for rate in (0.5, 2, 10)]
    if stream.kind == "sets":
        several = f"--multilabel_oaa {stream.n_labels} --probabilities --loss_function logistic"
        tuned = [f"{several} {BITS} -l {rate}" for rate in RATES]
        return [several, *tuned, *(f"--csoaa {stream.n_labels} {BITS} -l {rate}" for rate in RATES)]
    if stream.n_labels == 2:
        default, task = "--binary --loss_function logistic", "--binary"
    else:
        default = task = f"--oaa {stream.n_labels}"
    return [default, *(f"{task} {BITS} --loss_function {loss} -l {r}" for loss in ("hinge", "logistic") for r in RATES)]


def _vw_label(stream: RealStream, form: str, i: int) -> str:
    y = stream.y[i]
    if form == "--csoaa":
        return " ".join(f"{r + 1}:{1 - int(right)}" for r, right in enumerate(y))
    if form:
        return ",".join(map(str, np.flatnonzero(y)))
    if stream.kind == "labels":
        return str(2 * int(y) - 1) if stream.n_labels == 2 else str(int(y) + 1)
    return f"{y:.7g}"


def _vw_cache(stream: RealStream, form: str, path: Path, options: str) -> Path:
    """Write the rows as text, without zeros, then as a cache; return its path."""
    from vowpalwabbit import Workspace  # type: ignore[import-untyped, import-not-found, unused-ignore]

    X = stream.csr()
    text, cache = path.with_suffix(".txt"), path.with_suffix(".cache")
    with text.open("w") as out:
        for i in range(X.shape[0]):
            row = range(X.indptr[i], X.indptr[i + 1])
            words = " ".join(f"{X.indices[k]}:{X.data[k]:.7g}" for k in row if X.data[k] != 0.0)
            out.write(f"{_vw_label(stream, form, i)} | {words}\n")
    # A cache refuses a reader that wants more bits than its writer had.
    wide = options if BITS in options else f"{options} {BITS}"
    Workspace(f"{wide} -d {text} --cache_file {cache} -k --quiet").finish()
    text.unlink()
    return cache


def _vw_scores(stream: RealStream, cache: Path, options: str) -> np.ndarray:
    """Scores (rows, outputs) of one pass over the cache, each row before it is learnt."""
    import pylibvw  # type: ignore[import-not-found, unused-ignore]
    from vowpalwabbit import Workspace  # type: ignore[import-untyped, import-not-found, unused-ignore]

    said, raw = cache.with_suffix(".said"), cache.with_suffix(".raw")
    # Probabilities of --multilabel_oaa are garbled as soon as an example is reused (9.11): hold all rows at once.
    held = f"--example_queue_limit {2 ** len(stream.y).bit_length()}" if stream.kind == "sets" else ""
    workspace = Workspace(f"{options} {held} --cache_file {cache} --quiet -p {said} -r {raw}")
    pylibvw.vw.run_parser(workspace)
    workspace.finish()
    sets = stream.kind == "sets"
    costs = options.startswith("--csoaa")
    lines = (raw if costs else said).read_text().splitlines()
    for path in (said, raw):
        if path.exists():
            os.unlink(path)
    if sets:
        table = np.array([[float(pair.split(":")[1]) for pair in line.split()] for line in lines if ":" in line])
        table = -table if costs else table
    else:
        table = np.array([float(line.split()[0]) for line in lines if line.strip()])[:, None]
        if stream.kind == "labels" and stream.n_labels > 2:
            table = (table - 1 == np.arange(stream.n_labels)).astype(float)
    assert len(table) == len(stream.y), f"Vowpal Wabbit said {len(table)} of {len(stream.y)} rows with {options}"
    return table


PEERS: dict[str, Callable[[RealStream, int | None], Tried]] = {
    "VW": vowpal_wabbit,
    "sklearn": scikit_learn,
    "River": river,
}


def _grid(grids: dict[str, tuple[Steps, ...]], stream: RealStream) -> tuple[Steps, ...]:
    if stream.kind in ("numbers", "ranks"):
        return grids[stream.kind]
    return grids["text" if stream.about == "text" else "dense" if stream.dense else "sparse"]
