"""The text in which Prometheus reads metrics, made by its own library."""

from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.metrics_core import Metric as Family

from prwatch.telemetry.meter import Meter
from prwatch.telemetry.metrics import CATALOGUE, Metric, MetricKind

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


class Exposition:
    """
    Shows one meter, in a registry of its own.

    The library's global registry stays unused: two daemons in one process, as in
    tests, share nothing.
    """

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)

    def render(self) -> bytes:
        """Return all present values as text."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Family]:
        """Yield the values, a family a metric: what the library asks a collector."""
        for metric in CATALOGUE:
            if metric.kind is MetricKind.HISTOGRAM:
                yield self._build_histogram(metric)
            else:
                yield self._build(metric)

    def describe(self) -> Iterator[Family]:
        """Yield nothing: the names are those of the catalogue, which has no doubles."""
        return iter(())

    def _build(self, metric: Metric) -> Family:
        kind = (
            CounterMetricFamily
            if metric.kind is MetricKind.COUNTER
            else GaugeMetricFamily
        )
        family = kind(metric.name, metric.text, labels=[str(n) for n in metric.labels])
        for labels, value in self._meter.values(metric):
            family.add_metric(list(labels), value)
        return family

    def _build_histogram(self, metric: Metric) -> Family:
        found = self._meter.distribution(metric)
        bounds = [*(str(float(each)) for each in found.bounds), "+Inf"]
        buckets = zip(bounds, accumulate(found.counts), strict=True)
        family = HistogramMetricFamily(metric.name, metric.text)
        family.add_metric([], list(buckets), found.sum)
        return family
