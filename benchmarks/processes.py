"""Processor time and peak memory of processes that this one started, as Linux reports them in ``/proc``."""

import os
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")
TICK = os.sysconf("SC_CLK_TCK")


def family(root: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the descendants of a process, each with the fields of its ``stat`` from the parent's number on."""
    found = {}
    for folder in PROC.iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text()
            except OSError:  # it has ended
                continue
            found[int(folder.name)] = stat.rpartition(")")[2].split()[1:]
    wanted = {root}
    for number in sorted(found):  # parents are older, as long as numbers do not begin anew
        if int(found[number][0]) in wanted:
            wanted.add(number)
            yield number, found[number]


def processor_time() -> float:
    """Seconds of processor time of all descendants of this process, those included that have ended."""
    return sum(sum(map(int, stat[10:14])) for _, stat in family(os.getpid())) / TICK


def peaks() -> dict[str, int]:
    """Peak memory in bytes of the largest descendant of this process of each name."""
    largest: dict[str, int] = {}
    for number, _ in family(os.getpid()):
        try:
            lines = (PROC / str(number) / "status").read_text().splitlines()
        except OSError:  # it has ended
            continue
        about = dict(line.split(":", 1) for line in lines)
        if "VmHWM" in about:
            name = about["Name"].strip()
            largest[name] = max(largest.get(name, 0), 1024 * int(about["VmHWM"].split()[0]))
    return largest
