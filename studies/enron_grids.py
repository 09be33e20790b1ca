"""The same tables in hindsight: how well each column could have done, had its C been known."""

from __future__ import annotations

from typing import Any

import numpy as np

from studies.enron import PROTOCOLS
from studies.enron_columns import COLUMNS, PRINTED, PRINTED_USERS, beside, chosen, run_of, spelt
from studies.mail import at_once, messages_of, read_mail, users
from studies.study import Advance, Outcome, Study, Table

__all__ = ["STUDY"]

TUNED = {name: column for name, column in COLUMNS.items() if len(column.grid) > 1}
ABOUT = (
    "All settings of the columns that have a grid, on whole streams. The best setting for each user is chosen in "
    "hindsight and shown separately from those chosen without hindsight: on the first tenth of the user's stream, or "
    "as the setting with the fewest mistakes on average over the other users. Preprocessing is that of the study enron."
)


def run(advance: Advance) -> Outcome:
    """Rates of all settings, the best of them, and what choosing without hindsight costs."""
    names = users()
    needed = sorted({column.reading for column in TUNED.values()})
    messages = {user: messages_of(user) for user in names}
    mails = at_once(lambda user, reading: read_mail(messages[user], reading), [(u, r) for u in names for r in needed])

    def one(column: str, user: str, closed: bool) -> dict[Any, float]:
        mail, grid = mails[user, COLUMNS[column].reading], COLUMNS[column].grid
        rates = {setting: 100 * run_of(column, setting, mail, closed).rate for setting in grid}
        advance(f"{user}, {column}")
        return {**rates, "first tenth": rates[chosen(column, mail, closed)]}

    slow_first = sorted(TUNED, key=lambda column: COLUMNS[column].how.get("sharing") is None)
    found = at_once(one, [(c, u, closed) for closed in PROTOCOLS.values() for c in slow_first for u in names])
    tables, remarks = [], []
    for protocol, closed in PROTOCOLS.items():
        summary: list[list[Any]] = []
        best: list[list[Any]] = []
        at: list[list[Any]] = []
        for column, (_, grid, _) in TUNED.items():
            rates = {user: found[column, user, closed] for user in names}
            least = {user: min(grid, key=rates[user].__getitem__) for user in names}
            others = [rates[user][_least_elsewhere(rates, grid, user)] for user in names]
            best.append([column, *(beside(rates[user][least[user]], column, user) for user in names)])
            at.append([column, *(spelt(least[user]) for user in names)])
            tenth = [rates[user]["first tenth"] for user in names]
            hindsight = [rates[user][least[user]] for user in names]
            printed = [PRINTED[column][PRINTED_USERS.index(user)] for user in names if user in PRINTED_USERS]
            means = [float(np.mean(each)) if each else None for each in (tenth, others, hindsight, printed)]
            summary.append([column, *means])
        tables += [
            Table(
                f"Mean over users, in percent: {protocol}",
                ["column", "chosen on the first tenth", "chosen on the other users", "hindsight", "in print"],
                summary,
            ),
            Table(f"Hindsight, in percent (as printed): {protocol}", ["column", *names], best),
            Table(f"Best setting in hindsight: {protocol}", ["column", *names], at),
        ]
        gaps = np.mean([[row[1] - row[3], row[2] - row[3]] for row in summary], axis=0)
        remarks.append(
            f"With {protocol}, choosing without hindsight costs {gaps[0]:.1f} points on average if the setting is "
            f"chosen on the first tenth, {gaps[1]:.1f} if it is chosen on the other users."
        )
    return Outcome(STUDY.name, STUDY.title, STUDY.source, ABOUT, tables, [], remarks)


def _least_elsewhere(rates: dict[str, dict[Any, float]], grid: tuple[Any, ...], user: str) -> Any:
    """The setting with the fewest mistakes on average over the other users."""
    return min(grid, key=lambda setting: sum(rates[other][setting] for other in rates if other != user))


STUDY = Study(
    "enron-hindsight",
    "Mail into folders: the grids in hindsight",
    "SP, table 1; LR, table 1; HS, table 1",
    ("enron_folders",),
    len(PRINTED_USERS) * 2 * len(TUNED),
    run,
)
