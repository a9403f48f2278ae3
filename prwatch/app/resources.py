"""Files that come with the program: inside the wheel, or in the tree of its source."""

from pathlib import Path
from typing import Final

import prwatch
from prwatch.errors import ConfigError

_PLACES: Final = {
    "config.example.toml": "config.example.toml",
    "prwatch.service": "systemd/prwatch.service",
    "prwatch-user.service": "systemd/prwatch-user.service",
}


def read_resource(name: str, *, package: Path | None = None) -> str:
    """
    Return the text of `config.example.toml`, `prwatch.service` or its twin.

    Raises:
        ConfigError: The installation lacks it.
    """
    folder = package or Path(prwatch.__file__).parent
    for path in (folder / "data" / name, folder.parent / _PLACES[name]):
        if path.is_file():
            return path.read_text("utf-8")
    raise ConfigError(
        f"this installation of prwatch lacks its file {name}",
        hint="install prwatch again",
    )
