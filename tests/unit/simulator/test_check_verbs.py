"""Check runs, statuses and the roll-up that they come to."""

import pytest

from prwatch.simulator import DEFAULT_TOKEN
from tests.unit.simulator.stage import ask, get, make_world, read

ROLLUP = """statusCheckRollup { state commit { oid } contexts(first: 50) {
  totalCount checkRunCountsByState { state count }
  statusContextCountsByState { state count }
  nodes { __typename
    ... on CheckRun { name status conclusion startedAt completedAt
      checkSuite { app { slug } workflowRun { event workflow { name } } } }
    ... on StatusContext { context state createdAt } } } }"""
NOON = "2026-11-30T12:00:00Z"


def make_pull_request():
    world = make_world()
    return world, world.open_pull_request("octo/hello", branch="fix")


async def test_a_roll_up_holds_runs_and_statuses_with_their_counts():
    world, one = make_pull_request()

    world.set_check(one, "test", conclusion="SUCCESS", workflow="CI")
    world.set_check(one, "lint", status="QUEUED", app="linter")
    world.set_status(one, "coverage", "FAILURE")
    world.set_status(one, "coverage", "SUCCESS")

    assert await read(world, 1, ROLLUP) == {
        "statusCheckRollup": {
            "state": "PENDING",
            "commit": {"oid": one.head_ref_oid},
            "contexts": {
                "totalCount": 3,
                "checkRunCountsByState": [
                    {"state": "SUCCESS", "count": 1},
                    {"state": "QUEUED", "count": 1},
                ],
                "statusContextCountsByState": [{"state": "SUCCESS", "count": 1}],
                "nodes": [
                    {
                        "__typename": "CheckRun",
                        "name": "test",
                        "status": "COMPLETED",
                        "conclusion": "SUCCESS",
                        "startedAt": NOON,
                        "completedAt": NOON,
                        "checkSuite": {
                            "app": {"slug": "github-actions"},
                            "workflowRun": {
                                "event": "pull_request",
                                "workflow": {"name": "CI"},
                            },
                        },
                    },
                    {
                        "__typename": "CheckRun",
                        "name": "lint",
                        "status": "QUEUED",
                        "conclusion": None,
                        "startedAt": None,
                        "completedAt": None,
                        "checkSuite": {
                            "app": {"slug": "linter"},
                            "workflowRun": None,
                        },
                    },
                    {
                        "__typename": "StatusContext",
                        "context": "coverage",
                        "state": "SUCCESS",
                        "createdAt": NOON,
                    },
                ],
            },
        }
    }


@pytest.mark.parametrize(
    ("conclusions", "states", "expected"),
    [
        pytest.param(["SUCCESS", "SKIPPED", "NEUTRAL"], [], "SUCCESS", id="passing"),
        pytest.param(["SUCCESS", "STALE"], [], "PENDING", id="stale"),
        pytest.param(["SUCCESS", None], [], "PENDING", id="running"),
        pytest.param([None, "TIMED_OUT"], [], "FAILURE", id="timed-out"),
        pytest.param(["ACTION_REQUIRED"], [], "FAILURE", id="needs-approval"),
        pytest.param(["FAILURE"], ["ERROR"], "ERROR", id="error"),
        pytest.param(["SUCCESS"], ["EXPECTED"], "EXPECTED", id="expected"),
        pytest.param([], ["SUCCESS", "PENDING"], "PENDING", id="status-pending"),
    ],
)
async def test_the_worst_context_is_the_state(conclusions, states, expected):
    world, one = make_pull_request()

    for number, conclusion in enumerate(conclusions):
        world.set_check(one, f"run-{number}", conclusion=conclusion)
    for number, state in enumerate(states):
        world.set_status(one, f"context-{number}", state)

    found = await read(world, 1, "statusCheckRollup { state }")
    assert found == {"statusCheckRollup": {"state": expected}}


async def test_a_re_run_takes_the_place_of_the_run_before_it():
    world, one = make_pull_request()

    first = world.set_check(one, "test", conclusion="FAILURE")
    second = world.set_check(one, "test")
    finished = world.set_check(one, "test", conclusion="SUCCESS")

    assert (first is second, second is finished) == (False, True)
    found = await read(
        world,
        1,
        "statusCheckRollup { state contexts(first: 9) { nodes {"
        " ... on CheckRun { conclusion } } } }",
    )
    assert found["statusCheckRollup"] == {
        "state": "SUCCESS",
        "contexts": {"nodes": [{"conclusion": "SUCCESS"}]},
    }
    path = f"/repos/octo/hello/commits/{one.head_ref_oid}/check-runs"
    latest = (await get(world, path)).json()
    every = (await get(world, f"{path}?filter=all")).json()
    assert [run["conclusion"] for run in latest["check_runs"]] == ["success"]
    assert [run["conclusion"] for run in every["check_runs"]] == ["success", "failure"]


async def test_a_second_run_of_the_workflow_leaves_the_old_failure_listed():
    world, one = make_pull_request()
    world.set_check(one, "test", conclusion="FAILURE")

    world.set_check(one, "test", conclusion="SUCCESS", is_new_suite=True)

    found = await read(
        world,
        1,
        "statusCheckRollup { state contexts(first: 9) { nodes {"
        " ... on CheckRun { conclusion } } } }",
    )
    assert found["statusCheckRollup"] == {
        "state": "FAILURE",
        "contexts": {"nodes": [{"conclusion": "FAILURE"}, {"conclusion": "SUCCESS"}]},
    }


async def test_unreadable_checks_are_refused_one_by_one():
    world, one = make_pull_request()
    world.set_check(one, "test", conclusion="SUCCESS")
    world.set_status(one, "coverage", "SUCCESS")
    world.set_token("github_pat_fine", can_read_checks=False)
    query = """{ repository(owner: "octo", name: "hello") { pullRequest(number: 1) {
      statusCheckRollup { contexts(first: 9) { nodes { __typename } } } } } }"""

    body = await ask(world, query, "github_pat_fine")

    path = ["repository", "pullRequest", "statusCheckRollup", "contexts", "nodes", 0]
    rollup = body["data"]["repository"]["pullRequest"]["statusCheckRollup"]
    assert rollup == {"contexts": {"nodes": [None, {"__typename": "StatusContext"}]}}
    assert [(error["type"], error["path"]) for error in body["errors"]] == [
        ("FORBIDDEN", path)
    ]
    refused = await get(
        world,
        f"/repos/octo/hello/commits/{one.head_ref_oid}/check-runs",
        "github_pat_fine",
    )
    assert (refused.status_code, refused.json()["message"]) == (
        403,
        "Resource not accessible by personal access token",
    )


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        pytest.param([], "pending", id="none"),
        pytest.param(["SUCCESS"], "success", id="success"),
        pytest.param(["SUCCESS", "PENDING"], "pending", id="pending"),
        pytest.param(["PENDING", "ERROR"], "failure", id="error"),
    ],
)
async def test_rest_combines_statuses_and_is_pending_without_any(states, expected):
    world, one = make_pull_request()

    for number, state in enumerate(states):
        world.set_status(one, f"context-{number}", state)

    path = f"/repos/octo/hello/commits/{one.head_ref_oid}/status"
    found = (await get(world, path, DEFAULT_TOKEN)).json()
    assert (found["state"], found["total_count"]) == (expected, len(states))
