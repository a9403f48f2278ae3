"""What cannot be read: how long that is believed, and how people are told."""

import datetime as dt

import pytest

from prwatch.domain.capability import (
    BRANCH_HEADS,
    CHECKS,
    GRAPHQL,
    REVIEWS,
    WORKFLOWS,
    Capability,
    RefusalReason,
    RefusedField,
    advise,
    find_unreadable,
    name_field,
    tell,
)
from prwatch.domain.pull_request import Observation
from prwatch.github.document_types import LEAVABLE

NOON = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)
MOMENT = dt.timedelta(microseconds=1)


def refuse(field=CHECKS, reason=RefusalReason.TOKEN, **traits):
    return RefusedField(field=field, reason=reason, learnt_at=NOON, **traits)


@pytest.mark.parametrize(
    ("refused", "after", "is_due"),
    [
        pytest.param(refuse(), dt.timedelta(0), False, id="just learnt"),
        pytest.param(refuse(), DAY - MOMENT, False, id="nearly a day"),
        pytest.param(refuse(), DAY, True, id="a day"),
        pytest.param(refuse(), -MOMENT, True, id="the clock was set back"),
        pytest.param(
            refuse(reason=RefusalReason.ORGANISATION), DAY, True, id="organisation"
        ),
        pytest.param(
            refuse(reason=RefusalReason.SCHEMA, version="3.9"), 400 * DAY, False, id="old"
        ),
        pytest.param(refuse(reason=RefusalReason.SCHEMA), DAY, True, id="no version"),
    ],
)  # fmt: skip
def test_a_refusal_is_believed_for_a_day_or_as_long_as_the_server_stays(
    refused, after, is_due
):
    assert refused.is_test_due(NOON + after) is is_due


@pytest.mark.parametrize(
    ("refused", "text", "remedy"),
    [
        pytest.param(
            refuse(),
            "checks cannot be read with this token",
            "give the token the permission `Checks: read` and `Commit statuses: read`;"
            " where GitHub does not offer that for a fine-grained token, use a classic"
            " one with the scope `repo`, or a GitHub App",
            id="checks",
        ),
        pytest.param(
            refuse(REVIEWS, repository="octo/hello"),
            "reviews cannot be read with this token in octo/hello",
            "give the token the permission `Pull requests: read`",
            id="reviews",
        ),
        pytest.param(
            refuse(WORKFLOWS),
            "workflows of checks cannot be read with this token",
            "give the token the permission `Actions: read`",
            id="workflows",
        ),
        pytest.param(
            refuse("PullRequest.isInMergeQueue", RefusalReason.SCHEMA, version="3.9.1"),
            "merge queues cannot be read from this server, which does not know them",
            "nothing is wrong: the server, version 3.9.1, is too old for it",
            id="old server",
        ),
        pytest.param(
            refuse(GRAPHQL, RefusalReason.SCHEMA),
            "GraphQL answers cannot be read from this server, which does not know them",
            "nothing is wrong: the server is too old for it",
            id="no GraphQL",
        ),
        pytest.param(
            refuse(REVIEWS, RefusalReason.ORGANISATION, repository="walled/x"),
            "reviews cannot be read because the organisation refuses it in walled/x",
            "authorise the token for the organisation, or ask one of its owners",
            id="organisation",
        ),
    ],
)
def test_a_refusal_is_told_with_what_to_do(refused, text, remedy):
    (told,) = tell([refused])

    assert (told.text, told.remedy) == (text, remedy)
    assert told.since == NOON


def test_repositories_that_refuse_the_same_are_told_together():
    names = ("b/2", "a/1", "c/3", "d/4", "e/5")

    (told,) = tell(refuse(repository=name) for name in names)

    assert told == Capability(
        field="checks",
        reason=RefusalReason.TOKEN,
        places=("a/1", "b/2", "c/3", "d/4", "e/5"),
        since=NOON,
        test_at=NOON + DAY,
        remedy=advise(refuse()),
    )
    assert told.text.endswith("in a/1, b/2, c/3 and 2 more")


def test_what_is_refused_everywhere_names_no_place():
    told = tell([refuse(), refuse(repository="a/1"), refuse(REVIEWS)])

    assert [(each.field, each.places) for each in told] == [
        ("checks", ()),
        ("reviews", ()),
    ]


def test_a_pull_request_is_told_what_of_it_is_unreadable_and_why():
    refused = [
        refuse(repository="octo/hello"),
        refuse(REVIEWS, repository="octo/other"),
        refuse(BRANCH_HEADS),
        refuse("PullRequest.reviewRequests"),
    ]

    found = find_unreadable(refused, "Octo/Hello")

    assert set(found) == {"checks", "review", "approvals", "requested_reviewers"}
    assert found["checks"] == (
        f"unreadable with this token since 2026-11-30: {advise(refuse())}"
    )


@pytest.mark.parametrize("field", sorted(LEAVABLE))
def test_every_field_that_is_shown_has_a_name_and_shows_as_part_of_a_pull_request(
    field,
):
    is_plain = field.startswith("PullRequest.") or field in {WORKFLOWS, BRANCH_HEADS}

    assert not is_plain or name_field(field) != field
    assert set(find_unreadable([refuse(field)], "a/b")) <= set(Observation.__slots__)
