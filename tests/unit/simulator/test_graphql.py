"""What a GraphQL request is answered with: shapes, errors, pages, searches."""

import gzip
import time
from pathlib import Path

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    build_schema,
)

from prwatch.simulator import DEFAULT_TOKEN
from prwatch.simulator.graph.document import load_schema
from tests.unit.simulator.stage import ask, make_world, open_client, read

SAMPLE = Path(__file__).parents[2] / "samples" / "github.graphql.gz"
PAGES = """query($after: String) { repository(owner: "octo", name: "hello") {
  pullRequests(first: 2, after: $after, states: OPEN,
    orderBy: {field: UPDATED_AT, direction: DESC}) {
    totalCount nodes { number } pageInfo { hasNextPage endCursor } } } }"""


def list_members(schema):
    """Return every field, argument and value of a schema with its type."""
    found = {}
    for name, type_ in schema.type_map.items():
        if name.startswith("__"):
            continue
        if isinstance(type_, GraphQLEnumType):
            found[name] = frozenset(type_.values)
        if isinstance(type_, GraphQLInputObjectType):
            found |= {f"{name}.{key}": str(f.type) for key, f in type_.fields.items()}
        if isinstance(type_, GraphQLObjectType | GraphQLInterfaceType):
            for key, field in type_.fields.items():
                found[f"{name}.{key}"] = str(field.type)
                found |= {
                    f"{name}.{key}({argument})": str(given.type)
                    for argument, given in field.args.items()
                }
    return found


def test_the_schema_is_a_part_of_the_published_one():
    published = list_members(
        build_schema(gzip.decompress(SAMPLE.read_bytes()).decode(), assume_valid=True)
    )

    ours = list_members(load_schema())

    assert {name: published.get(name) for name in ours} == ours


async def test_introspection_says_which_fields_there_are():
    body = await ask(make_world(), '{ __type(name: "Team") { fields { name } } }')

    fields = [field["name"] for field in body["data"]["__type"]["fields"]]
    assert fields == ["combinedSlug", "databaseId", "id", "name", "slug", "url"]


async def test_every_missing_thing_is_null_with_an_error_at_its_path():
    world = make_world()
    one = world.open_pull_request("octo/hello", branch="fix")
    query = """query($ids: [ID!]!) {
      nodes(ids: $ids) { id }
      gone: repository(owner: "octo", name: "gone") { id }
      here: repository(owner: "octo", name: "hello") {
        name pullRequest(number: 9) { id } } }"""

    body = await ask(world, query, ids=[one.id, "PR_kwDOnothing"])

    assert body["data"] == {
        "nodes": [{"id": one.id}, None],
        "gone": None,
        "here": {"name": "hello", "pullRequest": None},
    }
    errors = [(each["type"], each["path"], each["message"]) for each in body["errors"]]
    assert errors == [
        (
            "NOT_FOUND",
            ["nodes", 1],
            "Could not resolve to a node with the global id of 'PR_kwDOnothing'.",
        ),
        (
            "NOT_FOUND",
            ["gone"],
            "Could not resolve to a Repository with the name 'octo/gone'.",
        ),
        (
            "NOT_FOUND",
            ["here", "pullRequest"],
            "Could not resolve to a PullRequest with the number of 9.",
        ),
    ]


async def test_an_older_server_refuses_a_field_it_does_not_know():
    world = make_world()
    world.open_pull_request("octo/hello", branch="fix")
    world.remove_field("PullRequest", "isInMergeQueue")
    query = """query Probe { repository(owner: "octo", name: "hello") {
      pullRequest(number: 1) { ... on PullRequest { isInMergeQueue } } } }"""

    body = await ask(world, query)

    assert body == {
        "errors": [
            {
                "message": "Field 'isInMergeQueue' doesn't exist on type 'PullRequest'",
                "locations": [{"line": 2, "column": 53}],
                "path": [
                    "query Probe",
                    "repository",
                    "pullRequest",
                    "... on PullRequest",
                    "isInMergeQueue",
                ],
                "extensions": {
                    "code": "undefinedField",
                    "typeName": "PullRequest",
                    "fieldName": "isInMergeQueue",
                },
            }
        ]
    }


