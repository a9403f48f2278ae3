"""Against an independent model of GitHub, which validates whatever it is asked."""

import datetime as dt
import os

import anyio
import httpx
import pytest

from prwatch.clock import SystemClock
from prwatch.domain.capability import CHECKS
from prwatch.domain.outcome import Forbidden, Found, NotFound
from prwatch.domain.pull_request import UNOBSERVED, ChecksState, Observation
from prwatch.domain.reference import BranchReference, PullRequestReference
from prwatch.errors import (
    AuthenticationFailed,
    ProviderError,
    ProviderUnavailable,
    RateLimited,
)
from prwatch.github.client import Endpoints, GitHub
from prwatch.github.credentials import TokenCredential
from prwatch.http.client import create_http_client
from prwatch.telemetry.secret import Secret

URL = os.environ.get("PRWATCH_STANDIN_URL", "")
pytestmark = [
    pytest.mark.standin,
    pytest.mark.skipif(not URL, reason="PRWATCH_STANDIN_URL is not set"),
    # One world for all of them: they cannot run beside each other.
    pytest.mark.xdist_group("standin"),
]


class Standin:
    """The stand-in's control, and clients of it."""

    def __init__(self, http, control):
        self.http = http
        self.control = control

    def connect(self, token="ghp_alice", base=URL, graphql="/graphql"):
        return GitHub(
            self.http,
            TokenCredential(Secret(token), source="test"),
            endpoints=Endpoints(base, f"{URL}{graphql}"),
            clock=SystemClock(),
            settle=dt.timedelta(seconds=20),
        )

    async def call(self, path, body):
        (
            await self.control.post(f"{URL}/_control/{path}", json=body)
        ).raise_for_status()

    async def break_next(self, fault, times=1, **params):
        rule = {"match": {}, "fault": fault, "params": params, "times": times}
        await self.call("faults", {"rules": [rule]})

    async def refer(self, repository):
        ids = (await self.control.get(f"{URL}/_control/ids/{repository}")).json()
        owner, name = repository.split("/")
        return [
            PullRequestReference(
                owner=owner, name=name, number=each["number"], node_id=each["id"]
            )
            for each in ids
        ]


@pytest.fixture
async def standin():
    async with create_http_client() as http, httpx.AsyncClient(trust_env=False) as ctl:
        world = Standin(http, ctl)
        await world.call("reset", {})
        await world.control.request("DELETE", f"{URL}/_control/faults")
        yield world
        stats = (await ctl.get(f"{URL}/_control/stats")).json()
        assert (stats["violations"], stats["synthesised"]) == (0, {})


async def test_a_probe_and_a_full_reading_have_one_fingerprint(standin):
    github = standin.connect()
    references = await standin.refer("acme/widgets")

    probes = await github.probe(references)
    readings = await github.details(references)

    assert [probes[each].value.fingerprint for each in references] == [
        readings[each].value.fingerprint for each in references
    ]


async def test_both_paths_agree_on_every_pull_request(standin):
    github = standin.connect()
    references = await standin.refer("acme/widgets")
    references += await standin.refer("acme/monorepo")
    readings = await github.details(references)
    differing = set()

    for reference in references:
        theirs = (await github.check(reference, tags={})).outcome.value.observation
        ours = readings[reference].value.observation
        differing |= {
            name
            for name in set(Observation.__slots__) - {"observed_at", "checks_notes"}
            if UNOBSERVED not in (getattr(ours, name), getattr(theirs, name))
            and getattr(ours, name) != getattr(theirs, name)
        }

    assert differing == set()


async def test_a_quiet_check_costs_nothing(standin):
    github = standin.connect()
    (reference, *_) = await standin.refer("acme/widgets")
    first = await github.check(reference, tags={})
    remaining = github.limits.budgets["core"].remaining

    await github.check(reference, tags=first.tags)

    assert github.usage.not_modified == len(first.tags)
    assert github.limits.budgets["core"].remaining == remaining


async def test_three_hundred_pull_requests_are_listed_page_by_page(standin):
    github = standin.connect()
    walk = github.iter_open_pull_requests("acme", "bulk", is_known=None)

    pages = [each.value async for each in walk]

    assert [len(each.probes) for each in pages] == [100, 100, 100]
    assert [each.is_complete for each in pages] == [False, False, True]


