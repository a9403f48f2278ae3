"""Requests as lines: what is understood, and what is refused."""

import pytest

from prwatch.app.meter.http_request import Request, RequestRefused, parse_request


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param(
            [b"GET /metrics HTTP/1.1", b"Host: localhost", b"Accept:*/*"],
            Request("GET", "/metrics", {"host": "localhost", "accept": "*/*"}),
            id="as usual",
        ),
        pytest.param([b"GET / HTTP/1.0"], Request("GET", "/"), id="no header"),
        pytest.param(
            [b"HEAD /healthz?full=1&x=%20 HTTP/1.1"],
            Request("HEAD", "/healthz"),
            id="query",
        ),
        pytest.param(
            [b"GET / HTTP/1.1", b"X:\t a b \t"],
            Request("GET", "/", {"x": "a b"}),
            id="spaces around a value",
        ),
        pytest.param(
            [b"GET / HTTP/1.1", b"X:"], Request("GET", "/", {"x": ""}), id="no value"
        ),
    ],
)
def test_a_request_is_read(lines, expected):
    assert parse_request(lines) == expected


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([], id="nothing"),
        pytest.param([b"GET /metrics"], id="HTTP/0.9"),
        pytest.param([b"GET /metrics HTTP/2.0"], id="HTTP/2"),
        pytest.param([b"get /metrics HTTP/1.1"], id="lower case"),
        pytest.param([b"GET  /metrics HTTP/1.1"], id="two spaces"),
        pytest.param([b"GET http://h/metrics HTTP/1.1"], id="a proxy's request"),
        pytest.param([b"GET /a b HTTP/1.1"], id="space in the path"),
        pytest.param([b"GET /\xff HTTP/1.1"], id="no ASCII"),
        pytest.param([b"GET /\x00 HTTP/1.1"], id="NUL"),
        pytest.param([b"\x16\x03\x01\x02\x00"], id="TLS"),
        pytest.param([b"GET / HTTP/1.1", b"no colon"], id="no header"),
        pytest.param([b"GET / HTTP/1.1", b" folded: x"], id="folded"),
        pytest.param([b"GET / HTTP/1.1", b"Host : x"], id="space in a name"),
        pytest.param([b"GET / HTTP/1.1", b"X: \x01"], id="control in a value"),
        pytest.param(
            [b"GET / HTTP/1.1", b"Host: localhost", b"host: evil"], id="two hosts"
        ),
    ],
)
def test_anything_else_is_refused(lines):
    with pytest.raises(RequestRefused) as refused:
        parse_request(lines)

    assert refused.value.status == 400
