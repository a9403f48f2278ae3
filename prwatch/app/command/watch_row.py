"""What a person is shown of one watch, one standing adoption, and a list of them."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from prwatch.domain.event_building import build_task_pull_request
from prwatch.domain.phrase import Known
from prwatch.domain.pull_request import UNOBSERVED
from prwatch.domain.task import Origin
from prwatch.domain.timestamp import format_optional_time
from prwatch.domain.verdict_words import Words, tell


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchRow:
    """
    One watch, or a pull request that a task knows and no longer watches.

    `id` is '' for the latter. `state` is `searching`, `resting`, `unread` (found, and
    never read yet), `detached`, or GitHub's OPEN, CLOSED, MERGED. `repository` is the
    base, under our id `repository_id`, `head_repository` the fork of the branch or ''.
    `known` is what was last read, None before that. `companions` are the other open
    pull requests of the same task and branch. `observed_at` is when the last change
    was seen.
    """

    id: str
    workspace: str
    task: str
    origin: Origin
    is_archived: bool
    repository: str
    repository_id: str
    number: int
    branch: str
    head_repository: str
    state: str
    known: Known | None = None
    companions: tuple[int, ...] = ()
    revision: int = 0
    observed_at: dt.datetime | None = None
    last_sign_at: dt.datetime | None = None

    @property
    def reference(self) -> str:
        """Return how a person names it: `octo/hello#12` or `octo/hello@fix`."""
        if self.number:
            return f"{self.repository}#{self.number}"
        head = f"{self.head_repository}:" if self.head_repository else ""
        return f"{self.repository}@{head}{self.branch}"

    @property
    def pull_request(self) -> Mapping[str, object] | None:
        """Return what was last read, as in the events."""
        return build_task_pull_request(self.known.observation) if self.known else None

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the words behind the checks verdict."""
        return self.known.observation.checks_notes if self.known else ()

    @property
    def words(self) -> Words | None:
        """Return what people are told of it, None when it was never read."""
        return tell(self.known) if self.known else None

    def read(self, field: str) -> object:
        """Return a field of what was last read, None when it is not known."""
        if self.known is None:
            return None
        # Building all of them for one field is what a list of thousands would feel.
        value = getattr(self.known.observation, field)
        return None if value is UNOBSERVED else value

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        words = self.words
        return {
            "id": self.id or None,
            "reference": self.reference,
            "workspace": self.workspace,
            "task": self.task,
            "origin": self.origin.value,
            "archived": self.is_archived,
            "repository": self.repository,
            "branch": self.branch or None,
            "head_repository": self.head_repository or None,
            "state": self.state,
            "revision": self.revision,
            "observed_at": format_optional_time(self.observed_at),
            "last_sign_at": format_optional_time(self.last_sign_at),
            "checks_notes": list(self.notes),
            "other_pull_requests": list(self.companions),
            "words": words.as_json() if words else None,
            "pull_request": self.pull_request,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptionRow:
    """A standing adoption; `repository` is '' for every one, `author` for anybody."""

    workspace: str
    repository: str
    author: str
    origin: Origin

    @property
    def reference(self) -> str:
        """Return how a person names it."""
        by = f" by {self.author}" if self.author else ""
        return f"{self.repository or 'every repository'}{by}"

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        return {
            "workspace": self.workspace,
            "repository": self.repository or None,
            "author": self.author or None,
            "origin": self.origin.value,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchList:
    """The watches and the standing adoptions, in order of workspace and name."""

    watches: tuple[WatchRow, ...]
    adoptions: tuple[AdoptionRow, ...]

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        return {
            "watches": [row.as_json() for row in self.watches],
            "repository_watches": [row.as_json() for row in self.adoptions],
        }
