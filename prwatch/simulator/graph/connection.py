"""Cuts a list into the page that a connection's arguments ask for."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from prwatch.simulator.graph.problem import FieldError

_MARK = "cursor:v2:"


@dataclass(frozen=True, slots=True)
class PageInfo:
    """Where a page stands in its list."""

    start_cursor: str | None
    end_cursor: str | None
    has_previous_page: bool
    has_next_page: bool


@dataclass(frozen=True, slots=True)
class Page:
    """
    One page of `items`.

    `whole` is what the list was made from, for counts beside it.
    """

    nodes: Sequence[Any]
    page_info: PageInfo
    total_count: int
    whole: Any = None
    items: Sequence[Any] = ()


def paginate(
    items: Sequence[Any], arguments: dict[str, Any], *, whole: Any = None
) -> Page:
    """Return the page. Raises `FieldError` for a cursor that is none."""
    total = len(items)
    start = _parse_cursor(arguments.get("after")) or 0
    end = total
    before = _parse_cursor(arguments.get("before"))
    if before is not None:
        end = min(end, before - 1)
    first, last = arguments.get("first"), arguments.get("last")
    if first is not None:
        end = min(end, start + first)
    if last is not None:
        start = max(start, end - last)
    end = max(end, start)
    nodes = items[start:end]
    info = PageInfo(
        _build_cursor(start + 1) if nodes else None,
        _build_cursor(end) if nodes else None,
        start > 0,
        end < total,
    )
    return Page(nodes, info, total, whole, items)


def halve(page: Page, arguments: dict[str, Any]) -> Page:
    """Return the page as if the second half of the list did not exist."""
    kept = page.items[: -(-len(page.items) // 2)]
    return paginate(kept, arguments, whole=page.whole)


def _build_cursor(position: int) -> str:
    return base64.b64encode(f"{_MARK}{position}".encode()).decode()


def _parse_cursor(cursor: str | None) -> int | None:
    if cursor is None:
        return None
    try:
        mark, _, position = base64.b64decode(cursor).decode().rpartition(":")
        if f"{mark}:" == _MARK:
            return int(position)
    except ValueError:
        pass
    message = f"`{cursor}` does not appear to be a valid cursor."
    raise FieldError("INVALID_CURSOR_ARGUMENTS", message)
