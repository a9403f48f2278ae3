"""What review watches search for, and what they refuse to."""

import datetime as dt

import pytest

from prwatch.domain.review_search import MAX_FILTERS, build_searches, list_problems
from prwatch.domain.review_watch import CleanupPolicy, ReviewScope, ReviewSettings

BASE = "is:pr is:open archived:false"


@pytest.mark.parametrize(
    ("settings", "searches"),
    [
        pytest.param({}, [f"{BASE} user-review-requested:ada"], id="person"),
        pytest.param(
            {"scope": ReviewScope.USER_AND_TEAMS},
            [f"{BASE} review-requested:ada"],
            id="teams",
        ),
        pytest.param(
            {"repositories": ("octo/one", "octo/two")},
            [
                f"{BASE} user-review-requested:ada repo:octo/one",
                f"{BASE} user-review-requested:ada repo:octo/two",
            ],
            id="repositories",
        ),
        pytest.param(
            {"organisations": ("octo",)},
            [f"{BASE} user-review-requested:ada org:octo"],
            id="organisations",
        ),
        pytest.param(
            {"query": ' label:"is:pr" '}, ['is:pr label:"is:pr"'], id="own query"
        ),
        pytest.param(
            {"query": "type:PR author:bob", "organisations": ("octo",)},
            ["type:PR author:bob org:octo"],
            id="own query in places",
        ),
    ],
)
def test_each_place_is_a_search_of_its_own(settings, searches):
    assert list(build_searches(ReviewSettings(**settings), "ada")) == searches


@pytest.mark.parametrize(
    ("settings", "keys"),
    [
        pytest.param({}, [], id="default"),
        pytest.param({"target_login": "ada_corp"}, [], id="managed user"),
        pytest.param({"target_login": "ada is:issue"}, ["target_login"], id="login"),
        pytest.param({"target_login": "ada-"}, ["target_login"], id="hyphen"),
        pytest.param(
            {"repositories": ("octo/hello",), "organisations": ("octo",)},
            ["organisations"],
            id="both places",
        ),
        pytest.param({"repositories": ("octo",)}, ["repositories"], id="no name"),
        pytest.param({"repositories": ("octo/..",)}, ["repositories"], id="dots"),
        pytest.param({"organisations": ("a b",)}, ["organisations"], id="space"),
        pytest.param(
            {"repositories": ("octo/hello",) * (MAX_FILTERS + 1)},
            ["repositories"],
            id="many repositories",
        ),
        pytest.param(
            {"interval": dt.timedelta(seconds=59)}, ["interval"], id="too often"
        ),
        pytest.param(
            {"interval": dt.timedelta(hours=25)}, ["interval"], id="too seldom"
        ),
        pytest.param({"query": "label:x"}, [], id="query"),
        pytest.param({"query": " "}, ["query"], id="blank query"),
        pytest.param({"query": "a\nb"}, ["query"], id="two lines"),
        pytest.param({"query": 'label:"x'}, ["query"], id="open quotation"),
        pytest.param({"query": "is:ISSUE x"}, ["query"], id="issues"),
        pytest.param({"query": '"is:issue" x'}, [], id="issues quoted"),
        pytest.param({"query": "x" * 250}, [], id="long query"),
        pytest.param({"query": "x" * 251}, ["query"], id="too long query"),
        pytest.param(
            {"query": "repo:octo/hello", "organisations": ("octo",)},
            ["query"],
            id="places twice",
        ),
    ],
)
def test_what_cannot_be_searched_is_told_by_its_key(settings, keys):
    problems = list(list_problems(ReviewSettings(**settings)))

    assert [key for key, _ in problems] == keys
    assert all(text for _, text in problems)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("label:a OR label:b", "has OR"),
        ("label:a or label:b", "has OR"),
        ("(is:issue)", "has parentheses"),
        ("(label:a)", "has parentheses"),
        ("label:a -(label:b)", "has parentheses"),
        ("-is:pr", "leaves out pull requests"),
        ("-type:pr label:a", "leaves out pull requests"),
        ("NOT is:pull-request", "leaves out pull requests"),
        ('is:"issue"', "searches for issues"),
        ("is:pr,issue", "searches for issues"),
        ('label:"a\\" repo:octo/other "', "backslash"),
        ("owner:octo", "names places"),
        ('repo:"octo/other"', "names places"),
    ],
)
def test_a_query_that_leaves_its_places_or_its_kind_is_refused(query, words):
    settings = ReviewSettings(query=query, repositories=("octo/hello",))

    ((key, problem),) = list_problems(settings)
    assert (key, words in problem) == ("query", True)


@pytest.mark.parametrize(
    "query",
    [
        '"this OR (that)" is:open',
        'label:"a OR b"',
        "-is:issue -repo:octo/other",
        "is:pr NOT wip",
        "-label:a -author:bob",
        '"is:issue" "repo:octo/other"',
    ],
)
def test_a_query_that_only_narrows_is_searched(query):
    settings = ReviewSettings(query=query, repositories=("octo/hello",))

    assert list(list_problems(settings)) == []


def test_a_word_that_only_begins_like_a_pull_request_asks_for_none():
    settings = ReviewSettings(query="is:private -is:draft")

    assert build_searches(settings, "ada") == ("is:pr is:private -is:draft",)


def test_an_app_needs_the_login_of_a_person():
    named = ReviewSettings(target_login="ada")

    assert [key for key, _ in list_problems(ReviewSettings(), is_app=True)] == [
        "target_login"
    ]
    assert list(list_problems(named, is_app=True)) == []


def test_the_most_cautious_policy_is_never():
    assert sorted(CleanupPolicy, key=lambda each: each.caution) == [
        CleanupPolicy.ALWAYS,
        CleanupPolicy.AUTO,
        CleanupPolicy.NEVER,
    ]