async def test_five_hundred_probes_cost_five_points(standin):
    await standin.call("generate", {"repo": "acme/big", "prs": 500, "checks": 3})
    github = standin.connect()

    await github.probe(await standin.refer("acme/big"))

    assert (github.usage.graphql, github.usage.points) == (1, 5)


async def test_twenty_five_full_readings_cost_one_point(standin):
    github = standin.connect()
    references = (await standin.refer("acme/bulk"))[:25]

    await github.details(references)

    assert (github.usage.graphql, github.usage.points) == (1, 1)


async def test_fifty_branches_cost_one_point(standin):
    github = standin.connect()
    references = [
        BranchReference(owner="acme", name="widgets", branch=f"nobody/{each}")
        for each in range(48)
    ]
    references += [
        BranchReference(owner="acme", name="widgets", branch="patch-1"),
        BranchReference(owner="forker", name="widgets", branch="patch-1"),
    ]

    found = await github.branches(references)

    assert (github.usage.graphql, github.usage.points) == (1, 1)
    assert {len(found[each].value.pull_requests) for each in references[:48]} == {0}
    assert [each.number for each in found[references[48]].value.pull_requests] == [
        10,
        11,
    ]


async def test_what_a_token_may_not_see_is_told_apart(standin):
    github = standin.connect()
    references = [
        PullRequestReference(owner="walled", name="vault", number=1),
        PullRequestReference(owner="ssocorp", name="app", number=1),
        PullRequestReference(owner="acme", name="nothing", number=1),
    ]
    by_graphql = await github.details(references)

    for reference in references:
        checked = await github.check(reference, tags={})
        assert checked.outcome == by_graphql[reference]

    assert [getattr(each, "code", "") for each in by_graphql.values()] == [
        "ip_allow_list",
        "sso",
        "",
    ]
    assert isinstance(by_graphql[references[2]], NotFound)


async def test_unreadable_checks_leave_the_rest(standin):
    github = standin.connect("github_pat_private")
    references = await standin.refer("acme/secret")

    (outcome,) = (await github.details(references)).values()

    assert outcome.value.observation.checks is UNOBSERVED
    assert outcome.value.observation.title == "Private one"


@pytest.mark.parametrize("is_rest", [False, True])
async def test_unreadable_checks_are_not_asked_again(standin, is_rest):
    github = standin.connect("github_pat_private")
    references = await standin.refer("acme/secret")
    seen = []
    for _ in range(3):
        if is_rest:
            checked = await github.check(references[0], tags={})
            seen.append(checked.outcome.value.observation.checks)
        else:
            (outcome,) = (await github.details(references)).values()
            seen.append(outcome.value.observation.checks)

    log = (await standin.control.get(f"{URL}/_control/requests")).json()
    paths = [each["path"] for each in log]
    assert seen == [UNOBSERVED] * 3
    assert github.capabilities.omit("acme/secret") == {CHECKS}
    assert sum("/check-runs" in path for path in paths[-20:]) == is_rest


