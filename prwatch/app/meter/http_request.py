"""One small HTTP request without a body, read line by line within fixed bounds."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from prwatch.app.control.line_socket import LineSocket, LineTooLong

MOST_LINE_BYTES: Final = 2048
MOST_LINES: Final = 64
MOST_BYTES: Final = 8192
"""Of all lines together."""

_START: Final = re.compile(rb"([A-Z]{1,16}) (/[!-~]*) HTTP/1\.[01]")
_HEADER: Final = re.compile(
    rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}):[ \t]*([ -~]*?)[ \t]*"
)


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked. `path` is without its query; `headers` are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)


class RequestRefused(ValueError):
    """What came is no request that is answered; `status` says why."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


async def read_request(client: LineSocket) -> Request | None:
    """
    Read a request up to the end of its head, or return None when none comes whole.

    A header that comes twice is refused: of two hosts neither can be believed.

    Raises:
        RequestRefused: It is malformed or too long.
        OSError: The connection is broken.
    """
    lines: list[bytes] = []
    size = 0
    while True:
        try:
            line = await client.receive_line(MOST_LINE_BYTES)
        except LineTooLong as error:
            raise RequestRefused(431) from error
        if line is None:
            return None
        line = line.removesuffix(b"\r")
        if not line:
            return parse_request(lines)
        size += len(line)
        lines.append(line)
        if len(lines) > MOST_LINES or size > MOST_BYTES:
            raise RequestRefused(431)


def parse_request(lines: list[bytes]) -> Request:
    """
    Return the request of these lines.

    Raises:
        RequestRefused: It is malformed.
    """
    start = _START.fullmatch(lines[0]) if lines else None
    if start is None:
        raise RequestRefused(400)
    headers: dict[str, str] = {}
    for line in lines[1:]:
        found = _HEADER.fullmatch(line)
        name = found[1].decode().lower() if found else ""
        if found is None or name in headers:
            raise RequestRefused(400)
        headers[name] = found[2].decode()
    path = start[2].decode().partition("?")[0]
    return Request(start[1].decode(), path, headers)
