import datetime as dt

import pytest

from prwatch.domain.outcome import Found, NotFound, Retry, Unreadable
from prwatch.domain.pull_request import PullRequestState, RepositoryName
from prwatch.domain.reference import (
    BranchAnswer,
    BranchPullRequest,
    BranchReference,
    RepositoryFacts,
)
from prwatch.errors import ProviderUnavailable
from tests.github_answers import HEAD, LAST_PAGE, ScriptedHost, plain, reply

FACTS = {
    "id": "R_1",
    "nameWithOwner": "octo/hello",
    "isArchived": False,
    "defaultBranchRef": {"name": "main"},
    "parent": {"id": "R_0", "nameWithOwner": "up/hello"},
}
REPOSITORY = RepositoryFacts(
    repository=RepositoryName("octo", "hello", "R_1"),
    default_branch="main",
    is_archived=False,
    parent=RepositoryName("up", "hello", "R_0"),
)
NONE = {"nodes": [], "pageInfo": LAST_PAGE}
MORE = {"hasNextPage": True, "endCursor": "c1"}
TOPIC = BranchReference(owner="octo", name="hello", branch="topic")


def row(number, state="OPEN", head_repository="R_1", closed_at=None):
    return {
        "id": f"PR_{number}",
        "number": number,
        "state": state,
        "headRefOid": HEAD,
        "headRepository": {"id": head_repository} if head_repository else None,
        "createdAt": "2026-11-30T10:00:00Z",
        "closedAt": closed_at,
    }


def page(*rows, info=LAST_PAGE):
    return {"nodes": list(rows), "pageInfo": info}


def branch(key, *, opened=NONE, closed=NONE, oid=HEAD):
    return {
        f"f{key}": {"target": {"oid": oid}} if oid else None,
        f"o{key}": opened,
        f"c{key}": closed,
    }


async def test_the_open_and_the_newest_closed_ones_are_told():
    parts = branch(
        "0_0",
        opened=page(row(10), row(11, head_repository=None)),
        closed=page(row(9, "MERGED", closed_at="2026-11-30T11:00:00Z")),
    )
    host = ScriptedHost(reply({"r0": FACTS | parts}))

    found = await host.connect().branches([TOPIC])

    made = dt.datetime(2026, 11, 30, 10, tzinfo=dt.UTC)
    rows = [
        (10, PullRequestState.OPEN, "R_1", None),
        (11, PullRequestState.OPEN, None, None),
        (9, PullRequestState.MERGED, "R_1", made + dt.timedelta(hours=1)),
    ]
    assert found[TOPIC] == Found(
        BranchAnswer(
            repository=REPOSITORY,
            pull_requests=tuple(
                BranchPullRequest(
                    node_id=f"PR_{number}",
                    number=number,
                    state=state,
                    head_repository_id=head,
                    head_ref_oid=HEAD,
                    closed_at=closed_at,
                    created_at=made,
                )
                for number, state, head, closed_at in rows
            ),
            is_complete=True,
            head_ref_oid=HEAD,
        )
    )


async def test_names_travel_as_variables_grouped_by_repository():
    host = ScriptedHost(lambda _: reply({"r0": None, "r1": None}))
    hostile = 'x") { evil }'
    references = [
        BranchReference(owner="octo", name="hello", branch=hostile),
        BranchReference(owner="up", name="hello", branch="topic"),
        BranchReference(owner="Octo", name="Hello", branch="fix/#42 weird+name"),
    ]

    found = await host.connect().branches(references)

    assert set(found) == set(references)
    assert "evil" not in host.bodies[0]["query"]
    assert host.bodies[0]["variables"] == {
        "o0": "octo",
        "n0": "hello",
        "b0_0": hostile,
        "q0_0": f"refs/heads/{hostile}",
        "b0_1": "fix/#42 weird+name",
        "q0_1": "refs/heads/fix/#42 weird+name",
        "o1": "up",
        "n1": "hello",
        "b1_0": "topic",
        "q1_0": "refs/heads/topic",
    }


