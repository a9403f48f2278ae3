import io
import json
import logging
import os

import pytest
import structlog

from prwatch.telemetry.log import Layout, configure_logging
from prwatch.telemetry.redaction import Redactor
from prwatch.telemetry.secret import Secret

TOKEN = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.fixture(autouse=True)
def restored_logging():
    handlers = list(logging.getLogger().handlers)
    yield
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()
    logging.getLogger().handlers[:] = handlers


def start(stream, **changes):
    # pytest's own handlers raise on purpose where a real one would not.
    root = logging.getLogger()
    root.handlers[:] = [h for h in root.handlers if "pytest" not in type(h).__module__]
    values = {"is_terminal": False, "level": "info", "redactor": Redactor()}
    configure_logging(stream, **{**values, **changes})
    return structlog.get_logger()


def fail(error, *, cause=None):
    raise error from cause


def entries(stream):
    read = [json.loads(line) for line in stream.getvalue().splitlines()]
    for entry in read:
        assert entry.pop("timestamp").endswith("Z")
    return read


def test_an_entry_is_one_line_of_json_with_its_name_first():
    stream = io.BytesIO()

    start(stream).info("cycle.completed", changed=2, title="größer\nals\udc80")

    line = stream.getvalue()
    assert list(json.loads(line)) == ["timestamp", "level", "event", "changed", "title"]
    assert line.endswith(b'"changed":2,"title":"gr\xc3\xb6\xc3\x9fer\\nals\\udc80"}\n')
    assert line.count(b"\n") == 1


def test_what_is_bound_is_in_every_entry():
    stream = io.BytesIO()
    log = start(stream)

    with structlog.contextvars.bound_contextvars(cycle_id="c-1"):
        log.info("cycle.started")

    assert entries(stream) == [
        {"level": "info", "event": "cycle.started", "cycle_id": "c-1"}
    ]


def test_entries_below_the_level_are_left_out():
    stream = io.BytesIO()
    log = start(stream, level="warning")

    log.info("cycle.completed")
    log.warning("cycle.failed")

    assert [entry["event"] for entry in entries(stream)] == ["cycle.failed"]


def test_an_unknown_level_is_refused():
    with pytest.raises(KeyError):
        start(io.BytesIO(), level="loud")


@pytest.mark.parametrize("layout", [Layout.JSON, Layout.CONSOLE])
def test_tracebacks_are_written_without_secrets(layout):
    stream = io.BytesIO()
    log = start(stream, layout=layout, redactor=Redactor([Secret("hunter2hunter2")]))

    try:
        fail(ValueError("hunter2hunter2"), cause=OSError(f"with {TOKEN}"))
    except ValueError:
        log.exception("cycle.failed", token="x", why=f"Bearer {TOKEN}")

    written = stream.getvalue()
    assert b"ValueError: ***" in written
    assert b"OSError: with ***" in written
    for secret in (b"hunter2", TOKEN.encode()):
        # The traceback shows the line of source that holds the value, masked too.
        assert secret not in written


@pytest.mark.parametrize(
    ("layout", "is_terminal", "is_json"),
    [
        pytest.param(Layout.AUTO, False, True, id="not on a terminal"),
        pytest.param(Layout.AUTO, True, False, id="on a terminal"),
        pytest.param(Layout.JSON, True, True, id="JSON when asked"),
        pytest.param(Layout.CONSOLE, False, False, id="console when asked"),
    ],
)
def test_the_layout_follows_the_terminal_unless_it_is_named(
    layout, is_terminal, is_json
):
    stream = io.BytesIO()

    start(stream, layout=layout, is_terminal=is_terminal).info("cycle.started")

    assert stream.getvalue().startswith(b"{") is is_json
    assert (b"\x1b[" in stream.getvalue()) is (is_terminal and not is_json)


def test_a_stranger_cannot_steer_the_terminal():
    stream = io.BytesIO()
    log = start(stream, layout=Layout.CONSOLE)

    log.info("change.found", title="\x1b]0;owned\x07\rhello")

    assert rb"\x1b]0;owned\x07\rhello" in stream.getvalue()
    assert b"\x1b" not in stream.getvalue()


def test_warnings_of_libraries_are_carried_over():
    stream = io.BytesIO()
    start(stream)

    logging.getLogger("lib").info("hidden")
    logging.getLogger("lib").warning("saw %s", TOKEN)

    assert entries(stream) == [
        {
            "level": "warning",
            "event": "library.reported",
            "library": "lib",
            "message": "saw ***",
        }
    ]


def test_a_library_that_logs_wrongly_is_carried_over_all_the_same():
    stream = io.BytesIO()
    start(stream)

    logging.getLogger("lib").error("saw %d", "text")

    assert entries(stream)[0]["message"] == "saw %d"


def test_a_traceback_of_a_library_is_carried_over():
    stream = io.BytesIO()
    start(stream)

    try:
        fail(RuntimeError(TOKEN))
    except RuntimeError:
        logging.getLogger("lib").exception("failed")

    assert entries(stream)[0]["exception"].endswith("RuntimeError: ***")


def test_configuring_again_replaces_the_first_stream():
    first, second = io.BytesIO(), io.BytesIO()
    start(first)
    log = start(second)

    log.info("cycle.started")
    logging.getLogger("lib").warning("once")

    assert first.getvalue() == b""
    assert len(second.getvalue().splitlines()) == 2


def test_a_stream_that_is_gone_stops_nothing():
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb", buffering=0) as stream:
        log = start(stream)

        log.info("cycle.started")

    log.info("cycle.completed")
    assert stream.closed
