"""Plan how the stored review watches come to equal what a source declares."""

from collections.abc import Collection, Iterable, Iterator, Sequence
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


@dataclass(frozen=True, slots=True)
class RenameReviewWatch:
    """A watch whose entry has another name, and else is as before."""

    watch: ReviewWatch
    wanted: DesiredReviewWatch
    origin: Origin


ReviewStep: TypeAlias = (
    AddReviewWatch | PutReviewWatch | RemoveReviewWatch | RenameReviewWatch
)


def plan_review_watches(
    desired: Sequence[DesiredReviewWatch],
    stored: Iterable[ReviewWatch],
    *,
    origin: Origin,
    heirs: Sequence[DesiredReviewWatch] = (),
    unreadable: Collection[str] = (),
    is_final: bool = True,
) -> tuple[ReviewStep, ...]:
    """
    Plan the steps from the stored watches of a workspace to what one source declares.

    Only what that origin made is changed or removed, but the configuration goes before
    a watch file. A name that another one has stays that one's. `heirs` are what watch
    files declare: what is no longer declared goes to them, with its tasks. What is
    declared under another name, and nowhere else so, is renamed. `unreadable` are names
    that rows have which are not among the stored: nothing is renamed to one, and what
    is declared under it is added, which mends the row. Unless `is_final` nothing is
    removed or renamed yet.
    """
    succession = (heirs, frozenset(unreadable), is_final)
    return tuple(_list_steps(desired, stored, origin, succession))


def list_taken(
    desired: Sequence[DesiredReviewWatch],
    stored: Iterable[ReviewWatch],
    *,
    origin: Origin,
) -> tuple[ReviewWatch, ...]:
    """Return the watches of others that have a declared name, as they are declared."""
    taken = {watch.name: watch for watch in stored if not _may_put(watch, origin)}
    return tuple(taken[wanted.name] for wanted in desired if wanted.name in taken)


def list_ended(
    desired: Sequence[DesiredReviewWatch],
    stored: Iterable[ReviewWatch],
    *,
    origin: Origin,
    heirs: Sequence[DesiredReviewWatch] = (),
) -> tuple[ReviewWatch, ...]:
    """Return the watches of that origin whose names nothing declares any more."""
    named = {each.name for each in (*desired, *heirs)}
    return tuple(
        watch for watch in stored if watch.origin is origin and watch.name not in named
    )


def _may_put(watch: ReviewWatch, origin: Origin) -> bool:
    return watch.origin is origin or (
        origin is Origin.CONFIG and watch.origin is Origin.WATCH_FILE
    )


def _list_steps(
    desired: Sequence[DesiredReviewWatch],
    stored: Iterable[ReviewWatch],
    origin: Origin,
    succession: tuple[Sequence[DesiredReviewWatch], frozenset[str], bool],
) -> Iterator[ReviewStep]:
    by_name = {watch.name: watch for watch in stored}
    heirs, is_final = {each.name: each for each in succession[0]}, succession[2]
    known = by_name.keys() | succession[1]
    named = {wanted.name for wanted in desired}
    lost = [w for w in by_name.values() if w.origin is origin and w.name not in named]
    ended = list_ended(desired, lost, origin=origin, heirs=succession[0])
    renamed = dict(_pair([w for w in desired if w.name not in known], ended))
    for wanted in desired:
        watch = by_name.get(wanted.name)
        if wanted.name in renamed:
            if is_final:
                yield RenameReviewWatch(renamed[wanted.name], wanted, origin)
        elif watch is None:
            yield AddReviewWatch(wanted, origin)
        elif _may_put(watch, origin) and (
            (watch.settings, watch.written_as, watch.origin)
            != (wanted.settings, wanted.written_as, origin)
        ):
            yield PutReviewWatch(watch, wanted, origin)
    for watch in lost:
        if watch.name in heirs:
            yield PutReviewWatch(watch, heirs[watch.name], Origin.WATCH_FILE)
        elif is_final and watch not in renamed.values():
            yield RemoveReviewWatch(watch)


def _pair(
    added: Sequence[DesiredReviewWatch], ended: Sequence[ReviewWatch]
) -> Iterator[tuple[str, ReviewWatch]]:
    """Yield the new names of watches that go on; where two could be meant, none."""
    for wanted in added:
        twins = [each for each in added if each.settings == wanted.settings]
        before = [each for each in ended if each.settings == wanted.settings]
        if len(twins) == len(before) == 1:
            yield wanted.name, before[0]
