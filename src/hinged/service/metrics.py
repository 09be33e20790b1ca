"""Metrics for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from hinged.service.models import Models

__all__ = ["Metrics"]

BOUNDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1.0, 5.0)  # seconds


class Metrics:
    """Counts and times of requests, and facts about the models of a server."""

    def __init__(self, models: Models) -> None:
        self._models, self._registry = models, CollectorRegistry()
        self._requests = Counter(
            "hinged_requests", "Requests by route and status.", ["route", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "hinged_request_seconds", "How long requests took.", buckets=BOUNDS, registry=self._registry
        )
        self._registry.register(self)

    def count(self, route: str, status: int, seconds: float) -> None:
        """Count a response."""
        self._requests.labels(route, status).inc()
        self._seconds.observe(seconds)

    def collect(self) -> Iterator[Metric]:
        """Yield facts about the models; the registry calls this."""
        models, loaded = self._models, self._models.loaded()
        yield GaugeMetricFamily("hinged_models_loaded", "Models in memory.", len(loaded))
        yield GaugeMetricFamily("hinged_models_bytes", "Approximate memory of models.", sum(s.bytes for s in loaded))
        yield CounterMetricFamily("hinged_models_evicted", "Models closed to make room.", models.evicted)
        yield CounterMetricFamily(
            "hinged_examples", "Examples learnt: new lines of journals.", models.counts["examples"]
        )
        yield CounterMetricFamily("hinged_commits", "Commits to journals.", models.counts["commits"])

    def text(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self._registry)
