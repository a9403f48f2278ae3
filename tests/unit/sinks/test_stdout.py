import datetime as dt
import fcntl
import io
import json
import os

import anyio
import pytest

from prwatch.domain.outbox import Delivered, Retry
from prwatch.sinks.payload import encode_event
from prwatch.sinks.sink import SinkSettings
from prwatch.sinks.stdout import StdoutSink
from tests.deliveries import make_delivery, make_event

BRIEF = SinkSettings(name="out", timeout=dt.timedelta(milliseconds=50))
STALLED = Retry("the reader of the output did not take the event in time")
LARGE = make_event(id="large", data={"text": "x" * 200_000})


@pytest.fixture
def pipe():
    reading, writing = os.pipe()
    with (
        os.fdopen(reading, "rb", buffering=0) as source,
        os.fdopen(writing, "wb") as target,
    ):
        yield source, target


def drain(source):
    """Read what is there without waiting for more."""
    os.set_blocking(source.fileno(), False)
    chunks = []
    while chunk := source.read(1_000_000):
        chunks.append(chunk)
    return b"".join(chunks)


async def test_a_reader_that_stalls_holds_nobody_up(pipe):
    source, target = pipe
    sink = StdoutSink(BRIEF, target)

    with anyio.fail_after(10):
        assert await sink.deliver(make_delivery(event=LARGE)) == STALLED
        assert await sink.deliver(make_delivery()) == STALLED

    torn = drain(source)
    assert await sink.deliver(make_delivery()) == Delivered()
    assert drain(source) == b"\n" + encode_event(make_delivery()) + b"\n"
    assert encode_event(make_delivery(event=LARGE)).startswith(torn)


async def test_a_cancelled_delivery_tears_no_other_line(pipe):
    source, target = pipe
    sink = StdoutSink(SinkSettings(name="out"), target)

    with anyio.move_on_after(0.05):
        await sink.deliver(make_delivery(event=LARGE))
    drain(source)
    await sink.deliver(make_delivery())

    assert json.loads(drain(source)) == json.loads(encode_event(make_delivery()))


async def test_a_reader_that_went_away_is_an_outcome():
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb", buffering=0) as target:
        sink = StdoutSink(BRIEF, target)

        outcome = await sink.deliver(make_delivery())

    assert outcome == Retry("the reader of the output went away")


async def test_a_stream_that_was_closed_is_an_outcome():
    target = io.BytesIO()
    sink = StdoutSink(BRIEF, target)
    target.close()

    assert await sink.deliver(make_delivery()) == Retry("the output is closed")


async def test_a_full_disk_below_the_output_is_an_outcome():
    with os.fdopen(os.open("/dev/full", os.O_WRONLY), "wb", buffering=0) as target:
        outcome = await StdoutSink(BRIEF, target).deliver(make_delivery())

    assert outcome == Retry("cannot write to the output: No space left on device")


async def test_a_stream_in_memory_is_written_too():
    target = io.BytesIO()

    assert await StdoutSink(BRIEF, target).deliver(make_delivery()) == Delivered()

    assert target.getvalue() == encode_event(make_delivery()) + b"\n"


async def test_a_file_is_written_too(tmp_path):
    path = tmp_path / "out"
    with os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY), "wb") as target:
        target.write(b"before\n")
        assert await StdoutSink(BRIEF, target).deliver(make_delivery()) == Delivered()

    assert path.read_bytes() == b"before\n" + encode_event(make_delivery()) + b"\n"


async def test_a_stream_that_was_made_non_blocking_is_written_whole(pipe):
    source, target = pipe
    os.set_blocking(target.fileno(), False)
    fcntl.fcntl(target.fileno(), fcntl.F_SETPIPE_SZ, 4096)
    sink = StdoutSink(SinkSettings(name="out"), target)
    received = []

    async def read():
        while b"\n" not in b"".join(received):
            await anyio.wait_readable(source)
            received.append(source.read(100_000))

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            assert await sink.deliver(make_delivery(event=LARGE)) == Delivered()

    assert b"".join(received) == encode_event(make_delivery(event=LARGE)) + b"\n"


async def test_closing_leaves_the_stream_open():
    target = io.BytesIO()

    await StdoutSink(BRIEF, target).close()

    assert not target.closed
