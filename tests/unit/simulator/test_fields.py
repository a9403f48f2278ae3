"""Every field of the schema is answered, and with what its type promises."""

import pytest
from graphql import (
    GraphQLNonNull,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
    is_list_type,
    is_object_type,
)

from prwatch.simulator import DEFAULT_TOKEN
from prwatch.simulator.graph.document import load_schema
from tests.unit.simulator.stage import ask, make_world, read

ARGUMENTS = {
    "user": '(login: "ada")',
    "repository": '(owner: "octo", name: "hello")',
    "search": '(query: "is:pr", type: ISSUE, first: 5)',
    "node": '(id: "%s")',
    "nodes": '(ids: ["%s"])',
    "pullRequest": "(number: 1)",
    "ref": '(qualifiedName: "refs/heads/fix")',
}
DEPTH = 6
BACKWARDS = {"Repository", "PullRequest", "PullRequestConnection"}


def make_full():
    world = make_world(requires_reviews=True, has_merge_queue=True)
    world.add_repository("ada/hello", fork_of="octo/hello")
    one = world.open_pull_request(
        "octo/hello", branch="fix", author="ada", head_repository="ada/hello"
    )
    world.push(one)
    world.request_review(one, "linus")
    world.request_review(one, "renovate", kind="Bot")
    world.add_team("octo", "core")
    world.request_review(one, "core", kind="Team")
    world.resolve_thread(world.open_thread(one, "grace"))
    world.submit_review(one, "grace")
    world.comment(one, "linus")
    world.set_check(one, "test", conclusion="SUCCESS", workflow="CI")
    world.set_status(one, "coverage", "SUCCESS")
    world.enqueue(one)
    world.arm_auto_merge(one)
    return world, one


def write_selection(schema, type_, depth, node_id):
    """Return a selection of all fields of a type, so many levels deep."""
    if is_leaf_type(type_):
        return ""
    if not is_object_type(type_):
        parts = [
            f"... on {each.name} {write_selection(schema, each, depth - 1, node_id)}"
            for each in schema.get_possible_types(type_)
        ]
        return f"{{ __typename {' '.join(parts)} }}"
    fields = ["__typename"]
    for name, field in type_.fields.items():
        below = get_named_type(field.type)
        if not is_leaf_type(below) and depth <= 0:
            continue
        # A repository leads back to pull requests, and so round and round.
        if depth < DEPTH - 1 and below.name in BACKWARDS:
            continue
        given = ""
        if below.name.endswith("Connection") and name != "search":
            given = "(first: 5)"
        elif name in ARGUMENTS and (type_.name == "Query" or field.args):
            given = ARGUMENTS[name].replace("%s", node_id)
        alias = f"{type_.name}_{name}"
        selection = write_selection(schema, below, depth - 1, node_id)
        fields.append(f"{alias}: {name}{given} {selection}")
    return f"{{ {' '.join(fields)} }}"


def list_broken(schema, type_, value, place=""):
    """Return where a value is null, a list or an object against its type."""
    if value is None:
        return [place] if isinstance(type_, GraphQLNonNull) else []
    inner = get_nullable_type(type_)
    if is_list_type(inner):
        return [
            each
            for index, item in enumerate(value)
            for each in list_broken(schema, inner.of_type, item, f"{place}[{index}]")
        ]
    named = get_named_type(inner)
    if is_leaf_type(named):
        if isinstance(value, dict | list):
            return [place]
        named.serialize(value)
        return []
    concrete = schema.get_type(value["__typename"])
    return [
        each
        for alias, item in value.items()
        if alias != "__typename"
        for each in list_broken(
            schema,
            concrete.fields[alias.removeprefix(f"{concrete.name}_")].type,
            item,
            f"{place}.{alias}",
        )
    ]


