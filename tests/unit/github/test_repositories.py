import pytest

from prwatch.domain.outcome import Found, NotFound, Unreadable
from prwatch.domain.pull_request import PullRequestState, RepositoryName
from prwatch.domain.reference import PullRequestReference, RepositoryFacts
from prwatch.errors import ProviderUnavailable
from tests.github_answers import LAST_PAGE, ScriptedHost, make_node, plain, reply

FACTS = {
    "id": "R_1",
    "nameWithOwner": "octo/hello",
    "isArchived": True,
    "defaultBranchRef": None,
    "parent": None,
}
REPOSITORY = RepositoryFacts(
    repository=RepositoryName("octo", "hello", "R_1"),
    default_branch="",
    is_archived=True,
)


def page(*nodes, cursor=None, errors=None):
    info = {"hasNextPage": True, "endCursor": cursor} if cursor else LAST_PAGE
    rows = {"nodes": list(nodes), "pageInfo": info}
    return reply({"repository": FACTS | {"pullRequests": rows}}, errors=errors)


async def walk(host, *, is_known=None):
    github = host.connect()
    pages = github.iter_open_pull_requests("octo", "hello", is_known=is_known)
    return [each async for each in pages]


def numbers(pages):
    return [[probe.number for probe in each.value.probes] for each in pages]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(reply({"repository": FACTS}), Found(REPOSITORY), id="found"),
        pytest.param(
            reply({"repository": None}, errors=[{"type": "NOT_FOUND", "path": ["repository"]}]),
            NotFound("GitHub does not know it, or this token may not see it"),
            id="missing",
        ),
        pytest.param(
            reply({"repository": {"id": 5}}),
            Unreadable("GitHub's answer about the repository is not understood"),
            id="strange",
        ),
    ],
)  # fmt: skip
async def test_a_repository_says_its_present_name(answer, expected):
    assert await ScriptedHost(answer).connect().repository("octo", "old") == expected


async def test_only_the_page_that_reaches_the_end_is_complete():
    host = ScriptedHost(
        page(make_node(3), make_node(2), cursor="c1"), page(make_node(1))
    )

    pages = await walk(host)

    assert numbers(pages) == [[3, 2], [1]]
    assert [each.value.is_complete for each in pages] == [False, True]
    assert pages[0].value.repository == REPOSITORY
    assert [each["variables"]["after"] for each in host.bodies] == [None, "c1"]


async def test_the_walk_stops_after_the_page_that_holds_a_known_row():
    host = ScriptedHost(
        page(make_node(4), make_node(3), cursor="c1"),
        page(make_node(2), make_node(1), cursor="c2"),
        page(make_node(0)),
    )

    pages = await walk(host, is_known=lambda probe: probe.number == 2)

    assert numbers(pages) == [[4, 3], [2, 1]]
    assert not pages[-1].value.is_complete


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        pytest.param([page(make_node(1), None)], [[1]], id="a null row"),
        pytest.param([page(make_node(1), {"id": 5})], [[1]], id="a strange row"),
        pytest.param(
            [page(make_node(2), cursor="c1"), page(make_node(1), cursor="c1")],
            [[2], [1]],
            id="the same cursor again",
        ),
        pytest.param(
            [
                reply({"repository": FACTS | {"pullRequests": {"nodes": [make_node(1)]}}}),
            ],
            [[1]],
            id="no page info",
        ),
    ],
)  # fmt: skip
async def test_a_walk_that_was_cut_short_is_never_complete(steps, expected):
    pages = await walk(ScriptedHost(*steps))

    assert numbers(pages) == expected
    assert not any(each.value.is_complete for each in pages)


async def test_a_page_that_cannot_be_read_ends_the_walk():
    gone = reply(
        {"repository": None}, errors=[{"type": "NOT_FOUND", "path": ["repository"]}]
    )
    listless = reply({"repository": FACTS | {"pullRequests": None}})
    strange = reply({"repository": {"id": 5}})

    assert [
        type(each) for each in await walk(ScriptedHost(page(cursor="c1"), gone))
    ] == [
        Found,
        NotFound,
    ]
    for step in (listless, strange):
        assert [type(each) for each in await walk(ScriptedHost(step))] == [Unreadable]


async def test_a_failed_request_ends_the_walk_and_what_was_yielded_stands():
    host = ScriptedHost(page(make_node(1), cursor="c1"), plain(b"", status=502))
    pages = []

    async def gather():
        walked = host.connect().iter_open_pull_requests("o", "n", is_known=None)
        async for each in walked:
            pages.append(each)  # noqa: PERF401 - the loop ends in an error

    with pytest.raises(ProviderUnavailable):
        await gather()

    assert numbers(pages) == [[1]]


async def test_a_row_that_a_probe_knows_is_not_decoded_again():
    host = ScriptedHost(reply({"n0": [make_node(1)]}), page(make_node(1)))
    github = host.connect()
    reference = PullRequestReference(owner="o", name="n", number=1, node_id="PR_1")

    probed = (await github.probe([reference]))[reference].value
    pages = github.iter_open_pull_requests("octo", "hello", is_known=None)
    (page_of_one,) = [each async for each in pages]
    (listed,) = page_of_one.value.probes

    assert listed is probed


def hits(*ids, cursor=None, **more):
    info = {"hasNextPage": True, "endCursor": cursor} if cursor else LAST_PAGE
    found = {"nodes": [each and {"id": each} for each in ids], "pageInfo": info}
    return reply({"search": found | more})


async def test_own_pull_requests_are_searched_and_then_read_directly():
    host = ScriptedHost(
        hits("PR_1", "PR_2", cursor="c1"),
        hits("PR_3"),
        reply({"n0": [make_node(1), make_node(2, state="MERGED"), make_node(3)]}),
    )

    own = await host.connect().own_pull_requests("alice")

    assert [each.number for each in own.probes] == [1, 3]
    assert all(each.state is PullRequestState.OPEN for each in own.probes)
    assert own.is_complete
    assert host.bodies[0]["variables"] == {
        "query": "is:pr is:open archived:false author:alice",
        "after": None,
    }


@pytest.mark.parametrize(
    ("login", "term"),
    [
        pytest.param("", "author:@me", id="the account itself"),
        pytest.param("app/dependabot", "author:app/dependabot", id="an app"),
        pytest.param('x" is:closed', "author:xisclosed", id="a hostile name"),
    ],
)
async def test_a_login_cannot_widen_the_search(login, term):
    host = ScriptedHost(hits())

    own = await host.connect().own_pull_requests(login)

    assert host.bodies[0]["variables"]["query"].endswith(f" {term}")
    assert (own.probes, own.is_complete) == ((), True)


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([reply({"search": None})], id="no list"),
        pytest.param([hits(None)], id="a null hit"),
        pytest.param([hits(pageInfo=None)], id="no page info"),
        pytest.param([hits(issueCount=1001)], id="more hits than are shown"),
        pytest.param(
            [hits(cursor="c1"), hits(cursor="c1")], id="the same cursor again"
        ),
        pytest.param(
            [hits("PR_1"), reply({"n0": [None]})], id="a hit that cannot be read"
        ),
    ],
)
async def test_a_search_that_left_something_out_proves_nothing(steps):
    own = await ScriptedHost(*steps).connect().own_pull_requests("alice")

    assert (own.probes, own.is_complete) == ((), False)


async def test_a_search_without_an_end_stops_at_a_thousand_hits():
    cursors = iter(range(100))
    host = ScriptedHost(lambda _: hits(cursor=f"c{next(cursors)}"))

    own = await host.connect().own_pull_requests("alice")

    assert (len(host.requests), own.is_complete) == (10, False)
