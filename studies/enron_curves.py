"""Mail into folders, round by round: mistakes of three users' streams, and what was proven of them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from hinged import bounds
from hinged.estimators import Classifier
from studies.enron_columns import COLUMNS, chosen, run_of, spelt
from studies.mail import at_once, messages_of, read_mail
from studies.study import PLAIN, Advance, Curves, Outcome, Study, Table

__all__ = ["BOUNDS", "MISTAKES"]

DRAWN = ("beck-s", "lokay-m", "sanders-r")
WATCHED = ("lokay-m", "sanders-r")  # with the folders of beck-s the comparators take minutes
FIGURE_3 = ("SP SimProj", "SP ConProj", "SP SimPerc", "SP Max-SP", "SP Max-MP", "SP Mira")
#: A learner by name: its settings. Rows have unit length, so that the theorems have something to say.
PROVEN: dict[str, dict[str, Any]] = {
    "LR III, squared norm": {"rule": "optimal", "C": 0.2},
    "SP ConProj": {"rule": "conproj", "C": 0.05, "sharing": "single", "features": "frequency"},
    "HS multi": {"rule": "perceptron"},
    "HS single": {"rule": "perceptron", "sharing": "single", "features": "frequency"},
    "HS hybrid": {"rule": "perceptron", "sharing": "hybrid", "features": "frequency"},
}


def mistakes(advance: Advance) -> Outcome:
    """SP, figure 3: mistakes so far, folders known from the start, C chosen on the first tenth."""
    drawn: list[Curves] = []
    remarks: list[str] = []
    ahead = 0
    for user in DRAWN:
        messages = messages_of(user)
        mail = read_mail(messages, COLUMNS[FIGURE_3[0]].reading)
        series, ends = {}, {}
        for column in FIGURE_3:
            setting = chosen(column, mail, closed=True)
            told = run_of(column, setting, mail, closed=True)
            series[column.removeprefix("SP ")] = told.curve
            ends[column.removeprefix("SP ")] = told.mistakes
            advance(f"{user}, {column}, {spelt(setting)}")
        drawn.append(Curves.thinned(f"{user}: mistakes so far", series, "messages"))
        apart = abs(ends["SimPerc"] - ends["ConProj"]) / max(1, ends["SimPerc"])
        first = min(("SimProj", "ConProj", "SimPerc", "Max-SP"), key=lambda name: ends[name])
        ahead += ends["SimProj"] < min(ends["SimPerc"], ends["ConProj"])
        remarks.append(
            f"{user}: of the learners with one shared vector {first} makes the fewest mistakes; SimPerc and ConProj "
            f"differ by {100 * apart:.0f} %."
        )
    remarks.insert(
        0, f"SimProj makes fewer mistakes than SimPerc and ConProj on {ahead} of {len(DRAWN)} users, as in the paper."
    )
    remarks.append(
        "The paper shows three of its seven users without naming them, and finds SimPerc and ConProj close to each "
        "other and SimProj better than both."
    )
    about = "Cumulative mistakes, with word counts as in SP, for the columns of its table 1."
    return Outcome(MISTAKES.name, MISTAKES.title, MISTAKES.source, about, [], drawn, remarks)


def proven(advance: Advance) -> Outcome:
    """Mistakes, what the learner's certificate allows, what the theorem allows."""

    def one(user: str, name: str) -> bounds.Trace:
        mail = read_mail(messages_of(user), "all fields, presence")
        model = Classifier(**(PROVEN[name] | PLAIN | {"normalize": True}), n_features=mail.X.shape[1])
        seen = bounds.trace(model, mail.X, mail.folders, sorted(set(mail.folders)), h=None)
        advance(f"{user}, {name}")
        return seen

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the conditions: they are in the remarks
        found = at_once(one, [(user, name) for user in WATCHED for name in PROVEN])
    rows, drawn, holds = [], [], True
    for (user, name), seen in found.items():
        limit, by = (None, seen.note) if seen.final is None else (seen.final.mistakes, seen.final.theorem)
        rows.append([user, name, len(seen.flags), int(seen.mistakes[-1]), _finite(seen.certified[-1]), limit, by])
        allowed = np.fmin(np.where(np.isnan(seen.certified), np.inf, seen.certified), seen.bound)
        holds = holds and bool((seen.mistakes <= allowed + 1e-6).all())
        if name.startswith(("LR", "SP")):
            curves = {"mistakes": seen.mistakes, "certificate": seen.certified, "bound": seen.bound}
            kept = {key: [_finite(v) for v in values] for key, values in curves.items() if np.isfinite(values).any()}
            drawn.append(Curves(f"{user}: {name}", kept, "messages", at=seen.rounds.tolist()))
    table = Table(
        "Mistakes and their bounds",
        ["user", "learner", "messages", "mistakes", "certificate allows", "bound allows", "by"],
        rows,
        "A bound of at least the number of messages is vacuous. For the Perceptrons of HS the smaller of HS theorem 1 "
        "and of LR eq. 2 at the best C is shown, with its name.",
    )
    remarks = [
        "No curve of mistakes crosses its certificate or its bound." if holds else "A CURVE CROSSES ITS BOUND.",
        "The theorems require short rows (LR: ‖x‖² ≤ ½; the proof gives λ = γC - hC² with the stream's own h). The "
        "papers' binary word vectors are longer, and on them the bounds are many times the number of messages. Here "
        "rows have unit norm.",
    ]
    about = (
        "Each mistake adds at least λ to the dual D, so mistakes ≤ D/λ (the certificate, which needs no comparator), "
        "and D is at most the objective of any fixed weights (the bound; the weights are found in hindsight). "
        "Binary words, unit rows, folders known from the start."
    )
    return Outcome(BOUNDS.name, BOUNDS.title, BOUNDS.source, about, [table], drawn, remarks)


def _finite(value: float) -> float | None:
    return float(f"{value:.6g}") if np.isfinite(value) else None


MISTAKES = Study(
    "enron-curves", "Mail into folders: mistakes over time", "SP, figure 3", ("enron_folders",),
    len(DRAWN) * len(FIGURE_3), mistakes,
)  # fmt: skip
BOUNDS = Study(
    "enron-bounds", "Mail into folders: what was proven", "SP, section 5; LR, section 3; HS, theorem 1",
    ("enron_folders",), len(WATCHED) * len(PROVEN), proven,
)  # fmt: skip
