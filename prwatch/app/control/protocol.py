"""
What goes over the control socket: one JSON object a line, a question and an answer.

::

    {"command": "check", "arguments": {"watch": "octo/hello#12"}}
    {"ok": true, "result": {"references": 1}}
    {"ok": false, "error": {"code": "watch_not_found", "message": "…", "hint": ""}}
"""

from typing import Any, Final

import msgspec

from prwatch.errors import PrwatchError

MAX_REQUEST_BYTES: Final = 64 * 1024
MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024
"""A status names every watch; the client still bounds what it reads."""


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A command by name, with its arguments."""

    command: str
    arguments: dict[str, Any] = {}


class ControlError(msgspec.Struct, frozen=True):
    """
    Why a command was not done.

    `code` is that of one of our errors, or `malformed`, `too_long`,
    `unknown_command`, `busy`, `forbidden` or `timeout`.
    """

    code: str
    message: str
    hint: str = ""


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a command gave, or why it gave nothing."""

    ok: bool
    result: dict[str, Any] = {}
    error: ControlError | None = None


class MalformedLine(ValueError):
    """A line is not what the protocol says; the message says where."""


def parse_request(line: bytes) -> Request:
    """
    Return the request of one line.

    Raises:
        MalformedLine: It is no such JSON object.
    """
    try:
        return msgspec.json.decode(line, type=Request)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedLine(f"not a request: {error}") from error


def parse_answer(line: bytes) -> Answer:
    """
    Return the answer of one line.

    Raises:
        MalformedLine: It is no such JSON object.
    """
    try:
        return msgspec.json.decode(line, type=Answer)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedLine(f"not an answer: {error}") from error


def build_request(command: str, arguments: dict[str, Any]) -> bytes:
    """Return the line that asks for a command."""
    return msgspec.json.encode(Request(command, arguments)) + b"\n"


def build_answer(result: dict[str, Any]) -> bytes:
    """Return the line of a command that was done."""
    return msgspec.json.encode(Answer(ok=True, result=result)) + b"\n"


def build_refusal(code: str, message: str, hint: str = "") -> bytes:
    """Return the line of a command that was not done."""
    error = ControlError(code, message, hint)
    return msgspec.json.encode(Answer(ok=False, error=error)) + b"\n"


def build_failure(error: PrwatchError) -> bytes:
    """Return the line of a command that ended with one of our errors."""
    return build_refusal(error.code, str(error), error.hint)
