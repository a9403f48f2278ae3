"""Run the git program where files are not enough: bounded, quiet, never asking."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import anyio
from anyio.abc import Process

TIMEOUT_SECONDS: Final = 5.0
MOST_PROCESSES: Final = 2
MOST_OUTPUT_BYTES: Final = 1 << 20
_REAP_SECONDS: Final = 1.0
_KEPT_VARIABLES: Final = frozenset(
    {"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"}
)
_ARGUMENTS: Final = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")


@dataclass(frozen=True, slots=True)
class GitOutput:
    """What git printed, and its exit code. Bytes that are no UTF-8 are escaped."""

    text: str
    exit_code: int


@dataclass(frozen=True, slots=True)
class GitFailure:
    """Git gave no answer; `is_missing` says that there is no such program."""

    reason: str
    is_missing: bool = False


class Git:
    """
    The git program.

    `environ` is what the program inherits, without the variables that would point it
    at another repository. At most two run at a time; one that takes longer than its
    time is killed with all that it started.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        program: str = "git",
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        self._program = program
        self._timeout_seconds = timeout_seconds
        self._limiter = anyio.CapacityLimiter(MOST_PROCESSES)
        self._environ = {
            name: value
            for name, value in environ.items()
            if not name.startswith("GIT_") or name in _KEPT_VARIABLES
        } | {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}

    async def ask(self, path: str, *arguments: str) -> GitOutput | GitFailure:
        """Run git in a folder and return what it printed, whatever its exit code."""
        command = (self._program, *_ARGUMENTS, "-C", path, *arguments)
        async with self._limiter:
            try:
                process = await anyio.open_process(
                    command,
                    env=self._environ,
                    # What it says there is for people at a terminal, and would
                    # stand between the lines of the log.
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            except FileNotFoundError:
                return GitFailure("git is not installed", is_missing=True)
            except (OSError, ValueError) as error:
                return GitFailure(f"git could not be started: {type(error).__name__}")
            try:
                return await self._collect(process)
            finally:
                _kill_group(process)
                # Shielded: a process that is not waited for stays as a zombie.
                with anyio.move_on_after(_REAP_SECONDS, shield=True):
                    await process.aclose()

    async def _collect(self, process: Process) -> GitOutput | GitFailure:
        output = bytearray()
        with anyio.move_on_after(self._timeout_seconds):
            if process.stdin is not None:
                await process.stdin.aclose()
            if process.stdout is not None:
                async for chunk in process.stdout:
                    output += chunk
                    if len(output) > MOST_OUTPUT_BYTES:
                        return GitFailure("git printed too much")
            exit_code = await process.wait()
            return GitOutput(output.decode(errors="surrogateescape"), exit_code)
        return GitFailure(f"git took longer than {self._timeout_seconds:g} s")


def _kill_group(process: Process) -> None:
    """Kill what is left of a process and its children: they share a session."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
