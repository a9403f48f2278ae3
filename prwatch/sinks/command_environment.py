"""The environment in which a command sink runs its program."""

from collections.abc import Mapping
from typing import Final

from prwatch.domain.outbox import Delivery
from prwatch.domain.timestamp import format_time

_PASSED: Final = frozenset(
    {
        *("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"),
        *("LANG", "LANGUAGE"),
        *("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"),
        *("SSL_CERT_DIR", "SSL_CERT_FILE"),
    }
)
MAX_CHARACTERS: Final = 4096
"""Of one value: the kernel starts no program with a variable of 128 KiB (execve(2)),
and then an event with such a title would block those behind it."""
_PASSED_PREFIXES: Final = ("LC_", "XDG_")


def build_environment(environ: Mapping[str, str], delivery: Delivery) -> dict[str, str]:
    """
    Return what a program may know: who and where it is, and the event's head.

    Of `environ` only the variables that sessions and desktops need are passed on,
    by name, because a secret may stand in a variable of any name. The head is in
    `PRWATCH_EVENT_ID`, `_TYPE`, `_SOURCE`, `_SUBJECT`, `_TIME`, `_WORKSPACE`,
    `_TASK`, `_SESSION`, `_REPOSITORY` (`owner/name`), `_NUMBER`, `_URL`, `_TITLE`,
    `_STATE`, `_FIELDS` (the fields that changed, with commas), `_REVISION` and
    `_SUPERSEDED` (`true` or `false`); what an event does not have is empty, and a long
    value is cut: the event itself is whole.
    """
    passed = {
        name: value
        for name, value in environ.items()
        if name in _PASSED or name.startswith(_PASSED_PREFIXES)
    }
    head = {
        f"PRWATCH_EVENT_{name}": _clean(value)
        for name, value in _read_head(delivery).items()
    }
    return {**passed, **head}


def _read_head(delivery: Delivery) -> dict[str, object]:
    event = delivery.event
    repository = _mapping(event.data.get("repository"))
    pull_request = _mapping(event.data.get("pull_request"))
    is_superseded = delivery.is_superseded and not event.is_terminal
    return {
        "ID": event.id,
        "TYPE": event.type.value,
        "SOURCE": event.source,
        "SUBJECT": event.subject,
        "TIME": format_time(event.time),
        "WORKSPACE": event.data.get("workspace"),
        "TASK": event.data.get("task_id"),
        "SESSION": event.data.get("session_id"),
        "REPOSITORY": "/".join(
            str(repository[part]) for part in ("owner", "name") if part in repository
        ),
        "NUMBER": event.pr_number,
        "URL": pull_request.get("url"),
        "TITLE": pull_request.get("title"),
        "STATE": pull_request.get("state", event.data.get("state")),
        "FIELDS": ",".join(_list_fields(event.data.get("changes"))),
        "REVISION": event.revision,
        "SUPERSEDED": "true" if is_superseded else "false",
    }


def _list_fields(changes: object) -> list[str]:
    if not isinstance(changes, list | tuple):
        return []
    return [str(_mapping(change).get("field", "")) for change in changes]


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _clean(value: object) -> str:
    # A variable holds no NUL, and a lone surrogate would stop the program's start.
    text = "" if value is None else str(value)[:MAX_CHARACTERS].replace("\0", "")
    return text.encode("utf-8", "replace").decode()
