"""What each kind of request costs, in points and nodes: it may not creep upward."""

from dataclasses import dataclass

import pytest

from prwatch.domain.reference import BranchReference
from prwatch.github.branches import BATCH_SIZE as BRANCHES
from prwatch.github.branches import build_query, build_variables, group_branches
from prwatch.github.details import DETAIL_SIZE, build_number_query
from prwatch.github.documents import DocumentBook, load_parts
from prwatch.github.probe import FIELD_SIZE, MAX_FIELDS, build_nodes_query
from prwatch.github.review_facts import FACTS_SIZE
from prwatch.simulator.graph.cost import measure
from prwatch.simulator.graph.document import coerce_variables, parse_operation

MORE = 1.1
"""A document may grow by a tenth before somebody has to say that it should."""
PLACE = {"owner": "octo", "name": "hello"}
NEXT = {"id": "PR_1", "after": "cursor"}


@dataclass(frozen=True)
class Kind:
    """One kind of request, as full as it is ever sent, and its golden cost."""

    operation: str
    variables: dict
    points: int
    connections: int
    """Requests that GitHub's formula counts: a hundred make a point."""
    nodes: int


def list_ids(count):
    return [f"PR_{number}" for number in range(count)]


def ask_probe():
    variables = {f"ids{field}": list_ids(FIELD_SIZE) for field in range(MAX_FIELDS)}
    return build_nodes_query("Probe", "ProbeFields", MAX_FIELDS), variables


def ask_details_by_number():
    variables = {}
    for at in range(DETAIL_SIZE):
        variables |= {f"o{at}": "octo", f"n{at}": "hello", f"p{at}": at + 1}
    return build_number_query(DETAIL_SIZE), variables


def ask_branches():
    """Each branch in a repository of its own is the dearest way to ask for fifty."""
    references = [
        BranchReference(owner="octo", name=f"hello-{at}", branch="fix")
        for at in range(BRANCHES)
    ]
    groups = group_branches(references)
    return build_query((1,) * BRANCHES), build_variables(groups)


KINDS = {
    "Probe": Kind(*ask_probe(), points=5, connections=500, nodes=500),
    "Details": Kind(
        build_nodes_query("Details", "DetailFields", 1),
        {"ids0": list_ids(DETAIL_SIZE)},
        points=1,
        connections=125,
        nodes=8025,
    ),
    "DetailsByNumber": Kind(
        *ask_details_by_number(), points=1, connections=125, nodes=8000
    ),
    "Branches": Kind(*ask_branches(), points=1, connections=100, nodes=2000),
    "MoreBranch": Kind(
        "MoreBranch",
        {**PLACE, "branch": "fix", "after": "cursor"},
        points=1,
        connections=1,
        nodes=100,
    ),
    "OpenPullRequests": Kind(
        "OpenPullRequests", PLACE, points=1, connections=101, nodes=100
    ),
    "OwnPullRequests": Kind(
        "OwnPullRequests", {"query": "is:pr"}, points=1, connections=1, nodes=100
    ),
    "Repository": Kind("Repository", PLACE, points=1, connections=0, nodes=0),
    "ReviewHits": Kind(
        "ReviewHits", {"query": "is:pr"}, points=1, connections=1, nodes=100
    ),
    "ReviewFacts": Kind(
        "ReviewFacts",
        {"ids": list_ids(FACTS_SIZE), "login": "octocat"},
        points=2,
        connections=200,
        nodes=10200,
    ),
    "ReviewTeamFacts": Kind(
        "ReviewTeamFacts",
        {"ids": list_ids(FACTS_SIZE), "login": "octocat"},
        points=3,
        connections=300,
        nodes=12200,
    ),
    "ReviewEnds": Kind(
        "ReviewEnds",
        {"ids": list_ids(FACTS_SIZE), "login": "octocat"},
        points=1,
        connections=100,
        nodes=200,
    ),
    "Viewer": Kind("Viewer", {}, points=1, connections=0, nodes=0),
    "Explain": Kind(
        "Explain", {**PLACE, "number": 1}, points=1, connections=6, nodes=420
    ),
    "MoreContexts": Kind("MoreContexts", NEXT, points=1, connections=1, nodes=100),
    "MoreExplainedContexts": Kind(
        "MoreExplainedContexts", NEXT, points=1, connections=1, nodes=100
    ),
    "MoreReviews": Kind("MoreReviews", NEXT, points=1, connections=1, nodes=100),
    "MoreThreads": Kind("MoreThreads", NEXT, points=1, connections=1, nodes=100),
}


def measure_cost(kind):
    operation = parse_operation(DocumentBook().document(kind.operation).text)
    price = measure(operation, coerce_variables(operation, kind.variables))
    return (price.cost, price.requests, price.node_count)


@pytest.mark.parametrize("name", KINDS)
def test_a_request_costs_at_most_a_tenth_more_than_its_golden_cost(name):
    kind = KINDS[name]
    golden = (kind.points, kind.connections, kind.nodes)

    cost = measure_cost(kind)

    assert [
        now for now, was in zip(cost, golden, strict=True) if now > was * MORE
    ] == []


@pytest.mark.parametrize("name", KINDS)
def test_a_golden_cost_follows_a_request_that_became_cheaper(name):
    """Or it could creep back unseen."""
    kind = KINDS[name]
    golden = (kind.points, kind.connections, kind.nodes)

    cost = measure_cost(kind)

    assert [
        was for now, was in zip(cost, golden, strict=True) if was > now * MORE
    ] == []


def test_every_kind_of_request_has_a_golden_cost():
    composed = {"Probe", "Details", "DetailsByNumber", "Branches"}

    assert set(KINDS) == set(load_parts().operations) | composed
