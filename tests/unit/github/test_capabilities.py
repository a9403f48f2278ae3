"""What one credential cannot read: learnt, believed, widened, tried again, forgotten."""

import datetime as dt

import pytest

from prwatch.domain.capability import CHECKS, GRAPHQL, REVIEWS, RefusalReason
from prwatch.domain.outcome import Forbidden, NotFound, Retry, Unreadable
from prwatch.github.capabilities import Capabilities
from prwatch.github.exchange import Exchange, GraphQLError
from prwatch.github.omission import (
    explain_omitted,
    group_alike,
    omit_by_rest,
    sort_alike,
    study_faults,
)
from prwatch.github.path_errors import map_faults
from tests.github_answers import StillClock

DAY = 86_400
REFUSED = Forbidden("this token may not read it")
QUEUE = "PullRequest.isInMergeQueue"


@pytest.fixture
def clock():
    return StillClock()


@pytest.fixture
def known(clock):
    return Capabilities(clock)


def answer(version=""):
    headers = {"x-github-enterprise-version": version} if version else {}
    return Exchange(status=200, headers=headers)


def list_places(known, field=CHECKS):
    return [each.repository for each in known.refused if each.field == field]


@pytest.mark.parametrize(
    ("meaning", "reason"),
    [
        pytest.param(REFUSED, RefusalReason.TOKEN, id="token"),
        pytest.param(
            Forbidden("the token lacks a scope", code="insufficient_scopes"),
            RefusalReason.TOKEN,
            id="scope",
        ),
        pytest.param(
            Forbidden("sso", "organisation", "sso"),
            RefusalReason.ORGANISATION,
            id="organisation",
        ),
        pytest.param(Forbidden("blocked", "repository", "blocked"), None, id="blocked"),
        pytest.param(NotFound(), None, id="not found"),
        pytest.param(Retry("not now"), None, id="not now"),
        pytest.param(Unreadable("strange"), None, id="strange"),
    ],
)
def test_only_a_refusal_is_learnt(known, meaning, reason):
    known.refuse(CHECKS, "Octo/Hello", meaning)

    assert [each.reason for each in known.refused] == ([reason] if reason else [])
    assert known.take_news() is (reason is not None)
    assert known.omit("octo/hello") == ({CHECKS} if reason else set())
    assert known.omit("octo/other") == known.omit() == set()


@pytest.mark.parametrize(
    ("field", "repository"),
    [pytest.param("", "octo/hello", id="field"), pytest.param(CHECKS, "", id="place")],
)
def test_what_is_not_known_for_sure_is_not_learnt(known, field, repository):
    known.refuse(field, repository, REFUSED)

    assert known.refused == ()


def test_the_third_repository_that_refuses_speaks_for_all(known):
    for number in range(3):
        known.refuse(CHECKS, f"octo/r{number}", REFUSED)
    known.refuse(REVIEWS, "octo/r0", REFUSED)

    assert list_places(known) == [""]
    assert known.omit("somebody/else") == {CHECKS}
    assert known.omit("octo/r0") == {CHECKS, REVIEWS}


def test_a_field_that_any_repository_gives_is_refused_by_each_alone(known):
    known.give(frozenset({CHECKS}), "octo/open")
    for number in range(9):
        known.refuse(CHECKS, f"octo/r{number}", REFUSED)

    assert len(list_places(known)) == 9
    assert known.omit("octo/open") == set()


def test_organisations_speak_for_no_other(known):
    for number in range(9):
        refusal = Forbidden("sso", "organisation", "sso")
        known.refuse(REVIEWS, f"org{number}/x", refusal)

    assert len(list_places(known, REVIEWS)) == 9


def test_a_day_later_it_is_tried_and_believed_for_another(known, clock):
    known.refuse(CHECKS, "octo/hello", REFUSED)
    known.take_news()
    clock.time += dt.timedelta(seconds=DAY - 1)
    assert known.omit("octo/hello", is_test=True) == {CHECKS}
    clock.time += dt.timedelta(seconds=1)

    assert known.omit("octo/hello", is_test=True) == set()
    # Probes ask for it only when it is known to be there: they would move for nothing.
    assert known.omit("octo/hello") == {CHECKS}
    assert omit_by_rest(known, "octo/hello") == set()

    known.refuse(CHECKS, "octo/hello", REFUSED)

    assert known.take_news()
    assert known.omit("octo/hello", is_test=True) == {CHECKS}


def test_a_refusal_that_is_met_again_meanwhile_is_no_news(known, clock):
    known.refuse(CHECKS, "octo/hello", REFUSED)
    known.take_news()
    clock.time += dt.timedelta(hours=5)

    known.refuse(CHECKS, "octo/hello", REFUSED)

    assert not known.take_news()


