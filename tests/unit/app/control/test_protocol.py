import pytest

from prwatch.app.control.protocol import (
    Answer,
    ControlError,
    MalformedLine,
    Request,
    build_answer,
    build_failure,
    build_request,
    parse_answer,
    parse_request,
)
from prwatch.errors import WatchNotFound


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param(b'{"command":"status"}', Request("status"), id="bare"),
        pytest.param(
            b' {"command":"check","arguments":{"watch":"octo/hello#1"}}\r',
            Request("check", {"watch": "octo/hello#1"}),
            id="with arguments",
        ),
    ],
)
def test_a_request_is_read(line, expected):
    assert parse_request(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"status", id="no JSON"),
        pytest.param(b"[]", id="no object"),
        pytest.param(b"{}", id="no command"),
        pytest.param(b'{"command":1}', id="command is a number"),
        pytest.param(b'{"command":"x","arguments":[]}', id="arguments are a list"),
        pytest.param(b'{"command":"x","extra":1}', id="unknown member"),
        pytest.param(b'{"command":"\xff"}', id="no UTF-8"),
        pytest.param(b'{"command":"\\ud800"}', id="lone surrogate"),
        pytest.param(
            b'{"command":"x","arguments":{"a":' + b"[" * 30_000 + b"]" * 30_000 + b"}}",
            id="deep",
        ),
    ],
)
def test_a_malformed_request_is_refused(line):
    with pytest.raises(MalformedLine, match="not a request: "):
        parse_request(line)


def test_a_malformed_answer_is_refused():
    with pytest.raises(MalformedLine, match="not an answer: "):
        parse_answer(b'{"ok":"yes"}')


def test_requests_and_answers_come_out_as_they_went_in():
    failure = WatchNotFound("no watch x", hint="see `prwatch watch list`")

    lines = [
        build_request("check", {"watch": "ä\n"}),
        build_answer({"n": 1}),
        build_failure(failure),
    ]

    assert [line.count(b"\n") for line in lines] == [1, 1, 1]
    assert parse_request(lines[0]) == Request("check", {"watch": "ä\n"})
    assert parse_answer(lines[1]) == Answer(ok=True, result={"n": 1})
    assert parse_answer(lines[2]) == Answer(
        ok=False,
        error=ControlError("watch_not_found", "no watch x", "see `prwatch watch list`"),
    )