async def test_an_older_server_is_read_without_what_it_lacks(standin):
    removed = ["PullRequest.isInMergeQueue", "WorkflowRun.event"]
    await standin.call("schema", {"remove": removed})
    github = standin.connect(base=f"{URL}/api/v3", graphql="/api/graphql")
    references = await standin.refer("acme/widgets")
    try:
        readings = await github.details(references)
    finally:
        await standin.call("schema", {"remove": []})
        # The first question named the removed fields: that is how they are found out.
        await standin.call("stats-reset", {})

    assert {type(each) for each in readings.values()} == {Found}
    assert readings[references[8]].value.observation.merge_queue is UNOBSERVED
    assert github.capabilities.omit() == {
        "PullRequest.isInMergeQueue",
        "CheckSuite.workflowRun",
    }


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        pytest.param("html502", ProviderUnavailable, id="html502"),
        pytest.param("html503", ProviderUnavailable, id="html503"),
        pytest.param("html504", ProviderUnavailable, id="html504"),
        pytest.param("json500", ProviderUnavailable, id="json500"),
        pytest.param("timeout504", ProviderUnavailable, id="timeout504"),
        pytest.param("not_json", ProviderUnavailable, id="not_json"),
        pytest.param("empty200", ProviderUnavailable, id="empty200"),
        pytest.param("null_data", ProviderUnavailable, id="null_data"),
        pytest.param("truncate", ProviderUnavailable, id="truncate"),
        pytest.param("reset", ProviderUnavailable, id="reset"),
        pytest.param("something_went_wrong", ProviderUnavailable, id="typeless"),
        pytest.param("service_unavailable", ProviderUnavailable, id="unavailable"),
        pytest.param("bad_credentials", AuthenticationFailed, id="bad_credentials"),
        pytest.param("max_login_attempts", AuthenticationFailed, id="login_attempts"),
        pytest.param("account_suspended", AuthenticationFailed, id="account_suspended"),
        pytest.param("suspended_installation", AuthenticationFailed, id="installation"),
        pytest.param("insufficient_scopes", AuthenticationFailed, id="scopes"),
        pytest.param("rate_limited", RateLimited, id="rate_limited"),
        pytest.param("secondary", RateLimited, id="secondary"),
        pytest.param("abuse", RateLimited, id="abuse"),
    ],
)
async def test_each_fault_of_a_whole_answer_is_told_apart(standin, fault, error):
    github = standin.connect()
    references = await standin.refer("acme/widgets")
    # What may be a matter of size is asked in halves before it is given up.
    await standin.break_next(fault, times=3)

    with pytest.raises(ProviderError) as caught:
        await github.probe(references)

    assert type(caught.value) is error


@pytest.mark.parametrize("fault", ["html502", "timeout504", "null_data"])
async def test_a_request_that_was_too_heavy_once_is_answered_in_halves(standin, fault):
    github = standin.connect()
    references = await standin.refer("acme/widgets")
    await standin.break_next(fault)

    found = await github.probe(references)

    assert {type(each) for each in found.values()} == {Found}
    assert list(found) == references
    assert github.usage.graphql == 3


@pytest.mark.parametrize("fault", ["bad_credentials", "reset"])
async def test_a_single_stray_fault_is_not_noticed(standin, fault):
    github = standin.connect()
    await standin.break_next(fault)

    assert (await github.viewer()).login == "alice"


async def test_a_failure_behind_a_hundred_contexts_is_seen(standin):
    github = standin.connect()
    references = (await standin.refer("acme/widgets"))[:1]
    await standin.break_next("many_contexts", times=20, n=150)

    (outcome,) = (await github.details(references)).values()

    assert outcome.value.observation.checks is ChecksState.FAILURE


async def test_one_missing_pull_request_touches_no_other(standin):
    github = standin.connect()
    references = await standin.refer("acme/widgets")
    await standin.break_next("partial_not_found", numbers="2+5")

    found = await github.probe(references)

    missing = {each.number for each in references if not isinstance(found[each], Found)}
    assert missing == {2, 5}


async def test_questions_asked_at_once_go_one_after_the_other(standin):
    github = standin.connect()

    async with anyio.create_task_group() as group:
        for _ in range(12):
            group.start_soon(github.viewer)

    stats = (await standin.control.get(f"{URL}/_control/stats")).json()
    assert stats["maxInFlight"] == 1


async def test_a_limit_is_not_asked_again_while_it_holds(standin):
    github = standin.connect("ghp_small")

    for _ in range(15):
        try:
            await github.viewer()
        except RateLimited:
            continue

    stats = (await standin.control.get(f"{URL}/_control/stats")).json()
    assert (stats["afterLimit"], github.usage.graphql) == (0, 10)


async def test_an_organisation_that_refuses_is_no_bad_token(standin):
    github = standin.connect()
    await standin.break_next("ip_allow_list", org="acme")
    reference = PullRequestReference(owner="acme", name="widgets", number=1)

    checked = await github.check(reference, tags={})

    assert isinstance(checked.outcome, Forbidden)
    assert checked.outcome.scope == "organisation"
