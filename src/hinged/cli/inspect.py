"""`hinged inspect`: what a model file holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any

from hinged.cli.options import AsJson, argument
from hinged.cli.progress import size_of
from hinged.cli.tables import bold, dim, emit_json, percent, rows_of, say, shorten

__all__ = ["inspect"]

SHOWN = 10
ALWAYS = ("rule", "C", "sharing", "features", "scaling", "normalize", "novel")  # others if they differ from the default


def inspect(model: Annotated[Path, argument("MODEL", "The model file.")], as_json: AsJson = False) -> None:
    """Show what a model file holds.

    Settings, labels and how often they were learnt, features, rounds and mistakes, the certificate.

    Example: hinged inspect mail.hinged
    """
    from hinged.files.describe import describe

    facts = describe(model)
    if as_json:
        emit_json(facts, default=str)
    else:
        _print(facts)


def _print(facts: dict[str, Any]) -> None:
    """Print a line for each fact that has one, then the most frequent labels."""
    size, version = size_of(facts["bytes"]), facts["version"]
    say(f"{bold(facts['path'])}  {dim(f'{size}, file version {version}')}\n")
    counted = facts["rounds"] - facts["novel"]
    rate = percent(facts["mistakes"] / counted if counted else None)
    certificate = "none for these settings"
    if facts["certificate"] is not None:
        certificate = f"{facts['certificate']:,.2f} {dim('no fixed model does better than this on its stream')}"
    lines = {
        "estimator": f"{facts['estimator']}, {facts['dtype']}",
        "settings": _settings(facts["settings"], facts["defaults"]),
        "chosen": _chosen(facts["settings"], facts["settled"]) or None,
        "reads": facts["reads"] or None,
        "rounds": f"{facts['rounds']:,}, {facts['updates']:,} of them with a step",
        "mistakes": f"{facts['mistakes']:,} ({rate} of {counted:,}), each counted before it was learnt",
        "certificate": certificate,
        "features": f"{facts['features']:,} {facts['feature_kind']}, {facts['rows']:,} of them with weights",
        "labels": f"{len(facts['labels']):,}",
    }
    for name, value in lines.items():
        if value is not None:
            _line(name, value)
    _print_labels(facts["labels"])


def _line(name: str, value: str) -> None:
    say(f"{name:>12}  {value}")


def _print_labels(labels: list[dict[str, Any]]) -> None:
    """Print the first labels, with how often they were learnt if that is known of any."""
    cells = [(shorten(str(entry["label"]), 40), f"{entry['examples'] or 0:,}") for entry in labels[:SHOWN]]
    rows = [name for name, _ in cells]
    if any(entry["examples"] for entry in labels):
        heading, *rows = rows_of([("", "examples"), *cells])
        _line("", dim(heading))
    for row in rows:
        _line("", row)
    if len(labels) > SHOWN:
        _line("", dim(f"… {len(labels) - SHOWN:,} more; --json has all"))


def _settings(settings: Mapping[str, object], defaults: Mapping[str, object]) -> str:
    """The settings as Python code: those of `ALWAYS`, and others that differ from the default."""
    others = [name for name, value in settings.items() if name not in ALWAYS and value != defaults.get(name)]
    return ", ".join(f"{name}={_short(settings[name])}" for name in (*ALWAYS, *others) if name in settings)


def _chosen(settings: Mapping[str, object], settled: Mapping[str, Any]) -> str:
    """What a model chose where a setting is "auto"; C that learn side by side with their shares in the answers.

    Examples
    --------
    >>> _chosen({"C": "auto", "bias": 0.5}, {"C": [1.0], "bias": 0.5, "experts": {"1.0": 0.25, "mean": 0.75}})
    'C=1 (25.0 %) and the mean weights (75.0 %)'
    """
    experts = settled.get("experts", {})
    left_to_it = [name for name in settled if settings.get(name) == "auto" and not (experts and name == "average")]
    return ", ".join(
        f"{n}={_side_by_side(experts) if experts and n == 'C' else _rounded(settled[n])}" for n in left_to_it
    )


def _side_by_side(experts: Mapping[str, float]) -> str:
    """Each C with its share in the answers, and the mean weights with theirs."""
    names = ["the mean weights" if cap == "mean" else f"{float(cap):.3g}" for cap in experts]
    *others, last = (f"{name} ({percent(share)})" for name, share in zip(names, experts.values(), strict=True))
    return f"{', '.join(others)} and {last}"


def _rounded(setting: object) -> str:
    from hinged.io import from_json

    plain = from_json("setting", setting, {}) if isinstance(setting, dict) else setting
    return f"{plain:.3g}" if isinstance(plain, float) else _short(plain)


def _short(setting: object) -> str:
    """A setting as Python code, without the defaults of a small object.

    Examples
    --------
    >>> from hinged.sharing.features import Frequency
    >>> _short(Frequency(high=0.4)), _short("idf")
    ('Frequency(high=0.4)', "'idf'")
    """
    if not is_dataclass(setting) or isinstance(setting, type):
        return repr(setting)
    own = [(part.name, getattr(setting, part.name), part.default) for part in fields(setting) if part.init]
    given = ", ".join(f"{name}={value!r}" for name, value, usual in own if value != usual)
    return f"{type(setting).__name__}({given})"
