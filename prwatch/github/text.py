"""Cleans text from outside: no NUL, no lone surrogates."""

import json
import re
from typing import Any, Final

_LONE_SURROGATES: Final = re.compile("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    """Return the text without NUL, with U+FFFD for each lone surrogate."""
    if text.isascii():
        return text.replace("\0", "") if "\0" in text else text
    return _LONE_SURROGATES.sub("\ufffd", text.replace("\0", ""))


def repair_json(body: bytes) -> bytes:
    """
    Return the same JSON value in a form that every decoder takes.

    For bodies that the standard library reads and stricter decoders refuse: lone
    surrogates in escapes, bytes that are no UTF-8.

    Raises:
        ValueError: it is no JSON for the standard library either.
    """
    try:
        value = _clean(json.loads(body.decode("utf-8", "replace")))
    except RecursionError as error:
        raise ValueError("the body is nested too deeply") from error
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [_clean(each) for each in value]
    if isinstance(value, dict):
        return {clean_text(key): _clean(each) for key, each in value.items()}
    return value
