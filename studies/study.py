"""The outcome of a study as plain data: tables, curves, remarks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

__all__ = ["PLAIN", "PROTOCOL", "Curves", "Outcome", "Study", "Table"]

#: What the papers do with the example that brings a new label: the label becomes known, nothing is learnt of it.
PROTOCOL: dict[str, Any] = {"novel": "skip"}

#: What the papers do with rows and weights: rows stay as they are, without a constant feature; the last weights answer.
PLAIN: dict[str, Any] = {"scaling": None, "normalize": False, "average": False, "bias": 0.0}

POINTS = 300  # kept of a long curve
Cell = Any  # str, int, float or None
Advance = Callable[[str], None]  # called with the name of each finished step


@dataclass
class Table:
    """A titled table."""

    title: str
    columns: list[str]
    rows: list[list[Cell]]
    note: str = ""


@dataclass
class Curves:
    """Named curves over rounds 1, 2, ..., or over the rounds in `at`, or over `places` with `ticks` written below."""

    title: str
    series: Mapping[str, Sequence[float | None]]
    unit: str
    percent: bool = False
    note: str = ""
    at: list[int] = field(default_factory=list)
    places: list[float] = field(default_factory=list)
    ticks: list[str] = field(default_factory=list)

    @classmethod
    def thinned(cls, title: str, series: dict[str, np.ndarray], unit: str, **more: Any) -> Curves:
        """Curves of one value a round, kept at some three hundred rounds, the last among them.

        Examples
        --------
        >>> drawn = Curves.thinned("Mistakes", {"pa1": np.arange(1000)}, "messages")
        >>> len(drawn.at), drawn.at[-1], drawn.series["pa1"][-1]
        (334, 1000, 999.0)
        """
        n = len(next(iter(series.values())))
        at = np.unique(np.append(np.arange(0, n, max(1, n // POINTS)), n - 1))
        thin = {name: [_number(v) for v in np.asarray(values, float)[at]] for name, values in series.items()}
        return cls(title, thin, unit, at=(at + 1).tolist(), **more)

    def over_rounds(self) -> dict[str, list[float]]:
        """One value a round, with straight lines between those kept; NaN where there is none."""
        if not self.at:
            return {name: [math.nan if v is None else v for v in values] for name, values in self.series.items()}
        rounds = np.arange(1, self.at[-1] + 1)
        drawn = {}
        for name, values in self.series.items():
            y = np.array([math.nan if v is None else v for v in values])
            seen = np.isfinite(y)
            drawn[name] = np.interp(rounds, np.array(self.at)[seen], y[seen], left=math.nan, right=math.nan).tolist()
        return drawn


def _number(value: float) -> float | None:
    return float(f"{value:.6g}") if math.isfinite(value) else None  # JSON knows no NaN


@dataclass
class Outcome:
    """What one study found."""

    name: str
    title: str
    source: str
    about: str
    tables: list[Table] = field(default_factory=list)
    curves: list[Curves] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def plain(self) -> dict[str, Any]:
        """The outcome as JSON types."""
        return asdict(self)

    @classmethod
    def of_plain(cls, plain: dict[str, Any]) -> Outcome:
        """The inverse of `plain`."""
        tables, curves = [Table(**t) for t in plain["tables"]], [Curves(**c) for c in plain["curves"]]
        return cls(**{**plain, "tables": tables, "curves": curves})


@dataclass(frozen=True)
class Study:
    """An experiment of a paper that can be run alone.

    Attributes
    ----------
    name : str
        Its name on the command line.
    title : str
    source : str
        The paper's table or figure.
    data : tuple of str
        Names of the real data sets it needs, as `hinged.datasets.folder` knows them.
    steps : int
        Number of calls of `advance`.
    run : callable
        Given `advance`, returns an Outcome.
    packages : tuple of str
        Optional packages; the outcome differs without them.
    """

    name: str
    title: str
    source: str
    data: tuple[str, ...]
    steps: int
    run: Callable[[Advance], Outcome]
    packages: tuple[str, ...] = ()
