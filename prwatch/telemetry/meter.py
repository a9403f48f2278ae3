"""
The present values of all metrics, kept as plain numbers.

Whoever counts needs no library of metrics; it is loaded when somebody asks for the
text, in `exposition`.
"""

import itertools
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from prwatch.telemetry.labels import OTHER
from prwatch.telemetry.metrics import CATALOGUE, Metric, MetricKind

Labels: TypeAlias = tuple[str, ...]
"""One value for each label of a metric, in the order of its labels."""


class Distribution:
    """What a histogram has seen: how many in each of its buckets, and their sum."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds: Final = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def add(self, value: float) -> None:
        """Count a value in the first bucket that takes it."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value


class Meter:
    """
    Counts, sets and keeps values under the labels of the catalogue, and no others.

    Each counter is there from the start with 0 under all of its labels, so that the
    first increase is seen as one. A gauge is there once it was put.
    """

    def __init__(self) -> None:
        self._values: dict[Metric, dict[Labels, float]] = {
            metric: dict.fromkeys(_list_labels(metric), 0.0)
            if metric.kind is MetricKind.COUNTER
            else {}
            for metric in CATALOGUE
        }
        self._distributions = {
            metric: Distribution(metric.bounds)
            for metric in CATALOGUE
            if metric.kind is MetricKind.HISTOGRAM
        }

    def count(self, metric: Metric, amount: float = 1, *labels: str) -> None:
        """
        Add to a counter.

        Raises:
            ValueError: A label has a value that its set does not hold.
        """
        self._values[metric][_fit(metric, labels)] += amount

    def put(self, metric: Metric, value: float, *labels: str) -> None:
        """Set a gauge; see `count` for what is raised."""
        self._values[metric][_fit(metric, labels)] = value

    def put_all(self, metric: Metric, values: Mapping[Labels, float]) -> None:
        """Set a gauge under these labels, and let it vanish under all others."""
        fitted: dict[Labels, float] = {}
        for labels, value in values.items():
            key = _fit(metric, labels)
            fitted[key] = fitted.get(key, 0.0) + value
        self._values[metric] = fitted

    def observe(self, metric: Metric, value: float) -> None:
        """Count a value in a histogram."""
        self._distributions[metric].add(value)

    def get(self, metric: Metric, *labels: str) -> float | None:
        """Return the present value of a counter or gauge, or None without one."""
        return self._values[metric].get(_fit(metric, labels))

    def values(self, metric: Metric) -> Iterator[tuple[Labels, float]]:
        """Yield the values of a counter or gauge with their labels."""
        yield from self._values[metric].items()

    def distribution(self, metric: Metric) -> Distribution:
        """Return what a histogram has seen."""
        return self._distributions[metric]


class RunningTotals:
    """
    Adds to a meter what totals that others keep have grown by.

    One belongs to those that count from nothing together, such as the parts of one
    configuration: when they are made anew, so is this.
    """

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._seen: dict[tuple[str, Metric, Labels], float] = {}

    def follow(
        self, metric: Metric, totals: Mapping[Labels, float], *, source: str = ""
    ) -> None:
        """Add to a counter what `source`'s totals have grown by since last time."""
        for labels, total in totals.items():
            key = (source, metric, labels)
            grown = total - self._seen.get(key, 0.0)
            self._seen[key] = total
            if grown > 0:
                self._meter.count(metric, grown, *labels)


def _list_labels(metric: Metric) -> Iterator[Labels]:
    yield from itertools.product(*metric.labels.values())


def _fit(metric: Metric, labels: Labels) -> Labels:
    """
    Return the labels, with `other` for what a set that has it does not know.

    Raises:
        ValueError: A value is not in its set, or their number is wrong.
    """
    fitted = []
    for value, known in zip(labels, metric.labels.values(), strict=True):
        found = value if value in known else OTHER
        if found not in known:
            raise ValueError(f"{metric.name} has no such label value")
        fitted.append(found)
    return tuple(fitted)
