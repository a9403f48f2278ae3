"""What a person is told when a command cannot do its work."""

import errno
import sys
from collections.abc import Iterator
from types import TracebackType

from prwatch.cli.options import Options
from prwatch.errors import ConfigError, PrwatchError
from prwatch.telemetry.terminal import escape_controls

_OUTPUT_ERRORS = frozenset(
    {errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
)
INTERRUPTED = 130
"""128 and the number of SIGINT, as shells say it."""


def find_reported(error: BaseException) -> PrwatchError | None:
    """
    Return the error of ours that this one is, or that a group of errors holds.

    Task groups wrap what happens in them. Of several, the one that asks for the
    highest exit code counts; one that is not ours makes the whole a bug.
    """
    if isinstance(error, PrwatchError):
        return error
    if not isinstance(error, BaseExceptionGroup):
        return None
    found = [find_reported(inner) for inner in error.exceptions]
    ours = [inner for inner in found if inner is not None]
    if not ours or len(ours) < len(found):
        return None
    return max(ours, key=lambda inner: inner.exit_code)


def find_output_failure(error: BaseException) -> OSError | None:
    """
    Return why output could not be written, when that is what the error is about.

    Files of ours that cannot be written are told as errors of ours; what is left is
    a reader that went away, or a full disk behind stdout.
    """
    if isinstance(error, BaseExceptionGroup):
        found = [find_output_failure(inner) for inner in error.exceptions]
        ours = [inner for inner in found if inner is not None]
        return ours[0] if ours and len(ours) == len(found) else None
    if isinstance(error, OSError) and error.errno in _OUTPUT_ERRORS:
        return error
    return None


def is_interrupt(error: BaseException) -> bool:
    """Return whether the error is Ctrl+C, alone or inside a group."""
    if isinstance(error, BaseExceptionGroup):
        return any(is_interrupt(inner) for inner in error.exceptions)
    return isinstance(error, KeyboardInterrupt)


def render_error(error: PrwatchError, options: Options) -> str:
    """
    Return one line for the error, one for each problem, and one for the hint.

    A message that only repeats its problems is left out.
    """
    return _redact("\n".join(_list_lines(error)), options)


def _list_lines(error: PrwatchError) -> Iterator[str]:
    problems = error.problems if isinstance(error, ConfigError) else ()
    if not any(problem in error.message for problem in problems):
        yield f"prwatch: {_flatten(error.message)}"
    for problem in problems:
        yield f"prwatch: {_flatten(problem)}"
    if error.hint and not problems:
        yield f"hint: {_flatten(error.hint)}"


def install_excepthook(options: Options) -> None:
    """Show the traceback of a bug without the secrets that may be in its text."""

    def show(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        import traceback  # noqa: PLC0415 - bugs are rare

        text = "".join(traceback.format_exception(kind, error, trace))
        sys.stderr.write(_redact(text, options))

    sys.excepthook = show


def _flatten(text: str) -> str:
    """Keep an error to its line, and strangers' text from steering a terminal."""
    return escape_controls(text.replace("\n", " "))


def _redact(text: str, options: Options) -> str:
    from prwatch.telemetry.redaction import redact  # noqa: PLC0415 - errors are rare

    return options.redactor.redact(text) if options.redactor else redact(text)
