"""The kinds of faults that stand for whole incidents, through GraphQL and REST."""

import re
from pathlib import Path

import pytest

from prwatch.simulator.carriage import ConnectionBroken
from prwatch.simulator.faults import KINDS, PARAMETERS, Fault, parse_fault
from tests.unit.simulator.stage import ask, get, make_world, open_client

PAGE = Path(__file__).parents[3] / "docs/reference/faults.md"
PULL = "/repos/octo/hello/pulls/2"
RUNS = "/repos/octo/hello/commits/{}/check-runs"
READ = """query Read($ids: [ID!]!) { nodes(ids: $ids) { ... on PullRequest {
  number mergeable author { login } headRepository { id } headRepositoryOwner { login }
  reviews(first: 10) { totalCount nodes { state } }
  statusCheckRollup { state contexts(last: 1) { totalCount nodes {
    ... on CheckRun { name conclusion } } } } } } }"""


def make_three(*faults):
    world = make_world()
    opened = world.open_many("octo/hello", 3)
    for fault in faults:
        world.faults.add(fault)
    return world, opened


async def read(world, opened):
    return await ask(world, READ, ids=[one.id for one in opened])


async def post(world, opened):
    payload = {"query": READ, "variables": {"ids": [one.id for one in opened]}}
    async with open_client(world) as client:
        return await client.post("/graphql", json=payload)


def describe(response):
    """Return the status, the type or the beginning of what is said."""
    body = response.json() if response.content[:1] == b"{" else {}
    errors = body.get("errors") or [{}]
    said = errors[0].get("type") or errors[0].get("message") or body.get("message", "")
    return response.status_code, said[:24]


SAID = [
    pytest.param("abuse", 403, "You have triggered an ab", id="abuse"),
    pytest.param("max_login_attempts", 403, "Maximum number of login ", id="logins"),
    pytest.param("account_suspended", 403, "Sorry. Your account was ", id="account"),
    pytest.param("suspended_installation", 403, "This installation has be", id="app"),
    pytest.param("sso;org=octo", 403, "Resource protected by or", id="sso"),
    pytest.param("ip_allow_list;org=octo", 403, "Although you appear to h", id="ip"),
    pytest.param("insufficient_scopes", 200, "INSUFFICIENT_SCOPES", id="scopes"),
    pytest.param("json502", 502, "Server Error", id="json502"),
    pytest.param("json503", 503, "Service unavailable", id="json503"),
    pytest.param("timeout504", 504, "We couldn't respond to y", id="timeout504"),
    pytest.param("something_went_wrong", 200, "Something went wrong whi", id="wrong"),
    pytest.param("something_went_wrong;status=502", 502, "Something went wrong whi"),
    pytest.param("service_unavailable", 200, "SERVICE_UNAVAILABLE", id="unavailable"),
    pytest.param("internal", 200, "INTERNAL", id="internal"),
    pytest.param("max_nodes", 200, "MAX_NODE_LIMIT_EXCEEDED", id="nodes"),
    pytest.param("empty200", 200, "", id="empty"),
    pytest.param("gone410", 410, "Issues are disabled for ", id="gone"),
    pytest.param("dmca451", 451, "Repository access blocke", id="dmca"),
    pytest.param("blocked403", 403, "Repository access blocke", id="blocked"),
    pytest.param("server_error_400", 400, "Problems parsing JSON", id="400"),
    pytest.param("secondary;status=429", 429, "You have exceeded a seco", id="429"),
    pytest.param("secondary;status=200", 200, "RATE_LIMITED", id="secondary in 200"),
]


@pytest.mark.parametrize(("text", "status", "said"), SAID)
async def test_an_incident_is_told_in_githubs_words_on_both_ways(text, status, said):
    world, opened = make_three(f"{text};times=2")

    answers = [await post(world, opened), await get(world, PULL)]

    assert [describe(answer) for answer in answers] == [(status, said)] * 2


