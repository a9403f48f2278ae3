"""
For whom a request is made: for people, or by polling in the background.

People may use what polling leaves of a budget. Who asks is told by the context and
not by each call, because the same questions are asked for both.
"""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

_KEEPS_RESERVE: ContextVar[bool] = ContextVar("keeps_reserve", default=False)


@contextlib.contextmanager
def keep_reserve() -> Iterator[None]:
    """Leave the reserve of each bucket alone inside, and in tasks begun inside."""
    token = _KEEPS_RESERVE.set(True)
    try:
        yield
    finally:
        _KEEPS_RESERVE.reset(token)


def keeps_reserve() -> bool:
    """Return whether the caller leaves the reserve to people."""
    return _KEEPS_RESERVE.get()
