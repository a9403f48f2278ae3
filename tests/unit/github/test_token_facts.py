"""What a token and its header say about it."""

import datetime as dt

import pytest

from prwatch.github.token_facts import name_kind, parse_expiration
from prwatch.telemetry.secret import Secret


@pytest.mark.parametrize(
    ("token", "kind"),
    [
        ("ghp_abc", "classic personal access token"),
        ("github_pat_abc", "fine-grained personal access token"),
        ("gho_abc", "OAuth access token"),
        ("ghu_abc", "user token of a GitHub App"),
        ("ghs_abc", "installation token of a GitHub App"),
        ("ghr_abc", "refresh token"),
        ("0123456789abcdef", "unknown"),
        ("", "unknown"),
    ],
)
def test_the_prefix_names_the_kind(token, kind):
    assert name_kind(Secret(token)) == kind


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        pytest.param(
            "2026-02-12 23:00:00 UTC",
            dt.datetime(2026, 2, 12, 23, tzinfo=dt.UTC),
            id="a zone's name",
        ),
        pytest.param(
            "2026-02-06 07:42:23 +0100",
            dt.datetime(2026, 2, 6, 6, 42, 23, tzinfo=dt.UTC),
            id="an offset",
        ),
        pytest.param(
            " 2026-02-12 23:00:00 UTC ",
            dt.datetime(2026, 2, 12, 23, tzinfo=dt.UTC),
            id="with spaces",
        ),
        pytest.param("", None, id="no header"),
        pytest.param("never", None, id="a word"),
        pytest.param("2026-02-30 00:00:00 UTC", None, id="no such day"),
        pytest.param("0001-01-01 00:00:00 +1200", None, id="before all time"),
    ],
)
def test_the_header_names_the_end_in_either_form(text, moment):
    assert parse_expiration(text) == moment
