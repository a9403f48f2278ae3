"""The pinned packages: hashed, without addresses, and the same in all files."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = ("requirements.txt", "requirements-dev.txt", "requirements-bench.txt")
PIN = re.compile(r"^([a-z0-9-]+)==([^ ;]+)")


def pins(name):
    lines = (ROOT / name).read_text().splitlines()
    return dict(match.groups() for line in lines if (match := PIN.match(line)))


def test_what_the_program_needs_is_pinned_alike_for_its_tests():
    run, dev = pins("requirements.txt"), pins("requirements-dev.txt")

    assert {name: dev.get(name) for name in run} == run


def test_what_the_benchmarks_bring_exchanges_nothing_of_the_tests():
    dev, bench = pins("requirements-dev.txt"), pins("requirements-bench.txt")

    assert "pygithub" in bench
    assert {name: bench[name] for name in dev.keys() & bench} == {
        name: dev[name] for name in dev.keys() & bench
    }


@pytest.mark.parametrize("name", FILES)
def test_the_library_that_gql_would_prefer_to_httpx_is_not_installed(name):
    assert "httpx2" not in pins(name)


@pytest.mark.parametrize("name", FILES)
def test_every_pin_has_a_hash(name):
    blocks = re.split(r"\n(?=[a-z])", (ROOT / name).read_text())

    assert [block for block in blocks if "--hash=sha256:" not in block] == []


@pytest.mark.parametrize("name", FILES)
def test_no_address_of_a_registry_is_kept(name):
    text = (ROOT / name).read_text()

    assert re.findall(r"https?://\S+|--\S*index\S*|--find-links", text) == []
