"""One changing line on a terminal, log entries elsewhere."""

import io

import pytest
from structlog.testing import capture_logs

from prwatch.cli.progress import LOG_INTERVAL_SECONDS, Progress

WIPE = "\r\x1b[K"


class TickingClock:
    """Moves as far as it is told at each reading."""

    def __init__(self, step):
        self._now = 0.0
        self._step = step

    def monotonic(self):
        self._now += self._step
        return self._now


class Stream(io.TextIOWrapper):
    """A stream that says whether it is a terminal."""

    def __init__(self, *, is_terminal):
        super().__init__(io.BytesIO(), "utf-8", write_through=True)
        self._is_terminal = is_terminal

    def isatty(self):
        return self._is_terminal

    @property
    def text(self):
        return self.buffer.getvalue().decode()


@pytest.fixture
def terminal():
    return Stream(is_terminal=True)


def test_a_terminal_has_one_line_that_is_wiped_at_the_end(terminal):
    with Progress("reading", clock=TickingClock(1), stream=terminal) as progress:
        progress.step()
        progress.step()

    assert terminal.text == (f"{WIPE}reading{WIPE}reading 1{WIPE}reading 2{WIPE}")


def test_a_log_line_takes_the_place_of_that_line(terminal):
    progress = Progress("reading", clock=TickingClock(1), stream=terminal)

    progress.step()
    progress.write(b"logged\n")
    progress.flush()

    assert terminal.text == f"{WIPE}reading 1{WIPE}logged\n"


def test_elsewhere_it_is_logged_now_and_then():
    stream = Stream(is_terminal=False)
    clock = TickingClock(LOG_INTERVAL_SECONDS * 0.6)

    with (
        capture_logs() as logs,
        Progress("reading", clock=clock, stream=stream) as progress,
    ):
        for _ in range(4):
            progress.step()

    assert stream.text == ""
    assert logs == [
        {"event": "progress", "log_level": "info", "work": "reading", "steps": steps}
        for steps in (2, 4)
    ]
