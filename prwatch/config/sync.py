"""The entry of the configuration that says where watch files are kept."""

import datetime as dt
from typing import Annotated

from msgspec import Struct

from prwatch.config.forms import BRANCH, FLAG, FOLDER, REPOSITORY, duration


class Sync(Struct, frozen=True, kw_only=True):
    """A folder of a repository whose TOML and YAML files say what is watched."""

    repository: Annotated[str, REPOSITORY]
    """The repository that holds the files, as owner/name."""
    branch: Annotated[str, BRANCH] = ""
    """The branch that they are read from; without one, the default branch."""
    path: Annotated[str, FOLDER] = ".prwatch/"
    """The folder of the files; folders in it are not searched."""
    interval: Annotated[dt.timedelta, duration("60s", "30d")] = dt.timedelta(minutes=5)
    """How often the folder is looked at. Nothing is spent while it is unchanged."""
    poll_enabled: Annotated[bool, FLAG] = True
    """Whether it is looked at by itself; else only `prwatch sync` does."""

    @property
    def place(self) -> tuple[str, str, str]:
        """Return the repository, branch and path as they are compared and stored."""
        return self.repository.lower(), self.branch, self.path.strip("/")
