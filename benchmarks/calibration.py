"""How well `confidence` is calibrated and how well it tells right from wrong, with no setting and with plain PA-I."""

from typing import Any, NamedTuple

import numpy as np

import hinged
from benchmarks.any_stream import MISSING, plain
from benchmarks.mail_folders import users
from benchmarks.real_streams import USERS, real_streams
from benchmarks.report import Bar, Cell, Report, Sheet, at_most
from hinged.estimators.scored import Scored

STREAMS = ("letter", "usps", "spambase", "noaa", "a9a", *USERS, "20news", "reuters")
#: Streams that were looked at while the features and rates of the logistic were chosen.
CHOSEN_WITH = ("letter", "usps", "spambase", "noaa", "a9a", "beck-s", "farmer-d", "lokay-m", "sanders-r", "reuters")
BINS = 10
ENOUGH = 0.95
MAIL = {"error": 2.4, "ranking": 83.0, "filed": 49.0}  # percent: at most, at least, at least


class Judged(NamedTuple):
    """Confidence before each counted row was learnt, and whether the prediction was right."""

    sure: np.ndarray
    right: np.ndarray

    @property
    def error(self) -> float:
        """Mean distance between the confidence of a bin and its share of right predictions."""
        bins = np.minimum((self.sure * BINS).astype(int), BINS - 1)
        apart = [abs(self.sure[bins == b].sum() - self.right[bins == b].sum()) for b in range(BINS)]
        return float(np.sum(apart) / len(self.right))

    @property
    def ranking(self) -> float:
        """Chance that a right prediction has more confidence than a wrong one (AUC); a tie counts half."""
        wrong, right = np.sort(self.sure[~self.right]), self.sure[self.right]
        below = np.searchsorted(wrong, right) + np.searchsorted(wrong, right, "right")
        return float(below.mean() / (2 * len(wrong))) if len(wrong) and len(right) else np.nan

    @property
    def filed(self) -> float:
        """Largest share of rows above some bar of confidence of which enough are right."""
        order = np.argsort(-self.sure, kind="stable")
        sure, counts = self.sure[order], np.arange(1, len(order) + 1)
        ends = np.append(sure[1:] != sure[:-1], True)  # equal confidences stand above a bar together
        kept = counts[ends & (np.cumsum(self.right[order]) >= ENOUGH * counts)]
        return float(kept.max(initial=0) / len(order))


def run(quick: bool) -> Report:
    """Measure the confidence of each learner on each stream.

    Parameters
    ----------
    quick : bool
        The first 500 rows.
    """
    rows: list[list[Cell]] = []
    for stream in real_streams(*([500] if quick else [])):
        if stream.name in STREAMS:
            models = (plain("labels"), hinged.Classifier())
            papers, ours = (judged(model, stream.X, stream.y.tolist()) for model in models)
            shares = (papers.error, ours.error, float(ours.right.mean()), ours.ranking, ours.filed)
            vote = "yes" if stream.name in CHOSEN_WITH else "no"
            rows.append([stream.name, vote, *(100 * share for share in shares)])
    bars = []
    if rows:
        means = [float(np.mean([row[column] for row in rows])) for column in range(2, 7)]  # type: ignore[arg-type]
        rows.append(["mean", "", *means])
        bars = [at_most("no setting, mean calibration error", means[1], means[0], "%, that of plain")]
    columns = ["stream", "had a vote", "error, plain", "error", "right", "ranking", f"at {100 * ENOUGH:g} % right"]
    mail, promised = _mail(200 if quick else None)
    return Report(
        "calibration",
        f"{len(rows) - 1} streams of any_stream; rows in their order, labels appear over time" if rows else MISSING,
        f"each row's confidence before it is learnt. error: the mean distance between the mean confidence of each of "
        f"{BINS} bins of equal width and the share of right predictions in it, weighted by rows. ranking: how often a "
        "right prediction has more confidence than a wrong one (AUC). The last column: the largest share of rows above "
        f"some bar of confidence of which {100 * ENOUGH:g} % are right. Rows of labels that were not known are left "
        "out. plain: pa1, C=1, rows as they are; all other columns: no setting. had a vote: looked at while the method "
        "was chosen. Mail: TextClassifier() on the words with their fields",
        [Sheet("Confidence, percent", columns, rows), mail],
        [*bars, *promised],
    )


def _mail(most: int | None) -> tuple[Sheet, list[Bar]]:
    """Confidence of the text default on the seven users' mail, and what was asked of it."""
    sheet = Sheet("Mail by TextClassifier(), percent", ["user", "error", "right", "ranking", "at 95 % right"])
    for user, documents, folders in users(most):
        found = judged(hinged.TextClassifier(), documents, folders)
        shares = found.error, float(found.right.mean()), found.ranking, found.filed
        sheet.rows.append([user, *(100 * share for share in shares)])
    if not sheet.rows:
        return sheet, []
    error, right, ranking, filed = (
        float(np.mean([row[column] for row in sheet.rows]))  # type: ignore[arg-type]
        for column in range(1, 5)
    )
    sheet.rows.append(["mean", error, right, ranking, filed])
    promise = "mail filed at 95 % right, mean of seven users"
    return sheet, [
        at_most("mail, mean calibration error of seven users", error, MAIL["error"], "%"),
        Bar(
            f"mail, ranking of right and wrong, mean of seven users ≥ {MAIL['ranking']:g} %",
            f"{ranking:.1f} %",
            ranking >= MAIL["ranking"],
        ),
        Bar(f"{promise} ≥ {MAIL['filed']:g} %", f"{filed:.1f} %", filed >= MAIL["filed"]),
    ]


def judged(model: Any, X: Any, labels: list[Any]) -> Judged:
    """Learn a stream row by row; return what was said before."""
    sure: list[float] = []
    right: list[bool] = []

    def before(said: Scored) -> None:
        label = labels[len(sure)]
        known = len(said.labels) > 1 and label in said.labels
        sure.append(float(said.confidence[0]) if known else np.nan)
        right.append(known and said.labels[int(said.scores[0].argmax())] == label)

    model.learn_rounds(X, labels, before=before)
    counted = np.isfinite(sure)
    return Judged(np.array(sure)[counted], np.array(right)[counted])
