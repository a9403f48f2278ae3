"""The quick suite on every Python that is supported, and on the oldest packages."""

import nox

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
nox.options.sessions = ["tests"]


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Run the quick suite with the pinned packages."""
    session.install("--require-hashes", "-r", "requirements-dev.txt")
    session.install("--no-build-isolation", "--no-deps", "-e", ".")
    session.run("python", "-m", "pytest", "-q", "-m", "not slow", *session.posargs)


@nox.session(python=PYTHONS[0], venv_backend="uv")
def oldest(session: nox.Session) -> None:
    """Run the quick suite with the oldest packages that pyproject.toml allows."""
    session.install(
        "--resolution", "lowest-direct", "-e", ".[postgres,tty]", "--group", "test"
    )
    session.run("python", "-m", "pytest", "-q", "-m", "not slow", *session.posargs)
