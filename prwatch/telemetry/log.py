"""How this process logs: structlog, one line an entry, nothing secret in it."""

import enum
import json
import logging
import traceback
from collections.abc import MutableMapping
from typing import BinaryIO, Final, cast

import structlog
from structlog.typing import ExcInfo, Processor

from prwatch.telemetry.redaction import Redactor
from prwatch.telemetry.terminal import escape_controls

_FIRST_KEYS: Final = ("timestamp", "level", "event")


class Layout(enum.StrEnum):
    """The form of a log line. AUTO is CONSOLE on a terminal and JSON elsewhere."""

    AUTO = "auto"
    JSON = "json"
    CONSOLE = "console"


def configure_logging(
    stream: BinaryIO,
    *,
    is_terminal: bool,
    level: str,
    redactor: Redactor,
    layout: Layout = Layout.AUTO,
) -> None:
    """
    Send every log entry of this process to `stream`, redacted.

    A line is one JSON object, or has the form for people (`Layout`). `level` is
    `debug`, `info`, `warning` or `error`. What libraries log through the standard
    library from `warning` up takes the same way, as entries named
    `library.reported`. A stream that cannot be written to loses entries and stops
    nothing. It may be called again; the last call counts.
    """
    threshold = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.ExceptionRenderer(_render_exception),
            redactor,
            *_build_renderer(layout, is_terminal=is_terminal),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.BytesLoggerFactory(
            # The logger only writes and flushes; BinaryIO would ask for 20 methods.
            cast("BinaryIO", _LossyStream(stream))
        ),
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    for handler in [h for h in root.handlers if isinstance(h, _LibraryHandler)]:
        root.removeHandler(handler)
    root.addHandler(_LibraryHandler(max(threshold, logging.WARNING)))


class _LossyStream:
    """
    A stream whose failures pass unseen.

    A full disk or a closed pipe below the log must not stop the work that logs,
    and there is nowhere left to say it.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, line: bytes) -> int:
        try:
            return self._stream.write(line)
        except (OSError, ValueError):  # ValueError: the stream was closed
            return 0

    def flush(self) -> None:
        try:
            self._stream.flush()
        except (OSError, ValueError):
            return


class _LibraryHandler(logging.Handler):
    """Carries what libraries log into our own log."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            message = record.getMessage()
        except (TypeError, ValueError):  # the library's arguments do not fit its text
            message = str(record.msg)
        exc_info = record.exc_info if record.exc_info and record.exc_info[0] else None
        structlog.get_logger().log(
            record.levelno,
            "library.reported",
            library=record.name,
            message=message,
            exc_info=exc_info,
        )


def _render_exception(exc_info: ExcInfo) -> str:
    # The plain traceback: it shows no local variables, where secrets would be.
    return "".join(traceback.format_exception(*exc_info)).rstrip("\n")


def _build_renderer(layout: Layout, *, is_terminal: bool) -> list[Processor]:
    if layout is Layout.JSON or (layout is Layout.AUTO and not is_terminal):
        return [_render_json]
    return [_escape_controls, _Console(colors=is_terminal)]


def _render_json(
    _logger: object, _method: str, event_dict: MutableMapping[str, object]
) -> bytes:
    head = {key: event_dict.pop(key) for key in _FIRST_KEYS if key in event_dict}
    text = json.dumps({**head, **event_dict}, ensure_ascii=False, separators=(",", ":"))
    # A lone surrogate becomes \udc80, which is how JSON writes it.
    return text.encode("utf-8", "backslashreplace")


def _escape_controls(
    _logger: object, _method: str, event_dict: MutableMapping[str, object]
) -> MutableMapping[str, object]:
    return {
        key: escape_controls(value) if isinstance(value, str) else value
        for key, value in event_dict.items()
    }


class _Console:
    """structlog's rendering for people, as bytes."""

    def __init__(self, *, colors: bool) -> None:
        self._render = structlog.dev.ConsoleRenderer(
            colors=colors, exception_formatter=structlog.dev.plain_traceback
        )

    def __call__(
        self, logger: object, method: str, event_dict: MutableMapping[str, object]
    ) -> bytes:
        line = self._render(logger, method, event_dict)
        return line.encode("utf-8", "backslashreplace")
