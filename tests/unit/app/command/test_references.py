"""What people type to name things, and what they are told when it names nothing."""

import pytest

from prwatch.app.command.references import (
    InvalidReference,
    NamedBranch,
    NamedPullRequest,
    NamedRepository,
    NamedWatch,
    parse_branch,
    parse_pull_request,
    parse_reference,
)

PULL_REQUEST = NamedPullRequest(owner="octo", name="hello", number=12)
ON_GITHUB = NamedPullRequest(owner="octo", name="hello", number=12, host="github.com")


def branch(name, **values):
    return NamedBranch(owner="octo", name="hello", branch=name, **values)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("octo/hello#12", PULL_REQUEST, id="short"),
        pytest.param("  octo/hello#12\n", PULL_REQUEST, id="spaces around"),
        pytest.param("https://github.com/octo/hello/pull/12", ON_GITHUB, id="url"),
        pytest.param("http://github.com/octo/hello/pull/12", ON_GITHUB, id="http"),
        pytest.param("github.com/octo/hello/pull/12", ON_GITHUB, id="no scheme"),
        pytest.param("https://www.github.com/octo/hello/pull/12", ON_GITHUB, id="www"),
        pytest.param("https://GitHub.com/octo/hello/pull/12/", ON_GITHUB, id="slash"),
        pytest.param(
            "https://github.com/octo/hello/pull/12/files", ON_GITHUB, id="files"
        ),
        pytest.param(
            "https://github.com/octo/hello/pull/12/commits/abc123?w=1#diff-2",
            ON_GITHUB,
            id="commit, query and fragment",
        ),
        pytest.param(
            "https://github.com/octo/hello/pull/12#issuecomment-1",
            ON_GITHUB,
            id="comment",
        ),
        pytest.param(
            "https://git.corp.example:8443/octo/hello/pull/12",
            NamedPullRequest(
                owner="octo", name="hello", number=12, host="git.corp.example"
            ),
            id="enterprise server with port",
        ),
        pytest.param("octo/hello@fix", branch("fix"), id="branch"),
        pytest.param("octo/hello@fix/a#12@b", branch("fix/a#12@b"), id="signs"),
        pytest.param("octo/hello@ü→é", branch("ü→é"), id="unicode"),
        pytest.param(
            "octo/hello@me/hello:fix",
            branch("fix", head_repository="me/hello"),
            id="fork",
        ),
        pytest.param("octo/hello@Octo/Hello:fix", branch("fix"), id="own fork"),
        pytest.param(
            "https://github.com/octo/hello/tree/fix/a%23b",
            branch("fix/a#b", host="github.com"),
            id="branch url",
        ),
        pytest.param(
            "octo/hello", NamedRepository(owner="octo", name="hello"), id="repository"
        ),
        pytest.param(
            "https://github.com/octo/hello.git",
            NamedRepository(owner="octo", name="hello", host="github.com"),
            id="repository url",
        ),
        pytest.param("019ad4c1-7a10", NamedWatch("019ad4c1-7a10"), id="watch"),
    ],
)
def test_a_reference_is_read(text, expected):
    assert parse_reference(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("", "it is not a pull request's URL", id="empty"),
        pytest.param("hello", "it is not a pull request's URL", id="word"),
        pytest.param("x" * 3000, "it is not a pull request's URL", id="endless"),
        pytest.param("octo/hello#12\x00", "it is not a pull", id="nul"),
        pytest.param("octo/\x1b[31mhello", "it is not a pull", id="escape"),
        pytest.param("octo/hello@\ud800", "it is not a pull", id="surrogate"),
        pytest.param("octo/hello#0", "a whole number from 1 on", id="zero"),
        pytest.param("octo/hello#-1", "a whole number from 1 on", id="negative"),
        pytest.param("octo/hello#٣", "a whole number from 1 on", id="other digits"),
        pytest.param("octo/hello#9999999999", "a whole number", id="too large"),
        pytest.param("octo/hello#12/files", "a whole number", id="tail"),
        pytest.param("octo/..", "its repository is not owner/repo", id="dots"),
        pytest.param("-octo/hello", "its repository is not owner/repo", id="dash"),
        pytest.param("octo/he llo", "its repository is not owner/repo", id="space"),
        pytest.param("octo/hello@", "is not a branch's name", id="no branch"),
        pytest.param("octo/hello@@", "is not a branch's name", id="at"),
        pytest.param("octo/hello@a..b", "is not a branch's name", id="range"),
        pytest.param("octo/hello@a?b", "is not a branch's name", id="glob"),
        pytest.param("octo/hello@-x", "is not a branch's name", id="option"),
        pytest.param("octo/hello@a@{1}", "is not a branch's name", id="reflog"),
        pytest.param("octo/hello@a.lock", "is not a branch's name", id="lock"),
        pytest.param("octo/hello@a/.b", "is not a branch's name", id="hidden"),
        pytest.param("octo/hello@refs/heads/a", "is not a branch's name", id="ref"),
        pytest.param("octo/hello@me:fix", "must be owner/repo", id="owner alone"),
        pytest.param(
            "https://mona:s3cret@github.com/octo/hello/pull/1",
            "without user and password",
            id="password",
        ),
        pytest.param(
            "https://github.com/octo/hello/tree/%ff", "is not UTF-8", id="bytes"
        ),
        pytest.param(
            "https://github.com/octo/hello/issues/1", "it is not a pull", id="issue"
        ),
        pytest.param("ftp://github.com/octo/hello", "it is not", id="scheme"),
    ],
)
def test_what_names_nothing_is_refused_without_being_repeated(text, words):
    with pytest.raises(InvalidReference) as refused:
        parse_reference(text)

    assert words in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_a_pull_request_is_not_a_branch():
    with pytest.raises(InvalidReference, match="not a pull request's URL"):
        parse_pull_request("octo/hello@fix")
    with pytest.raises(InvalidReference, match="not owner/repo@branch"):
        parse_branch("octo/hello#12")


def test_what_must_be_a_pull_request_or_a_branch_is_read_as_such():
    assert parse_pull_request("octo/hello#12") == PULL_REQUEST
    assert parse_branch("octo/hello@fix") == branch("fix")
