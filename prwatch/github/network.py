"""What the network does to a request, in errors of ours and words for people."""

import socket
import ssl
from collections.abc import Iterator
from typing import Final

import httpx

from prwatch.errors import ProtocolViolation, ProviderError, ProviderUnavailable
from prwatch.github.wording import (
    NO_ENCRYPTION,
    NOBODY_LISTENS,
    UNKNOWN_NAME,
    UNREACHABLE,
    UNTRUSTED,
    find_hint,
)
from prwatch.http.client import OversizedBody

MOST_CAUSES: Final = 20


def map_error(error: Exception, operation: str) -> ProviderError:
    """Return our error for one that kept a request from being answered."""
    if is_untrusted(error):
        return ProtocolViolation(
            UNTRUSTED, operation=operation, scope="host", hint=find_hint(UNTRUSTED)
        )
    said = _name(error)
    return ProviderUnavailable(
        said, operation=operation, scope="host", hint=find_hint(said)
    )


def is_untrusted(error: BaseException) -> bool:
    """Tell whether the server's certificate is what failed."""
    causes = _iter_causes(error)
    return any(isinstance(each, ssl.SSLCertVerificationError) for each in causes)


def _name(error: Exception) -> str:
    if isinstance(error, OversizedBody):
        return "GitHub's answer is too long"
    if isinstance(error, httpx.TimeoutException | TimeoutError):
        return "GitHub did not answer in time"
    if isinstance(error, httpx.ProtocolError | httpx.DecodingError):
        return "GitHub's answer broke off"
    for cause in _iter_causes(error):
        for kind, said in _REASONS:
            if isinstance(cause, kind):
                return said
    return UNREACHABLE


_REASONS: Final = (
    (socket.gaierror, UNKNOWN_NAME),
    (ssl.SSLError, NO_ENCRYPTION),
    (ConnectionRefusedError, NOBODY_LISTENS),
)


def _iter_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and what led to it, a bounded number, the latest first."""
    waiting = [error]
    for _ in range(MOST_CAUSES):
        if not waiting:
            return
        current = waiting.pop(0)
        yield current
        if isinstance(current, BaseExceptionGroup):
            waiting.extend(current.exceptions)
        before = current.__cause__ or current.__context__
        if before is not None:
            waiting.append(before)
