"""
The configuration as values: one struct a section, its defaults, its documentation.

A struct's attribute is a key of the file; the text below it is what the key means.
A path is as it was written until the loader has anchored it.
"""

import datetime as dt
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Struct, field

from prwatch.config.entries import Checkout, Workspace
from prwatch.config.forms import (
    CREDENTIAL_NAME,
    ENVIRONMENT_NAME,
    FLAG,
    LISTEN,
    NAME,
    PATH,
    POSTGRES_URL,
    duration,
    fraction,
    one_of,
)
from prwatch.config.secrets import SecretReference, SecretSource
from prwatch.config.sink import Sink

LOG_LEVELS = ("debug", "info", "warning", "error")
LOG_FORMATS = ("auto", "json", "console")
READ_PATHS = ("auto", "graphql", "rest")


class Poll(Struct, frozen=True, kw_only=True):
    """When GitHub is asked, and how much of it."""

    interval: Annotated[dt.timedelta, duration("1s", "24h")] = dt.timedelta(seconds=60)
    """How often a pull request is asked about."""
    hot_interval: Annotated[dt.timedelta, duration("1s", "24h")] = dt.timedelta(
        seconds=15
    )
    """The same while checks run, a merge is queued or a verdict settles. At most
    `interval`; without a value of its own it follows a shorter `interval`."""
    tick: Annotated[dt.timedelta, duration("100ms", "1h")] = dt.timedelta(seconds=15)
    """The shortest time between two wake-ups of the loop. At most `hot_interval`;
    without a value of its own it follows a shorter `hot_interval`."""
    jitter: Annotated[float, fraction(0.0, 0.5)] = 0.1
    """By which part a wake-up is moved at random, either way."""
    settle: Annotated[dt.timedelta, duration("0s", "10m")] = dt.timedelta(seconds=20)
    """How long all checks must have been green before they count as successful."""
    full_read: Annotated[dt.timedelta, duration("1m", "24h")] = dt.timedelta(minutes=15)
    """How often a pull request is read in full although nothing seems to move."""
    read_path: Annotated[Literal["auto", "graphql", "rest"], one_of(READ_PATHS)] = (
        "auto"
    )
    """Which of GitHub's interfaces is used; auto is GraphQL, and REST without it."""
    feedback_on_activity: Annotated[bool, FLAG] = False
    """Whether an update time that moved alone makes a feedback event."""
    search_for: Annotated[dt.timedelta, duration("1h", "3650d")] = dt.timedelta(days=30)
    """How long a branch without a pull request is searched after its last sign of
    life. One that the configuration names is searched as long as it stands there."""
    search_interval: Annotated[dt.timedelta, duration("1s", "24h")] = dt.timedelta(
        seconds=60
    )
    """How often such a branch is asked about in the hour after a sign of life."""
    search_idle_interval: Annotated[dt.timedelta, duration("1s", "24h")] = dt.timedelta(
        minutes=5
    )
    """The same after that hour. At least `search_interval`, which it follows."""
    search_rest_interval: Annotated[dt.timedelta, duration("1s", "24h")] = dt.timedelta(
        minutes=15
    )
    """The same after a day. At least `search_idle_interval`, which it follows."""
    stretch_above: Annotated[float, fraction(0.1, 0.9)] = 0.5
    """Which part of a budget an hour may cost before anything is asked less often."""
    idle_interval: Annotated[dt.timedelta, duration("1s", "24h")] = dt.timedelta(
        minutes=5
    )
    """How often a pull request is then asked about that did not move for an hour. At
    least `interval`, which it follows."""
    idle_rest_interval: Annotated[dt.timedelta, duration("1s", "24h")] = dt.timedelta(
        minutes=15
    )
    """The same for one that did not move for a day. At least `idle_interval`, which it
    follows."""
    longest_interval: Annotated[dt.timedelta, duration("1s", "24h")] = dt.timedelta(
        hours=1
    )
    """How long these become at most where that does not suffice. At least
    `idle_rest_interval`, which it follows."""
    progress_deadline: Annotated[dt.timedelta, duration("10s", "1h")] = dt.timedelta(
        minutes=2
    )
    """How long a cycle may go without a finished request before it is given up."""
    scan_interval: Annotated[dt.timedelta, duration("10s", "24h")] = dt.timedelta(
        minutes=5
    )
    """How often the roots of checkouts are searched for worktrees."""
    reserve: Annotated[float, fraction(0.0, 0.9)] = 0.15
    """Which part of each budget of GitHub's is left to people: polling pauses there
    until the budget is reset, what somebody asks for does not."""


