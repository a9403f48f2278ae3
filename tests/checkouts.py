"""Real git repositories for tests, untouched by the machine's own settings."""

import os
import subprocess
from pathlib import Path

ENVIRON = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Mona",
    "GIT_AUTHOR_EMAIL": "mona@example.org",
    "GIT_COMMITTER_NAME": "Mona",
    "GIT_COMMITTER_EMAIL": "mona@example.org",
}


def git(folder: Path, *arguments: str, may_fail: bool = False) -> str:
    """Run git in a folder and return what it printed."""
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        env=ENVIRON,
        capture_output=True,
        check=not may_fail,
        text=True,
        errors="surrogateescape",
    )
    return done.stdout.strip()


def make_checkout(folder: Path, *, remotes: dict[str, str] | None = None) -> Path:
    """Make a repository on branch `fix` with one commit, and its remotes."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "fix")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    for name, url in (remotes or {}).items():
        git(folder, "remote", "add", name, url)
    return folder


def make_program(path: Path, *lines: str) -> str:
    """Make a shell script that stands for git."""
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o700)
    return str(path)