@pytest.mark.parametrize(
    ("text", "graphql", "rest"),
    [
        pytest.param(
            "not_accessible",
            (200, "FORBIDDEN"),
            (403, "Resource not accessible "),
            id="a",
        ),
        pytest.param("no_repository", (200, "NOT_FOUND"), (404, "Not Found"), id="b"),
        pytest.param(
            "rate_limited",
            (200, "RATE_LIMITED"),
            (403, "API rate limit exceeded "),
            id="c",
        ),
        pytest.param(
            "rate_limited;status=429",
            (200, "RATE_LIMITED"),
            (429, "API rate limit exceeded "),
            id="d",
        ),
    ],
)
async def test_some_incidents_have_a_shape_for_each_way(text, graphql, rest):
    world, opened = make_three(f"{text};times=2")

    answers = [await post(world, opened), await get(world, PULL)]

    assert [describe(answer) for answer in answers] == [graphql, rest]


async def test_an_organisation_that_wants_sign_on_is_named_in_a_header():
    world, opened = make_three("sso;org=octo")

    answer = await post(world, opened)

    assert answer.headers["x-github-sso"].endswith("/orgs/octo/sso")


async def test_a_held_secondary_limit_refuses_that_credential_until_its_end():
    world, opened = make_three("secondary;after=30;hold")

    first = await post(world, opened)
    world.clock.advance(29)
    early = await post(world, opened)
    counted = world.requests.while_limited
    world.clock.advance(1)
    late = await post(world, opened)

    assert [each.status_code for each in (first, early, late)] == [403, 403, 200]
    assert (counted, early.headers["retry-after"]) == (1, "1")


async def test_a_used_up_limit_may_come_back_before_its_hour():
    world, opened = make_three("rate_limited;seconds=120")

    await post(world, opened)
    early = await post(world, opened)
    world.clock.advance(120)
    late = await post(world, opened)

    assert (describe(early)[1], describe(late)[1]) == ("RATE_LIMITED", "")


async def test_a_rule_may_meet_one_token_alone():
    world, _ = make_three("bad_credentials;token=ghp_other;times=none")
    world.set_token("ghp_other")

    statuses = [
        (await get(world, PULL)).status_code,
        (await get(world, PULL, token="ghp_other")).status_code,
    ]

    assert statuses == [200, 401]


async def test_what_is_heavy_is_answered_up_to_a_place_and_then_cut_off():
    world, opened = make_three("resource_limits;after=2")

    body = await read(world, opened)

    shown = [node and node["number"] for node in body["data"]["nodes"]]
    errors = [(each["type"], each["path"]) for each in body["errors"]]
    assert shown == [1, 2, None]
    assert errors == [("RESOURCE_LIMITS_EXCEEDED", ["nodes", 2])]


@pytest.mark.parametrize("text", ["numbers=1+3", "frac=1"])
async def test_pull_requests_that_are_not_found_leave_the_others(text):
    world, opened = make_three(f"partial_not_found;{text};times=3")

    body = await read(world, opened)
    hidden = {1, 3} if "numbers" in text else {1, 2, 3}
    statuses = [
        (await get(world, f"/repos/octo/hello/pulls/{number}")).status_code
        for number in (1, 2)
    ]

    shown = {node["number"] for node in body["data"]["nodes"] if node}
    assert shown == {1, 2, 3} - hidden
    assert statuses == [404 if number in hidden else 200 for number in (1, 2)]


@pytest.mark.parametrize(("kind", "status"), [("not_found", 404), ("forbidden", 403)])
async def test_a_spoiled_thing_is_refused_through_rest_as_well(kind, status):
    fault = Fault(kind=kind, target="octo/hello#2", times=None)
    world, _ = make_three(fault)

    statuses = [
        (await get(world, f"/repos/octo/hello/pulls/{number}")).status_code
        for number in (1, 2)
    ]

    assert statuses == [200, status]


