"""
What commands print: tables, objects, times.

A table is drawn on a terminal, where rich is installed; elsewhere it is plain
text in aligned columns. Text from outside never steers the terminal.
"""

import datetime as dt
import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

import click

from prwatch.domain.timestamp import format_age
from prwatch.telemetry.terminal import escape_controls

__all__ = [
    "format_age",
    "format_count",
    "format_time",
    "is_terminal",
    "print_json",
    "print_lines",
    "print_table",
    "print_text",
    "render_plain",
]

GAP = "  "


def is_terminal(stream: TextIO | None = None) -> bool:
    """Return whether a person is at the other end of stdout, or of that stream."""
    stream = sys.stdout if stream is None else stream
    try:
        return stream.isatty()
    except ValueError:  # it is closed
        return False


def print_json(value: object) -> None:
    """Print one value as one line of JSON; times are RFC 3339 in UTC."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_encode)
    # A lone surrogate cannot be written as UTF-8; as JSON it is \udc80.
    click.echo(text.encode("utf-8", "backslashreplace").decode())


def print_text(text: str, *, err: bool = False) -> None:
    """Print lines of text, with everything escaped that would steer a terminal."""
    click.echo(escape_controls(text), err=err)


def print_lines(lines: Iterable[str]) -> None:
    """Print each as one line: a break in a stranger's text begins none of its own."""
    print_text("\n".join(line.replace("\n", "\\n") for line in lines))


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    empty: str = "",
    err: bool = False,
) -> None:
    """
    Print rows below the names of their columns; without rows, the words of `empty`.

    A cell is text, a number, an aware time, or None, which shows as `-`.
    """
    cells = [[_show(cell) for cell in row] for row in rows]
    if not cells:
        if empty:
            click.echo(empty, err=err)
    elif not (is_terminal(sys.stderr if err else sys.stdout)) or not _draw(
        columns, cells, err=err
    ):
        click.echo(render_plain(columns, cells), err=err)


def render_plain(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """Return the table as text; its last column is not filled up."""
    lines = [[name.upper() for name in columns], *cells]
    widths = [max(len(line[index]) for line in lines) for index in range(len(columns))]
    return "\n".join(
        GAP.join(
            cell.ljust(width) for cell, width in zip(line, widths, strict=True)
        ).rstrip()
        for line in lines
    )


def format_time(moment: dt.datetime, zone: dt.tzinfo | None = None) -> str:
    """Return the time to the second in the person's zone (`TZ`, else the machine's)."""
    return moment.astimezone(zone).strftime("%Y-%m-%d %H:%M:%S %Z").rstrip()


def format_count(number: int, word: str, words: str = "") -> str:
    """Return `1 time`, `2 times`; `words` is the plural that no `s` makes."""
    return f"{number} {word if number == 1 else words or word + 's'}"


def _show(cell: object) -> str:
    if cell is None or cell == "":
        return "-"
    if isinstance(cell, dt.datetime):
        return format_time(cell)
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return escape_controls(str(cell)).replace("\n", " ")


def _encode(value: object) -> object:
    if isinstance(value, dt.datetime):
        return value.astimezone(dt.UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, dt.timedelta):
        return value.total_seconds()
    return str(value)


def _draw(columns: Sequence[str], cells: Sequence[Sequence[str]], *, err: bool) -> bool:
    """Draw the table with rich; return false where it is not installed."""
    try:
        from rich import box, console, table, text  # noqa: PLC0415 - an extra, and slow
    except ImportError:
        return False
    drawn: Any = table.Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        drawn.add_column(name, overflow="fold")
    for row in cells:
        drawn.add_row(*(text.Text(cell) for cell in row))
    console.Console(stderr=err).print(drawn)
    return True
