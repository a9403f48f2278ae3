"""What an answer says about budgets and about who pays: headers and two members."""

import datetime as dt
from dataclasses import dataclass
from typing import Final

import msgspec

from prwatch.domain.rate_limit import Budget
from prwatch.github.classify import parse_epoch
from prwatch.github.exchange import Exchange
from prwatch.github.plausible import Timed
from prwatch.github.wire import Node

MAX_DIGITS: Final = 15


@dataclass(frozen=True, slots=True)
class Points:
    """What a GraphQL answer has cost, and what it leaves if the server says so."""

    cost: int
    budget: Budget | None


class _RateLimit(Timed, rename="camel"):
    cost: int = 1
    limit: int | None = None
    remaining: int | None = None
    reset_at: dt.datetime | None = None


class _Viewer(Node):
    database_id: int | None = None


_RATE_LIMIT: Final = msgspec.json.Decoder(_RateLimit | None)
_VIEWER: Final = msgspec.json.Decoder(_Viewer | None)


def read_budget(exchange: Exchange) -> Budget | None:
    """Return what the headers say is left; None where they say nothing whole."""
    headers = exchange.headers
    limit = _parse_count(headers.get("x-ratelimit-limit"))
    remaining = _parse_count(headers.get("x-ratelimit-remaining"))
    reset_at = parse_epoch(headers.get("x-ratelimit-reset", ""))
    if limit is None or remaining is None or reset_at is None:
        return None
    return Budget(exchange.bucket, limit, remaining, reset_at)


def read_points(raw: msgspec.Raw) -> Points | None:
    """
    Return what the member `rateLimit` says; None for null and for anything strange.

    A strange budget is no reason to lose an answer.
    """
    try:
        told = _RATE_LIMIT.decode(raw)
    except (msgspec.MsgspecError, RecursionError):
        return None
    if told is None:
        return None
    if told.limit is None or told.remaining is None or told.reset_at is None:
        return Points(told.cost, None)
    budget = Budget("graphql", told.limit, told.remaining, told.reset_at)
    return Points(told.cost, budget)


def name_user(database_id: int | None) -> str:
    """Return how the user who pays is named, '' for one without a number."""
    return f"user/{database_id}" if database_id and database_id > 0 else ""


def read_payer(raw: msgspec.Raw) -> str:
    """Return who the member `viewer` says pays, '' where it does not."""
    try:
        viewer = _VIEWER.decode(raw)
    except (msgspec.MsgspecError, RecursionError):
        return ""
    return name_user(viewer.database_id) if viewer else ""


def _parse_count(text: str | None) -> int | None:
    if not text or not (text.isascii() and text.isdigit()) or len(text) > MAX_DIGITS:
        return None
    return int(text)
