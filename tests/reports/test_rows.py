"""Every row of the log has a test that is really collected."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reports.rows import ELSEWHERE, ROWS

ROOT = Path(__file__).parent.parent.parent
_ROW = re.compile(r"(?<![A-Za-z0-9])([A-J]\d{1,2})(?![A-Za-z0-9])")
_NAME = re.compile(r"^test((?:_[a-j]\d{1,2})+)_")


def find_rows(test):
    """Return the rows that the name or the parameters of a test begin with."""
    name, _, parameters = test.rpartition("::")[2].partition("[")
    named = _NAME.match(name)
    found = named[1].upper().strip("_").split("_") if named else []
    return {*found, *_ROW.findall(parameters)}


@pytest.fixture(scope="module")
def collected():
    places = [
        "tests/reports",
        *sorted({each.split("::")[0] for each in ELSEWHERE.values()}),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", *places],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if "::" in line]


def test_every_row_has_its_test(collected):
    own = [each for each in collected if each.startswith("tests/reports/")]
    covered = {row for test in own for row in find_rows(test)}
    names = {each.partition("[")[0] for each in collected}
    covered |= {row for row, test in ELSEWHERE.items() if test in names}

    assert sorted(set(ROWS) - covered) == []


def test_no_test_names_a_row_that_is_not_there(collected):
    own = [each for each in collected if each.startswith("tests/reports/")]
    named = {row for test in own for row in find_rows(test)}

    assert sorted(named - set(ROWS)) == []


@pytest.mark.parametrize(
    ("test", "rows"),
    [
        ("tests/a.py::test_x[A1 ten-rest]", {"A1"}),
        ("tests/a.py::test_x[rest-E5+E6]", {"E5", "E6"}),
        ("tests/a.py::test_h9_h11_x[one]", {"H9", "H11"}),
        ("tests/a.py::test_x[octo-HELLO]", set()),
        ("tests/a.py::TestX::test_c3_y", {"C3"}),
    ],
)
def test_the_rows_of_a_test_are_read_from_its_id(test, rows):
    assert find_rows(test) == rows
