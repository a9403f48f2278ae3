"""Packaged files are found in a source tree and in an installation."""

from pathlib import Path

import pytest

from prwatch.app.resources import read_resource
from prwatch.errors import ConfigError

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("config.example.toml", "config.example.toml"),
        ("prwatch.service", "systemd/prwatch.service"),
        ("prwatch-user.service", "systemd/prwatch-user.service"),
    ],
)
def test_a_source_tree_has_it_in_its_place(name, source):
    assert read_resource(name) == (ROOT / source).read_text()


def test_an_installation_has_it_among_its_data(tmp_path):
    data = tmp_path / "prwatch" / "data"
    data.mkdir(parents=True)
    (data / "prwatch.service").write_text("packaged")

    assert read_resource("prwatch.service", package=tmp_path / "prwatch") == "packaged"


def test_an_installation_without_it_says_so(tmp_path):
    with pytest.raises(ConfigError, match=r"lacks its file prwatch\.service"):
        read_resource("prwatch.service", package=tmp_path / "prwatch")
