"""How well `confidence` is calibrated with no setting, beside the papers' plain learner."""

from typing import Any

import numpy as np

import hinged
from benchmarks.any_stream import MISSING, plain
from benchmarks.real_streams import RealStream, real_streams
from benchmarks.report import Report, Sheet, at_most
from hinged.estimators.scored import Scored

STREAMS = ("letter", "usps", "spambase", "noaa", "a9a", "lokay-m", "beck-s", "reuters")
BINS = 10


def run(quick: bool) -> Report:
    """Measure the expected calibration error of each learner on each stream.

    Parameters
    ----------
    quick : bool
        The first 500 rows.
    """
    streams = [stream for stream in real_streams(*([500] if quick else [])) if stream.name in STREAMS]
    learners: dict[str, Any] = {"plain": lambda: plain("labels"), "no setting": hinged.Classifier}
    errors = {name: [100 * calibration_error(make(), stream) for stream in streams] for name, make in learners.items()}
    columns = ["learner", *(stream.name for stream in streams), "mean"]
    rows: list[list[Any]] = [[name, *each, float(np.mean(each))] for name, each in errors.items() if each]
    bars = []
    if streams:
        means = {name: float(np.mean(each)) for name, each in errors.items()}
        bars = [at_most("no setting, mean calibration error", means["no setting"], means["plain"], "%, that of plain")]
    return Report(
        "calibration",
        f"{len(streams)} streams of any_stream; rows in their order, labels appear over time" if streams else MISSING,
        f"each row's confidence before it is learnt, in {BINS} bins of equal width: the mean distance between the mean "
        "confidence of a bin and the share of right predictions in it, weighted by rows, in percent. Rows of labels "
        "that were not known are left out. plain: pa1, C=1, rows as they are",
        [Sheet("Expected calibration error, percent", columns, rows)],
        bars,
    )


def calibration_error(model: Any, stream: RealStream) -> float:
    """Learn a stream row by row; return the mean distance between confidence and accuracy."""
    sure: list[float] = []
    right: list[bool] = []
    labels = stream.y.tolist()

    def before(said: Scored) -> None:
        label = labels[len(sure)]
        known = len(said.labels) > 1 and label in said.labels
        sure.append(float(said.confidence[0]) if known else np.nan)
        right.append(known and said.labels[int(said.scores[0].argmax())] == label)

    model.learn_rounds(stream.X, labels, before=before)
    counted = np.isfinite(sure)
    confidence, hits = np.array(sure)[counted], np.array(right)[counted]
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    apart = [abs(confidence[bins == b].sum() - hits[bins == b].sum()) for b in range(BINS)]
    return float(np.sum(apart) / len(hits))
