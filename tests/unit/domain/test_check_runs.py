import itertools

import pytest

from prwatch.domain.check_runs import (
    CheckRun,
    StatusContext,
    pick_newest_runs,
    pick_newest_statuses,
)
from tests.readings import at


def make_run(name="build", **fields):
    return CheckRun(name=name, **({"app": "actions", "status": "COMPLETED"} | fields))


OLD = make_run(
    suite_id="1",
    conclusion="FAILURE",
    started_at=at(0),
    completed_at=at(60),
    database_id=1,
)
NEW = make_run(
    suite_id="1",
    conclusion="SUCCESS",
    started_at=at(90),
    completed_at=at(120),
    database_id=2,
)


def with_workflow(run, workflow="CI", event="push", **fields):
    values = {
        "name": run.name,
        "app": run.app,
        "suite_id": run.suite_id,
        "workflow": workflow,
        "event": event,
        "status": run.status,
        "conclusion": run.conclusion,
        "started_at": run.started_at,
        "completed_at": run.completed_at,
        "database_id": run.database_id,
    }
    return CheckRun(**(values | fields))


def other_suite(run, **fields):
    return with_workflow(run, workflow="", event="", suite_id="2", **fields)


@pytest.mark.parametrize(
    ("runs", "counted"),
    [
        pytest.param([], (), id="no runs"),
        pytest.param([OLD, NEW], (NEW,), id="a re-run replaces its older run"),
        pytest.param(
            [with_workflow(OLD), with_workflow(NEW)],
            (with_workflow(NEW),),
            id="a re-run in a workflow replaces its older run",
        ),
        pytest.param(
            [with_workflow(OLD), with_workflow(NEW, started_at=at(1), suite_id="2")],
            (with_workflow(NEW, started_at=at(1), suite_id="2"),),
            id="a workflow's newest run counts although they ran side by side",
        ),
        pytest.param(
            [with_workflow(OLD), with_workflow(NEW, workflow="Release")],
            (with_workflow(OLD), with_workflow(NEW, workflow="Release")),
            id="two workflows with one job name both count",
        ),
        pytest.param(
            [with_workflow(OLD), with_workflow(NEW, event="pull_request")],
            (with_workflow(OLD), with_workflow(NEW, event="pull_request")),
            id="two events of one workflow both count",
        ),
        pytest.param(
            [OLD, with_workflow(NEW, workflow="", event="", app="other")],
            (OLD, with_workflow(NEW, workflow="", event="", app="other")),
            id="F5 two apps with one name both count",
        ),
        pytest.param(
            [OLD, other_suite(NEW)],
            (other_suite(NEW),),
            id="a suite that started after the older had completed replaces it",
        ),
        pytest.param(
            [OLD, other_suite(NEW, started_at=at(59))],
            (OLD, other_suite(NEW, started_at=at(59))),
            id="suites that ran side by side both count",
        ),
        pytest.param(
            [OLD, other_suite(NEW, started_at=at(60))],
            (OLD, other_suite(NEW, started_at=at(60))),
            id="the same second proves no order",
        ),
        pytest.param(
            [OLD, other_suite(NEW, started_at=None, conclusion=None)],
            (other_suite(NEW, started_at=None, conclusion=None),),
            id="a queued run will start after what has completed",
        ),
        pytest.param(
            [
                with_workflow(OLD, workflow="", event="", completed_at=None),
                other_suite(NEW),
            ],
            (
                with_workflow(OLD, workflow="", event="", completed_at=None),
                other_suite(NEW),
            ),
            id="an older suite that still runs counts",
        ),
        pytest.param(
            [
                with_workflow(
                    OLD, workflow="", event="", started_at=at(9), completed_at=at(1)
                )
            ],
            (
                with_workflow(
                    OLD, workflow="", event="", started_at=at(9), completed_at=at(1)
                ),
            ),
            id="a run with its times swapped never replaces itself",
        ),
        pytest.param(
            [
                with_workflow(OLD, workflow="", event="", database_id=0),
                with_workflow(
                    NEW, workflow="", event="", started_at=at(0), database_id=0
                ),
            ],
            (with_workflow(OLD, workflow="", event="", database_id=0),),
            id="of two that nothing orders the worse counts",
        ),
        pytest.param(
            [
                with_workflow(OLD, started_at=None, completed_at=None),
                with_workflow(NEW, started_at=None),
            ],
            (with_workflow(NEW, started_at=None),),
            id="without a start a completed run is as old as its end",
        ),
    ],
)
def test_only_the_newest_runs_count_in_whichever_order_they_come(runs, counted):
    for order in itertools.permutations(runs):
        assert pick_newest_runs(order) == counted


def test_only_the_newest_status_of_each_context_counts():
    old = StatusContext(context="ci", state="FAILURE", created_at=at(0))
    new = StatusContext(context="ci", state="SUCCESS", created_at=at(1))
    other = StatusContext(context="docs", state="EXPECTED")

    for order in itertools.permutations([old, new, other]):
        assert pick_newest_statuses(order) == (new, other)


def test_of_two_statuses_of_one_second_the_worse_counts():
    good = StatusContext(context="ci", state="SUCCESS", created_at=at(0))
    bad = StatusContext(context="ci", state="ERROR", created_at=at(0))

    assert pick_newest_statuses([bad, good]) == (bad,)
    assert pick_newest_statuses([good, bad]) == (bad,)
