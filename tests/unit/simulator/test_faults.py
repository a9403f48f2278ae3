"""Each kind of fault: what it spoils, and what it leaves whole."""

import json

import pytest

from prwatch.simulator import Fault
from prwatch.simulator.github_app import ConnectionBroken
from tests.unit.simulator.stage import ask, get, make_world, open_client

TITLES = """query Titles($ids: [ID!]!) { nodes(ids: $ids) {
  ... on PullRequest { number title statusCheckRollup { state } } } }"""
GOOD = [
    {"number": 1, "title": "change-1", "statusCheckRollup": None},
    {"number": 2, "title": "change-2", "statusCheckRollup": None},
]


def make_two(*faults):
    world = make_world()
    ids = [one.id for one in world.open_many("octo/hello", 2)]
    for fault in faults:
        world.faults.add(fault)
    return world, ids


async def post(world, ids):
    async with open_client(world) as client:
        payload = {"query": TITLES, "variables": {"ids": ids}}
        return await client.post("/graphql", json=payload)


def is_json(body):
    try:
        json.loads(body)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    ("kind", "status", "content_type", "has_json"),
    [
        pytest.param("html502", 502, "text/html", False, id="html502"),
        pytest.param("html503", 503, "text/html", False, id="html503"),
        pytest.param("html504", 504, "text/html", False, id="html504"),
        pytest.param("hang", 504, "text/html", False, id="hang"),
        pytest.param("json500", 500, "application/json", True, id="json500"),
        pytest.param("bad_credentials", 401, "application/json", True, id="401"),
        pytest.param("secondary", 403, "application/json", True, id="secondary"),
        pytest.param("rate_limited", 200, "application/json", True, id="limited"),
        pytest.param("not_json", 200, "text/html", False, id="not-json"),
        pytest.param("null_data", 200, "application/json", True, id="null-data"),
        pytest.param(
            "something_went_wrong", 200, "application/json", True, id="typeless"
        ),
        pytest.param("cut_json", 200, "application/json", False, id="truncated"),
    ],
)
async def test_a_fault_replaces_one_answer_and_the_next_one_is_good(
    kind, status, content_type, has_json
):
    world, ids = make_two(Fault(kind=kind))

    response = await post(world, ids)

    shape = response.status_code, response.headers["content-type"].partition(";")[0]
    assert (*shape, is_json(response.content)) == (status, content_type, has_json)
    assert "nodes" not in response.text or kind == "cut_json"
    world.clock.advance(3600)
    assert (await post(world, ids)).json() == {"data": {"nodes": GOOD}}


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        pytest.param("null_data", {"data": None}, id="null-data"),
        pytest.param(
            "something_went_wrong",
            {
                "data": None,
                "errors": [
                    {
                        "message": "Something went wrong while executing your query. "
                        "This may be the result of a timeout, or it could be a GitHub "
                        "bug. Please include `C0DE:0001:000001:5EED:C10C` when "
                        "reporting this issue."
                    }
                ],
            },
            id="typeless",
        ),
    ],
)
async def test_bodies_without_data_have_githubs_words(kind, body):
    world, ids = make_two(Fault(kind=kind))

    assert (await post(world, ids)).json() == body


@pytest.mark.parametrize(
    ("kind", "errors"),
    [
        pytest.param("not_found", [("NOT_FOUND", ["nodes", 1])], id="not-found"),
        pytest.param("forbidden", [("FORBIDDEN", ["nodes", 1])], id="forbidden"),
        pytest.param(
            "resource_limits",
            [("RESOURCE_LIMITS_EXCEEDED", ["nodes", 1])],
            id="limits",
        ),
        pytest.param("null_alias", [], id="null"),
    ],
)
async def test_a_spoiling_fault_meets_its_target_and_spares_the_rest(kind, errors):
    world, ids = make_two(Fault(kind=kind, target="octo/hello#2"))

    body = await ask(world, TITLES, ids=ids)

    assert body["data"] == {"nodes": [GOOD[0], None]}
    found = [(error["type"], error["path"]) for error in body.get("errors", [])]
    assert found == errors


