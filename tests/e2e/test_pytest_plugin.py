"""The fixtures that prwatch brings, as somebody else's tests meet them."""

import json
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

BOUND_SECONDS = 150
"""Five processes one after the other: seconds on an idle machine, more on a busy one."""

PAGE = Path(__file__).parents[2] / "docs/how-to/test-against-the-simulator.md"
BIN = Path(sys.executable).parent
LIST_MODULES = """
import json, sys
import pytest
before = set(sys.modules)
import prwatch.testing.pytest_plugin
print(json.dumps(sorted(set(sys.modules) - before)))
"""
REPLACED = """
import pytest
from prwatch.testing.moved_clock import NOON, MovedClock

@pytest.fixture
def prwatch_clock():
    return MovedClock()

def test_the_world_stands_still(prwatch_world, prwatch_clock):
    prwatch_world.add_repository("octo/hello")
    one = prwatch_world.open_pull_request("octo/hello", branch="fix")
    prwatch_clock.advance(60)
    prwatch_world.retitle(one, "Later")

    assert one.created_at == NOON
    assert (one.updated_at - one.created_at).total_seconds() == 60
"""


def run_tests(folder, text):
    """Run a file of tests in a folder without any settings; return what was printed."""
    (folder / "test_theirs.py").write_text(text)
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=."],
        cwd=folder,
        env={"PATH": f"{BIN}:/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
        timeout=BOUND_SECONDS,
    )
    return result.stdout + result.stderr


@pytest.mark.timeout(BOUND_SECONDS + 10)
def test_the_example_of_the_page_runs(tmp_path):
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)

    printed = run_tests(tmp_path, example)

    assert "2 passed" in printed, printed


def test_a_test_may_bring_its_own_clock(tmp_path):
    printed = run_tests(tmp_path, REPLACED)

    assert "1 passed" in printed, printed


def test_pytest_finds_the_fixtures_by_itself():
    (found,) = entry_points(group="pytest11", name="prwatch")

    assert found.value == "prwatch.testing.pytest_plugin"


def test_the_plugin_is_three_modules_and_nothing_heavy():
    result = subprocess.run(
        [sys.executable, "-c", LIST_MODULES], capture_output=True, text=True, check=True
    )

    assert json.loads(result.stdout) == [
        "prwatch",
        "prwatch.testing",
        "prwatch.testing.pytest_plugin",
    ]


def test_every_fixture_of_the_plugin_is_described():
    plugin = Path(__file__).parents[2] / "prwatch/testing/pytest_plugin.py"
    fixtures = re.findall(r"@pytest.fixture\ndef (\w+)", plugin.read_text())

    described = re.findall(r"^\| `(prwatch_\w+)` \|", PAGE.read_text(), re.MULTILINE)

    assert sorted(described) == sorted(fixtures)
