"""Delivers events as JSON lines to the standard output, or any stream like it."""

import io
import os
import select
import stat
from typing import BinaryIO, Final

import anyio

from prwatch.domain.outbox import Delivered, Delivery, DeliveryOutcome, Retry
from prwatch.sinks.payload import encode_event
from prwatch.sinks.reason import CLOSED, build_reason, describe_error
from prwatch.sinks.sink import SinkSettings

_CHUNK_BYTES: Final = select.PIPE_BUF
"""A pipe that is ready takes at least this much without blocking (POSIX)."""


class StdoutSink:
    """
    Writes one line an event.

    A reader that stalls makes deliveries time out and blocks nothing else; one that
    went away makes every delivery fail. A line that was cut short by either, or by
    a full disk, is ended before the next one begins. The stream is never closed: it
    is the caller's.
    """

    kind = "stdout"

    def __init__(self, settings: SinkSettings, stream: BinaryIO) -> None:
        self.name = settings.name
        self.limit = settings.limit
        self._settings = settings
        self._stream = stream
        self._lock = anyio.Lock()
        self._is_mid_line = False
        self._is_closed = False

    async def deliver(self, delivery: Delivery) -> DeliveryOutcome:
        """Write the event's line; see `Sink.deliver`."""
        if self._is_closed:
            return CLOSED
        line = encode_event(delivery) + b"\n"
        with anyio.move_on_after(self._settings.timeout.total_seconds()):
            async with self._lock:
                return await self._try_write(line)
        return Retry("the reader of the output did not take the event in time")

    async def close(self) -> None:
        """Take no more events. The stream stays open."""
        self._is_closed = True

    async def _try_write(self, line: bytes) -> DeliveryOutcome:
        try:
            await self._write(line)
        except BrokenPipeError:
            return Retry("the reader of the output went away")
        except OSError as error:
            return Retry(
                build_reason(
                    "cannot write to the output",
                    describe_error(error),
                    self._settings.redact,
                )
            )
        except ValueError:
            return Retry("the output is closed")
        return Delivered()

    async def _write(self, line: bytes) -> None:
        if self._is_mid_line:
            line = b"\n" + line
        self._stream.flush()
        try:
            descriptor = self._stream.fileno()
        except io.UnsupportedOperation:
            self._stream.write(line)  # it lives in memory
            self._stream.flush()
            return
        can_block = _can_block(descriptor)
        rest = memoryview(line)
        while rest:
            if can_block:
                await anyio.wait_writable(descriptor)
            try:
                written = os.write(descriptor, rest[:_CHUNK_BYTES])
            except BlockingIOError:  # somebody made the stream non-blocking
                continue
            rest = rest[written:]
            self._is_mid_line = bool(rest)


def _can_block(descriptor: int) -> bool:
    # Files and /dev/null are always ready, and epoll refuses them.
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)