@pytest.mark.parametrize("count", [1, 3])
def test_what_can_be_read_is_refused_no_more(known, count):
    for number in range(count):
        known.refuse(CHECKS, f"octo/r{number}", REFUSED)
    known.take_news()

    known.give(frozenset({REVIEWS}), "octo/r0")
    assert not known.take_news()
    known.give(frozenset({CHECKS}), "octo/r0")

    assert known.take_news()
    assert known.refused == ()


def test_another_token_is_asked_for_everything_that_the_server_knows(known):
    known.refuse(CHECKS, "octo/hello", REFUSED)
    known.refuse_unknown(QUEUE)

    known.forget_token()

    assert [each.field for each in known.refused] == [QUEUE]


def test_a_field_that_the_server_lacks_is_left_out_until_it_is_another(known, clock):
    known.see_version(answer("3.9.1"))
    assert known.refuse_unknown("AutoMergeRequest.enabledAt") == (
        "PullRequest.autoMergeRequest"
    )
    assert known.refuse_unknown(QUEUE) == QUEUE
    clock.time += dt.timedelta(days=400)
    known.see_version(answer("3.9.1"))
    known.see_version(answer())  # a proxy's own answer

    assert known.omit(is_test=True) == {QUEUE, "PullRequest.autoMergeRequest"}
    assert omit_by_rest(known, "octo/hello") == set()
    assert {each.version for each in known.refused} == {"3.9.1"}

    known.see_version(answer("3.10.0"))

    assert known.refused == ()


@pytest.mark.parametrize("version", ["2.9.0", ""])
def test_a_server_without_what_must_be_there_has_no_usable_interface(known, version):
    known.see_version(answer(version))

    assert known.refuse_unknown("PullRequest.isDraft") == ""

    assert known.has_graphql is not bool(version)
    assert known.omit() == set()
    assert [each.field for each in known.refused] == [GRAPHQL] * bool(version)


def test_what_was_stored_is_believed_until_the_version_says_otherwise(clock):
    before = Capabilities(clock)
    before.see_version(answer("3.9.1"))
    before.refuse_unknown(QUEUE)
    before.refuse(CHECKS, "octo/hello", REFUSED)
    after = Capabilities(clock)

    after.restore(before.refused)
    after.see_version(answer("3.9.1"))
    assert after.omit("octo/hello") == {QUEUE, CHECKS}
    assert not after.take_news()

    after.see_version(answer("3.16.0"))
    assert after.omit("octo/hello") == {CHECKS}


def test_things_are_asked_together_that_are_asked_alike(known):
    places = {"a": "octo/r1", "b": "octo/r2", "c": "octo/r1", "d": ""}
    assert [*group_alike(known, [*places], places)] == [(frozenset(), [*"abcd"])]

    known.refuse(CHECKS, "octo/r1", REFUSED)

    assert [*group_alike(known, [*places], places)] == [
        ({CHECKS}, ["a", "c"]),
        (frozenset(), ["b", "d"]),
    ]
    assert sort_alike(known, [*places], places) == ["a", "c", "b", "d"]


def test_each_refused_field_of_an_answer_is_learnt_where_it_stands(known):
    errors = [
        GraphQLError(type="FORBIDDEN", path=("n0", 0, "statusCheckRollup")),
        GraphQLError(type="FORBIDDEN", path=("n0", 1, "reviews", "nodes", 3, "author")),
        GraphQLError(type="FORBIDDEN", path=("n0", 1, "headRepository")),
        GraphQLError(type="INTERNAL", path=("n0", 0, "comments")),
        GraphQLError(type="FORBIDDEN", path=("n0", 2)),
    ]
    places = {("n0", at): f"octo/r{at}" for at in range(3)}

    study_faults(known, map_faults(errors, places), places)

    assert [(each.field, each.repository) for each in known.refused] == [
        (REVIEWS, "octo/r1"),
        (CHECKS, "octo/r0"),
    ]


def test_what_is_left_out_is_explained_by_its_own_name(known):
    known.see_version(answer("3.9.1"))
    known.refuse_unknown(QUEUE)
    known.refuse(CHECKS, "octo/hello", REFUSED)
    known.refuse(REVIEWS, "octo/hello", Forbidden("sso", "organisation", "sso"))
    omitted = known.omit("octo/hello") | {"Repository.ref"}

    lost = explain_omitted(known, omitted, "octo/hello")

    assert {name: each.code for name, each in lost.items()} == {
        "isInMergeQueue": "unknown_field",
        "statusCheckRollup": "forbidden",
        "reviews": "refused",
    }
    assert known.explain("PullRequest.comments", "octo/hello") == REFUSED
