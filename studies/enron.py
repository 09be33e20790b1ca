"""Mail into folders: the tables of three papers on the seven Enron users, all columns, two protocols."""

from __future__ import annotations

from typing import Any

from studies.enron_columns import (
    COLUMNS,
    MUCH,
    PRINTED_USERS,
    SHARE,
    beside,
    chosen,
    differs,
    run_of,
    spelt,
)
from studies.mail import at_once, messages_of, read_mail, users
from studies.study import Advance, Outcome, Study, Table

__all__ = ["PROTOCOLS", "STUDY"]

#: Name of a protocol: whether the folders are known from the start.
PROTOCOLS = {
    "all folders known from the start, every round counted": True,
    "folders revealed as they come, their first rounds not counted": False,
}
ABOUT = (
    "Features are the lower-cased words of from, to, cc, subject and body, in order of time: counts for SP, as its "
    "text says, presence for LR and HS. C (and the margin, for entropy) is the value of the grid with the fewest "
    f"mistakes on the first {100 * SHARE:.0f} % of the user's own stream. Mira has a margin of 0.01, SP's label "
    "features a strict 2 %, as in the papers. SP and LR know all folders from the start, HS reveals them. Published "
    f"figures are in brackets; * marks a relative difference of more than {100 * MUCH:.0f} %, and enron-readings "
    "tries other preprocessing of the same mail for each of those."
)


def run(advance: Advance) -> Outcome:
    """Every column for every user, folders known from the start or revealed."""
    names = users()
    needed = sorted({column.reading for column in COLUMNS.values()})
    messages = {user: messages_of(user) for user in names}
    mails = at_once(lambda user, reading: read_mail(messages[user], reading), [(u, r) for u in names for r in needed])

    def one(column: str, user: str, closed: bool) -> tuple[Any, float]:
        mail = mails[user, COLUMNS[column].reading]
        setting = chosen(column, mail, closed)
        found = setting, 100 * run_of(column, setting, mail, closed).rate
        advance(f"{user}, {column}")
        return found

    slow_first = sorted(COLUMNS, key=lambda column: COLUMNS[column].how.get("sharing") is None)
    found = at_once(one, [(c, u, closed) for closed in PROTOCOLS.values() for c in slow_first for u in names])
    tables, remarks = [], []
    for protocol, closed in PROTOCOLS.items():
        rows = [
            [column, *(beside(found[column, user, closed][1], column, user) for user in names)] for column in COLUMNS
        ]
        tables.append(Table(f"Online mistakes in percent (as printed): {protocol}", ["column", *names], rows))
        known = [(c, u) for c in COLUMNS for u in names if u in PRINTED_USERS]
        near = sum(not differs(found[c, u, closed][1], c, u) for c, u in known)
        remarks.append(f"With {protocol}, {near} of {len(known)} figures are within {100 * MUCH:.0f} % of the paper.")
    rows = [[column, *(spelt(found[column, user, True][0]) for user in names)] for column in COLUMNS]
    rows = [row for row in rows if len(COLUMNS[row[0]].grid) > 1]
    tables.append(Table("What was chosen on the first tenth, folders known from the start", ["column", *names], rows))
    return Outcome(STUDY.name, STUDY.title, STUDY.source, ABOUT, tables, [], remarks)


STUDY = Study(
    "enron",
    "Mail into folders",
    "SP, table 1; LR, table 1; HS, table 1",
    ("enron_folders",),
    len(PRINTED_USERS) * 2 * len(COLUMNS),
    run,
)