class Daemon(Struct, frozen=True, kw_only=True):
    """How the daemon lives."""

    grace: Annotated[dt.timedelta, duration("0s", "10m")] = dt.timedelta(seconds=20)
    """How long work in flight may take to finish when the daemon is stopped."""
    metrics_listen: Annotated[str, LISTEN] = ""
    """Where `/metrics`, `/healthz` and `/readyz` are answered; without it, nowhere."""


class Reviews(Struct, frozen=True, kw_only=True):
    """When review tasks whose work is done go, and how long they can be restored."""

    grace: Annotated[dt.timedelta, duration("1m", "30d")] = dt.timedelta(minutes=5)
    """How long after it was first seen done a second look must show the same."""
    undo: Annotated[dt.timedelta, duration("1h", "365d")] = dt.timedelta(days=7)
    """How long `prwatch review restore` brings it back."""


class Events(Struct, frozen=True, kw_only=True):
    """How long events are kept."""

    delivered_retention: Annotated[dt.timedelta, duration("1h", "3650d")] = (
        dt.timedelta(days=30)
    )
    """How long an event is kept after every sink has it."""
    dead_retention: Annotated[dt.timedelta, duration("1h", "3650d")] = dt.timedelta(
        days=90
    )
    """How long an event is kept that a sink refused for good."""


class Log(Struct, frozen=True, kw_only=True):
    """What is written to standard error."""

    level: Annotated[
        Literal["debug", "info", "warning", "error"], one_of(LOG_LEVELS)
    ] = "info"
    """The least important level that is written."""
    format: Annotated[Literal["auto", "json", "console"], one_of(LOG_FORMATS)] = "auto"
    """JSON lines, or lines for people; `auto` chooses the latter on a terminal."""


class HTTP(Struct, frozen=True, kw_only=True):
    """
    Connections to GitHub and to webhooks.

    The proxies of `HTTPS_PROXY` and `NO_PROXY` are used, never for loopback.
    """

    ca_file: Annotated[Path | None, PATH] = None
    """Certificates (PEM) of authorities to trust beside the usual ones."""


class Config(Struct, frozen=True, kw_only=True):
    """The whole configuration."""

    state_dir: Annotated[Path, PATH] = Path("~/.local/state/prwatch")
    """The folder of the database. Other relative paths are relative to it."""
    instance: Annotated[str, NAME] = ""
    """The name in the `source` of events; without one, the name of the host."""
    database_url: Annotated[str, POSTGRES_URL] = ""
    """A PostgreSQL database to use instead of SQLite in `state_dir`."""
    database_password_env: Annotated[str, ENVIRONMENT_NAME] = ""
    """The environment variable that holds the database's password."""
    database_password_file: Annotated[Path | None, PATH] = None
    """The file, readable by its owner alone, that holds the database's password."""
    database_password_credential: Annotated[str, CREDENTIAL_NAME] = ""
    """The systemd credential that holds the database's password."""
    poll: Poll = Poll()
    daemon: Daemon = Daemon()
    events: Events = Events()
    review: Reviews = Reviews()
    log: Log = Log()
    http: HTTP = HTTP()
    workspaces: tuple[Workspace, ...] = field(name="workspace", default=())
    checkouts: tuple[Checkout, ...] = field(name="checkout", default=())
    sinks: tuple[Sink, ...] = field(name="sink", default=())

    @property
    def database_password(self) -> SecretReference | None:
        """Return where the database's password is, or None when it needs none."""
        if self.database_password_env:
            return SecretReference(SecretSource.ENV, self.database_password_env)
        if self.database_password_file is not None:
            return SecretReference(SecretSource.FILE, str(self.database_password_file))
        if self.database_password_credential:
            return SecretReference(
                SecretSource.CREDENTIAL, self.database_password_credential
            )
        return None

    def is_app(self, workspace: str) -> bool:
        """Return whether the workspace of that name signs in as an app."""
        return any(each.is_app for each in self.workspaces if each.name == workspace)

    def list_secrets(self) -> tuple[tuple[str, SecretReference], ...]:
        """Return each reference to a secret, under its owner, such as `sink hook`."""
        owned = (
            *((f"workspace {each.name}", each.token) for each in self.workspaces),
            *((f"sink {each.name}", each.secret) for each in self.sinks),
            ("database", self.database_password),
        )
        return tuple((owner, found) for owner, found in owned if found is not None)
