"""The entries of the configuration that say where events go."""

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal

from msgspec import Struct

from prwatch.config.forms import (
    ARGUMENT,
    CREDENTIAL_NAME,
    ENVIRONMENT_NAME,
    NAME,
    PATH,
    REPOSITORY,
    WEBHOOK_URL,
    duration,
    one_of,
    size,
    whole_number,
)
from prwatch.config.secrets import SecretReference, SecretSource
from prwatch.domain.events import ChangeField, EventType

KINDS: Final = ("stdout", "jsonl", "webhook", "command")
SUPERSEDED: Final = ("mark", "drop")
KEYS_BY_KIND: Final[Mapping[str, frozenset[str]]] = {
    "stdout": frozenset(),
    "jsonl": frozenset({"path", "max_bytes", "keep"}),
    "webhook": frozenset(
        {"url", "secret_env", "secret_file", "secret_credential", "timeout"}
    ),
    "command": frozenset({"argv", "timeout"}),
}
"""The keys that only some kinds have."""


class Sink(Struct, frozen=True, kw_only=True):
    """A place that events are delivered to, and which of them."""

    name: Annotated[str, NAME]
    """The sink's name: deliveries are remembered under it."""
    kind: Annotated[Literal["stdout", "jsonl", "webhook", "command"], one_of(KINDS)] = (
        "stdout"
    )
    """How events leave."""
    events: tuple[Annotated[str, one_of(EventType)], ...] = ()
    """The types of events that are delivered; empty for all."""
    fields: tuple[Annotated[str, one_of(ChangeField)], ...] = ()
    """Only events in which one of these fields changed; empty for all."""
    workspaces: tuple[Annotated[str, NAME], ...] = ()
    """Only events of these workspaces; empty for all."""
    repositories: tuple[Annotated[str, REPOSITORY], ...] = ()
    """Only events of these repositories, as owner/name; empty for all."""
    superseded: Annotated[Literal["mark", "drop"], one_of(SUPERSEDED)] = "mark"
    """What happens to an event whose head commit is no longer the newest."""
    limit: Annotated[int, whole_number(1, 64)] = 8
    """How many pull requests are delivered at once."""
    path: Annotated[Path | None, PATH] = None
    """Of `jsonl`: the file that lines are appended to; without one, events.jsonl."""
    max_bytes: Annotated[int, size("4KiB", "1GiB")] = 64 * 1024**2
    """Of `jsonl`: the size at which a new file is begun."""
    keep: Annotated[int, whole_number(0, 1000)] = 5
    """Of `jsonl`: how many full files are kept beside the one that is written."""
    url: Annotated[str, WEBHOOK_URL] = ""
    """Of `webhook`, required: the address that events are posted to."""
    secret_env: Annotated[str, ENVIRONMENT_NAME] = ""
    """Of `webhook`: the environment variable that holds the signing secret."""
    secret_file: Annotated[Path | None, PATH] = None
    """Of `webhook`: the file that holds the signing secret."""
    secret_credential: Annotated[str, CREDENTIAL_NAME] = ""
    """Of `webhook`: the systemd credential that holds the signing secret."""
    argv: tuple[Annotated[str, ARGUMENT], ...] = ()
    """Of `command`, required: the program and its arguments; no shell reads them."""
    timeout: Annotated[dt.timedelta, duration("100ms", "10m")] = dt.timedelta(
        seconds=10
    )
    """Of `webhook` and `command`: how long one delivery may take."""

    @property
    def secret(self) -> SecretReference | None:
        """Return where the signing secret is, or None when nothing is signed."""
        if self.secret_env:
            return SecretReference(SecretSource.ENV, self.secret_env)
        if self.secret_file is not None:
            return SecretReference(SecretSource.FILE, str(self.secret_file))
        if self.secret_credential:
            return SecretReference(SecretSource.CREDENTIAL, self.secret_credential)
        return None