async def test_disguised_facts_are_null_or_unknown_on_both_ways():
    kinds = ("null_author", "null_head_repository", "mergeable_unknown")
    world, opened = make_three(*(f"{kind};times=4" for kind in kinds))
    world.submit_review(opened[1], "grace")
    world.comment(opened[1], "linus")

    node = (await read(world, opened))["data"]["nodes"][1]
    pull = (await get(world, PULL)).json()
    review = (await get(world, f"{PULL}/reviews")).json()[0]
    comment = (await get(world, "/repos/octo/hello/issues/2/comments")).json()[0]

    assert (node["author"], node["mergeable"]) == (None, "UNKNOWN")
    assert (node["headRepository"], node["headRepositoryOwner"]) == (None, None)
    assert (pull["user"], pull["mergeable"], pull["head"]["repo"]) == (None,) * 3
    assert (review["user"], comment["user"]) == (None, None)


async def test_many_contexts_end_with_the_one_that_fails():
    world, opened = make_three("many_contexts;n=101;times=2")

    rollup = (await read(world, opened))["data"]["nodes"][0]["statusCheckRollup"]
    listed = (await get(world, RUNS.format(opened[0].head.oid))).json()

    contexts = rollup["contexts"]
    assert (rollup["state"], contexts["totalCount"]) == ("FAILURE", 101)
    assert contexts["nodes"] == [{"name": "matrix-101", "conclusion": "FAILURE"}]
    assert (listed["total_count"], listed["check_runs"][0]["name"]) == (
        101,
        "matrix-101",
    )


@pytest.mark.parametrize(("over", "shown"), [(3, 3), (2, 2)])
async def test_a_wide_query_loses_half_of_each_list_without_a_word(over, shown):
    world, opened = make_three(f"silent_truncation;over={over}")
    for login in ("ada", "grace", "linus"):
        world.submit_review(opened[0], login)

    body = await read(world, opened)

    reviews = body["data"]["nodes"][0]["reviews"]
    assert "errors" not in body
    assert (reviews["totalCount"], len(reviews["nodes"])) == (shown, shown)


async def test_a_body_may_come_in_two_halves_with_a_pause_between():
    world, opened = make_three("slow_body;seconds=9")

    body = await read(world, opened)

    assert (world.clock.slept, len(body["data"]["nodes"])) == ([9], 3)


async def test_a_connection_may_end_within_the_answer():
    world, opened = make_three("truncate")

    with pytest.raises(ConnectionBroken):
        await post(world, opened)
    assert len(world.requests) == 1


async def test_an_answer_may_be_packed_for_whoever_can_unpack_it():
    world, opened = make_three("gzip;times=2")

    packed = await post(world, opened)
    plain = await get(world, PULL, accept_encoding="identity")

    assert packed.headers["content-encoding"] == "gzip"
    assert len(packed.json()["data"]["nodes"]) == 3
    assert "content-encoding" not in plain.headers


def test_a_line_of_text_is_a_fault_with_its_parameters():
    text = "partial_not_found;numbers=2+5;times=none;skip=1;match=Probe"

    assert parse_fault(text) == Fault(
        kind="partial_not_found", numbers=(2, 5), times=None, skip=1, match="Probe"
    )
    assert parse_fault("secondary;after=none;hold").is_held
    assert parse_fault("secondary;after=none").retry_after is None
    assert parse_fault("resource_limits;after=6").after == 6


def test_a_line_with_an_unknown_word_is_refused():
    with pytest.raises(ValueError, match="tea is no parameter of a fault"):
        parse_fault("secondary;tea=1")


def test_a_fault_is_taken_out_of_force_alone():
    world, _ = make_three()
    first, second = (world.faults.add(kind) for kind in ("html502", "html503"))

    world.faults.remove(first)

    assert world.faults.take("GET / ") == [second]


def test_the_reference_names_every_kind_and_every_parameter():
    page = PAGE.read_text(encoding="utf-8").split("```")[-1]
    kinds = {*re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)}
    words = {
        word for code in re.findall(r"`([^`]+)`", page) for word in code.split("=")
    }

    assert kinds - {"times", "skip", "match", "token", "target"} == KINDS
    assert set(PARAMETERS) - words == set()
