import os
from pathlib import Path

import pytest

from prwatch.config.document import read_document
from prwatch.errors import ConfigError


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    path = tmp_path / "prwatch.toml"
    os.mkfifo(path)

    with pytest.raises(ConfigError, match="is a pipe") as caught:
        read_document(path)

    assert caught.value.hint.startswith("a daemon reads its configuration again")


def test_a_folder_is_refused_as_one(tmp_path):
    with pytest.raises(ConfigError, match="is a folder, not a configuration file"):
        read_document(tmp_path)


def test_refused_files_are_closed(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    before = count_open()

    for name in (".", "pipe", "missing"):
        with pytest.raises(ConfigError):
            read_document(tmp_path / name)

    assert count_open() == before


def count_open():
    return len(list(Path("/proc/self/fd").iterdir()))
