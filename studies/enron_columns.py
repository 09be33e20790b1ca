"""The columns of three papers' tables on Enron mail: what is in print, and how each is learnt here.

SP, table 1: SimProj, ConProj, SimPerc and Max-Update on one shared vector with label features by frequency, Max-Update
and Mira on a vector per folder; words count as often as they occur. LR, table 1: updates I, II, III by squared norm and
by entropy, a vector per folder. HS, table 1: the Perceptron with a vector per folder, one shared, both.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from hinged.estimators import Classifier
from hinged.evaluate import progressive
from hinged.evaluate.progressive import Progress
from hinged.rules import Mira
from hinged.sharing.features import Frequency
from studies.mail import Mail
from studies.study import PLAIN, PROTOCOL

__all__ = ["COLUMNS", "MUCH", "PRINTED", "PRINTED_USERS", "beside", "chosen", "differs", "run_of", "spelt"]

CAPS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
ENTROPIC = tuple((C, margin) for C in (1.0, 10.0, 100.0) for margin in (0.003, 0.01, 0.03, 0.1))
SHARE = 0.1  # of the stream, on which C and the margin are chosen
MUCH = 0.15  # relative difference that the reports speak of
PRESENCE, COUNTS = "all fields, presence", "all fields, counts"

PRINTED_USERS = ("beck-s", "farmer-d", "kaminski-v", "kitchen-l", "lokay-m", "sanders-r", "williams-w3")
#: Percent of online mistakes as printed, by user.
PRINTED = {
    "SP SimProj": (50.0, 27.4, 43.1, 42.9, 18.8, 20.7, 4.2),
    "SP ConProj": (55.2, 30.3, 47.8, 47.0, 25.3, 25.6, 5.0),
    "SP SimPerc": (55.9, 30.7, 47.0, 49.0, 25.3, 23.2, 5.4),
    "SP Max-SP": (56.6, 30.0, 49.5, 48.0, 23.0, 23.8, 4.2),
    "SP Max-MP": (63.8, 28.6, 49.6, 54.9, 25.4, 36.3, 5.8),
    "SP Mira": (63.7, 31.8, 47.3, 52.6, 25.3, 34.1, 5.9),
    "LR I, squared norm": (58.5, 29.5, 50.2, 48.2, 24.9, 31.7, 5.0),
    "LR II, squared norm": (55.2, 23.3, 44.5, 41.9, 19.1, 28.3, 4.5),
    "LR III, squared norm": (51.9, 22.7, 41.9, 40.4, 18.4, 27.2, 4.4),
    "LR I, entropy": (54.0, 27.6, 46.7, 41.9, 24.0, 28.3, 4.2),
    "LR II, entropy": (50.2, 22.6, 42.9, 38.3, 18.7, 24.2, 3.4),
    "LR III, entropy": (47.1, 22.0, 40.0, 36.0, 18.2, 23.4, 3.1),
    "HS multi": (60.0, 29.5, 50.9, 48.4, 25.2, 30.2, 4.84),
    "HS single": (52.3, 35.5, 58.4, 53.6, 27.7, 23.7, 3.54),
    "HS hybrid": (47.7, 26.3, 46.0, 42.5, 22.3, 21.8, 3.35),
}


class Column(NamedTuple):
    """How a column is learnt, the settings to choose from, and how its paper reads a message."""

    how: dict[str, Any]
    grid: tuple[Any, ...] = (1.0,)
    reading: str = PRESENCE


_SP = {"sharing": "single", "features": Frequency(low_strict=True)}
_HS = {"features": "frequency"}
COLUMNS = {
    "SP SimProj": Column({"rule": "simproj", **_SP}, CAPS, COUNTS),
    "SP ConProj": Column({"rule": "conproj", **_SP}, CAPS, COUNTS),
    "SP SimPerc": Column({"rule": "simperc", **_SP}, reading=COUNTS),
    "SP Max-SP": Column({"rule": "pa1", **_SP}, CAPS, COUNTS),
    "SP Max-MP": Column({"rule": "pa1"}, CAPS, COUNTS),
    "SP Mira": Column({"rule": Mira(0.01)}, reading=COUNTS),
    "LR I, squared norm": Column({"rule": "perceptron"}),
    "LR II, squared norm": Column({"rule": "pa1"}, CAPS),
    "LR III, squared norm": Column({"rule": "optimal"}, CAPS),
    "LR I, entropy": Column({"rule": "perceptron", "geometry": "entropy"}, ENTROPIC),
    "LR II, entropy": Column({"rule": "pa1", "geometry": "entropy"}, ENTROPIC),
    "LR III, entropy": Column({"rule": "optimal", "geometry": "entropy"}, ENTROPIC),
    "HS multi": Column({"rule": "perceptron"}),
    "HS single": Column({"rule": "perceptron", "sharing": "single", **_HS}),
    "HS hybrid": Column({"rule": "perceptron", "sharing": "hybrid", **_HS}),
}


def run_of(column: str, setting: Any, mail: Mail, closed: bool, rounds: int | None = None) -> Progress:
    """A column at a setting on a user's stream, or its first rounds; `closed`: all folders are known from the start."""
    how = COLUMNS[column].how | _settings(setting) | PLAIN | PROTOCOL
    model = Classifier(**how, n_features=mail.X.shape[1])
    classes = sorted(set(mail.folders)) if closed else None
    return progressive(model, mail.X[:rounds], mail.folders[:rounds], classes=classes)


def chosen(column: str, mail: Mail, closed: bool) -> Any:
    """The setting with the fewest mistakes on the first tenth of a user's stream."""
    grid, first = COLUMNS[column].grid, max(50, int(SHARE * len(mail.folders)))
    return min(grid, key=lambda setting: run_of(column, setting, mail, closed, first).rate) if grid[1:] else grid[0]


def differs(here: float, column: str, user: str) -> bool:
    """Return True if a figure differs from print by more than `MUCH`; False if nothing is printed."""
    return user in PRINTED_USERS and abs(here - _print(column, user)) > MUCH * _print(column, user)


def beside(here: float, column: str, user: str) -> str:
    """A figure with the printed one in brackets, starred where they differ much.

    Examples
    --------
    >>> beside(50.04, "SP SimProj", "beck-s"), beside(9.0, "SP SimProj", "williams-w3"), beside(9.0, "SP SimProj", "me")
    ('50.0 (50)', '9.0 (4.2) *', '9.0')
    """
    if user not in PRINTED_USERS:
        return f"{here:.1f}"
    return f"{here:.1f} ({_print(column, user):g})" + (" *" if differs(here, column, user) else "")


def _print(column: str, user: str) -> float:
    return PRINTED[column][PRINTED_USERS.index(user)]


def spelt(setting: Any) -> str:
    """A setting in words.

    Examples
    --------
    >>> spelt(0.3), spelt((10.0, 0.01))
    ('C=0.3', 'C=10, margin=0.01')
    """
    return ", ".join(f"{name}={value:g}" for name, value in _settings(setting).items())


def _settings(setting: Any) -> dict[str, Any]:
    return {"C": setting[0], "margin": setting[1]} if isinstance(setting, tuple) else {"C": setting}
