"""How a person stands to pull requests, as one direct reading shows it."""

import datetime as dt

import pytest

from prwatch.domain.outcome import Forbidden, Found, NotFound, Retry, Unreadable
from prwatch.domain.pull_request import PullRequestState
from prwatch.domain.review_hit import Opinion, ReviewFacts
from prwatch.domain.review_watch import ReviewedPullRequest
from prwatch.errors import ProviderUnavailable
from prwatch.github.search import Hit
from tests.github_answers import ScriptedHost, reply

NOON = "2026-11-30T12:00:00Z"


def make_node(**changes):
    return {
        "id": "PR_1",
        "number": 12,
        "title": "Greet\u0000",
        "url": "https://github.com/octo/hello/pull/12",
        "state": "OPEN",
        "isDraft": True,
        "closedAt": None,
        "mergedAt": None,
        "author": {"login": "bob"},
        "repository": {"id": "R_1", "nameWithOwner": "octo/hello"},
        "reviews": {"nodes": []},
        "reviewRequests": {"nodes": []},
        **changes,
    }


def make_review(state="APPROVED", author="ada"):
    login = {"login": author} if author else None
    node = {"id": "PRR_1", "state": state, "submittedAt": NOON, "author": login}
    return {"nodes": [node]}


def ask(*logins):
    """Return requests to users; None is one to a team."""
    asked = [{"login": login} if login else {} for login in logins]
    return {"nodes": [None, *({"requestedReviewer": each} for each in asked)]}


async def read(*nodes, errors=(), login="Ada"):
    host = ScriptedHost(reply({"nodes": list(nodes)}, errors=list(errors)))
    reader = host.connect().review_reader
    ids = [f"PR_{number}" for number in range(1, len(nodes) + 1)]
    pages = [each async for each in reader.iter_facts(ids, login)]
    (outcomes,) = pages
    return host, list(outcomes.values())


async def test_the_facts_are_read_for_one_person():
    host, (found,) = await read(
        make_node(reviews=make_review(), reviewRequests=ask("bob", None, "ADA"))
    )

    assert found == Found(
        ReviewFacts(
            pull_request=ReviewedPullRequest(
                owner="octo",
                name="hello",
                number=12,
                node_id="PR_1",
                repository_node_id="R_1",
            ),
            title="Greet",
            url="https://github.com/octo/hello/pull/12",
            author="bob",
            is_draft=True,
            state=PullRequestState.OPEN,
            opinion=Opinion.APPROVED,
            submitted_at=dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC),
            is_asked=True,
            is_requested=True,
        )
    )
    assert host.bodies[0]["variables"] == {"ids": ["PR_1"], "login": "Ada"}


def request(kind, login=""):
    return {"requestedReviewer": {"__typename": kind, "login": login}}


@pytest.mark.parametrize(
    ("nodes", "counts_teams", "is_requested"),
    [
        pytest.param([], False, False, id="nobody"),
        pytest.param([request("User", "ADA")], False, True, id="the person"),
        pytest.param([request("User", "bob")], True, False, id="somebody else"),
        pytest.param([request("Team")], False, False, id="a team"),
        pytest.param([request("Team")], True, True, id="a team where teams count"),
        pytest.param([request("Bot")], False, True, id="whose name is not read"),
        pytest.param([{"requestedReviewer": None}], False, True, id="not shown"),
        pytest.param([request("User", "bob")] * 100, False, True, id="too many"),
    ],
)
async def test_a_request_stands_unless_all_are_shown_to_be_somebody_elses(
    nodes, counts_teams, is_requested
):
    host = ScriptedHost(reply({"nodes": [make_node(reviewRequests={"nodes": nodes})]}))
    reader = host.connect().review_reader
    answers = reader.iter_facts(["PR_1"], "ada", counts_teams=counts_teams)
    (outcomes,) = [each async for each in answers]

    assert outcomes["PR_1"].value.is_requested is is_requested


async def test_a_request_to_somebody_else_is_none():
    _, (found,) = await read(make_node(reviewRequests=ask("bob", None)))

    assert not found.value.is_asked
    assert found.value.opinion is None


@pytest.mark.parametrize(
    "node",
    [
        pytest.param(make_node(reviews=None), id="no reviews"),
        pytest.param(make_node(reviews={"nodes": [None]}), id="a null review"),
        pytest.param(make_node(reviewRequests={"nodes": None}), id="no requests"),
        pytest.param(make_node(reviewRequests=None), id="requests left out"),
        pytest.param(make_node(state="MELTED"), id="an unknown state"),
        pytest.param(make_node(reviews=make_review("ODD")), id="an unknown opinion"),
        pytest.param({"id": "PR_1"}, id="something else"),
    ],
)
async def test_half_of_the_facts_decide_nothing(node):
    _, (found,) = await read(node)

    assert isinstance(found, Unreadable)