@pytest.mark.parametrize(
    ("query", "message"),
    [
        pytest.param(
            "{ viewer { login }",
            "Parse error on Expected Name, found <EOF>. at [1, 19]",
            id="syntax",
        ),
        pytest.param(
            "query($x: Int!) { node(id: $x) { id } }",
            "Variable '$x' of type 'Int!'",
            id="position",
        ),
        pytest.param(
            "query($x: ID!) { node(id: $x) { id } }",
            "Variable $x of type ID! was provided invalid value",
            id="missing-variable",
        ),
    ],
)
async def test_a_document_that_is_wrong_has_errors_and_no_data(query, message):
    body = await ask(make_world(), query)

    assert list(body) == ["errors"]
    assert body["errors"][0]["message"].startswith(message)


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        pytest.param("", "MISSING_PAGINATION_BOUNDARIES", id="none"),
        pytest.param("(first: 101)", "EXCESSIVE_PAGINATION", id="many"),
    ],
)
async def test_items_are_given_only_within_bounds(arguments, kind):
    world = make_world()
    world.open_pull_request("octo/hello", branch="fix")
    query = f"""{{ repository(owner: "octo", name: "hello") {{
      pullRequest(number: 1) {{ number reviews{arguments} {{ nodes {{ id }} }} }} }} }}"""

    body = await ask(world, query)

    assert body["data"]["repository"]["pullRequest"] == {"number": 1, "reviews": None}
    assert [(error["type"], error["path"]) for error in body["errors"]] == [
        (kind, ["repository", "pullRequest", "reviews"])
    ]


async def test_pages_follow_each_other_in_the_order_asked_for():
    world = make_world()
    for one in world.open_many("octo/hello", 5):
        world.clock.advance(60)
        world.comment(one, "grace")
    world.close(world.pull_requests[min(world.pull_requests)])
    after, pages = None, []

    while not pages or after:
        body = await ask(world, PAGES, after=after)
        page = body["data"]["repository"]["pullRequests"]
        pages.append([node["number"] for node in page["nodes"]])
        after = page["pageInfo"]["hasNextPage"] and page["pageInfo"]["endCursor"]

    assert (pages, page["totalCount"]) == ([[5, 4], [3, 2]], 4)


async def test_a_cursor_that_is_none_is_refused_and_its_parent_is_null():
    body = await ask(make_world(), PAGES, after="nonsense")

    assert body == {
        "data": {"repository": None},
        "errors": [
            {
                "type": "INVALID_CURSOR_ARGUMENTS",
                "path": ["repository", "pullRequests"],
                "locations": [{"line": 2, "column": 3}],
                "message": "`nonsense` does not appear to be a valid cursor.",
            }
        ],
    }


async def test_a_branch_finds_its_pull_requests_from_every_fork():
    world = make_world()
    world.add_repository("ada/hello", fork_of="octo/hello")
    world.open_pull_request("octo/hello", branch="fix")
    world.open_pull_request("octo/hello", branch="fix", head_repository="ada/hello")
    world.open_pull_request("octo/hello", branch="other")
    query = """{ repository(owner: "octo", name: "hello") {
      defaultBranchRef { name } parent { id }
      ref(qualifiedName: "refs/heads/fix") { name target { oid } }
      nothing: ref(qualifiedName: "refs/heads/none") { name }
      pullRequests(headRefName: "fix", first: 9) {
        nodes { number headRepository { nameWithOwner } } } } }"""

    body = await ask(world, query)

    oid = world.repositories["octo/hello"].branches["fix"].oid
    assert body["data"]["repository"] == {
        "defaultBranchRef": {"name": "main"},
        "parent": None,
        "ref": {"name": "fix", "target": {"oid": oid}},
        "nothing": None,
        "pullRequests": {
            "nodes": [
                {"number": 1, "headRepository": {"nameWithOwner": "octo/hello"}},
                {"number": 2, "headRepository": {"nameWithOwner": "ada/hello"}},
            ]
        },
    }


