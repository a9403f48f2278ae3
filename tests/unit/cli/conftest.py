"""Runs command lines in this process, with surroundings of their own."""

import json
import logging
from dataclasses import dataclass
from pathlib import Path

import pytest
import structlog

from prwatch.cli.main import run
from prwatch.cli.options import Options


@dataclass
class Called:
    """What became of a command line."""

    code: int
    out: str
    err: str

    @property
    def value(self):
        """The object that --json printed."""
        return json.loads(self.out)


@dataclass
class Caller:
    """Runs command lines in `folder`, with the variables of `environ` alone."""

    folder: Path
    environ: dict[str, str]
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *arguments):
        options = Options(environ=self.environ, cwd=self.folder)
        code = run([str(each) for each in arguments], options)
        printed = self.capsys.readouterr()
        return Called(code, printed.out, printed.err)

    def configure(self, text):
        """Write the configuration of the folder."""
        (self.folder / "prwatch.toml").write_text(text)


@pytest.fixture
def call(tmp_path, capsys):
    home = tmp_path / "home"
    home.mkdir()
    folder = tmp_path / "work"
    folder.mkdir()
    yield Caller(folder, {"HOME": str(home), "PATH": "/nowhere"}, capsys)
    structlog.reset_defaults()
    root = logging.getLogger()
    root.handlers[:] = [h for h in root.handlers if "pytest" in type(h).__module__]
