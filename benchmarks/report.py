"""Results of a benchmark, printed as tables or written as JSON."""

from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table

Cell = str | int | float | None


@dataclass
class Bar:
    """A performance target and its measurement.

    Attributes
    ----------
    promise : str
        The target in words.
    measured : str
        The measured value.
    met : bool
        True if the target is met.
    """

    promise: str
    measured: str
    met: bool


@dataclass
class Sheet:
    """A titled table; each row has one cell per column, and no two columns have the same name."""

    title: str
    columns: list[str]
    rows: list[list[Cell]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if len(set(self.columns)) < len(self.columns):  # JSON would lose one
            raise ValueError(f"column names must be unique; got {self.columns}.")


@dataclass
class Report:
    """The results of one benchmark.

    Attributes
    ----------
    name : str
        The name of the benchmark, as given to `--only`.
    data : str
        A description of the data, with the seed.
    method : str
        What was timed, how often, and how mistakes were counted.
    sheets : list of Sheet
        Tables of results.
    bars : list of Bar
        Targets and whether they are met.
    """

    name: str
    data: str
    method: str
    sheets: list[Sheet] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)


def at_least(promise: str, measured: float, floor: float) -> Bar:
    """Return a target: a ratio of at least `floor`."""
    return Bar(f"{promise} ≥ {floor:g}×", f"{measured:.1f}×", measured >= floor)


def at_most(promise: str, measured: float, ceiling: float, unit: str) -> Bar:
    """Return a target: a value of at most `ceiling`."""
    return Bar(f"{promise} ≤ {ceiling:.3g} {unit}", f"{measured:.3g} {unit}", measured <= ceiling)


def to_json(report: Report) -> dict[str, Any]:
    """Convert `report` to plain containers, each row a mapping from column to cell."""
    plain = asdict(report)
    for sheet in plain["sheets"]:
        sheet["rows"] = [dict(zip(sheet["columns"], row, strict=True)) for row in sheet["rows"]]
    return plain


def show(report: Report, console: Console) -> None:
    """Print `report` to `console`."""
    console.rule(f"[bold]{report.name}")
    console.print(f"[dim]Data:[/] {report.data}\n[dim]Method:[/] {report.method}", highlight=False)
    for sheet in report.sheets:
        table = Table(title=sheet.title, title_justify="left")
        for index, column in enumerate(sheet.columns):
            table.add_column(column, justify="left" if index == 0 else "right", overflow="fold")
        for row in sheet.rows:
            table.add_row(*map(written, row))
        console.print(table)
    for bar in report.bars:
        verdict = "[green]met    [/]" if bar.met else "[red]NOT met[/]"
        console.print(f"{verdict} {bar.promise}: {bar.measured}", highlight=False)


def written(cell: Cell) -> str:
    """Format a cell."""
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 1000 else f"{cell:.3g}"
    return f"{cell:,}" if isinstance(cell, int) else cell
