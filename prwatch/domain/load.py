"""How much is watched with one account's budget, in counts."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from prwatch.domain.schedule import Activity


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """
    What is asked about, each reference once, however many watch it.

    `pull_requests` are the discovered ones by activity. `branches` are the places
    where branches are looked up, by the age of their last sign of life. `lists` are
    the repositories of which all is watched, each with its watched pull requests, and
    `searches` the same for the pull requests of an author. Those of both are among
    `pull_requests` too.
    """

    pull_requests: Mapping[Activity, int] = field(default_factory=dict)
    branches: Mapping[Activity, int] = field(default_factory=dict)
    archived: int = 0
    finished: int = 0
    lists: tuple[int, ...] = ()
    searches: tuple[int, ...] = ()

    @property
    def watched(self) -> int:
        """Return how many pull requests are watched, archived ones too."""
        return sum(self.pull_requests.values()) + self.archived

    def count(self, activity: Activity) -> int:
        """Return how many pull requests are that active."""
        return self.pull_requests.get(activity, 0)

    def __add__(self, other: "Load") -> "Load":
        return Load(
            pull_requests=_add(self.pull_requests, other.pull_requests),
            branches=_add(self.branches, other.branches),
            archived=self.archived + other.archived,
            finished=self.finished + other.finished,
            lists=self.lists + other.lists,
            searches=self.searches + other.searches,
        )


def grow(load: Load, count: int) -> Load:
    """
    Return the load with so many pull requests more, each named by itself.

    They are as active as those that there are, or rest where there are none.
    """
    known = {each: n for each, n in load.pull_requests.items() if n}
    if not known:
        return replace(load, pull_requests={Activity.RESTING: count})
    total = sum(known.values())
    grown = {each: n + n * count // total for each, n in known.items()}
    calmest = list(Activity)[max(list(Activity).index(each) for each in known)]
    grown[calmest] += count + total - sum(grown.values())
    return replace(load, pull_requests=grown)


def resize(load: Load, count: int) -> Load:
    """Return the load with that many pull requests: more of them, or a part."""
    if count >= load.watched:
        return grow(load, count - load.watched)
    part = {each: n * count // load.watched for each, n in load.pull_requests.items()}
    smaller = Load(pull_requests=part, branches=load.branches, finished=load.finished)
    return grow(smaller, count - smaller.watched)


def multiply(load: Load, times: int) -> Load:
    """Return so many times as much of everything."""
    return Load(
        pull_requests={each: n * times for each, n in load.pull_requests.items()},
        branches={each: n * times for each, n in load.branches.items()},
        archived=load.archived * times,
        finished=load.finished * times,
        lists=load.lists * times,
        searches=load.searches * times,
    )


def _add(
    first: Mapping[Activity, int], second: Mapping[Activity, int]
) -> dict[Activity, int]:
    return {
        each: first.get(each, 0) + second.get(each, 0)
        for each in Activity
        if each in first or each in second
    }
