"""The real program as a process, against a simulated GitHub on the loopback."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal

from prwatch.clock import SystemClock
from prwatch.simulator import GitHubApp, World, serve

CLASSIC = "ghp_" + "aB3" * 12
FINE_GRAINED = "github_pat_" + "0Ab" * 27 + "x"
INSTALLATION = "ghs_" + "A1b2C3d4.-_x" * 43
TOKENS = {
    "CLASSIC_TOKEN": CLASSIC,
    "FINE_GRAINED_TOKEN": FINE_GRAINED,
    "INSTALLATION_TOKEN": INSTALLATION,
}
"""One of each length and alphabet; every process gets them in its environment."""


@dataclass
class Hub:
    """A simulated GitHub that answers at `url`. The test moves its `world`."""

    world: World
    url: str

    @property
    def api_url(self):
        return f"{self.url}/api/v3"


@dataclass
class Program:
    """
    Runs `prwatch` in a folder of its own, as a person with an empty home would.

    Whatever it prints is kept, so that the end of the test can look for tokens.
    """

    folder: Path
    printed: list[str] = field(default_factory=list)

    @property
    def state_dir(self):
        return self.folder / "state"

    @property
    def config(self):
        return self.folder / "prwatch.toml"

    def environment(self, **variables):
        measuring = {
            name: value for name, value in os.environ.items() if "COVERAGE" in name
        }
        return {
            **measuring,
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder / "home"),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            **TOKENS,
            **variables,
        }

    def configure(self, text):
        """Write the configuration of this folder; its state goes beside it."""
        self.config.write_text(f'state_dir = "{self.state_dir}"\n{text}')

    def command(self, *arguments):
        return [sys.executable, "-m", "prwatch.cli.main", *map(str, arguments)]

    def run(self, *arguments, text="", **variables):
        """Run a command line to its end and return what became of it."""
        result = subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            env=self.environment(**variables),
            input=text,
            capture_output=True,
            text=True,
            check=False,
            timeout=50,
        )
        self.printed += [result.stdout, result.stderr]
        return result

    def read(self, *arguments, code=0, **variables):
        """Run with --json and return the object, after a look at the exit code."""
        result = self.run(*arguments, "--json", **variables)
        assert result.returncode == code, result.stdout + result.stderr
        return json.loads(result.stdout)


@pytest.fixture
def hub():
    """A GitHub with octo/hello, whose three tokens belong to octocat."""
    world = World(SystemClock())
    world.add_repository("octo/hello")
    for token in TOKENS.values():
        world.set_token(token)
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serve(GitHubApp(world))) as url,
    ):
        yield Hub(world, url)


@pytest.fixture
def prwatch(tmp_path):
    """The program. When the test ends, nothing it left may hold a token."""
    (tmp_path / "home").mkdir()
    program = Program(tmp_path)
    yield program
    left = {
        str(path): path.read_bytes()
        for path in tmp_path.rglob("*")
        if path.is_file() and not path.name.endswith(".token")
    }
    printed = {f"output {n}": each.encode() for n, each in enumerate(program.printed)}
    found = [
        (place, name)
        for place, content in {**left, **printed}.items()
        for name, token in TOKENS.items()
        if token.encode() in content
    ]
    assert found == []


@pytest.fixture
def configured(hub, prwatch):
    """The program with one workspace that watches octo/hello#12, and its GitHub."""
    hub.world.open_pull_request(
        "octo/hello", branch="fix-greeting", title="Greet everybody", number=12
    )
    prwatch.configure(
        f"""
[[workspace]]
name = "acme"
token_env = "CLASSIC_TOKEN"
api_url = "{hub.api_url}"

[[workspace.watch]]
repository = "octo/hello"
pull_request = 12

[poll]
settle = "0s"
"""
    )
    return prwatch
