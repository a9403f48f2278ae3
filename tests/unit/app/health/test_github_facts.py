"""Limits, budgets and refusals over all accounts, those of one payer once."""

import datetime as dt
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from prwatch.app.health.github_facts import (
    SmallestBudget,
    count_paused,
    count_refused,
    count_stretched,
    find_stretch_level,
    list_limits,
    list_smallest,
)
from prwatch.domain.health import LimitHealth
from prwatch.domain.rate_limit import BlockReason, BucketState
from prwatch.domain.stretch import StretchLevel
from tests.readings import NOON

LATER = NOON + dt.timedelta(minutes=5)


@dataclass
class StandInLimits:
    """Limits that say what they were given."""

    states: tuple[BucketState, ...] = ()
    tracker: object = field(default_factory=object)

    def describe(self):
        return self.states

    def blocked_until(self, bucket):
        return next(
            (each.blocked_until for each in self.states if each.bucket == bucket), None
        )


def account(*states, tracker=None, workspaces=1, refused=(), stretch=None):
    limits = StandInLimits(states, tracker or object())
    fields = [SimpleNamespace(field=each) for each in refused]
    return SimpleNamespace(
        github=SimpleNamespace(
            limits=limits,
            capabilities=SimpleNamespace(refused=fields, has_graphql=True),
        ),
        workspaces=("w",) * workspaces,
        stretch=stretch,
    )


def blocked(bucket="graphql", *, until=NOON, reason=BlockReason.LIMIT):
    return BucketState(bucket=bucket, blocked_until=until, reason=reason)


def budget(remaining, limit=5000, bucket="graphql"):
    return BucketState(bucket=bucket, limit=limit, remaining=remaining)


def wait(bucket, accounts, until, *, is_reserve=False):
    return LimitHealth(
        bucket=bucket, accounts=accounts, until=until, is_reserve=is_reserve
    )


def test_waits_are_counted_by_bucket_and_the_last_end_holds():
    found = list_limits(
        [account(blocked()), account(blocked(until=LATER), blocked("core"))]
    )

    assert found == (wait("core", 1, NOON), wait("graphql", 2, LATER))


def test_tokens_of_one_payer_wait_once():
    tracker = object()
    accounts = [account(blocked(), tracker=tracker) for _ in range(3)]

    assert list_limits(accounts) == (wait("graphql", 1, NOON),)


def test_a_reserve_is_told_apart_from_a_limit():
    found = list_limits(
        [account(blocked()), account(blocked(reason=BlockReason.RESERVE))]
    )

    assert found == (
        wait("graphql", 1, NOON),
        wait("graphql", 1, NOON, is_reserve=True),
    )


def test_a_bucket_that_a_server_made_up_is_other():
    found = list_limits([account(blocked("octo/secret"))])

    assert found == (wait("other", 1, NOON),)


def test_what_nothing_forbids_is_no_wait():
    assert list_limits([account(budget(5), BucketState(bucket="core"))]) == ()


def test_the_account_with_the_smallest_part_left_is_shown():
    found = list_smallest(
        [
            account(budget(3000, 5000), budget(10, 30, "search")),
            account(budget(4000, 15000)),
            account(BucketState(bucket="graphql"), budget(0, 0, "core")),
        ]
    )

    assert found == [
        SmallestBudget("graphql", 15000, 4000),
        SmallestBudget("search", 30, 10),
    ]


def test_workspaces_that_wait_are_counted():
    accounts = [account(blocked(), workspaces=2), account(budget(1), workspaces=3)]

    assert count_paused(accounts, "auto") == 2


def test_who_reads_through_rest_waits_for_the_bucket_that_it_uses():
    old_server = account(blocked(), blocked("core"), workspaces=4)
    old_server.github.capabilities.has_graphql = False
    accounts = [account(blocked(), workspaces=2), account(blocked("core")), old_server]

    assert count_paused(accounts, "rest") == 1 + 4
    assert count_paused(accounts, "auto") == 2 + 4


def test_a_field_that_many_repositories_refuse_counts_once_an_account():
    accounts = [
        account(refused=("checks", "checks", "reviews")),
        account(refused=("checks",)),
    ]

    assert count_refused(accounts) == 3


@pytest.mark.parametrize(
    ("levels", "expected"),
    [((), (0, 0)), ((StretchLevel.NONE, StretchLevel.FURTHER), (2, 14))],
)
def test_a_plan_that_several_tokens_share_counts_once(levels, expected):
    reports = [SimpleNamespace(level=level, stretched=7) for level in levels]
    accounts = [account(stretch=each) for each in (*reports, *reports, None)]

    assert (find_stretch_level(accounts), count_stretched(accounts)) == expected
