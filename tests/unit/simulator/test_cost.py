"""The price of a document, as GitHub publishes it and others measured it."""

import pytest

from prwatch.simulator.graph.cost import measure
from prwatch.simulator.graph.document import (
    Refused,
    coerce_variables,
    parse_operation,
)

FIVE = """reviews(first: 10) { totalCount } reviewRequests(first: 10) { totalCount }
  comments(last: 1) { totalCount } reviewThreads(first: 10) { totalCount }
  statusCheckRollup { contexts(first: 21) { totalCount } }"""
PROBE = "id statusCheckRollup { contexts { checkRunCountsByState { count } } }"


def price(text, **variables):
    operation = parse_operation(text)
    found = measure(operation, coerce_variables(operation, variables))
    return found.cost, found.node_count


def ask_nodes(fields, count):
    ids = [f"PR_{number}" for number in range(count)]
    query = "query($ids: [ID!]!) { nodes(ids: $ids) { ... on PullRequest { %s } } }"
    return price(query % fields, ids=ids)


@pytest.mark.parametrize(
    ("fields", "count", "expected"),
    [
        pytest.param("id", 100, (1, 100), id="bare"),
        pytest.param(PROBE, 100, (1, 100), id="probe"),
        pytest.param("comments(last: 1) { totalCount }", 100, (1, 200), id="k1"),
        pytest.param(FIVE, 10, (1, 530), id="k5-10"),
        pytest.param(FIVE, 25, (1, 1325), id="k5-25"),
        pytest.param(FIVE, 50, (3, 2650), id="k5-50"),
        pytest.param(FIVE, 100, (5, 5300), id="k5-100"),
        pytest.param(
            "commits(last: 1) { nodes { commit { statusCheckRollup {"
            " contexts(first: 100) { totalCount } } } } }",
            100,
            (2, 10200),
            id="rollup-through-commits",
        ),
        pytest.param(
            "reviewThreads(first: 100) { nodes { comments(first: 1) { totalCount } } }",
            100,
            (101, 20100),
            id="comments-of-threads",
        ),
    ],
)
def test_nodes_cost_what_was_measured(fields, count, expected):
    assert ask_nodes(fields, count) == expected


def test_the_published_example_costs_51_points():
    """100 repositories, 50 issues each, 60 labels each; here with our connections."""
    text = """{ search(query: "x", type: ISSUE, first: 100) { nodes {
      ... on PullRequest { reviewThreads(first: 50) { nodes {
        comments(first: 60) { totalCount } } } } } } }"""

    assert price(text) == (51, 305_100)


def test_bare_aliases_cost_one_point():
    aliases = " ".join(
        f'r{number}: repository(owner: "o", name: "r") {{ id }}'
        for number in range(600)
    )

    assert price(f"{{ {aliases} }}") == (1, 0)


def test_branches_cost_one_request_a_connection():
    aliases = " ".join(
        f'r{number}: repository(owner: "o", name: "r") {{ '
        'open: pullRequests(headRefName: "b", first: 5, states: OPEN) { totalCount } '
        'closed: pullRequests(headRefName: "b", first: 5) { totalCount } }'
        for number in range(50)
    )

    assert price(f"{{ {aliases} }}") == (1, 500)


def test_five_hundred_ids_in_five_fields_cost_five_points():
    ids = [f"PR_{number}" for number in range(100)]
    fields = " ".join(
        f"n{number}: nodes(ids: $ids) {{ ... on PullRequest {{ {PROBE} }} }}"
        for number in range(5)
    )
    text = f"query($ids: [ID!]!) {{ {fields} }}"

    assert price(text, ids=ids) == (5, 500)


@pytest.mark.parametrize(
    ("fields", "count", "kind"),
    [
        pytest.param("id", 101, "ARGUMENT_LIMIT", id="ids"),
        pytest.param(
            "reviewThreads(first: 100) { nodes { comments(first: 100) { totalCount } }}",
            100,
            "MAX_NODE_LIMIT_EXCEEDED",
            id="nodes",
        ),
    ],
)
def test_what_is_too_large_is_refused_as_a_whole(fields, count, kind):
    with pytest.raises(Refused) as caught:
        ask_nodes(fields, count)

    assert [error["type"] for error in caught.value.errors] == [kind]
