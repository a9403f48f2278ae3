"""Shows that work goes on: a changing line on a terminal, log lines elsewhere."""

import sys
from types import TracebackType
from typing import Final, Self, TextIO

from prwatch.cli.output import is_terminal
from prwatch.clock import Clock
from prwatch.telemetry.terminal import escape_controls

LOG_INTERVAL_SECONDS: Final = 10.0
"""Between two log lines about one piece of work."""
_CLEAR: Final = "\r\x1b[K"


class Progress:
    """
    Says how far a piece of work is.

    On a terminal it keeps one line of stderr up to date and wipes it at the end. It
    is also a stream: what is logged through it does not run into that line. Where
    nobody watches, an entry `progress` is logged every ten seconds.
    """

    def __init__(
        self, words: str, *, clock: Clock, stream: TextIO | None = None
    ) -> None:
        self._words = words
        self._clock = clock
        self._stream = sys.stderr if stream is None else stream
        self._is_shown = is_terminal(self._stream)
        self._told_at = clock.monotonic()
        self._steps = 0

    def __enter__(self) -> Self:
        self._draw(self._words)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._draw("")

    def step(self) -> None:
        """Count one finished request, delivery or the like."""
        self._steps += 1
        text = f"{self._words} {self._steps}"
        now = self._clock.monotonic()
        if self._is_shown:
            self._draw(text)
        elif now - self._told_at >= LOG_INTERVAL_SECONDS:
            self._told_at = now
            _log(self._words, self._steps)

    def write(self, line: bytes) -> int:
        """Write a log line in place of the changing line."""
        self._draw("")
        return self._stream.buffer.write(line)

    def flush(self) -> None:
        """Let what was written be seen."""
        self._stream.buffer.flush()

    def _draw(self, text: str) -> None:
        if self._is_shown:
            self._stream.write(_CLEAR + escape_controls(text))
            self._stream.flush()


def _log(words: str, steps: int) -> None:
    import structlog  # noqa: PLC0415 - only long work needs it here

    structlog.get_logger().info("progress", work=words, steps=steps)
