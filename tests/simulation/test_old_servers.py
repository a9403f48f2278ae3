"""Enterprise Servers whose schema lacks what we ask for: the rest is read as ever."""

import os

import httpx
import pytest
from structlog.testing import capture_logs

from prwatch.app.polling import poll
from prwatch.domain.capability import GRAPHQL
from prwatch.github.document_types import LEAVABLE, find_leavable
from prwatch.simulator import World
from tests.asked_fields import list_asked_fields
from tests.product import GAP, MovedClock, open_product

WATCHES = (
    'repository = "octo/hello"\npull_request = 1',
    'repository = "octo/hello"\nbranch = "topic-2"',
    'repository = "octo/hello"\nall = true',
)
TIED = {"Actor.login", "Commit.oid", "GitObject.oid", "User.login"}
"""Interfaces have these, and so have all of their types: no schema lacks one alone."""
FIELDS = sorted(
    name for name in list_asked_fields() if name not in TIED and name[-3:] != ".id"
)
ELSEWHERE = {
    *("CheckRun.detailsUrl", "CheckRun.isRequired", "Query.node", "Query.search"),
    *("SearchResultItemConnection.nodes", "SearchResultItemConnection.pageInfo"),
    *("StatusContext.isRequired", "StatusContext.targetUrl"),
    *("SearchResultItemConnection.issueCount", "ReviewRequestConnection.nodes"),
    "ReviewRequest.requestedReviewer",
    *("PullRequest.timelineItems", "PullRequestTimelineItemsConnection.nodes"),
    *("ReviewRequestedEvent.createdAt", "ReviewRequestedEvent.requestedReviewer"),
}
"""Asked by other commands, or for further pages."""
UNKNOWN = {
    "PullRequest.autoMergeRequest": {"auto_merge"},
    "PullRequest.baseRef": {"is_base_deleted"},
    "PullRequest.comments": {"comment_mark"},
    "PullRequest.isInMergeQueue": {"merge_queue"},
    "PullRequest.mergeable": {"mergeable"},
    "PullRequest.mergedBy": {"merged_by"},
    "PullRequest.reviewDecision": {"review_decision"},
    "PullRequest.reviewRequests": {"review", "approvals", "requested_reviewers"},
    "PullRequest.reviewThreads": {"unresolved_threads"},
    "PullRequest.reviews": {"review", "approvals", "comment_mark"},
    "PullRequest.statusCheckRollup": {"checks"},
    "Repository.isArchived": {"is_archived"},
}
"""The columns that are unobserved without a field."""
COLUMNS = set().union(*UNKNOWN.values())


def make_world(version="3.4.0"):
    world = World(MovedClock())
    world.enterprise_version = version
    world.add_repository("octo/hello", requires_reviews=True)
    for number in (1, 2):
        one = world.open_pull_request(
            "octo/hello", branch=f"topic-{number}", title="One", number=number
        )
        world.set_check(one, "build", conclusion="SUCCESS", workflow="CI")
        world.submit_review(one, "bob", "APPROVED")
        world.comment(one, "bob", "fine")
        world.arm_auto_merge(one)
    return world


def read_rows(product):
    return product.ask("SELECT * FROM task_pull_requests ORDER BY pr_number")


@pytest.mark.parametrize(
    "field",
    [
        pytest.param(name, marks=() if name in LEAVABLE else pytest.mark.slow)
        for name in FIELDS
    ],
)
async def test_a_server_without_a_field_is_read_without_it(tmp_path, field):
    world = make_world()
    world.remove_field(*field.split("."))
    async with open_product(tmp_path, world, watches=WATCHES) as product:
        await product.cycles(2)
        first = world.requests.graphql
        await product.cycles(2)
        rows, report = read_rows(product), product.report
        (account,) = product.runtime.wired.accounts
        omitted = account.github.capabilities.omit()

    assert report.failures == []
    assert {row["pr_number"] for row in rows} == {1, 2}
    assert {(row["title"], row["state"], row["author"]) for row in rows} == {
        ("One", "OPEN", "octocat")
    }
    left_out = find_leavable(field)
    if field in ELSEWHERE:
        assert omitted == set()
    elif left_out:
        lost = {name for name in COLUMNS if rows[0][name] is None}
        assert lost - {"merged_by"} == UNKNOWN.get(left_out, set()) - {"merged_by"}
        assert omitted == {left_out}
        assert report.usage.rest == 0
        assert report.usage.graphql > 0
    else:
        # No observation can be without it: such a server is read through REST.
        assert world.requests.graphql == first
        assert rows[0]["checks"] == "success"


