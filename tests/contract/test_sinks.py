import json
import os
import sys
import threading

import httpx
import pytest

from prwatch.clock import SystemClock
from prwatch.sinks.command import CommandSink
from prwatch.sinks.jsonl import JsonlSink
from prwatch.sinks.sink import Sink, SinkSettings
from prwatch.sinks.stdout import StdoutSink
from prwatch.sinks.webhook import WebhookSink
from tests.contract.sinks import SinkContract
from tests.webhook_receiver import answer, open_webhook_receiver

SETTINGS = SinkSettings(name="out", limit=4)
KEEP = """
import pathlib, sys, uuid
text = sys.stdin.read()
folder = pathlib.Path(sys.argv[1])
count = sum(1 for _ in folder.iterdir())
(folder / f"{count:03}-{uuid.uuid4()}").write_text(text)
"""


class PipeReader:
    """Reads a pipe to its end in a thread, as a program beside us would."""

    def __init__(self):
        self.reading, self.writing = os.pipe()
        self.data = b""
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self):
        with os.fdopen(self.reading, "rb") as stream:
            self.data = stream.read()

    def finish(self):
        if self.writing is not None:
            os.close(self.writing)
            self.writing = None
        self._thread.join()
        return self.data


class TestStdoutSink(SinkContract):
    kind = "stdout"

    @pytest.fixture
    def reader(self):
        reader = PipeReader()
        yield reader
        reader.finish()

    @pytest.fixture
    def arrived(self, reader):
        return lambda: [json.loads(line) for line in reader.finish().splitlines()]

    @pytest.fixture
    async def sink(self, reader) -> Sink:
        stream = os.fdopen(reader.writing, "wb", closefd=False)
        sink = StdoutSink(SETTINGS, stream)
        yield sink
        await sink.close()
        stream.close()

    @pytest.fixture
    async def failing_sink(self) -> Sink:
        stream = os.fdopen(os.open("/dev/full", os.O_WRONLY), "wb", buffering=0)
        yield StdoutSink(SETTINGS, stream)
        stream.close()


class TestJsonlSink(SinkContract):
    kind = "jsonl"

    @pytest.fixture
    def arrived(self, tmp_path):
        path = tmp_path / "events.jsonl"
        return lambda: [
            json.loads(line)
            for line in (path.read_bytes() if path.exists() else b"").splitlines()
        ]

    @pytest.fixture
    async def sink(self, tmp_path) -> Sink:
        sink = JsonlSink(SETTINGS, tmp_path / "events.jsonl")
        yield sink
        await sink.close()

    @pytest.fixture
    async def failing_sink(self, tmp_path) -> Sink:
        sink = JsonlSink(SETTINGS, tmp_path / "missing" / "events.jsonl")
        yield sink
        await sink.close()


class TestWebhookSink(SinkContract):
    kind = "webhook"

    @pytest.fixture
    async def receiver(self):
        async with open_webhook_receiver() as receiver:
            yield receiver

    @pytest.fixture
    async def client(self):
        async with httpx.AsyncClient(trust_env=False) as client:
            yield client

    @pytest.fixture
    def arrived(self, receiver):
        return lambda: [json.loads(request.body) for request in receiver.requests]

    @pytest.fixture
    async def sink(self, receiver, client) -> Sink:
        return WebhookSink(SETTINGS, receiver.url, client=client, clock=SystemClock())

    @pytest.fixture
    async def failing_sink(self, receiver, sink) -> Sink:
        receiver.reply = answer(500, b"\x1b[31m\n" + b"no room " * 500)
        return sink


class TestCommandSink(SinkContract):
    kind = "command"

    @pytest.fixture
    def arrived(self, tmp_path):
        return lambda: [json.loads(p.read_text()) for p in sorted(tmp_path.iterdir())]

    @pytest.fixture
    async def sink(self, tmp_path) -> Sink:
        argv = (sys.executable, "-c", KEEP, str(tmp_path))
        return CommandSink(SETTINGS, argv, environ={})

    @pytest.fixture
    async def failing_sink(self) -> Sink:
        program = "import sys; sys.stderr.write('full\\n' * 999); sys.exit(75)"
        return CommandSink(SETTINGS, (sys.executable, "-c", program), environ={})
