import pytest

from prwatch.git.config_file import GitConfig, parse_config, parse_config_list
from tests.checkouts import git, make_checkout

EVERYTHING = r"""
; a comment
[core] bare = false ; after a value
	FileMode
[remote "origin"]
	url = https://github.com/octo/hello.git   # why
	url = second
	fetch = +refs/heads/*:refs/remotes/origin/*
[remote "a \"b\" \\ c"] url = "with # and ; inside"  tail
[branch "fix/a.b"]
	pushRemote = " kept "
	description = one \
two\nthree\\
[branch.Old]
	merge = refs/heads/x
nonsense ! here
"""


def test_a_file_is_read_as_git_reads_it(tmp_path):
    text = EVERYTHING.replace("nonsense ! here\n", "")
    folder = make_checkout(tmp_path / "a")
    (folder / ".git" / "config").write_text(text)

    read = parse_config(text)

    assert read == parse_config_list(
        git(folder, "config", "--null", "--list", "--local")
    )


def test_values_are_found_by_key():
    config = parse_config(EVERYTHING)

    assert config.find("remote.origin.url") == "second"
    assert config.find("branch.fix/a.b.pushremote") == " kept "
    assert config.find("nothing.here") == ""
    assert config.is_true("core.filemode")
    assert not config.is_true("core.bare")
    assert config.list_subsections("remote", "url") == ("origin", 'a "b" \\ c')
    assert config.is_whole


@pytest.mark.parametrize(
    "text",
    [
        "[include]\npath = other",
        '[includeIf "onbranch:fix"]\npath = other',
        "[extensions]\nworktreeConfig = true",
    ],
)
def test_a_file_that_refers_to_others_is_not_whole(text):
    assert not parse_config(text).is_whole


@pytest.mark.parametrize(
    "text",
    ["", "url = no section", "[", '[remote "x', "[a]\n= value", "\0\0", "[a]\nb = \\"],
)
def test_nonsense_gives_little_and_fails_never(text):
    assert parse_config(text).list_subsections("remote", "url") == ()


def test_a_listing_without_values_means_true():
    listing = "core.bare\0remote.o.url\nx\0"

    assert parse_config_list(listing) == GitConfig(
        {"core.bare": ("true",), "remote.o.url": ("x",)}
    )
