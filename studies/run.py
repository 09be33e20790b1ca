"""Run some or all studies; results are cached by content, so that a second run is instant."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

from hinged.experiments.datasets import PUBLISHED, folder, places
from studies import (
    appendix,
    beyond,
    confirming,
    digits,
    enron,
    enron_curves,
    enron_grids,
    enron_readings,
    letters,
    noise,
    synthetic_sharing,
    yale,
)
from studies.sources import sources_of
from studies.study import Outcome, Study

__all__ = ["STUDIES", "reproduce"]

#: Every study, by name, in the order of a report.
STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        enron.STUDY,
        enron_grids.STUDY,
        enron_readings.STUDY,
        enron_curves.MISTAKES,
        enron_curves.BOUNDS,
        beyond.STUDY,
        confirming.STUDY,
        synthetic_sharing.STUDY,
        yale.STUDY,
        noise.ROBUSTNESS,
        noise.EFFECT_OF_C,
        noise.EFFECT_OF_T,
        digits.STUDY,
        letters.STUDY,
        appendix.STUDY,
    )
}


def reproduce(
    names: Sequence[str] = (),
    *,
    fresh: bool = False,
    begin: Callable[[Study], None] | None = None,
    advance: Callable[[str], None] | None = None,
) -> tuple[list[Outcome], dict[str, str]]:
    """Run studies by name, all by default; return the outcomes, and why other studies could not be run.

    Parameters
    ----------
    names : sequence of str
        Names of `STUDIES`.
    fresh : bool
        Ignore cached results.
    begin : callable, optional
        Called with each study before it runs.
    advance : callable, optional
        Called with the name of each finished step.

    Examples
    --------
    >>> found, missing = reproduce(["pa-t"])
    >>> found[0].title, missing
    ('The effect of the number of rounds', {})
    """
    unknown = [name for name in names if name not in STUDIES]
    if unknown:
        raise ValueError(f"there is no study named {unknown[0]!r}; choose among {', '.join(STUDIES)}.")
    found, missing = [], {}
    for name in names or STUDIES:
        study = STUDIES[name]
        try:
            place = _kept(study)
        except FileNotFoundError as problem:
            missing[name] = str(problem)
            continue
        if place.exists() and not fresh:
            found.append(Outcome.of_plain(json.loads(place.read_text(encoding="utf-8"))))
            continue
        if begin is not None:
            begin(study)
        started = time.perf_counter()
        try:
            outcome = study.run(advance or (lambda done: None))
        except FileNotFoundError as problem:  # the folder exists, but a file in it is missing
            missing[name] = f"{problem.filename or problem} is not there; {_where(study)}"
            continue
        outcome.seconds = time.perf_counter() - started
        _keep(place, outcome)
        found.append(outcome)
    return found, missing


def _kept(study: Study) -> Path:
    """The cache file of a study, named after a checksum of the sources and data it depends on."""
    digest = hashlib.sha256(study.name.encode())
    for source in sources_of(study.run.__module__):
        digest.update(source.read_bytes())
    for package in study.packages:
        digest.update(f"{package} {find_spec(package) is not None}".encode())
    for name in study.data:
        for path in sorted(folder(name).iterdir()):
            digest.update(f"{path.name} {path.stat().st_size}".encode())
            digest.update(hashlib.file_digest(path.open("rb"), "sha256").digest())
    return places()[-1] / "studies" / f"{study.name}-{digest.hexdigest()[:16]}.json"


def _where(study: Study) -> str:
    """Where the data of a study are published."""
    published = (f"{PUBLISHED[name][0]}: {PUBLISHED[name][1]}" for name in study.data)
    return f"its data are published at {'; '.join(published)}."


def _keep(place: Path, outcome: Outcome) -> None:
    """Write an outcome atomically; without permission to write, nothing is cached."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        beside = place.with_name(f".{place.name}.{os.getpid()}")
        beside.write_text(json.dumps(outcome.plain()), encoding="utf-8")
        beside.replace(place)
    except OSError:
        return
