import os
from pathlib import Path

import anyio
import pytest

from prwatch.domain.targets import OnBranch, UnknownBranch
from prwatch.git.discovery import (
    CurrentCheckout,
    Discovery,
    Worktree,
    discover_worktrees,
    find_current_checkout,
)
from prwatch.git.process import Git
from prwatch.git.remote import Remote, RemoteRepository
from prwatch.git.worktree import WorktreeReader
from tests.checkouts import ENVIRON, git, make_checkout, make_program

HELLO = RemoteRepository("github.com", "octo", "hello")
ORIGIN = Remote("origin", HELLO)
URL = "git@github.com:octo/hello.git"


@pytest.fixture
def reader():
    return WorktreeReader(Git(ENVIRON, program="/nonexistent/git"))


@pytest.fixture
def root(tmp_path):
    return tmp_path / "src"


async def list_paths(reader, *roots):
    discovery = await discover_worktrees(roots, reader=reader)
    assert discovery.problems == ()
    top = await anyio.Path(roots[0]).resolve()
    return [
        str(Path(worktree.path).relative_to(str(top)))
        for worktree in discovery.worktrees
    ]


async def test_worktrees_are_found_with_their_remotes(root, reader):
    make_checkout(root / "b" / "hello", remotes={"origin": URL, "disk": "/srv/x"})
    make_checkout(root / "a")

    discovery = await discover_worktrees([root], reader=reader)

    assert discovery == Discovery(
        worktrees=(
            Worktree(str(root / "a")),
            Worktree(str(root / "b" / "hello"), (ORIGIN,)),
        )
    )
    assert [found.find_base("github.com") for found in discovery.worktrees] == [
        None,
        HELLO,
    ]


async def test_what_gh_was_told_is_the_base(root, reader):
    folder = make_checkout(root / "a", remotes={"me": "git@github.com:me/hello"})
    git(folder, "config", "remote.me.gh-resolved", "base")

    (found,) = (await discover_worktrees([root], reader=reader)).worktrees

    assert found.remotes[0].is_base


async def test_the_search_goes_four_levels_deep(root, reader):
    make_checkout(root / "1" / "2" / "3" / "4")
    make_checkout(root / "1" / "2" / "3" / "other" / "5")

    assert await list_paths(reader, root) == ["1/2/3/4"]


async def test_a_root_may_be_a_worktree_with_others_inside(root, reader):
    make_checkout(root)
    make_checkout(root / "inner")

    assert await list_paths(reader, root) == [".", "inner"]


async def test_linked_worktrees_are_found_inside_and_beside_their_repository(
    root, tmp_path, reader
):
    folder = make_checkout(root / "hello")
    for name, place in {
        "beside": root / "beside",
        "inside": folder / ".worktrees" / "inside",
        "deep": folder / "a" / "b" / "c" / "d",
        "outside": tmp_path / "outside",
        "gone": root / "gone",
        "broken": root / "broken",
    }.items():
        git(folder, "worktree", "add", "-q", "-b", name, str(place))
    for path in sorted((root / "gone").iterdir()):
        path.unlink()
    (root / "gone").rmdir()
    (root / "broken" / ".git").write_text("nonsense")
    (folder / ".git" / "worktrees" / "stray").write_text("")

    assert await list_paths(reader, root) == [
        "beside",
        "hello",
        "hello/.worktrees/inside",
    ]


async def test_symbolic_links_are_not_followed(root, tmp_path, reader):
    make_checkout(tmp_path / "outside")
    root.mkdir()
    (root / "link").symlink_to(tmp_path / "outside")
    (root / "loop").symlink_to(root)

    assert await list_paths(reader, root) == []


async def test_a_root_that_is_a_symbolic_link_is_searched(root, tmp_path, reader):
    make_checkout(root / "a")
    link = tmp_path / "link"
    link.symlink_to(root)

    assert await list_paths(reader, link) == ["a"]


async def test_a_bare_repository_has_only_linked_worktrees(root, reader):
    seed = make_checkout(root.parent / "seed")
    git(root.parent, "clone", "-q", "--bare", str(seed), str(root / "hello" / ".bare"))
    (root / "hello" / ".git").write_text("gitdir: ./.bare\n")
    git(root / "hello", "worktree", "add", "-q", "-b", "more", "more")
    git(root.parent, "clone", "-q", "--bare", str(seed), str(root / "alone.git"))

    assert await list_paths(reader, root) == ["hello/more"]


