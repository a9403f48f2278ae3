"""What a benchmark found: a table for people, figures for programs, and its bars."""

from dataclasses import dataclass, field

FACTOR = 3.0
"""By which an absolute bar may be passed before the run fails: machines differ."""


@dataclass(frozen=True)
class Bar:
    """
    What a value may be at most, or must be at least.

    An absolute one is of this machine (seconds, MiB) and fails at three times itself;
    a ratio within the run, and what is counted, fails as soon as it is passed.
    """

    name: str
    value: float
    bound: float
    is_least: bool = False
    is_absolute: bool = False

    @property
    def is_passed(self):
        """Return whether the value is on the wrong side of the bar."""
        if self.is_least:
            return self.value < self.bound
        return self.value > self.bound

    @property
    def is_missed(self):
        """Return whether that fails the run."""
        if self.is_absolute:
            return self.value > self.bound * FACTOR
        return self.is_passed

    def __str__(self):
        mark = "MISSED" if self.is_missed else "passed" if self.is_passed else "ok"
        side = "at least" if self.is_least else "at most"
        return f"  {mark:6} {self.name}: {self.value:,.2f}, {side} {self.bound:,.2f}"


@dataclass(frozen=True)
class Result:
    """One benchmark's outcome."""

    name: str
    lines: list
    figures: dict
    bars: list = field(default_factory=list)

    def as_json(self):
        return {
            "benchmark": self.name,
            **self.figures,
            "bars": {
                bar.name: {"value": bar.value, "bound": bar.bound} for bar in self.bars
            },
        }

    def __str__(self):
        return "\n".join([f"\n{self.name}", *self.lines, *map(str, self.bars)])
