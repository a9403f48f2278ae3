"""A circuit as people see it: what is left out, why, and until when."""

import datetime as dt
import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prwatch.domain.timestamp import format_optional_time


class Kind(enum.StrEnum):
    """What is left out beside what is polled."""

    CLEANUP = "review_cleanup"
    """The review tasks of a workspace, whether their work is done."""
    REVIEW_TASK = "review_task"
    """One of them alone."""
    WATCH_FOLDER = "watch_folder"
    """A folder of watch files. This one is stored: a restart keeps it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitRow:
    """
    One circuit that is not closed.

    `kind` is that of polling (`CircuitKind`), or what else is left out: `Kind`.
    `workspace` is '' for a host. `name` is the host, the organisation, the folder or
    what was asked (`octo/hello#12`). `retry_at` is when it is tried again, None where
    only an edit of the configuration helps.
    """

    kind: str
    workspace: str
    name: str
    state: str
    failure_class: str
    code: str
    message: str
    failures: int
    opened_at: dt.datetime | None
    retry_at: dt.datetime | None

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints and the daemon answers."""
        return {
            "circuit": self.kind,
            "workspace": self.workspace,
            "name": self.name,
            "state": self.state,
            "class": self.failure_class,
            "code": self.code,
            "message": self.message,
            "failures": self.failures,
            "opened_at": format_optional_time(self.opened_at),
            "retry_at": format_optional_time(self.retry_at),
        }


def parse_row(told: Mapping[str, Any]) -> CircuitRow:
    """Return the row of such an object."""
    return CircuitRow(
        kind=told["circuit"],
        workspace=told["workspace"],
        name=told["name"],
        state=told["state"],
        failure_class=told["class"],
        code=told["code"],
        message=told["message"],
        failures=told["failures"],
        opened_at=_parse_time(told["opened_at"]),
        retry_at=_parse_time(told["retry_at"]),
    )


def _parse_time(text: str | None) -> dt.datetime | None:
    return dt.datetime.fromisoformat(text) if text else None