async def test_fifty_travel_in_one_request():
    host = ScriptedHost(lambda _: reply({}))
    references = [
        BranchReference(owner=f"o{each % 3}", name="n", branch=f"b{each}")
        for each in range(120)
    ]

    found = await host.connect().branches(references)

    counts = [
        sum(name.startswith("b") for name in each["variables"]) for each in host.bodies
    ]
    assert counts == [50, 50, 20]
    assert len(found) == 120


async def test_an_empty_list_proves_and_a_null_one_does_not():
    parts = branch("0_0", oid=None) | branch("0_1") | {"o0_1": None}
    host = ScriptedHost(reply({"r0": FACTS | parts}))
    other = BranchReference(owner="octo", name="hello", branch="other")

    found = await host.connect().branches([TOPIC, other])

    assert found[TOPIC].value.is_complete
    assert found[TOPIC].value.pull_requests == ()
    assert found[TOPIC].value.head_ref_oid == ""
    assert isinstance(found[other], Unreadable)


async def test_each_repository_has_its_own_fate():
    host = ScriptedHost(
        reply(
            {"r0": FACTS | branch("0_0"), "r1": None, "r2": None, "r3": {"id": 5}},
            errors=[{"type": "NOT_FOUND", "path": ["r1"]}],
        )
    )
    references = [
        BranchReference(owner=f"o{each}", name="n", branch="b") for each in range(4)
    ]

    found = await host.connect().branches(references)

    kinds = [type(found[each]) for each in references]
    assert kinds == [Found, NotFound, Unreadable, Unreadable]


async def test_open_ones_are_read_to_their_end():
    first = FACTS | branch("0_0", opened=page(row(1), info=MORE))
    second = {"repository": {"pullRequests": page(row(2))}}
    host = ScriptedHost(reply({"r0": first}), reply(second))

    found = await host.connect().branches([TOPIC])

    answer = found[TOPIC].value
    assert [each.number for each in answer.pull_requests] == [1, 2]
    assert answer.is_complete
    assert host.bodies[1]["variables"] == {
        "owner": "octo",
        "name": "hello",
        "branch": "topic",
        "after": "c1",
    }


@pytest.mark.parametrize(
    ("opened", "further"),
    [
        pytest.param(page(row(1), None), [], id="a null row"),
        pytest.param(page(row(1), info=None), [], id="no page info"),
        pytest.param(
            page(row(1), info={"hasNextPage": True, "endCursor": None}),
            [],
            id="no cursor",
        ),
        pytest.param(
            page(row(1), info=MORE),
            [reply({"repository": {"pullRequests": page(row(2), info=MORE)}})],
            id="the same cursor again",
        ),
        pytest.param(
            page(row(1), info=MORE), [reply({"repository": None})], id="nothing"
        ),
    ],
)
async def test_a_list_that_does_not_end_proves_nothing(opened, further):
    host = ScriptedHost(reply({"r0": FACTS | branch("0_0", opened=opened)}), *further)

    found = await host.connect().branches([TOPIC])

    assert not found[TOPIC].value.is_complete
    assert found[TOPIC].value.pull_requests[0].number == 1


async def test_a_row_that_could_not_be_read_leaves_the_list_incomplete():
    error = {"type": "FORBIDDEN", "path": ["r0", "o0_0", "nodes", 0, "headRepository"]}
    opened = page(row(1, head_repository=None))
    host = ScriptedHost(
        reply({"r0": FACTS | branch("0_0", opened=opened)}, errors=[error])
    )

    found = await host.connect().branches([TOPIC])

    assert not found[TOPIC].value.is_complete


async def test_a_further_page_that_fails_is_asked_again_later():
    first = FACTS | branch("0_0", opened=page(row(1), info=MORE))
    host = ScriptedHost(reply({"r0": first}), plain(b"", status=502))

    found = await host.connect().branches([TOPIC])

    assert isinstance(found[TOPIC], Retry)


async def test_a_request_that_fails_as_a_whole_is_raised():
    host = ScriptedHost(plain(b"", status=502))

    with pytest.raises(ProviderUnavailable):
        await host.connect().branches([TOPIC])


async def test_an_answer_of_another_shape_is_unreadable():
    parts = FACTS | branch("0_0", opened={"nodes": "many"})
    host = ScriptedHost(reply({"r0": parts}))

    found = await host.connect().branches([TOPIC])

    assert isinstance(found[TOPIC], Unreadable)
