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
    """Settings, and whose it is, of a watch that is there."""

    watch: ReviewWatch
    wanted: DesiredReviewWatch
    origin: Origin


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
    heirs: Sequence[DesiredReviewWatch] = (),
    is_final: bool = True,
) -> tuple[ReviewStep, ...]:
    """
    Plan the steps from the stored watches of a workspace to what one source declares.

    Only what that origin made is changed or removed, but the configuration goes before
    a watch file. A name that another one has stays that one's. `heirs` are what watch
    files declare: what is no longer declared goes to them, with its tasks. Unless
    `is_final` nothing is removed yet.
    """
    return tuple(_list_steps(desired, stored, origin, (heirs, is_final)))


def list_taken(
    desired: Sequence[DesiredReviewWatch],
    stored: Iterable[ReviewWatch],
    *,
    origin: Origin,
) -> tuple[ReviewWatch, ...]:
    """Return the watches of others that have a declared name, as they are declared."""
    taken = {watch.name: watch for watch in stored if not _may_put(watch, origin)}
    return tuple(taken[wanted.name] for wanted in desired if wanted.name in taken)


def _may_put(watch: ReviewWatch, origin: Origin) -> bool:
    return watch.origin is origin or (
        origin is Origin.CONFIG and watch.origin is Origin.WATCH_FILE
    )


def _list_steps(
    desired: Sequence[DesiredReviewWatch],
    stored: Iterable[ReviewWatch],
    origin: Origin,
    succession: tuple[Sequence[DesiredReviewWatch], bool],
) -> Iterator[ReviewStep]:
    by_name = {watch.name: watch for watch in stored}
    for wanted in desired:
        watch = by_name.get(wanted.name)
        if watch is None:
            yield AddReviewWatch(wanted, origin)
        elif _may_put(watch, origin) and (
            (watch.settings, watch.written_as, watch.origin)
            != (wanted.settings, wanted.written_as, origin)
        ):
            yield PutReviewWatch(watch, wanted, origin)
    heirs, is_final = {each.name: each for each in succession[0]}, succession[1]
    for name in by_name.keys() - {wanted.name for wanted in desired}:
        watch = by_name[name]
        if watch.origin is not origin:
            continue
        if name in heirs:
            yield PutReviewWatch(watch, heirs[name], Origin.WATCH_FILE)
        elif is_final:
            yield RemoveReviewWatch(watch)
