"""
Where a token comes from, and how its change is noticed.

A source is asked seldom, never per request: at the start, when somebody calls
`reload`, and after GitHub refused the token. `generation` grows when the content
changed, so that what was remembered against the old token ends with it.
"""

import hashlib
import os
import secrets
import stat
import subprocess
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, TypeAlias

import anyio
import anyio.to_thread

from prwatch.errors import AuthenticationFailed, ConfigError
from prwatch.telemetry.secret import Secret

GH_SECONDS: Final = 10.0
MAX_TOKEN_BYTES: Final = 16_384
"""Installation tokens have some 520 characters; a token is opaque."""

RunProgram: TypeAlias = Callable[[Sequence[str]], Awaitable[bytes]]


class Credential(Protocol):
    """
    A token, from wherever it comes.

    `source` names where, without a secret: `env:GITHUB_TOKEN`, `file:/run/token`,
    `gh:github.com`. `generation` begins at 1 and grows with each changed content.
    """

    @property
    def source(self) -> str:
        """Return where the token comes from, fit to be shown."""
        ...

    @property
    def generation(self) -> int:
        """Return how often the content has changed, beginning at 1."""
        ...

    async def token(self) -> Secret:
        """
        Return the token to send now.

        Raises:
            AuthenticationFailed: the source gives none.
            ConfigError: the source may not be used as it is.
        """
        ...

    async def reload(self, *, was_refused: bool = False) -> bool:
        """
        Look at the source again and return whether the content changed.

        `was_refused` says that GitHub refused the token; a source that costs a
        program run is asked only then.
        """
        ...


class TokenCredential:
    """A token that the process was given and that does not change."""

    def __init__(self, secret: Secret, *, source: str) -> None:
        self.source = source
        self.generation = 1
        self._secret = secret

    async def token(self) -> Secret:
        """Return the token."""
        if not self._secret:
            raise AuthenticationFailed(f"{self.source} holds no token")
        return self._secret

    async def reload(self, *, was_refused: bool = False) -> bool:  # noqa: ARG002 - Credential
        """Return false: nothing can have changed."""
        return False


@dataclass(frozen=True, slots=True)
class _Seen:
    inode: int
    size: int
    mtime_ns: int


class FileCredential:
    """
    A token in a file that only its owner may read.

    With `is_private` false the mode is not checked: systemd guards the files of
    its credentials directory itself.
    """

    def __init__(self, path: Path, *, is_private: bool = True) -> None:
        self.source = f"file:{path}"
        self.generation = 1
        self._path = path
        self._is_private = is_private
        self._key = secrets.token_bytes(16)
        self._digest = b""
        self._seen: _Seen | None = None
        self._secret: Secret | None = None

    async def token(self) -> Secret:
        """
        Return the file's content without surrounding white space.

        Raises:
            AuthenticationFailed: the file cannot be read or is empty.
            ConfigError: others may read the file.
        """
        if self._secret is None:
            await anyio.to_thread.run_sync(self._read)
        if not self._secret:
            raise AuthenticationFailed(f"{self.source} holds no token")
        return self._secret

    async def reload(self, *, was_refused: bool = False) -> bool:  # noqa: ARG002 - Credential
        """Read the file again when inode, size or time differ."""
        before = self.generation
        await anyio.to_thread.run_sync(self._read)
        return self.generation != before

    def _read(self) -> None:
        try:
            # Without O_NONBLOCK, opening a pipe would wait for its other end.
            descriptor = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK)
            with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor
                facts = os.fstat(file.fileno())
                self._check_mode(facts.st_mode)
                seen = _Seen(facts.st_ino, facts.st_size, facts.st_mtime_ns)
                if seen == self._seen:
                    return
                content = file.read(MAX_TOKEN_BYTES)
        except OSError as error:
            raise AuthenticationFailed(
                f"cannot read {self.source}: {error.strerror}"
            ) from error
        self._seen = seen
        self._keep(content)

    def _check_mode(self, mode: int) -> None:
        if not stat.S_ISREG(mode):
            raise ConfigError(f"{self.source} is no regular file")
        if self._is_private and mode & 0o077:
            raise ConfigError(
                f"others may read {self.source}", hint=f"chmod 600 {self._path}"
            )

    def _keep(self, content: bytes) -> None:
        digest = hashlib.blake2b(content, key=self._key, digest_size=16).digest()
        if self._digest and digest != self._digest:
            self.generation += 1
        self._digest = digest
        self._secret = Secret(content.decode("utf-8", "replace").strip())


class GhCredential:
    """The token of the `gh` program: asked once, and again after a refusal."""

    def __init__(self, host: str, *, run: RunProgram | None = None) -> None:
        self.source = f"gh:{host}"
        self.generation = 1
        self._host = host
        self._run = run or _run_program
        self._secret: Secret | None = None

    async def token(self) -> Secret:
        """
        Return what `gh auth token` printed.

        Raises:
            AuthenticationFailed: there is no `gh`, or it has no token for the host.
        """
        if self._secret is None:
            self._secret = await self._ask()
        return self._secret

    async def reload(self, *, was_refused: bool = False) -> bool:
        """Ask `gh` again, but only after a refusal."""
        if not was_refused:
            return False
        before, self._secret = self._secret, await self._ask()
        if before is None or before == self._secret:
            return False
        self.generation += 1
        return True

    async def _ask(self) -> Secret:
        output = await self._run(("gh", "auth", "token", "--hostname", self._host))
        secret = Secret(output.decode("utf-8", "replace").strip())
        if not secret:
            raise AuthenticationFailed(
                f"gh has no token for {self._host}",
                hint=f"gh auth login --hostname {self._host}",
            )
        return secret


async def _run_program(argv: Sequence[str]) -> bytes:
    """Run the program; its output is empty when it fails. It is asked no questions."""
    try:
        with anyio.fail_after(GH_SECONDS):
            done = await anyio.run_process(
                list(argv),
                check=False,
                stdin=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
    except FileNotFoundError as error:
        raise AuthenticationFailed(
            "the program gh is not installed", hint="set GITHUB_TOKEN or install gh"
        ) from error
    except OSError as error:
        raise AuthenticationFailed(
            f"the program gh cannot be run: {error.strerror}"
        ) from error
    except TimeoutError as error:
        raise AuthenticationFailed("gh did not answer within 10 s") from error
    return done.stdout if done.returncode == 0 else b""
