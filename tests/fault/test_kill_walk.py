"""SIGKILL at every point between observing and delivering: nothing is lost or made up."""

import json
import shutil
import sqlite3
import subprocess
import sys
from collections import defaultdict
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from prwatch.app.store_place import DATABASE_NAME
from tests.webhook_receiver import open_webhook_receiver

ROOT = Path(__file__).parent.parent.parent
KILLED = -9


class Lives:
    """The process that lives one life after the other."""

    def __init__(self):
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.fault.killed_product"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    async def live(self, folder, webhook, mode, *, kill_at=0):
        order = {"folder": str(folder), "webhook": webhook}
        line = json.dumps({**order, "mode": mode, "kill_at": kill_at})

        def ask():
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
            return json.loads(self._process.stdout.readline())

        code = await anyio.to_thread.run_sync(ask)
        points = (folder / "points.txt").read_text().splitlines()
        return code, points

    def close(self):
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()


@pytest.fixture
def lives():
    lives = Lives()
    yield lives
    lives.close()


def read_committed(folder):
    """Return what is in the outbox, in the order of its commit: id to the event."""
    with closing(sqlite3.connect(folder / DATABASE_NAME)) as connection:
        rows = connection.execute("SELECT id, type, data FROM events ORDER BY position")
        return {row[0]: (row[1], json.loads(row[2])) for row in rows}


def read_lines(folder):
    file = folder / "events.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    return [json.loads(line) for line in lines]


def read_posts(receiver):
    posts = [json.loads(request.body) for request in receiver.requests]
    ids = [request.headers["webhook-id"] for request in receiver.requests]
    assert ids == [post["id"] for post in posts]
    return posts


def describe(events):
    """Return what was told of each pull request, in order: (revision, type, changes)."""
    told = defaultdict(list)
    for event_type, data in events:
        changes = [(c["field"], c["previous"], c["current"]) for c in data["changes"]]
        number = data["pull_request"]["number"]
        told[number].append((data["revision"], event_type, changes))
    return dict(told)


def first_of_each(envelopes):
    """Return the envelopes without repetitions, which are equal or a failure."""
    seen = {}
    for envelope in envelopes:
        core = {key: envelope[key] for key in ("type", "source", "subject", "time")}
        data = {k: v for k, v in envelope["data"].items() if k != "superseded"}
        content = (core, data)
        assert seen.setdefault(envelope["id"], content) == content
    return {id_: (core["type"], data) for id_, (core, data) in seen.items()}


async def play(lives, base, receiver, folder, *, kill_at):
    """Kill one life, live another to the end; return the point and what was told."""
    shutil.copytree(base, folder)
    receiver.requests.clear()
    code, points = await lives.live(folder, receiver.url, "change", kill_at=kill_at)
    assert code == (KILLED if kill_at else 0), points[-1]
    before = read_committed(folder)
    handed = first_of_each(read_lines(folder)) | first_of_each(read_posts(receiver))
    assert handed.keys() <= before.keys(), points[-1]
    assert (await lives.live(folder, receiver.url, "last"))[0] == 0

    committed = read_committed(folder)
    assert {id_: committed[id_] for id_ in before} == before, points[-1]
    return points, committed


@pytest.mark.timeout(300)
async def test_no_event_is_lost_invented_or_reordered_wherever_the_process_is_killed(
    tmp_path, lives
):
    base, walked = tmp_path / "base", []
    base.mkdir()
    async with open_webhook_receiver() as receiver:
        code, _ = await lives.live(base, receiver.url, "adopt")
        assert code == 0
        adopted = read_committed(base)
        points, whole = await play(lives, base, receiver, tmp_path / "whole", kill_at=0)
        expected = describe(whole.values())
        assert {n: [e[0] for e in told] for n, told in expected.items()} == {
            1: [1, 2, 2, 3, 3],
            2: [1, 2, 2],
        }

        for kill_at, point in enumerate(points, start=1):
            folder = tmp_path / str(kill_at)
            passed, committed = await play(
                lives, base, receiver, folder, kill_at=kill_at
            )
            walked.append(passed[-1])
            by_file = first_of_each(read_lines(folder))
            by_hook = first_of_each(read_posts(receiver))
            fresh = {k: v for k, v in committed.items() if k not in adopted}
            assert describe(committed.values()) == expected, point
            assert by_file == committed, point
            assert by_hook == fresh, point
            assert describe(by_file.values()) == expected, point
            assert describe(by_hook.values()) == describe(fresh.values()), point
            shutil.rmtree(folder)

    sys.stdout.write("\n".join(walked))
    assert [one.split()[0] for one in walked] == [
        str(number) for number in range(1, len(points) + 1)
    ]
