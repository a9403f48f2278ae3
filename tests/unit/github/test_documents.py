import gzip
from pathlib import Path

import pytest
from graphql import build_schema, parse, validate

from prwatch.github.branches import build_query
from prwatch.github.details import build_number_query
from prwatch.github.documents import DocumentBook, load_parts
from prwatch.github.probe import build_nodes_query

SAMPLES = Path(__file__).parents[2] / "samples"
COMPOSED = [
    pytest.param(build_nodes_query("Probe", "ProbeFields", 5), id="probe of 500"),
    pytest.param(build_nodes_query("Details", "DetailFields", 1), id="details"),
    pytest.param(build_number_query(25), id="details by number"),
    pytest.param(build_query((3, 1, 2)), id="branches of three repositories"),
]


@pytest.fixture(scope="module")
def schema():
    text = gzip.decompress((SAMPLES / "github.graphql.gz").read_bytes()).decode()
    return build_schema(text, assume_valid=True, assume_valid_sdl=True)


@pytest.mark.parametrize("operation", [*sorted(load_parts().operations), *COMPOSED])
def test_every_document_fits_the_schema_that_github_publishes(schema, operation):
    document = DocumentBook().document(operation)

    assert validate(schema, parse(document.text)) == []
    assert "#" not in document.text


def test_a_document_is_composed_once():
    book = DocumentBook()

    assert book.document("Viewer") is book.document("Viewer")


@pytest.mark.parametrize(
    ("path", "gone"),
    [
        pytest.param(("fragment CoreFields", "isInMergeQueue"), "isInMergeQueue", id="field"),
        pytest.param(("fragment ProbeFields", "statusCheckRollup"), "contexts", id="whole tree"),
        pytest.param(
            ("fragment ContextCounts", "checkRunCountsByState"), "checkRunCounts", id="inner"
        ),
        pytest.param(("fragment Budget", "rateLimit"), "Budget", id="emptied fragment"),
    ],
)  # fmt: skip
def test_a_refused_field_is_left_out_and_the_document_still_fits(schema, path, gone):
    book = DocumentBook()
    operation = build_nodes_query("Probe", "ProbeFields", 1)
    assert gone in book.document(operation).text

    assert book.refuse(path)

    document = book.document(operation)
    assert gone not in document.text
    assert validate(schema, parse(document.text)) == []
    assert not book.refuse(path)


def test_a_path_through_an_inline_fragment_is_followed(schema):
    book = DocumentBook()

    path = ("query MoreReviews", "node", "... on PullRequest", "reviews")
    assert book.refuse(path)

    assert "reviews" not in book.document("MoreReviews").text


def test_a_path_that_leads_nowhere_changes_nothing():
    book = DocumentBook()
    before = book.document("Viewer").text

    book.refuse(("query Nobody", "nothing"))

    assert book.document("Viewer").text == before


def test_another_version_of_the_server_is_asked_for_everything_again():
    book = DocumentBook()
    book.see_version("3.10.0")
    book.refuse(("fragment CoreFields", "isInMergeQueue"))

    book.see_version("3.10.0")
    assert len(book.refused) == 1
    book.see_version("3.16.0")

    assert book.refused == frozenset()


def test_a_book_keeps_a_bounded_number_of_shapes():
    book = DocumentBook()

    for size in range(1, 200):
        book.document(f"query Q{size} {{ viewer {{ login }} }}")

    assert len(book._kept) <= 128