async def test_an_error_touches_what_it_names_alone():
    errors = [
        {"type": "NOT_FOUND", "path": ["nodes", 1], "message": "gone"},
        {
            "type": "FORBIDDEN",
            "path": ["nodes", 2, "reviews"],
            "message": "Resource not accessible",
        },
    ]
    _, found = await read(
        make_node(), None, make_node(reviews=None), make_node(), errors=errors
    )

    assert [type(each) for each in found] == [Found, NotFound, Forbidden, Found]


@pytest.mark.parametrize("author", ["bob", "ghost", ""])
async def test_a_review_by_somebody_else_is_not_this_persons(author):
    _, (found,) = await read(make_node(reviews=make_review(author=author)))

    assert (found.value.opinion, found.value.submitted_at) == (None, None)


async def test_a_bots_review_is_its_own_by_either_of_its_names():
    node = make_node(reviews=make_review(author="helper"))
    _, (found,) = await read(node, login="helper[bot]")

    assert found.value.opinion is Opinion.APPROVED


@pytest.mark.parametrize("path", [None, ["nodes"], ["nodes", 0]])
async def test_an_error_beside_good_data_decides_nothing_of_what_it_may_touch(path):
    error = {"type": "INTERNAL", "message": "Something went wrong"}
    errors = [error if path is None else {**error, "path": path}]
    _, (found,) = await read(make_node(), errors=errors)

    assert isinstance(found, Retry)


async def test_too_few_nodes_are_no_answer():
    host = ScriptedHost(reply({"nodes": [make_node()]}))
    reader = host.connect().review_reader

    (outcomes,) = [each async for each in reader.iter_facts(["PR_1", "PR_2"], "ada")]

    assert isinstance(outcomes["PR_1"], Found)
    assert isinstance(outcomes["PR_2"], NotFound | Retry | Unreadable)


async def test_a_list_that_is_none_fails_as_a_whole():
    reader = ScriptedHost(reply({"nodes": "x"})).connect().review_reader

    with pytest.raises(ProviderUnavailable):
        async for _ in reader.iter_facts(["PR_1"], "ada"):
            pass


async def test_a_search_gives_its_hits_in_their_order():
    named = {"number": 2, "repository": {"nameWithOwner": "octo/\u0000hello"}}
    first = {"id": "PR_2", "updatedAt": NOON, **named}
    page = {"nodes": [first, {"id": "PR_1"}], "issueCount": 2}
    host = ScriptedHost(reply({"search": {**page, "pageInfo": {"hasNextPage": False}}}))

    hits = await host.connect().review_reader.search("is:pr x")

    assert (hits.node_ids, hits.gap) == (("PR_2", "PR_1"), None)
    assert hits.found == (
        Hit(
            node_id="PR_2",
            reference="octo/hello#2",
            updated_at=dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC),
        ),
        Hit(node_id="PR_1"),
    )
    assert host.bodies[0]["variables"]["query"] == "is:pr x"


def ask_team():
    return {"nodes": [{"requestedReviewer": {"__typename": "Team"}}]}


def make_event(second, kind="Team"):
    time = f"2026-11-30T12:00:{second:02}Z"
    return {"createdAt": time, "requestedReviewer": {"__typename": kind}}


@pytest.mark.parametrize(
    ("changes", "is_asked"),
    [
        pytest.param({"timelineItems": {"nodes": [make_event(1)]}}, True, id="after"),
        pytest.param({"timelineItems": {"nodes": [make_event(0)]}}, False, id="before"),
        pytest.param(
            {"timelineItems": {"nodes": [None, {}, make_event(1, "User")]}},
            False,
            id="somebody else",
        ),
        pytest.param({"timelineItems": {"nodes": None}}, False, id="no events"),
        pytest.param({}, False, id="events that the server does not know"),
        pytest.param(
            {
                "timelineItems": {"nodes": [make_event(1)]},
                "reviewRequests": {"nodes": [{"requestedReviewer": None}]},
            },
            False,
            id="withdrawn, or not to be seen",
        ),
    ],
)
async def test_a_team_asks_again_after_the_last_word(changes, is_asked):
    node = make_node(reviews=make_review(), **{"reviewRequests": ask_team(), **changes})
    host = ScriptedHost(reply({"nodes": [node]}))
    reading = host.connect().review_reader.iter_facts(
        ["PR_1"], "ada", counts_teams=True
    )
    (outcomes,) = [each async for each in reading]

    assert outcomes["PR_1"].value.is_asked is is_asked


@pytest.mark.parametrize("number", [0, -1, 2**31, 2**70])
async def test_a_number_that_none_can_have_is_no_pull_request(number):
    _, (found,) = await read(make_node(number=number))

    assert isinstance(found, Unreadable)