async def test_a_server_without_graphql_is_read_through_rest(tmp_path):
    world = make_world("2.9.0")
    world.has_graphql = False
    with capture_logs() as logs:
        async with open_product(tmp_path, world, watches=WATCHES) as product:
            await product.cycles(5)
            rows, report = read_rows(product), product.report
        async with open_product(tmp_path, world, watches=WATCHES) as product:
            await product.cycles(5)

    assert report.failures == []
    assert [row["checks"] for row in rows] == ["success", "success"]
    assert world.requests.graphql == 1
    assert [each["event"] for each in logs].count("graphql.missing") == 1


async def test_a_server_that_was_brought_up_to_date_is_asked_for_everything(tmp_path):
    world = make_world("3.4.0")
    world.remove_field("PullRequest", "isInMergeQueue")
    async with open_product(tmp_path, world, watches=WATCHES[:1]) as product:
        await product.cycles(2)
        assert read_rows(product)[0]["merge_queue"] is None
        world.clock.advance(400 * 86_400)
        await product.cycles(2)
        assert read_rows(product)[0]["merge_queue"] is None

        world.enterprise_version = "3.16.0"
        world.removed_fields = frozenset()
        await product.cycles(3, is_full=True)

        assert read_rows(product)[0]["merge_queue"] == 0
        assert product.ask("SELECT * FROM refused_fields") == []


async def test_a_server_that_got_graphql_is_asked_through_it(tmp_path):
    world = make_world("2.9.0")
    world.has_graphql = False
    async with open_product(tmp_path, world, watches=WATCHES[:1]) as product:
        await product.cycles(2)
        assert [
            r["field"] for r in product.ask("SELECT field FROM refused_fields")
        ] == [GRAPHQL]
        world.has_graphql, world.enterprise_version = True, "3.16.0"

        await product.cycles(3)

        assert product.report.usage.graphql > 0
        assert product.report.usage.rest == 0


@pytest.mark.parametrize("read_path", ["graphql", "auto"])
async def test_only_a_server_that_tells_its_version_is_read_through_rest_instead(
    tmp_path, read_path
):
    world = make_world("2.9.0" if read_path == "graphql" else "")
    world.has_graphql = False
    async with open_product(
        tmp_path, world, watches=WATCHES[:1], poll=f'read_path = "{read_path}"'
    ) as product:
        await product.cycle()

        assert product.report.usage.rest == 0
        assert [each.scope for each in product.report.failures] == ["host"]


URL = os.environ.get("PRWATCH_STANDIN_URL", "")


@pytest.mark.standin
@pytest.mark.skipif(not URL, reason="PRWATCH_STANDIN_URL is not set")
@pytest.mark.xdist_group("standin")
@pytest.mark.parametrize(
    "field",
    [
        # Each schema costs the stand-in 25 MB for good, so the slow ones go apart.
        pytest.param(name, marks=() if name in LEAVABLE else pytest.mark.slow)
        for name in FIELDS
    ],
)
async def test_an_independent_server_without_a_field_is_read_without_it(
    tmp_path, field
):
    watches = (
        'repository = "acme/widgets"\npull_request = 1',
        'repository = "acme/widgets"\nbranch = "nobody-has-this"',
    )
    async with httpx.AsyncClient(timeout=30) as control:

        async def call(path, **body):
            answer = await control.post(f"{URL}/_control/{path}", json=body)
            answer.raise_for_status()

        await call("reset")
        await call("schema", remove=[field])
        try:
            async with open_product(
                tmp_path,
                token="ghp_alice",
                api_url=f"{URL}/api/v3",
                watches=watches,
                is_inline=False,
            ) as product:
                for _ in range(3):
                    product.clock.advance(GAP)
                    report = await poll(product.runtime, is_forced=True)
                (row,) = read_rows(product)
        finally:
            await call("schema", remove=[])
            await call("stats-reset")

    assert report.failures == []
    assert (row["pr_number"], row["state"]) == (1, "OPEN")
    assert bool(report.usage.graphql) is bool(
        find_leavable(field) or field in ELSEWHERE
    )