async def test_every_field_is_answered_as_its_type_promises():
    world, one = make_full()
    schema = load_schema()
    query = write_selection(schema, schema.query_type, DEPTH, one.id)

    body = await ask(world, query)

    assert body.get("errors", []) == []
    assert list_broken(schema, GraphQLNonNull(schema.query_type), body["data"]) == []
    shown = body["data"]["Query_node"]
    assert shown["PullRequest_number"] == 1
    assert shown["PullRequest_reviews"]["PullRequestReviewConnection_totalCount"] == 2


@pytest.mark.parametrize(
    ("play", "expected"),
    [
        pytest.param(lambda world, one: None, "CLEAN", id="clean"),
        pytest.param(lambda world, one: world.mark_draft(one), "BLOCKED", id="draft"),
        pytest.param(
            lambda world, one: world.set_mergeable(one, "CONFLICTING"),
            "DIRTY",
            id="conflict",
        ),
        pytest.param(
            lambda world, one: world.set_check(one, "test", conclusion="FAILURE"),
            "UNSTABLE",
            id="red",
        ),
        pytest.param(lambda world, one: world.push(one), "UNKNOWN", id="pushed"),
        pytest.param(lambda world, one: world.close(one), "UNKNOWN", id="closed"),
    ],
)
async def test_the_merge_state_says_what_stands_in_the_way(play, expected):
    world = make_world()
    one = world.open_pull_request("octo/hello", branch="fix")

    play(world, one)

    assert await read(world, 1, "mergeStateStatus") == {"mergeStateStatus": expected}


async def test_latest_reviews_leave_out_who_is_asked_again():
    world = make_world()
    one = world.open_pull_request("octo/hello", branch="fix")
    for author in ("grace", "linus"):
        world.submit_review(one, author)
    world.submit_review(one, "linus", "COMMENTED")
    world.request_review(one, "grace")

    found = await read(
        world, 1, "latestReviews(first: 9) { nodes { author { login } state } }"
    )

    nodes = [{"author": {"login": "linus"}, "state": "COMMENTED"}]
    assert found == {"latestReviews": {"nodes": nodes}}


async def test_reviews_and_comments_are_filtered_and_ordered():
    world = make_world()
    one = world.open_pull_request("octo/hello", branch="fix")
    first = world.comment(one, "grace", "a")
    world.comment(one, "linus", "b")
    world.clock.advance(60)
    world.edit_comment(one, first, "a2")
    world.submit_review(one, "grace")
    world.submit_review(one, "linus", "CHANGES_REQUESTED")

    found = await read(
        world,
        1,
        """comments(first: 9, orderBy: {field: UPDATED_AT, direction: DESC}) {
          nodes { body } }
        a: reviews(first: 9, states: APPROVED) { totalCount }
        b: reviews(first: 9, author: "linus") { nodes { state } }
        c: comments(last: 1) { nodes { body } pageInfo { hasPreviousPage } }""",
    )

    assert found == {
        "comments": {"nodes": [{"body": "a2"}, {"body": "b"}]},
        "a": {"totalCount": 1},
        "b": {"nodes": [{"state": "CHANGES_REQUESTED"}]},
        "c": {"nodes": [{"body": "b"}], "pageInfo": {"hasPreviousPage": True}},
    }


async def test_accounts_are_found_by_login_and_by_id():
    world = make_world()
    ada = world.add_user("ada")
    world.merge(world.open_pull_request("octo/hello", branch="a", author="ada"))
    world.open_pull_request("octo/hello", branch="b", author="ada")
    query = """query($id: ID!) {
      node(id: $id) { ... on User { login } }
      user(login: "ADA") { pullRequests(first: 9, states: OPEN) { totalCount } }
      gone: user(login: "nobody") { login }
      repositories: search(query: "x", type: REPOSITORY, first: 1) { issueCount } }"""

    body = await ask(world, query, DEFAULT_TOKEN, id=ada.id)

    assert body["data"] == {
        "node": {"login": "ada"},
        "user": {"pullRequests": {"totalCount": 1}},
        "gone": None,
        "repositories": {"issueCount": 0},
    }
    assert [error["path"] for error in body["errors"]] == [["gone"]]
