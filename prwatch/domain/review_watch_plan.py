"""Plan how the stored review watches come to equal what a source declares."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from prwatch.domain.review_watch import ReviewSettings, ReviewWatch
from prwatch.domain.task import Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredReviewWatch:
    """A review watch as an entry declares it, by its name in the workspace."""

    name: str
    settings: ReviewSettings = field(default_factory=ReviewSettings)
    written_as: str = ""
    """The watch file that declares it; '' for the configuration."""


@dataclass(frozen=True, slots=True)
class AddReviewWatch:
    """A watch that is not there yet."""

    wanted: DesiredReviewWatch
    origin: Origin


@dataclass(frozen=True, slots=True)
class PutReviewWatch:
    """Settings, and the file that declares it, of a watch that is there."""

    watch: ReviewWatch
    wanted: DesiredReviewWatch


@dataclass(frozen=True, slots=True)
class RemoveReviewWatch:
    """A watch whose entry is gone."""

    watch: ReviewWatch


ReviewStep: TypeAlias = AddReviewWatch | PutReviewWatch | RemoveReviewWatch


def plan_review_watches(
    desired: Sequence[DesiredReviewWatch],
    stored: Iterable[ReviewWatch],
    *,
    origin: Origin,
) -> tuple[ReviewStep, ...]:
    """
    Plan the steps from the stored watches of a workspace to what one source declares.

    Only what that origin made is changed or removed. A name that is taken by another
    one (a person's watch, or one of another file) stays that one's: whoever was first
    has it.
    """
    return tuple(_list_steps(desired, stored, origin))


def list_taken(
    desired: Sequence[DesiredReviewWatch],
    stored: Iterable[ReviewWatch],
    *,
    origin: Origin,
) -> tuple[str, ...]:
    """Return the declared names that are another origin's watch, in order."""
    taken = {watch.name for watch in stored if watch.origin is not origin}
    return tuple(wanted.name for wanted in desired if wanted.name in taken)


def _list_steps(
    desired: Sequence[DesiredReviewWatch],
    stored: Iterable[ReviewWatch],
    origin: Origin,
) -> Iterator[ReviewStep]:
    by_name = {watch.name: watch for watch in stored}
    for wanted in desired:
        watch = by_name.get(wanted.name)
        if watch is None:
            yield AddReviewWatch(wanted, origin)
        elif watch.origin is origin and (
            (watch.settings, watch.written_as) != (wanted.settings, wanted.written_as)
        ):
            yield PutReviewWatch(watch, wanted)
    named = {wanted.name for wanted in desired}
    for watch in by_name.values():
        if watch.origin is origin and watch.name not in named:
            yield RemoveReviewWatch(watch)
