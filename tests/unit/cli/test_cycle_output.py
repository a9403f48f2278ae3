"""The words about one pass, and where they go."""

import datetime as dt
from collections import Counter

import pytest

from prwatch.app.walk.cycle_report import CycleReport, Failure
from prwatch.cli.cycle_output import print_report
from prwatch.config.loader import load_config
from prwatch.domain.outcome import FailureClass
from prwatch.domain.reference import Usage

NOON = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
WORKSPACE = '[[workspace]]\nname = "acme"\n'
FILE = '[[sink]]\nname = "log"\nkind = "jsonl"\n'
FAILURE = Failure(
    workspace="acme",
    scope="record",
    reference="octo/hello#12",
    failure_class=FailureClass.CONFIG,
    code="not_found",
    message="GitHub does not show it",
)


def make_report(**values):
    return CycleReport(cycle_id="c", started_at=NOON, **values)


def show(report, capsys, text=WORKSPACE + FILE, **options):
    config = load_config(text, environ={"HOME": "/h"}).config
    print_report(report, config, **{"is_json": False, **options})
    return capsys.readouterr()


QUIET = [
    "Watching 0 pull requests and looking for those of 0 branches.",
    "Asked GitHub 0 times for 0 points in 0.0 s.",
]


@pytest.mark.parametrize(
    ("values", "lines"),
    [
        pytest.param({}, [*QUIET, "Nothing changed."], id="quiet"),
        pytest.param(
            {
                "watches_discovered": 1,
                "watches_searching": 1,
                "usage": Usage(graphql=1, points=1),
                "duration_ms": 1234,
                "events_by_type": Counter(B=1, A=2),
                "delivered": 3,
            },
            [
                "Watching 1 pull request and looking for those of 1 branch.",
                "Asked GitHub 1 time for 1 point in 1.2 s.",
                "Told 2 A, 1 B; delivered 3.",
            ],
            id="changes",
        ),
        pytest.param(
            {"delivered": 2},
            [*QUIET, "Nothing changed; delivered 2 from before."],
            id="late deliveries",
        ),
        pytest.param(
            {"skipped": Counter(not_due=3, circuit=0, archived=1)},
            [*QUIET, "Nothing changed.", "Left out: 1 (archived), 3 (not due)."],
            id="skipped",
        ),
        pytest.param(
            {"failures": [FAILURE]},
            [
                *QUIET,
                "Nothing changed.",
                "1 failure:",
                "WORKSPACE  WHAT           SCOPE   CODE       REASON",
                "acme       octo/hello#12  record  not_found  GitHub does not show it",
            ],
            id="failures",
        ),
    ],
)
def test_a_pass_is_told_in_a_few_lines(capsys, values, lines):
    out, err = show(make_report(**values), capsys)

    assert (out.splitlines(), err) == (lines, "")


def test_words_make_way_for_events_on_stdout(capsys):
    out, err = show(make_report(), capsys, text=WORKSPACE)

    assert (out, err.splitlines()) == ("", [*QUIET, "Nothing changed."])


def test_without_a_workspace_it_says_how_to_begin(capsys):
    out, _ = show(make_report(), capsys, text=FILE)

    assert out == "Nothing is configured; `prwatch init` writes a configuration.\n"


def test_a_program_gets_one_object_on_stdout(capsys):
    out, err = show(make_report(failures=[FAILURE]), capsys, WORKSPACE, is_json=True)

    assert out.count("\n") == 1
    assert '"reference":"octo/hello#12"' in out
    assert err == ""
