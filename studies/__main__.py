"""`python -m studies`: run the experiments of the papers again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from hinged.cli.help import Command
from hinged.cli.main import run_command
from hinged.cli.options import AsJson
from hinged.cli.tables import bold, dim, emit, rows_of, say
from studies import STUDIES, reproduce
from studies.page import to_markdown, write_studies

__all__ = ["main"]


def main(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", help="Which studies; all if left out.")] = None,
    *,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the report, results.json and results.md.")
    ] = Path("hinged-results"),
    listed: Annotated[bool, typer.Option("--list", help="List the studies and the data they need.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Ignore cached results.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run the experiments of the four papers again.

    Writes a report that opens offline, with printed figures beside those found, and the same as JSON and Markdown.
    Results are cached by content: a second run takes no time until code or data change. A study whose data are missing
    is named and left out.

    Example: python -m studies sharing-synthetic pa-noise --out results
    """
    if listed:
        _list(as_json)
        return
    if out.exists() and not out.is_dir():
        raise FileExistsError(f"{out} is a file; name a folder for the results with --out.")
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        found, missing = reproduce(
            names or (),
            fresh=fresh,
            begin=lambda study: bar.reset(task, total=study.steps, description=study.title),
            advance=lambda done: bar.advance(task),
        )
    out.mkdir(parents=True, exist_ok=True)
    page = write_studies(out / "report.html", found, missing)
    plain = {"studies": [outcome.plain() for outcome in found], "missing": missing}
    (out / "results.json").write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
    (out / "results.md").write_text(to_markdown(found), encoding="utf-8")
    if as_json:
        emit(json.dumps(plain, indent=1))
    else:
        for outcome in found:
            say(f"{bold(outcome.title)}  {dim(f'{outcome.source}, {outcome.seconds:.1f} s')}")
            for remark in outcome.remarks[:1]:
                say(f"  {remark}")
        say(f"\n{bold(str(page))} {dim('has tables and curves; results.json and results.md lie beside it')}")
    for name, why in missing.items():
        emit(f"hinged: {STUDIES[name].title} was left out: {why}", err=True)
    raise typer.Exit(1 if missing and not found else 0)


def _list(as_json: bool) -> None:
    if as_json:
        about = [{"name": s.name, "title": s.title, "source": s.source, "data": s.data} for s in STUDIES.values()]
        emit(json.dumps(about, indent=1))
        return
    for row in rows_of(
        [[s.name, s.title, s.source, ", ".join(s.data) or "generated"] for s in STUDIES.values()], left=4
    ):
        say(row)
    say(dim("\npython -m studies NAME ... runs some of them; without a name, all"))


if __name__ == "__main__":
    app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None, add_completion=False)
    app.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})(main)
    run_command(app, "python -m studies")
