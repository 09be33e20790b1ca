"""What a study hands back, as plain data: tables, curves, remarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["Curves", "Outcome", "Study", "Table"]

Cell = Any  # str, int, float or None
Advance = Callable[[str], None]  # told what was done, a step each


@dataclass
class Table:
    """A titled table; cells of `best` rows or columns are not marked, the reader can see."""

    title: str
    columns: list[str]
    rows: list[list[Cell]]
    note: str = ""


@dataclass
class Curves:
    """Named curves over rounds, or over the places of `ticks`."""

    title: str
    series: dict[str, list[float]]
    unit: str
    percent: bool = False
    note: str = ""


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
        """The same as containers that JSON knows."""
        return asdict(self)

    @classmethod
    def of_plain(cls, plain: dict[str, Any]) -> Outcome:
        """What `plain` was made of."""
        tables, curves = [Table(**t) for t in plain["tables"]], [Curves(**c) for c in plain["curves"]]
        return cls(**{**plain, "tables": tables, "curves": curves})


@dataclass(frozen=True)
class Study:
    """An experiment of a paper that can be run alone.

    Attributes
    ----------
    name : str
        What the command line calls it.
    title : str
    source : str
        The paper's table or figure.
    data : tuple of str
        Names of the real data sets it needs, as `hinged.datasets.folder` knows them.
    steps : int
        How often it reports progress.
    run : callable
        Given `advance`, returns an Outcome.
    """

    name: str
    title: str
    source: str
    data: tuple[str, ...]
    steps: int
    run: Callable[[Advance], Outcome]
