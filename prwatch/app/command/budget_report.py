"""The forecast of one account that pays, as plain JSON values."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prwatch.domain.budget import (
    Growth,
    Terms,
    find_end,
    find_stretch_start,
    get_promise,
    list_growth,
)
from prwatch.domain.forecast import Forecast
from prwatch.domain.load import Load
from prwatch.domain.price import Price
from prwatch.domain.rate_limit import BucketState
from prwatch.domain.schedule import Activity, get_full_read_interval, get_interval
from prwatch.domain.stretch import Bucket, Stretch, count_allowed, count_usable
from prwatch.domain.stretch_words import count_stretched, describe_stretch
from prwatch.domain.timestamp import format_optional_time


@dataclass(frozen=True, slots=True, kw_only=True)
class Payer:
    """
    An account that pays, and what it pays for.

    `login` may be unknown; `account` is GitHub's number of it, as `user/ID`, or ''.
    `buckets` is what is known of its budgets. `problem` is why they could not be
    asked for, or ''.
    """

    host: str
    login: str = ""
    account: str = ""
    workspaces: tuple[str, ...]
    buckets: tuple[BucketState, ...] = ()
    problem: str = ""


def describe_budget(payer: Payer, load: Load, terms: Terms) -> dict[str, Any]:
    """Return the object that `prwatch budget --json` prints for an account."""
    stretch = terms.plan(load)
    words = describe_stretch(
        stretch, load, usual=terms.intervals, bucket=terms.bucket, rules=terms.rules
    )
    return {
        "host": payer.host,
        "login": payer.login,
        "account": payer.account,
        "workspaces": list(payer.workspaces),
        "problem": payer.problem or None,
        "watches": _render_load(load),
        "buckets": [_render_bucket(each) for each in payer.buckets],
        "budget": _render_terms(terms),
        "cycle": _render_price(stretch.forecast.cycle),
        "hour": _render_hour(stretch.forecast),
        "stretch": {
            "level": stretch.level.value,
            "words": words,
            "stretched": count_stretched(stretch, load, terms.intervals),
            "interval_seconds": {
                each.value: get_interval(each, stretch.intervals).total_seconds()
                for each in Activity
            },
        },
        "bound_seconds": get_promise(load, stretch, terms.tick).total_seconds(),
        "full_read_bound_seconds": _bound_full_read(
            load, stretch, terms
        ).total_seconds(),
        "more": [
            _render_growth(each, terms.bucket) for each in list_growth(load, terms)
        ],
        "stretches_from": find_stretch_start(load, terms),
        "ends_at": find_end(load, terms),
    }


def _bound_full_read(load: Load, stretch: Stretch, terms: Terms) -> dt.timedelta:
    """Return how old what no probe sees may become."""
    present = [each for each in Activity if load.count(each)] or [Activity.FRESH]
    calmest = max(get_full_read_interval(e, stretch.intervals) for e in present)
    return calmest + get_promise(load, stretch, terms.tick)


def _render_load(load: Load) -> dict[str, int]:
    return {
        "pull_requests": load.watched,
        **{each.value: load.count(each) for each in Activity},
        "archived": load.archived,
        "branches": sum(load.branches.values()),
        "repositories": len(load.lists),
        "searches": len(load.searches),
        "closed": load.finished,
    }


def _render_bucket(state: BucketState) -> dict[str, Any]:
    return {
        "bucket": state.bucket,
        "limit": state.limit,
        "remaining": state.remaining,
        "reset_at": format_optional_time(state.reset_at),
        "reserve": state.reserve,
        "blocked_until": format_optional_time(state.blocked_until),
    }


def _render_terms(terms: Terms) -> dict[str, Any] | None:
    """Return what may be spent; None where the server has no limits."""
    bucket = terms.bucket
    if bucket is None:
        return None
    return {
        "points": bucket.limit,
        "assumed": bucket.is_assumed,
        "reserve": round(bucket.limit * terms.rules.reserve),
        "others": round(bucket.others),
        "usable": round(count_usable(bucket, terms.rules)),
        "before_stretching": round(count_allowed(bucket, terms.rules)),
    }


def _render_hour(forecast: Forecast) -> dict[str, Any]:
    parts: Mapping[str, Price] = {
        "probes": forecast.probes,
        "full_reads": forecast.reads,
        "lists": forecast.lists,
        "branches": forecast.branches,
        "closed": forecast.finished,
    }
    return {
        **_render_price(forecast.hour),
        "parts": {name: _render_price(price) for name, price in parts.items()},
    }


def _render_price(price: Price) -> dict[str, float]:
    return {"points": round(price.points, 1), "requests": round(price.requests, 1)}


def _render_growth(growth: Growth, bucket: Bucket | None) -> dict[str, Any]:
    points = growth.stretch.forecast.hour.points
    return {
        "pull_requests": growth.watched,
        "points": round(points),
        "share": round(points / bucket.limit, 3) if bucket and bucket.limit else None,
        "level": growth.stretch.level.value,
        "bound_seconds": growth.bound.total_seconds(),
    }


def sort_budgets(budgets: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the dearest account first."""
    return sorted(budgets, key=lambda each: -each["hour"]["points"])