async def test_a_spoiling_fault_without_target_meets_the_first_thing_asked():
    world, ids = make_two(Fault(kind="not_found"))

    assert (await ask(world, TITLES, ids=ids))["data"] == {"nodes": [None, GOOD[1]]}


async def test_an_error_path_may_hold_integers_below_a_null_field():
    world, ids = make_two(Fault(kind="integer_path"))

    body = await ask(world, TITLES, ids=ids)

    assert body == {
        "data": {"nodes": GOOD},
        "errors": [
            {
                "path": ["nodes", 0, "statusCheckRollup", "contexts", "nodes", 0],
                "locations": [{"line": 2, "column": 37}],
                "message": "Something went wrong while executing your query.",
            }
        ],
    }


async def test_a_lone_surrogate_stands_in_the_first_title():
    world, ids = make_two(Fault(kind="lone_surrogate"))

    body = await ask(world, TITLES, ids=ids)

    assert [node["title"] for node in body["data"]["nodes"]] == [
        "\ud83dchange-1",
        "change-2",
    ]


async def test_a_slow_answer_takes_the_worlds_time_and_is_good():
    world, ids = make_two(Fault(kind="slow", seconds=12))

    body = await ask(world, TITLES, ids=ids)

    assert (world.clock.slept, body["data"]) == ([12], {"nodes": GOOD})


@pytest.mark.parametrize("anyio_backend", ["trio"])
async def test_the_world_answers_on_trio_too(anyio_backend):
    world, ids = make_two(Fault(kind="slow", seconds=12))

    body = await ask(world, TITLES, ids=ids)

    assert (world.clock.slept, body["data"]) == ([12], {"nodes": GOOD})


async def test_a_reset_breaks_the_connection():
    world, ids = make_two(Fault(kind="reset"))

    with pytest.raises(ConnectionBroken):
        await post(world, ids)
    assert (world.requests.in_flight, len(world.requests)) == (0, 0)


async def test_a_secondary_fault_says_when_to_come_back_or_nothing():
    world, ids = make_two(
        Fault(kind="secondary", retry_after=7),
        Fault(kind="secondary", retry_after=None, skip=1),
    )

    answers = [await post(world, ids) for _ in range(2)]

    assert [answer.headers.get("retry-after") for answer in answers] == ["7", None]


async def test_a_rate_limited_fault_leaves_nothing_in_the_bucket():
    world, ids = make_two(Fault(kind="rate_limited"))

    refused = [await post(world, ids) for _ in range(2)]

    kinds = [answer.json()["errors"][0]["type"] for answer in refused]
    assert kinds == ["RATE_LIMITED", "RATE_LIMITED"]


@pytest.mark.parametrize(
    ("rule", "statuses"),
    [
        pytest.param({"times": 2}, [502, 502, 200, 200], id="times"),
        pytest.param({"skip": 1}, [200, 502, 200, 200], id="skip"),
        pytest.param({"times": None}, [502, 502, 502, 502], id="always"),
        pytest.param({"match": "Titles$"}, [502, 200, 200, 200], id="operation"),
        pytest.param({"match": "/repos/"}, [200, 200, 200, 200], id="other-path"),
    ],
)
async def test_a_rule_says_which_requests_it_meets(rule, statuses):
    world, ids = make_two(Fault(kind="html502", **rule))

    assert [(await post(world, ids)).status_code for _ in statuses] == statuses


async def test_a_rest_call_meets_faults_by_its_path():
    world, _ = make_two(Fault(kind="html503", match="GET /repos/octo/hello/pulls/2"))

    statuses = [
        (await get(world, f"/repos/octo/hello/pulls/{number}")).status_code
        for number in (1, 2, 2)
    ]

    assert statuses == [200, 503, 200]


async def test_cleared_faults_meet_nothing():
    world, ids = make_two(Fault(kind="html502", times=None))

    world.faults.clear()

    assert (await post(world, ids)).status_code == 200


def test_an_unknown_kind_is_refused_at_once():
    with pytest.raises(ValueError, match="tea is no kind of fault"):
        Fault(kind="tea")
