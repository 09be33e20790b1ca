"""What a figure was measured on."""

import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = (
    "hinged",
    "numpy",
    "scipy",
    "numba",
    "scikit-learn",
    "river",
    "vowpalwabbit",
    "python-crfsuite",
    "liblinear-official",
    "fasttext-numpy2-wheel",
)


def cpu_model() -> str:
    """Name the processor as the kernel reports it, or as Python does where there is no ``/proc``."""
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        for line in listing.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def version_of(package: str) -> str:
    """Installed version of `package`, or ``"absent"``."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "absent"


def load() -> float:
    """Processes that wanted a core in the last minute, on average."""
    return os.getloadavg()[0]


def describe() -> dict[str, str | int | dict[str, str]]:
    """Processor, cores, system and the versions of everything that is timed.

    Returns
    -------
    dict
        Ready for JSON; printed once at the top of a run.
    """
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count() or 1,
        "threads_used": 1,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {package: version_of(package) for package in PACKAGES},
    }


def short(machine: dict[str, Any]) -> str:
    """Processor and cores of what `describe` returned."""
    return f"{machine['cpu']}, {machine['cores']} cores"
