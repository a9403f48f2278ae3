"""Delivers events by running a program for each."""

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import anyio
from anyio.abc import Process

from prwatch.domain.outbox import Dead, Delivered, Delivery, DeliveryOutcome, Retry
from prwatch.sinks.command_environment import build_environment
from prwatch.sinks.payload import encode_event
from prwatch.sinks.reason import CLOSED, build_reason, describe_error
from prwatch.sinks.sink import SinkSettings

_TAIL_BYTES: Final = 8192
_LINGER_SECONDS: Final = 0.5
"""How long stderr is read on after the exit: a child in the background may hold it."""
_REAP_SECONDS: Final = 5.0


class CommandSink:
    """
    Runs `argv` without a shell, with the event's JSON on its standard input.

    Exit code 0 is delivered, 75 (EX_TEMPFAIL) is tried again, any other is dead. A
    program that is missing, that a signal ended or that took too long is tried
    again: it may be installed yet, and a machine that shuts down kills programs. One
    that takes too long is killed with its whole process group. It need not read its
    input; its output is thrown away, the end of its stderr becomes the reason.
    `build_environment` says what it finds in its environment.
    """

    kind = "command"

    def __init__(
        self, settings: SinkSettings, argv: Sequence[str], *, environ: Mapping[str, str]
    ) -> None:
        self.name = settings.name
        self.limit = settings.limit
        self._settings = settings
        self._argv = tuple(argv)
        self._environ = dict(environ)
        self._is_closed = False

    async def deliver(self, delivery: Delivery) -> DeliveryOutcome:
        """Run the program once; see `Sink.deliver`."""
        if self._is_closed:
            return CLOSED
        try:
            process = await anyio.open_process(
                self._argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=build_environment(self._environ, delivery),
                start_new_session=True,  # its own group, to be killed as one
            )
        except OSError as error:
            return Retry(self._reason("cannot be run", describe_error(error)))
        run = _Run(process)
        try:
            with anyio.move_on_after(self._settings.timeout.total_seconds()):
                return self._judge(await run.finish(encode_event(delivery)), run.stderr)
        finally:
            await run.end()
        seconds = self._settings.timeout.total_seconds()
        return Retry(self._reason(f"was killed after {seconds:g} s", run.stderr))

    async def close(self) -> None:
        """Take no more events. Programs under way are their callers' to cancel."""
        self._is_closed = True

    def _judge(self, exit_code: int, stderr: str) -> DeliveryOutcome:
        if exit_code == 0:
            return Delivered()
        if exit_code < 0:
            return Retry(self._reason(f"was ended by {_name(-exit_code)}", stderr))
        reason = self._reason(f"exited with {exit_code}", stderr)
        return Retry(reason) if exit_code == os.EX_TEMPFAIL else Dead(reason)

    def _reason(self, head: str, detail: str) -> str:
        program = Path(self._argv[0]).name[:60]
        return build_reason(f"{program} {head}", detail, self._settings.redact)


class _Run:
    """One program that was started, until it is certainly gone."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._tail = b""
        self._is_cut = False

    @property
    def stderr(self) -> str:
        """The end of what it wrote, beginning with a whole word."""
        text = self._tail.decode("utf-8", "replace")
        # The first word may be the rest of a token, which no redaction would know.
        if not self._is_cut:
            return text
        _, _, rest = text.replace("\n", " ").partition(" ")
        return rest

    async def finish(self, body: bytes) -> int:
        """Feed the program and wait for its end; return its exit code."""
        has_read = anyio.Event()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._feed, body)
            tasks.start_soon(self._read, has_read.set)
            exit_code = await self._process.wait()
            with anyio.move_on_after(_LINGER_SECONDS):
                await has_read.wait()
            tasks.cancel_scope.cancel()
        return exit_code

    async def end(self) -> None:
        """Kill what still runs, and release what we hold."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        # Shielded: a process that is not waited for stays as a zombie.
        with anyio.move_on_after(_REAP_SECONDS, shield=True):
            await self._process.aclose()

    async def _feed(self, body: bytes) -> None:
        stdin = self._process.stdin
        if stdin is None:
            return
        # A program need not read its input.
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            await stdin.send(body)
        with suppress(OSError):
            await stdin.aclose()

    async def _read(self, tell: Callable[[], None]) -> None:
        if self._process.stderr is not None:
            with suppress(anyio.ClosedResourceError):
                async for chunk in self._process.stderr:
                    self._is_cut = self._is_cut or (
                        len(self._tail) + len(chunk) > _TAIL_BYTES
                    )
                    self._tail = (self._tail + chunk)[-_TAIL_BYTES:]
        tell()


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
