"""`prwatch circuit` as a command line, where no daemon runs."""

import contextlib
import datetime as dt
import sqlite3

import pytest

from prwatch.app.store_place import DATABASE_NAME

SYNCED = """
[[workspace]]
name = "acme"
[[workspace.sync]]
repository = "octo/team"
"""
OPEN = """
INSERT INTO workspaces (id, name) VALUES ('w1', 'acme');
INSERT INTO watch_folders
    (id, workspace_id, repository, branch, path, tag, fingerprint, changed_at)
VALUES ('f1', 'w1', 'octo/team', '', '.prwatch', '', '', NULL);
INSERT INTO watch_folder_circuits
    (
        folder_id, fingerprint, failure_class, code, message, failures, opened_at,
        open_until
    )
VALUES ('f1', '', 'config', 'resource_gone', 'not found', 2, {now}, {now});
"""


@pytest.fixture
def circuit(call, tmp_path):
    call.configure(f'state_dir = "{tmp_path}/state"\n{SYNCED}')
    assert call("circuit", "list").code == 0
    return lambda *arguments: call("circuit", *arguments)


@pytest.fixture
def failing(circuit, tmp_path):
    moment = int(dt.datetime(2030, 1, 1, tzinfo=dt.UTC).timestamp()) * 1_000_000
    path = tmp_path / "state" / DATABASE_NAME
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(OPEN.format(now=moment))
    return circuit


def test_nothing_is_open_at_first(circuit):
    assert circuit("list").out == (
        "No daemon runs; this was told last.\nAll circuits are closed.\n"
    )
    assert circuit("reset").out == "No daemon runs: no circuit is open.\n"
    assert circuit("reset", "--json").value == {"running": False, "closed": 0}


def test_a_stored_circuit_is_shown_and_closed(failing):
    _, head, row = failing("list").out.splitlines()
    closed = failing("reset", "acme").out
    after = failing("list", "--json").value

    assert head.split()[:3] == ["CIRCUIT", "WORKSPACE", "NAME"]
    assert row.split()[:4] == ["watch_folder", "acme", "octo/team:.prwatch", "config"]
    assert closed == "No daemon runs; 1 circuit of watch files closed.\n"
    assert after == {"running": False, "circuits": []}


def test_an_unknown_workspace_is_told(circuit):
    refused = circuit("reset", "nobody")

    assert (refused.code, refused.out) == (1, "")
    assert "there is no workspace nobody" in refused.err
