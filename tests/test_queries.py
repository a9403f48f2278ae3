"""Every statement runs on both engines, and keeps to the dialect that both share."""

import contextlib
import importlib.resources
import re
import sqlite3
from pathlib import Path

import asyncpg
import pytest

import prwatch.store
from prwatch.store.migrate import load_migrations, split_statements
from prwatch.store.opening import open_database
from prwatch.store.query import load_queries, number_placeholders
from tests.contract.store_backends import NOW, open_schema

STORE = Path(prwatch.store.__file__).parent
FILES = sorted(path.stem for path in (STORE / "queries").glob("*.sql"))
QUERIES = [
    pytest.param(query, id=f"{file}.{name}")
    for file in FILES
    for name, query in load_queries(file).items()
]
BOOLEANS = (
    "is_archived|is_draft|is_past|is_terminal|is_base_deleted|merge_queue|auto_merge"
    "|is_enabled"
)
NULLABLE = (
    "archived_at|ended_at|due_at|observed_at|searching_since|detached_at|closed_at"
    "|person_wrote_at|incomplete_since|backlog_done_at|terminal_seen_at|undo_until"
)


def strip_comments(text):
    return " ".join(re.sub(r"--[^\n]*", " ", text).split())


def each_text(query):
    return [strip_comments(text) for text in (query.text, query.postgres) if text]


@pytest.fixture(scope="module")
def sqlite_database():
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        for migration in load_migrations("sqlite"):
            for statement in split_statements(migration.text):
                connection.execute(statement)
        yield connection


@pytest.fixture(scope="module")
def postgres_url():
    with open_schema() as url:
        yield url


@pytest.mark.parametrize("query", QUERIES)
def test_sqlite_understands_the_statement(sqlite_database, query):
    _, names = number_placeholders(query.text)

    plan = sqlite_database.execute(f"EXPLAIN {query.text}", dict.fromkeys(names))

    assert plan.fetchall()


@pytest.mark.postgres
async def test_postgres_understands_every_statement(postgres_url):
    async with open_database(postgres_url, now=NOW):
        pass
    connection = await asyncpg.connect(postgres_url)
    failed = {}

    for parameter in QUERIES:
        query = parameter.values[0]
        text, _ = number_placeholders(query.postgres_text)
        try:
            await connection.prepare(text)
        except asyncpg.PostgresError as error:
            failed[parameter.id] = str(error)
    await connection.close()

    assert failed == {}


@pytest.mark.parametrize("query", QUERIES)
def test_a_statement_says_what_it_is_for(query):
    assert re.match(r"-- [A-Z'].+[.;:\w]\n", query.text)


def test_every_statement_is_used():
    code = "\n".join(path.read_text() for path in STORE.glob("*.py"))
    code += "".join(f'"{verb}_{table}"' for verb in ("copy", "remove") for table in
                    ("task_repositories", "links", "checkouts", "repository_watches"))  # fmt: skip

    unused = [
        parameter.id
        for parameter in QUERIES
        if f'"{parameter.values[0].name}"' not in code
    ]

    assert unused == []


@pytest.mark.parametrize(
    "forbidden",
    [
        pytest.param(r"\bIN \((?!\s*SELECT)", id="IN with a list"),
        pytest.param(r"\bGREATEST\(|\bLEAST\(|\bmax\([^)]*,|\bmin\([^)]*,", id="greatest"),
        pytest.param(r"\b(?:UPDATE|DELETE FROM) \w+ AS\b", id="alias on a target"),
        pytest.param(rf"\b(?:{BOOLEANS}) (?:=|<>) [01]\b", id="boolean as a number"),
        pytest.param(r"\bWITH\b.*\bAS \(\s*DELETE\b", id="DELETE inside WITH"),
        pytest.param(r"\bON CONFLICT DO\b", id="conflict without a target"),
        pytest.param(r"(?<!CAST\()\bsum\(", id="sum without a cast"),
        pytest.param(r"\b(?:now\(\)|CURRENT_TIMESTAMP|random\(\))", id="clock or chance"),
        pytest.param(r"\bLIMIT (?:-|0)", id="limit that is not positive"),
        pytest.param(r"\b[0-9]{10,}\b(?! AS BIGINT)", id="long number"),
        pytest.param(r"::", id="cast of one engine"),
        pytest.param(r"->|json_|jsonb", id="JSON in a statement"),
        pytest.param(
            rf"ORDER BY (?:[\w. ]+, )*[\w.]*(?:{NULLABLE})\b(?! (?:DESC |ASC )?NULLS)",
            id="order by a nullable column",
        ),
    ],
)  # fmt: skip
def test_no_statement_leaves_the_dialect(forbidden):
    pattern = re.compile(forbidden, re.IGNORECASE)

    found = [
        parameter.id
        for parameter in QUERIES
        for text in each_text(parameter.values[0])
        if pattern.search(text)
    ]

    assert found == []


def test_the_stored_row_is_qualified_where_a_conflict_updates_it():
    found = []
    for parameter in QUERIES:
        for text in each_text(parameter.values[0]):
            table = re.match(r"INSERT INTO (\w+)", text)
            _, _, update = text.partition("DO UPDATE SET ")
            where = update.rpartition(" WHERE ")[2] if " WHERE " in update else ""
            if table and re.search(
                r"(?<![\w.(])(?!excluded\.)[a-z_]+ (?:=|<>|>|<) ", where
            ):
                found.append((parameter.id, where))

    assert found == []


def test_engines_differ_only_in_locks():
    differing = {
        parameter.id: each_text(parameter.values[0])
        for parameter in QUERIES
        if parameter.values[0].postgres
    }
    alike = {
        name
        for name, (common, postgres) in differing.items()
        if re.sub(r" FOR (?:NO KEY UPDATE|UPDATE|SHARE|KEY SHARE);$", ";", postgres)
        == common
    }

    assert differing.keys() - alike == {"outbox.acquire"}


def test_the_files_travel_with_the_package():
    folder = importlib.resources.files("prwatch.store") / "queries"

    assert sorted(file.name for file in folder.iterdir()) == [
        f"{name}.sql" for name in FILES
    ]
