import pytest

from prwatch.git.remote import (
    Remote,
    RemoteRepository,
    choose_base,
    is_resolved,
    parse_remote_url,
)

HELLO = RemoteRepository("github.com", "octo", "hello")


@pytest.mark.parametrize(
    ("url", "repository"),
    [
        ("https://github.com/octo/hello", HELLO),
        ("https://github.com/octo/hello.git", HELLO),
        ("https://github.com/octo/hello/", HELLO),
        ("https://mona:s3cret@github.com/octo/hello.git", HELLO),
        ("https://www.GitHub.com/octo/hello", HELLO),
        ("http://github.com:8080/octo/hello", HELLO),
        ("git://github.com/octo/hello.git", HELLO),
        ("git@github.com:octo/hello.git", HELLO),
        ("git@github.com:/octo/hello.git", HELLO),
        ("github.com:octo/hello", HELLO),
        ("ssh://git@github.com/octo/hello.git", HELLO),
        ("git+ssh://git@github.com/octo/hello.git", HELLO),
        ("ssh://git@ssh.github.com:443/octo/hello.git", HELLO),
        ("git@github.com-work:octo/hello.git", HELLO),
        (
            "git@git.example.org:my-team/a.b_c.git",
            RemoteRepository("git.example.org", "my-team", "a.b_c"),
        ),
        (
            "https://git.example.org:8443/octo/hello",
            RemoteRepository("git.example.org", "octo", "hello"),
        ),
        ("gh:octo/hello", RemoteRepository("gh", "octo", "hello")),
        ("https://github.com/octo", None),
        ("https://github.com/octo/hello/pulls", None),
        ("https://github.com/octo/..", None),
        ("file:///srv/octo/hello", None),
        ("/srv/octo/hello.git", None),
        ("../hello", None),
        ("", None),
        ("git@github.com:octo/he llo", None),
        ("git@github.com:öcto/hello", None),
    ],
)
def test_a_url_says_which_repository_it_means(url, repository):
    assert parse_remote_url(url) == repository


def test_a_repository_keeps_no_password():
    found = parse_remote_url("https://mona:s3cret@github.com/octo/hello.git")

    assert "s3cret" not in repr(found)
    assert found.name_with_owner == "octo/hello"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://github.com/octo/hello", True),
        ("http://localhost/octo/hello", True),
        ("/srv/hello", True),
        ("../hello", True),
        ("gh:octo/hello", False),
        ("work:hello", False),
    ],
)
def test_only_git_can_expand_an_abbreviation(url, expected):
    assert is_resolved(url) is expected


def remotes(**names):
    return tuple(
        Remote(name, RemoteRepository(host, name, "hello"))
        for name, host in names.items()
    )


@pytest.mark.parametrize(
    ("found", "owner"),
    [
        pytest.param(
            (
                *remotes(origin="github.com", upstream="github.com"),
                Remote("x", RemoteRepository("github.com", "x", "hello"), True),
            ),
            "x",
            id="what gh was told",
        ),
        pytest.param(
            remotes(origin="github.com", upstream="github.com"),
            "upstream",
            id="upstream",
        ),
        pytest.param(
            remotes(origin="github.com", me="github.com"), "origin", id="origin"
        ),
        pytest.param(
            remotes(me="github.com", upstream="gitlab.com"), "me", id="only one"
        ),
        pytest.param(remotes(me="github.com", you="github.com"), None, id="several"),
        pytest.param(remotes(origin="gitlab.com"), None, id="none on this host"),
    ],
)
def test_the_base_is_chosen_by_what_people_mean(found, owner):
    base = choose_base(found, "GitHub.com")

    assert (base.owner if base else None) == owner
