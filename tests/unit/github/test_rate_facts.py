import datetime as dt

import msgspec
import pytest

from prwatch.domain.rate_limit import Budget
from prwatch.github.exchange import Exchange
from prwatch.github.rate_facts import (
    Points,
    name_user,
    read_budget,
    read_payer,
    read_points,
)

RESET_AT = dt.datetime(2026, 11, 30, 12, 30, tzinfo=dt.UTC)
WHOLE = {
    "x-ratelimit-limit": "5000",
    "x-ratelimit-remaining": "12",
    "x-ratelimit-reset": str(int(RESET_AT.timestamp())),
}


@pytest.mark.parametrize(
    ("headers", "bucket"),
    [
        pytest.param({}, "core", id="unnamed"),
        pytest.param({"x-ratelimit-resource": "search"}, "search", id="named"),
        pytest.param({"x-ratelimit-resource": "secondary"}, "core", id="not a bucket"),
    ],
)
def test_headers_tell_a_budget(headers, bucket):
    exchange = Exchange(status=200, headers=WHOLE | headers)

    assert read_budget(exchange) == Budget(bucket, 5000, 12, RESET_AT)


@pytest.mark.parametrize("name", sorted(WHOLE))
@pytest.mark.parametrize("text", ["", "many", "-1", "١٢", "9" * 30])
def test_headers_that_are_not_whole_tell_none(name, text):
    assert read_budget(Exchange(status=200, headers=WHOLE | {name: text})) is None


@pytest.mark.parametrize(
    ("raw", "points"),
    [
        pytest.param(
            b'{"cost":3,"limit":5000,"remaining":12,"resetAt":"2026-11-30T12:30:00Z"}',
            Points(3, Budget("graphql", 5000, 12, RESET_AT)),
            id="whole",
        ),
        pytest.param(b'{"cost":3}', Points(3, None), id="the cost alone"),
        pytest.param(b"null", None, id="a server without limits"),
        pytest.param(b'{"cost":"dear"}', None, id="strange"),
    ],
)
def test_points_are_read_where_they_are_told(raw, points):
    assert read_points(msgspec.Raw(raw)) == points


@pytest.mark.parametrize(
    ("raw", "payer"),
    [
        pytest.param(b'{"login":"ada","databaseId":7}', "user/7", id="a user"),
        pytest.param(b'{"login":"app[bot]","databaseId":null}', "", id="no number"),
        pytest.param(b'{"login":"ada"}', "", id="not asked"),
        pytest.param(b'{"databaseId":"seven"}', "", id="strange"),
        pytest.param(b"null", "", id="nobody"),
    ],
)
def test_the_viewer_names_who_pays(raw, payer):
    assert read_payer(msgspec.Raw(raw)) == payer


@pytest.mark.parametrize("number", [None, 0, -1])
def test_nobody_is_named_by_a_number_that_is_none(number):
    assert name_user(number) == ""
