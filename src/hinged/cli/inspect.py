"""`hinged inspect`: what a model file holds."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from hinged.cli.options import AsJson
from hinged.cli.tables import emit

__all__ = ["inspect"]

SHOWN = 10
ALWAYS = ("rule", "C", "sharing", "features", "scaling", "normalize")  # others if they differ from the default


def inspect(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The model file.")],
    as_json: AsJson = False,
) -> None:
    """Show what a model file holds.

    Settings, labels and how often they were learnt, features, rounds and mistakes, the certificate.

    Example: hinged inspect mail.hinged
    """
    from hinged.cli.lean import import_lean

    import_lean()
    from hinged.files.describe import describe

    facts = describe(model)
    if as_json:
        emit(json.dumps(facts, indent=2, ensure_ascii=False, default=str))
    else:
        _print(facts)


def _print(facts: dict[str, Any]) -> None:
    from hinged.cli.progress import size_of
    from hinged.cli.tables import bold, dim, percent, rows_of, say, shorten

    def line(name: str, value: str) -> None:
        say(f"{name:>12}  {value}")

    size, version = size_of(facts["bytes"]), facts["version"]
    say(f"{bold(facts['path'])}  {dim(f'{size}, file version {version}')}")
    say()
    line("estimator", f"{facts['estimator']}, {facts['dtype']}")
    settings, defaults = facts["settings"], facts["defaults"]
    others = [name for name, value in settings.items() if name not in ALWAYS and value != defaults.get(name)]
    line("settings", ", ".join(f"{name}={_short(settings[name])}" for name in (*ALWAYS, *others) if name in settings))
    if facts["reads"]:
        line("reads", facts["reads"])
    line("rounds", f"{facts['rounds']:,}, {facts['updates']:,} of them with a step")
    counted = facts["rounds"] - facts["novel"]
    rate = percent(facts["mistakes"] / counted if counted else None)
    line("mistakes", f"{facts['mistakes']:,} ({rate} of {counted:,}), each counted before it was learnt")
    certificate = "none" if facts["certificate"] is None else f"{facts['certificate']:,.2f}"
    line("certificate", f"{certificate} {dim('no fixed model does better than this on its stream')}".rstrip())
    line("features", f"{facts['features']:,} {facts['feature_kind']}, {facts['rows']:,} of them with weights")
    labels = facts["labels"]
    line("labels", f"{len(labels):,}")
    known = any(entry["examples"] for entry in labels)
    rows = [
        [shorten(str(entry["label"]), 40), *([f"{entry['examples']:,}"] if known else [])] for entry in labels[:SHOWN]
    ]
    for row in rows_of([["", "examples"], *rows] if known else rows) if rows else ():
        line("", dim(row) if row.endswith("examples") else row)
    if len(labels) > SHOWN:
        line("", dim(f"… {len(labels) - SHOWN:,} more; --json has all"))


def _short(setting: Any) -> str:
    """A setting as Python code, without the defaults of a small object.

    Examples
    --------
    >>> from hinged.sharing.features import Frequency
    >>> _short(Frequency(high=0.4)), _short("idf")
    ('Frequency(high=0.4)', "'idf'")
    """
    if not is_dataclass(setting) or isinstance(setting, type):
        return repr(setting)
    own = [(part.name, getattr(setting, part.name)) for part in fields(setting) if part.init]
    usual = {part.name: part.default for part in fields(setting)}
    given = ", ".join(f"{name}={value!r}" for name, value in own if usual[name] is MISSING or value != usual[name])
    return f"{type(setting).__name__}({given})"
