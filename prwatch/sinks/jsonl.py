"""Delivers events to a file of JSON lines."""

from pathlib import Path

import anyio
import anyio.to_thread

from prwatch.domain.outbox import Delivered, Delivery, DeliveryOutcome, Retry
from prwatch.sinks.line_file import LineFile
from prwatch.sinks.payload import encode_event
from prwatch.sinks.reason import CLOSED, build_reason, describe_error
from prwatch.sinks.sink import SinkSettings


class JsonlSink:
    """
    Appends one line an event.

    The file's folder must be there: it may be a mount that is missing just now. At
    `max_bytes` the file is renamed to `.1` and a new one begun; `keep` of the old
    ones stay. With `is_durable` an event counts as delivered when it is on disk. A
    hanging disk is waited for without a bound, as a write cannot be called back.
    """

    kind = "jsonl"

    def __init__(
        self,
        settings: SinkSettings,
        path: Path,
        *,
        max_bytes: int = 64 * 1024**2,
        keep: int = 5,
        is_durable: bool = True,
    ) -> None:
        self.name = settings.name
        self.limit = settings.limit
        self._settings = settings
        self._path = path
        self._file = LineFile(
            path, max_bytes=max_bytes, keep=keep, is_durable=is_durable
        )
        # One thread at a time: lines must not meet, nor fill the shared thread pool.
        self._writer = anyio.CapacityLimiter(1)
        self._is_closed = False

    async def deliver(self, delivery: Delivery) -> DeliveryOutcome:
        """Append the event's line; see `Sink.deliver`."""
        line = encode_event(delivery) + b"\n"
        return await anyio.to_thread.run_sync(self._append, line, limiter=self._writer)

    async def close(self) -> None:
        """Close the file after the line that is being written."""
        await anyio.to_thread.run_sync(self._close, limiter=self._writer)

    def _append(self, line: bytes) -> DeliveryOutcome:
        if self._is_closed:
            return CLOSED
        try:
            self._file.append(line)
        except OSError as error:
            head = f"cannot append to {self._path.name}"
            return Retry(
                build_reason(head, describe_error(error), self._settings.redact)
            )
        return Delivered()

    def _close(self) -> None:
        self._is_closed = True
        self._file.close()
