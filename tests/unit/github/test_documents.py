import pytest
from graphql import parse, validate

from prwatch.github.branches import build_query
from prwatch.github.document_types import (
    LEAVABLE,
    TYPES,
    find_field,
    find_leavable,
)
from prwatch.github.documents import DocumentBook, load_parts
from prwatch.github.probe import build_nodes_query
from prwatch.github.pruning import find_field_at
from tests import asked_fields
from tests.asked_fields import OPERATIONS, list_asked_fields, load_schema

COMPOSED = [pytest.param(text, id=name) for name, text in asked_fields.COMPOSED.items()]


@pytest.fixture(scope="module")
def schema():
    return load_schema()


@pytest.mark.parametrize("operation", [*sorted(load_parts().operations), *COMPOSED])
def test_every_document_fits_the_schema_that_github_publishes(schema, operation):
    document = DocumentBook().document(operation)

    assert validate(schema, parse(document.text)) == []
    assert "#" not in document.text


def test_a_document_is_composed_once():
    book = DocumentBook()

    assert book.document("Viewer") is book.document("Viewer")


@pytest.mark.parametrize(
    ("field", "gone"),
    [
        pytest.param("PullRequest.isInMergeQueue", "isInMergeQueue", id="field"),
        pytest.param("PullRequest.statusCheckRollup", "contexts", id="whole tree"),
        pytest.param(
            "StatusCheckRollupContextConnection.checkRunCountsByState",
            "checkRunCounts",
            id="inner",
        ),
        pytest.param("Query.rateLimit", "rateLimit", id="emptied selection"),
    ],
)
def test_a_field_is_left_out_and_the_document_still_fits(schema, field, gone):
    book = DocumentBook()
    operation = build_nodes_query("Probe", "ProbeFields", 1)
    assert gone in book.document(operation).text

    document = book.document(operation, frozenset({field}))

    assert gone not in document.text
    assert validate(schema, parse(document.text)) == []


@pytest.mark.parametrize("field", sorted(LEAVABLE))
def test_every_document_fits_without_what_can_be_left_out(schema, field):
    book, changed = DocumentBook(), []
    for operation in OPERATIONS:
        document = book.document(operation, frozenset({field}))
        if document.text != book.document(operation).text:
            changed.append(document.text)

    assert changed
    assert [each for text in changed for each in validate(schema, parse(text))] == []


def test_variables_go_with_the_field_that_used_them():
    document = DocumentBook().document(build_query((2,)), frozenset({"Repository.ref"}))

    assert document.variables == {"o0", "n0", "b0_0", "b0_1"}


def test_a_path_through_a_document_is_followed_to_its_field():
    tree = DocumentBook().document(build_query((1,))).tree

    path = ("query Branches", "r0", "f0_0", "target")
    assert find_field_at(tree, path) == "Ref.target"
    assert find_field_at(tree, ("fragment BranchPage", "nodes", "headRepository")) == (
        "PullRequest.headRepository"
    )
    assert find_field_at(tree, ("query Branches", "r9")) == ""


def test_what_nothing_asks_for_changes_nothing():
    book = DocumentBook()

    without = book.document("Viewer", frozenset({"PullRequest.reviews"}))

    assert without.text == book.document("Viewer").text


def test_a_book_keeps_a_bounded_number_of_shapes():
    book = DocumentBook()

    for size in range(1, 200):
        book.document(f"query Q{size} {{ viewer {{ login }} }}")

    assert len(book._kept) <= 128


@pytest.fixture(scope="module")
def asked():
    return list_asked_fields()


def test_the_types_of_fields_are_those_of_the_schema(asked):
    known = {name: TYPES[name] for name, below in asked.items() if below}

    assert known == {name: below for name, below in asked.items() if below}


def test_nothing_is_known_of_fields_that_nobody_asks_for(asked):
    # An answer's path leads through a union, the document through its members.
    assert {*TYPES} - {*asked} == {"StatusCheckRollupContext.checkSuite"}
    assert {*asked} >= LEAVABLE


def test_what_no_observation_can_be_without_is_all_that_must_be_there(asked):
    needed = {name for name in asked if not find_leavable(name)}

    assert needed == {
        "Actor.login",
        *("PageInfo.hasNextPage", "PageInfo.endCursor"),
        *("PullRequest.id", "PullRequest.number", "PullRequest.repository"),
        *("PullRequest.state", "PullRequest.isDraft", "PullRequest.updatedAt"),
        *("PullRequest.headRefOid", "PullRequest.headRefName", "PullRequest.title"),
        *("PullRequest.headRepository", "PullRequest.author", "PullRequest.url"),
        *("PullRequest.createdAt", "PullRequest.closedAt", "PullRequest.mergedAt"),
        "PullRequest.baseRefName",
        *("PullRequestConnection.nodes", "PullRequestConnection.pageInfo"),
        *("Query.node", "Query.nodes", "Query.repository"),
        *("Repository.id", "Repository.nameWithOwner"),
        *("Repository.pullRequest", "Repository.pullRequests"),
    }


@pytest.mark.parametrize(
    ("path", "field", "left_out"),
    [
        pytest.param(
            ("statusCheckRollup", "contexts", "nodes", 3),
            "StatusCheckRollupContextConnection.nodes",
            "PullRequest.statusCheckRollup",
            id="a check",
        ),
        pytest.param(
            ("statusCheckRollup", "contexts", "nodes", 3, "checkSuite", "workflowRun"),
            "CheckSuite.workflowRun",
            "CheckSuite.workflowRun",
            id="a check's workflow",
        ),
        pytest.param(
            ("reviews", "nodes", 0, "author"),
            "PullRequestReview.author",
            "PullRequest.reviews",
            id="a reviewer",
        ),
        pytest.param(("headRepository",), "PullRequest.headRepository", "", id="the head"),
        pytest.param(("new", "field"), ".field", "", id="unknown"),
    ],
)  # fmt: skip
def test_a_path_of_an_answer_leads_to_what_is_left_out(path, field, left_out):
    found = find_field("PullRequest", path)

    assert (found, find_leavable(found)) == (field, left_out)
