"""What happens to the pull requests of a load, and what must be told for it."""

from collections import deque
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from prwatch.simulator import World
from prwatch.simulator.entities import PullRequest

REPOSITORY: Final = "octo/hello"
SHARED: Final = "fix-greeting"
"""The branch of the task that was resumed again and again."""

Change: TypeAlias = tuple[str, Any, Any]
"""The field, its value before and its value now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadShape:
    """One task with so many sessions beside other tasks, for so many cycles."""

    sessions: int = 50
    others: int = 30
    cycles: int = 200

    @property
    def targets(self) -> int:
        """Return how many canonical watches there are, from the first cycle on."""
        return self.others + 1


def render_tasks(shape: LoadShape) -> str:
    """Return the tables of a configuration with those tasks."""
    checkout = f'{{ repository = "{REPOSITORY}", branch = "{SHARED}" }}'
    sessions = ",\n  ".join(
        f'{{ id = "S-{number}", checkouts = [{checkout}] }}'
        for number in range(shape.sessions)
    )
    resumed = f'[[workspace.task]]\nid = "T-0"\nsessions = [\n  {sessions},\n]'
    others = [
        f'[[workspace.task]]\nid = "T-{number}"\n'
        f'repositories = [{{ repository = "{REPOSITORY}", branch = "topic-{number}" }}]'
        for number in range(1, shape.others + 1)
    ]
    return "\n\n".join([resumed, *others])


class LoadStory:
    """
    Moves the world a little in some cycles, and tells what must come of it.

    The shared branch gets its pull request in the third cycle, other branches get
    theirs one by one, checks fail, a draft comes and goes. Most cycles are quiet.
    """

    def __init__(self, world: World, shape: LoadShape) -> None:
        world.add_repository(REPOSITORY)
        self._world = world
        self._shape = shape
        self._shared: PullRequest | None = None
        self._unchecked: deque[PullRequest] = deque()

    def play(self, cycle: int) -> list[Change]:
        """Do what happens before that cycle; return the changes that it must tell."""
        if cycle == 3:
            return self._open_one(SHARED)
        if 5 <= cycle < 5 + self._shape.others and cycle % 3 == 0:
            return self._open_one(f"topic-{cycle - 4}")
        if cycle % 20 == 10:
            return self._fail_next()
        if cycle % 50 == 15 and self._shared is not None:
            return self._turn_draft(self._shared)
        return []

    def _open_one(self, branch: str) -> list[Change]:
        one = self._world.open_pull_request(REPOSITORY, branch=branch)
        self._shared = self._shared or one
        self._unchecked.append(one)
        return [("associated", None, one.number)]

    def _fail_next(self) -> list[Change]:
        """Let the checks of one fail that had none: a state is told once a head."""
        if not self._unchecked:
            return []
        one = self._unchecked.popleft()
        self._world.set_check(one, "test", workflow="CI", conclusion="FAILURE")
        return [("checks", "none", "failure")]

    def _turn_draft(self, one: PullRequest) -> list[Change]:
        if one.is_draft:
            self._world.mark_ready(one)
        else:
            self._world.mark_draft(one)
        return [("is_draft", not one.is_draft, one.is_draft)]
