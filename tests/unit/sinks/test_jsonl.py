import json
import os

import pytest

from prwatch.domain.outbox import Delivered, Retry
from prwatch.sinks.jsonl import JsonlSink
from prwatch.sinks.sink import SinkSettings
from tests.deliveries import make_delivery, make_event

SETTINGS = SinkSettings(name="out")


@pytest.fixture
async def open_sink():
    opened = []

    def open_(path, **options):
        opened.append(JsonlSink(SETTINGS, path, **options))
        return opened[-1]

    yield open_
    for sink in opened:
        await sink.close()


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        pytest.param(
            "missing/out.jsonl",
            "cannot append to out.jsonl: No such file or directory",
            id="missing folder",
        ),
        pytest.param("folder", "cannot append to folder: Is a directory", id="folder"),
        pytest.param("pipe", "cannot append to pipe: not a regular file", id="pipe"),
    ],
)
async def test_a_place_that_cannot_be_written_is_tried_again(
    tmp_path, open_sink, place, reason
):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")

    outcome = await open_sink(tmp_path / place).deliver(make_delivery())

    assert outcome == Retry(reason)


async def test_a_folder_that_appears_is_used(tmp_path, open_sink):
    sink = open_sink(tmp_path / "mount" / "out.jsonl")
    await sink.deliver(make_delivery())

    (tmp_path / "mount").mkdir()

    assert await sink.deliver(make_delivery()) == Delivered()


async def test_the_file_rotates(tmp_path, open_sink):
    sink = open_sink(tmp_path / "out.jsonl", max_bytes=100, keep=1)

    for number in range(3):
        event = make_event(id=f"event-{number}")
        await sink.deliver(make_delivery(event=event))

    ids = {
        path.name: [json.loads(line)["id"] for line in path.read_text().splitlines()]
        for path in tmp_path.iterdir()
    }
    assert ids == {"out.jsonl": ["event-2"], "out.jsonl.1": ["event-1"]}


async def test_no_file_is_made_before_the_first_event(tmp_path, open_sink):
    await open_sink(tmp_path / "out.jsonl").close()

    assert list(tmp_path.iterdir()) == []
