"""What `prwatch explain` tells of one pull request, and the object that it prints."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prwatch.app.command.event_commands import list_changes
from prwatch.app.command.watch_row import WatchRow
from prwatch.domain.checks_summary import ChecksSummary, NamedCheck
from prwatch.domain.checks_words import RULES
from prwatch.domain.event_building import build_task_pull_request
from prwatch.domain.explanation import ExplainedCheck, Explanation
from prwatch.domain.phrase import Known
from prwatch.domain.pull_request import UNOBSERVED
from prwatch.domain.timestamp import format_optional_time, format_time
from prwatch.domain.unobserved import UnobservedField, list_unobserved
from prwatch.domain.verdict_words import Words, tell
from prwatch.store.events import EventRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """Something that keeps it from being asked for: `kind` is told with its end."""

    kind: str
    message: str
    until: dt.datetime

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        return {
            "kind": self.kind,
            "message": self.message,
            "until": format_time(self.until),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """
    What the daemon says of it.

    `why` tells how often it is asked for and for what reason. `summary` is newer than
    what is stored, None while no checks run. `stretched` is '' unless the budget
    does not hold all that is watched.
    """

    asked_at: dt.datetime | None
    good_at: dt.datetime | None
    due_at: dt.datetime | None
    why: str
    stretched: str = ""
    obstacles: tuple[Obstacle, ...] = ()
    summary: ChecksSummary | None = None
    mergeable_unknown_since: dt.datetime | None = None

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        return {
            "asked_at": format_optional_time(self.asked_at),
            "confirmed_at": format_optional_time(self.good_at),
            "due_at": format_optional_time(self.due_at),
            "why": self.why,
            "stretched": self.stretched or None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """
    One pull request, or a branch that has none yet.

    `number` is 0 for such a branch. `stored` is the row that changed last, None where
    nobody watches. `live` is None unless it was read now, and `outlook` unless a
    daemon answers. `known` is all that the words are made of, the newest of each.
    `changes` are the last events about it, oldest first. `at` is our time.
    """

    reference: str
    repository: str
    number: int
    workspace: str
    tasks: tuple[str, ...]
    at: dt.datetime
    stored: WatchRow | None = None
    live: Explanation | None = None
    known: Known | None = None
    outlook: Outlook | None = None
    obstacles: tuple[Obstacle, ...] = ()
    changes: tuple[EventRecord, ...] = ()

    @property
    def pull_request(self) -> Mapping[str, object] | None:
        """Return what was read last, as in the events."""
        return build_task_pull_request(self.known.observation) if self.known else None

    @property
    def words(self) -> Words | None:
        """Return what people are told of it, None when it was never read."""
        return tell(self.known) if self.known else None

    @property
    def summary(self) -> ChecksSummary | None:
        """Return the numbers behind the checks verdict, None where nobody counted."""
        return self.known.observation.checks_summary if self.known else None

    @property
    def rule(self) -> str:
        """Return the rule that made the verdict on its checks, '' without one."""
        state = self.known.observation.checks if self.known else UNOBSERVED
        return "" if state is UNOBSERVED else RULES[state]

    @property
    def unobserved(self) -> tuple[UnobservedField, ...]:
        """Return what was not read of it, and why."""
        return list_unobserved(self.known) if self.known else ()

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        words, summary = self.words, self.summary
        return {
            "reference": self.reference,
            "workspace": self.workspace,
            "tasks": list(self.tasks),
            "at": format_time(self.at),
            "words": words.as_json() if words else None,
            "rule": self.rule or None,
            "checks_summary": render_summary(summary) if summary else None,
            "unobserved": [
                {"field": each.field, "reason": each.reason} for each in self.unobserved
            ],
            "obstacles": [each.as_json() for each in self.obstacles],
            "next_look": self.outlook.as_json() if self.outlook else None,
            "changes": [_render_event(each) for each in self.changes],
            "stored": _render_stored(self.stored) if self.stored else None,
            "live": _render_live(self.live) if self.live else None,
        }


def render_summary(summary: ChecksSummary) -> dict[str, Any]:
    """Return the numbers behind a checks verdict as JSON values."""
    is_known = summary.required is not None
    return {
        "total": summary.total,
        "failing": summary.failing,
        "pending": summary.pending,
        "running": summary.running,
        "needs_approval": summary.unapproved,
        "stale": summary.stale,
        "not_reported": summary.unreported,
        "expects_more": summary.is_expecting,
        "ignored": summary.ignored,
        "required": summary.required,
        "required_failing": summary.required_failing if is_known else None,
        "required_pending": summary.required_pending if is_known else None,
        "unread": summary.unread or None,
        "deciding": [_render_named(each) for each in summary.named],
    }


def _render_named(check: NamedCheck) -> dict[str, object]:
    return {
        "name": check.name,
        "app": check.app or None,
        "said": check.said,
        "state": check.state.value,
        "since": format_optional_time(check.since),
        "required": check.is_required,
    }


def _render_event(record: EventRecord) -> dict[str, object]:
    return {
        "id": record.event.id,
        "time": format_time(record.event.time),
        "revision": record.event.revision,
        "changes": record.event.data.get("changes"),
        "words": list_changes(record),
    }


def _render_stored(row: WatchRow) -> dict[str, object]:
    return {
        "watch": row.id or None,
        "state": row.state,
        "observed_at": format_optional_time(row.observed_at),
        "checks_notes": list(row.notes),
        "pull_request": row.pull_request,
    }


def _render_live(live: Explanation) -> dict[str, object]:
    observation, checks = live.observation, live.checks
    return {
        "observed_at": format_time(observation.observed_at),
        "settles_at": format_optional_time(observation.settles_at),
        "checks_notes": list(observation.checks_notes),
        "pull_request": build_task_pull_request(observation),
        "checks": None if checks is None else [_render_check(each) for each in checks],
        "opinions": None
        if live.opinions is None
        else [
            {
                "author": each.author,
                "state": each.state,
                "submitted_at": format_optional_time(each.submitted_at),
            }
            for each in live.opinions
        ],
        "asked": None if live.asked is None else list(live.asked),
    }


def _render_check(check: ExplainedCheck) -> dict[str, object]:
    return {
        "kind": check.kind.value,
        "name": check.name,
        "app": check.app or None,
        "workflow": check.workflow or None,
        "event": check.event or None,
        "word": check.word,
        "said": check.said,
        "state": check.state.value,
        "standing": check.standing.value,
        "reason": check.reason or None,
        "since": format_optional_time(check.since),
        "required": check.is_required,
        "url": check.url or None,
    }
