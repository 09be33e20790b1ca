"""What a server counts, in the text format of Prometheus."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hinged.server.models import Models

__all__ = ["Metrics"]

BOUNDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1.0, 5.0)


class Metrics:
    """Requests by route and status, and how long they took.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.count("/healthz", 200, 0.0015)
    >>> print("".join(metrics._requests()).splitlines()[2])
    hinged_requests_total{route="/healthz",status="200"} 1
    """

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, int]] = Counter()
        self._within: Counter[float] = Counter()
        self._seconds = 0.0

    def count(self, route: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self._counts[route, status] += 1
        self._seconds += seconds
        for bound in BOUNDS:
            if seconds <= bound:
                self._within[bound] += 1

    def text(self, models: Models) -> str:
        """Everything, as Prometheus reads it."""
        counts, loaded = models.counts, models.loaded()
        facts: list[tuple[str, str, str, Any]] = [
            ("hinged_models_loaded", "gauge", "Models in memory.", len(loaded)),
            ("hinged_models_bytes", "gauge", "About how much memory they take.", sum(s.bytes for s in loaded)),
            ("hinged_models_evicted_total", "counter", "Models closed to make room.", models.evicted),
            ("hinged_examples_total", "counter", "Examples learnt: new lines of journals.", counts["examples"]),
            ("hinged_commits_total", "counter", "Waits for the disk.", counts["commits"]),
        ]
        lines = [f"# HELP {n} {what}\n# TYPE {n} {kind}\n{n} {value}\n" for n, kind, what, value in facts]
        return "".join([*lines, *self._requests()])

    def _requests(self) -> list[str]:
        name, seconds = "hinged_requests_total", "hinged_request_seconds"
        total = sum(self._counts.values())
        return [
            f"# HELP {name} Requests by route and status.\n# TYPE {name} counter\n",
            *(f'{name}{{route="{r}",status="{s}"}} {n}\n' for (r, s), n in sorted(self._counts.items())),
            f"# HELP {seconds} How long requests took.\n# TYPE {seconds} histogram\n",
            *(f'{seconds}_bucket{{le="{bound}"}} {self._within[bound]}\n' for bound in BOUNDS),
            f'{seconds}_bucket{{le="+Inf"}} {total}\n{seconds}_sum {self._seconds}\n{seconds}_count {total}\n',
        ]