async def test_submodules_belong_to_the_checkout_around_them(root, tmp_path, reader):
    inner = make_checkout(tmp_path / "inner")
    outer = make_checkout(root)
    git(
        outer,
        *("-c", "protocol.file.allow=always"),
        *("submodule", "add", "-q", "--", str(inner), "sub"),
    )

    assert await list_paths(reader, root) == ["."]


async def test_dependencies_are_not_searched(root, reader):
    make_checkout(root / "node_modules" / "a")

    assert await list_paths(reader, root) == []


async def test_hostile_folders_are_passed_over(root, reader):
    make_checkout(root / "good")
    for name in ("pipe", "loop", "noise"):
        (root / name).mkdir()
    os.mkfifo(root / "pipe" / ".git")
    (root / "loop" / ".git").symlink_to(".git")
    (root / "noise" / ".git").write_bytes(b"\xff" * 10_000)

    assert await list_paths(reader, root) == ["good"]


async def test_a_root_that_is_not_there_is_a_problem(root, tmp_path, reader):
    make_checkout(tmp_path / "other" / "a")

    discovery = await discover_worktrees([root, tmp_path / "other"], reader=reader)

    assert discovery == Discovery(
        worktrees=(Worktree(str(tmp_path / "other" / "a")),),
        problems=(f"{root}: no such folder, or it cannot be read",),
    )


async def test_settings_that_cannot_be_read_are_a_problem(root, reader):
    config = make_checkout(root / "a") / ".git" / "config"
    config.unlink()
    os.mkfifo(config)

    discovery = await discover_worktrees([root], reader=reader)

    assert discovery == Discovery(
        problems=(f"{root / 'a'}: its settings cannot be read",)
    )


@pytest.mark.parametrize(
    "setting",
    [("include.path", "/dev/null"), ("remote.origin.url", "gh:octo/hello")],
)
async def test_a_git_that_does_not_answer_is_a_problem(root, tmp_path, setting):
    git(make_checkout(root / "a"), "config", *setting)
    program = make_program(tmp_path / "git", "exit 3")
    reader = WorktreeReader(Git(ENVIRON, program=program))

    discovery = await discover_worktrees([root], reader=reader)

    assert discovery.worktrees == ()
    assert len(discovery.problems) == 1
    assert discovery.problems[0].startswith(f"{root / 'a'}: git ")


async def test_remotes_in_another_file_are_listed_by_git(root):
    folder = make_checkout(root / "a")
    (folder / ".git" / "more").write_text(f'[remote "origin"]\nurl = {URL}\n')
    git(folder, "config", "include.path", "more")
    reader = WorktreeReader(Git(ENVIRON))

    discovery = await discover_worktrees([root], reader=reader)

    assert discovery == Discovery(worktrees=(Worktree(str(folder), (ORIGIN,)),))


async def test_a_search_ends_after_too_many_folders(root, reader):
    for name in "abc":
        (root / name).mkdir(parents=True)

    discovery = await discover_worktrees([root, root], reader=reader, most_folders=2)

    assert discovery == Discovery(problems=(f"{root}: more than 2 folders",))


async def test_the_checkout_around_a_folder_is_found(root, reader):
    folder = make_checkout(root / "hello", remotes={"origin": URL})
    (folder / "a" / "b").mkdir(parents=True)

    found = await find_current_checkout(folder / "a" / "b", reader=reader)

    assert found == CurrentCheckout(
        Worktree(str(folder), (ORIGIN,)), OnBranch("fix", "octo/hello")
    )


async def test_outside_of_a_checkout_there_is_none(tmp_path, reader):
    (tmp_path / ".git").write_text("nonsense")

    assert await find_current_checkout(tmp_path, reader=reader) is None


async def test_a_checkout_whose_settings_git_cannot_read_has_no_remotes(root, tmp_path):
    folder = make_checkout(root / "a")
    git(folder, "config", "include.path", "/dev/null")
    program = make_program(tmp_path / "git", "exit 3")
    reader = WorktreeReader(Git(ENVIRON, program=program))

    assert await find_current_checkout(folder, reader=reader) == CurrentCheckout(
        Worktree(str(folder)), UnknownBranch("git config failed (3)")
    )