@pytest.mark.parametrize(
    ("terms", "numbers"),
    [
        pytest.param("author:@me is:pr is:open", [4, 1], id="mine"),
        pytest.param("is:pr is:closed", [2], id="closed"),
        pytest.param("is:pr is:draft", [4], id="draft"),
        pytest.param("review-requested:@me", [3], id="asked"),
        pytest.param("reviewed-by:grace", [1], id="reviewed"),
        pytest.param("repo:octo/hello head:b3", [3], id="head"),
        pytest.param("org:nobody", [], id="org"),
        pytest.param("B2", [2], id="word"),
    ],
)
async def test_a_search_finds_by_its_terms(terms, numbers):
    world = make_world()
    authors = ("octocat", "ada", "ada", "octocat")
    made = [
        world.open_pull_request("octo/hello", branch=f"b{number}", author=author)
        for number, author in enumerate(authors, 1)
    ]
    world.submit_review(made[0], "grace")
    world.merge(made[1])
    world.request_review(made[2], "octocat")
    world.mark_draft(made[3])
    text = """query($terms: String!) { search(query: $terms, type: ISSUE, first: 9) {
      issueCount nodes { ... on PullRequest { number } } } }"""

    body = await ask(world, text, terms=terms)

    assert body["data"]["search"] == {
        "issueCount": len(numbers),
        "nodes": [{"number": number} for number in numbers],
    }


async def test_fragments_aliases_and_directives_are_understood():
    world = make_world()
    one = world.open_pull_request("octo/hello", branch="fix")
    query = """query($id: ID!, $no: Boolean!, $yes: Boolean!) {
      a: node(id: $id) { ...Short ... on PullRequest { title } ... on User { login } }
      b: node(id: $id) { ... on Node @skip(if: $yes) { id } __typename }
      viewer @include(if: $no) { login } }
      fragment Short on PullRequest { n: number title @include(if: $yes) }"""

    body = await ask(world, query, id=one.id, no=False, yes=True)

    assert body == {
        "data": {"a": {"n": 1, "title": "fix"}, "b": {"__typename": "PullRequest"}}
    }


async def test_the_rate_limit_object_agrees_with_the_headers():
    world = make_world()
    query = "{ rateLimit { cost limit remaining used nodeCount resetAt } }"

    async with open_client(world, DEFAULT_TOKEN) as client:
        response = await client.post("/graphql", json={"query": query})

    assert response.json() == {
        "data": {
            "rateLimit": {
                "cost": 1,
                "limit": 5000,
                "remaining": 4999,
                "used": 1,
                "nodeCount": 0,
                "resetAt": "2026-11-30T13:00:00Z",
            }
        }
    }
    limits = {
        name.removeprefix("x-ratelimit-"): value
        for name, value in response.headers.items()
        if name.startswith("x-ratelimit-")
    }
    assert limits == {
        "limit": "5000",
        "remaining": "4999",
        "used": "1",
        "reset": "1796043600",
        "resource": "graphql",
    }
    assert response.headers["date"] == "Mon, 30 Nov 2026 12:00:00 GMT"


async def test_the_fields_of_an_untouched_pull_request_are_all_answered():
    world = make_world()
    world.open_pull_request("octo/hello", branch="fix")
    schema = load_schema()
    leaves = " ".join(
        name
        for name, field in schema.get_type("PullRequest").fields.items()
        if not field.args
        and not hasattr(getattr(field.type, "of_type", field.type), "fields")
    )

    found = await read(world, 1, leaves.replace("statusCheckRollup", ""))

    assert found["permalink"] == "https://github.com/octo/hello/pull/1"


async def test_a_hundred_probes_are_answered_well_below_50_ms():
    world = make_world()
    ids = [one.id for one in world.open_many("octo/hello", 100)]
    for one in world.pull_requests.values():
        world.set_check(one, "test", conclusion="SUCCESS")
    query = """query($ids: [ID!]!) { nodes(ids: $ids) { ... on PullRequest {
      id number state isDraft updatedAt headRefOid mergeable reviewDecision
      totalCommentsCount isInMergeQueue repository { nameWithOwner isArchived }
      autoMergeRequest { enabledAt } statusCheckRollup { state commit { oid }
        contexts { checkRunCountsByState { state count } } } } } }"""

    async def time_once():
        begun = time.process_time()
        await ask(world, query, ids=ids)
        return time.process_time() - begun

    await time_once()
    assert min([await time_once() for _ in range(5)]) < 0.05
