"""How SQL files are split, and placeholders are meant for each driver."""

import pytest

from prwatch.store.query import Query, is_writing, number_placeholders, parse_queries


@pytest.mark.parametrize(
    ("text", "numbered", "names"),
    [
        pytest.param("SELECT 1", "SELECT 1", (), id="none"),
        pytest.param("a = :a AND b = :b", "a = $1 AND b = $2", ("a", "b"), id="two"),
        pytest.param(":a, :b, :a", "$1, $2, $1", ("a", "b"), id="repeated"),
        pytest.param("':a' = :a", "':a' = $1", ("a",), id="string"),
        pytest.param("'it''s :a' = :b", "'it''s :a' = $1", ("b",), id="quoted quote"),
        pytest.param('":a" = :b', '":a" = $1', ("b",), id="quoted name"),
        pytest.param("x -- :a\n= :b", "x -- :a\n= $1", ("b",), id="line comment"),
        pytest.param("/* :a\n:c */ :b", "/* :a\n:c */ $1", ("b",), id="block comment"),
        pytest.param("x::text = :b", "x::text = $1", ("b",), id="cast"),
        pytest.param(":a_1, :a", "$1, $2", ("a_1", "a"), id="prefix"),
    ],
)
def test_placeholders_are_numbered(text, numbered, names):
    assert number_placeholders(text) == (numbered, names)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("SELECT 1", False, id="select"),
        pytest.param("-- DELETE FROM x\nSELECT 1", False, id="in a comment"),
        pytest.param("SELECT 1 FROM x FOR UPDATE SKIP LOCKED", False, id="lock"),
        pytest.param("SELECT 1 FROM x FOR NO KEY UPDATE", False, id="weaker lock"),
        pytest.param("INSERT INTO x VALUES (1)", True, id="insert"),
        pytest.param("-- why\nUPDATE x\nSET y = 1", True, id="update"),
        pytest.param("DELETE FROM x RETURNING y", True, id="delete"),
        pytest.param("WITH y AS (SELECT 1) UPDATE x SET z = 1", True, id="with"),
    ],
)
def test_a_writing_statement_is_told_by_its_text(text, expected):
    assert is_writing(text) is expected


def test_a_file_is_split_into_its_queries():
    text = (
        "-- About the file.\n\n"
        "-- name: one\n-- First.\nSELECT 1;\n\n"
        "-- name: two\n-- Second.\nSELECT 2;\n"
        "-- name: two (postgres)\n-- Locked.\nSELECT 2 FOR UPDATE;\n"
    )

    queries = parse_queries(text)

    assert queries == {
        "one": Query("one", "-- First.\nSELECT 1;"),
        "two": Query(
            "two", "-- Second.\nSELECT 2;", "-- Locked.\nSELECT 2 FOR UPDATE;"
        ),
    }
    assert queries["one"].postgres_text == queries["one"].text
    assert queries["two"].postgres_text == queries["two"].postgres


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("SELECT 1;\n-- name: one\n", id="text before the first name"),
        pytest.param("-- name: a\nSELECT 1;\n-- name: a\nSELECT 2;", id="same name"),
    ],
)
def test_a_file_that_cannot_be_split_is_refused(text):
    with pytest.raises(ValueError, match="query"):
        parse_queries(text)
