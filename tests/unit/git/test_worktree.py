import os
import shutil

import pytest

from prwatch.domain.targets import OnBranch, UnknownBranch
from prwatch.git.process import Git
from prwatch.git.worktree import WorktreeReader
from tests.checkouts import ENVIRON, git, make_checkout, make_program

NO_GIT = "/nonexistent/git"
FIX = OnBranch("fix")
DETACHED = UnknownBranch("HEAD is detached")
NOT_A_BRANCH = UnknownBranch("HEAD does not point at a branch")


@pytest.fixture
def files_only():
    """A reader that has no git program at all."""
    return WorktreeReader(Git(ENVIRON, program=NO_GIT))


@pytest.fixture
def reader():
    return WorktreeReader(Git(ENVIRON))


@pytest.fixture
def checkout(tmp_path):
    return make_checkout(tmp_path / "hello")


def set_head(folder, content):
    (folder / ".git" / "HEAD").write_bytes(content)


async def test_the_branch_is_read_without_git(checkout, files_only):
    assert await files_only.read_worktree(str(checkout)) == FIX


async def test_a_renamed_branch_is_seen_at_once(checkout, files_only):
    assert await files_only.read_worktree(str(checkout)) == FIX

    git(checkout, "branch", "-m", "fix/login")

    assert await files_only.read_worktree(str(checkout)) == OnBranch("fix/login")


async def test_packed_references_change_nothing(checkout, files_only):
    git(checkout, "pack-refs", "--all", "--prune")

    assert await files_only.read_worktree(str(checkout)) == FIX


async def test_a_branch_without_a_commit_is_a_branch(tmp_path, files_only):
    git(tmp_path, "init", "-q", "-b", "unborn")

    assert await files_only.read_worktree(str(tmp_path)) == OnBranch("unborn")


async def test_each_linked_worktree_has_a_branch_of_its_own(
    checkout, tmp_path, files_only
):
    git(checkout, "worktree", "add", "-q", "-b", "more", str(tmp_path / "more"))

    readings = await files_only.read_worktrees(
        [str(checkout), str(tmp_path / "more"), str(tmp_path / "none")]
    )

    assert readings == {
        str(checkout): FIX,
        str(tmp_path / "more"): OnBranch("more"),
        str(tmp_path / "none"): UnknownBranch("there is no checkout in this folder"),
    }


async def test_a_submodule_behind_a_symbolic_link_is_read(
    checkout, tmp_path, files_only
):
    inner = make_checkout(tmp_path / "inner")
    git(
        checkout,
        *("-c", "protocol.file.allow=always"),
        *("submodule", "add", "-q", "--", str(inner), "deep/inner"),
    )
    (tmp_path / "link").symlink_to(checkout / "deep" / "inner")

    assert await files_only.read_worktree(str(tmp_path / "link")) == FIX


async def test_a_detached_head_is_unknown(checkout, files_only):
    git(checkout, "checkout", "-q", "--detach")

    assert await files_only.read_worktree(str(checkout)) == DETACHED


async def test_a_rebase_under_way_is_unknown(checkout, files_only):
    for branch, text in (("fix", "one"), ("other", "two")):
        git(checkout, "checkout", "-q", "-B", branch, "HEAD~0")
        (checkout / "file").write_text(text)
        git(checkout, "add", "file")
        git(checkout, "commit", "-q", "-m", text)
        git(checkout, "checkout", "-q", "fix~1")
    git(checkout, "checkout", "-q", "other")
    git(checkout, "rebase", "fix", may_fail=True)

    assert await files_only.read_worktree(str(checkout)) == UnknownBranch(
        "a rebase is under way"
    )

    git(checkout, "rebase", "--abort")

    assert await files_only.read_worktree(str(checkout)) == OnBranch("other")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("rebase-apply", "a rebase or a series of patches is under way"),
        ("BISECT_LOG", "a bisection is under way"),
    ],
)
async def test_other_work_under_way_is_unknown(checkout, files_only, name, reason):
    (checkout / ".git" / name).mkdir()

    assert await files_only.read_worktree(str(checkout)) == UnknownBranch(reason)


@pytest.mark.parametrize("default_branch", ["", "main", "fix"])
async def test_only_the_given_default_branch_is_unknown(
    checkout, files_only, default_branch
):
    reading = await files_only.read_worktree(
        str(checkout), default_branch=default_branch
    )

    is_default = default_branch == "fix"
    assert reading == (
        UnknownBranch("the default branch is checked out") if is_default else FIX
    )


@pytest.mark.parametrize(
    ("content", "reading"),
    [
        pytest.param(b"ref: refs/heads/fix", FIX, id="no end of line"),
        pytest.param("ref: refs/heads/größe\n".encode(), OnBranch("größe"), id="utf-8"),
        pytest.param(b"ref: refs/tags/v1\n", NOT_A_BRANCH, id="a tag"),
        pytest.param(b"ref: refs/heads/\n", NOT_A_BRANCH, id="no name"),
        pytest.param(b"ref: refs/heads/a\0b\n", NOT_A_BRANCH, id="nul"),
        pytest.param(b"ref: refs/heads/a\nb\n", NOT_A_BRANCH, id="two lines"),
        pytest.param(b"ref: refs/heads/../../x\n", NOT_A_BRANCH, id="climbs"),
        pytest.param(b"ref: refs/heads/-x\n", NOT_A_BRANCH, id="an option"),
        pytest.param(b"ref: refs/heads/a.lock\n", NOT_A_BRANCH, id="a lock"),
        pytest.param(
            b"ref: refs/heads/\xff\n",
            UnknownBranch("the name of the branch is not UTF-8"),
            id="not utf-8",
        ),
        pytest.param(b"a" * 40 + b"\n", DETACHED, id="sha-1"),
        pytest.param(b"a" * 64 + b"\n", DETACHED, id="sha-256"),
        pytest.param(b"", UnknownBranch("HEAD makes no sense"), id="empty"),
        pytest.param(
            b"ref: refs/heads/" + b"a" * 10_000_000,
            UnknownBranch("cannot be read: larger than it can be"),
            id="huge",
        ),
    ],
)
async def test_whatever_stands_in_head_is_judged(
    checkout, files_only, content, reading
):
    set_head(checkout, content)

    assert await files_only.read_worktree(str(checkout)) == reading


@pytest.mark.parametrize(
    ("target", "reading"),
    [
        ("refs/heads/old", OnBranch("old")),
        ("HEAD", NOT_A_BRANCH),
        (
            os.fsdecode(b"refs/heads/\xff"),
            UnknownBranch("the name of the branch is not UTF-8"),
        ),
    ],
)
async def test_a_head_that_is_a_symbolic_link_names_its_branch(
    checkout, files_only, target, reading
):
    (checkout / ".git" / "HEAD").unlink()
    (checkout / ".git" / "HEAD").symlink_to(target)

    assert await files_only.read_worktree(str(checkout)) == reading


@pytest.mark.parametrize("name", ["HEAD", "config", "commondir"])
async def test_a_pipe_in_place_of_a_file_never_blocks(checkout, files_only, name):
    path = checkout / ".git" / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)

    assert await files_only.read_worktree(str(checkout)) == UnknownBranch(
        "cannot be read: not a regular file"
    )


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"gitdir: \n", id="names nothing"),
        pytest.param(b"nonsense\n", id="no prefix"),
        pytest.param(b"gitdir: a\0b\n", id="nul"),
    ],
)
async def test_a_git_file_that_names_no_folder_is_unknown(
    tmp_path, files_only, content
):
    (tmp_path / ".git").write_bytes(content)

    assert await files_only.read_worktree(str(tmp_path)) == UnknownBranch(
        "cannot be read: names no folder"
    )


async def test_a_worktree_whose_repository_is_gone_is_unknown(
    checkout, tmp_path, files_only
):
    git(checkout, "worktree", "add", "-q", str(tmp_path / "more"))
    shutil.rmtree(checkout)

    assert await files_only.read_worktree(str(tmp_path / "more")) == UnknownBranch(
        "cannot be read: No such file or directory"
    )


async def test_a_loop_of_symbolic_links_is_unknown(tmp_path, files_only):
    (tmp_path / ".git").symlink_to(tmp_path / ".git")

    reading = await files_only.read_worktree(str(tmp_path))

    assert reading == UnknownBranch("cannot be read: Too many levels of symbolic links")


async def test_a_path_that_no_file_can_have_is_unknown(files_only):
    assert await files_only.read_worktree("/a\0b") == UnknownBranch(
        "cannot be read: ValueError"
    )


def describe_remotes(folder, *settings):
    for setting in settings:
        git(folder, "config", *setting)


FORK = ("remote.me.url", "git@github.com:me/hello.git")
BASE = ("remote.origin.url", "https://github.com/octo/hello")


@pytest.mark.parametrize(
    ("settings", "head_repository"),
    [
        pytest.param([], "", id="no remote"),
        pytest.param([BASE], "octo/hello", id="only one"),
        pytest.param([BASE, FORK], "octo/hello", id="origin"),
        pytest.param([FORK, ("branch.fix.remote", "me")], "me/hello", id="upstream"),
        pytest.param(
            [BASE, FORK, ("branch.fix.remote", "origin"), ("remote.pushDefault", "me")],
            "me/hello",
            id="push default",
        ),
        pytest.param(
            [
                BASE,
                FORK,
                ("remote.pushDefault", "origin"),
                ("branch.fix.pushRemote", "me"),
            ],
            "me/hello",
            id="push remote of the branch",
        ),
        pytest.param(
            [BASE, ("remote.origin.pushurl", "git@github.com:me/hello")],
            "me/hello",
            id="push url",
        ),
        pytest.param(
            [BASE, ("branch.fix.pushRemote", "https://github.com/you/hello.git")],
            "you/hello",
            id="a url in place of a remote",
        ),
        pytest.param([BASE, ("branch.fix.remote", ".")], "octo/hello", id="local"),
        pytest.param(
            [("remote.a.url", "/srv/a"), ("remote.b.url", "/srv/b")], "", id="folders"
        ),
        pytest.param(
            [("remote.origin.url", "git@gitlab.com:octo/hello")], "", id="elsewhere"
        ),
    ],
)
async def test_the_head_repository_is_where_the_branch_is_pushed(
    checkout, files_only, reader, settings, head_repository
):
    describe_remotes(checkout, *settings)

    expected = OnBranch("fix", head_repository)
    assert await files_only.read_worktree(str(checkout)) == expected
    assert await reader.read_worktree(str(checkout)) == expected


async def test_another_host_has_repositories_of_its_own(checkout):
    describe_remotes(checkout, ("remote.origin.url", "git@git.example.org:octo/hello"))
    reader = WorktreeReader(Git(ENVIRON, program=NO_GIT), host="GIT.example.org")

    assert await reader.read_worktree(str(checkout)) == OnBranch("fix", "octo/hello")


async def test_settings_in_another_file_are_read_by_git(checkout, reader):
    (checkout / ".git" / "more").write_text('[remote "o"]\nurl = git@github.com:o/h\n')
    describe_remotes(checkout, ("include.path", "more"))

    assert await reader.read_worktree(str(checkout)) == OnBranch("fix", "o/h")


async def test_an_abbreviated_url_is_expanded_by_git(checkout, reader):
    describe_remotes(
        checkout,
        ("remote.origin.url", "gh:octo/hello"),
        ("url.https://github.com/.insteadOf", "gh:"),
    )

    assert await reader.read_worktree(str(checkout)) == OnBranch("fix", "octo/hello")


async def test_the_persons_own_push_default_counts_among_several_remotes(
    checkout, tmp_path
):
    person = tmp_path / "gitconfig"
    person.write_text("[remote]\npushDefault = me\n")
    describe_remotes(checkout, BASE, FORK)
    reader = WorktreeReader(Git({**ENVIRON, "GIT_CONFIG_GLOBAL": str(person)}))

    assert await reader.read_worktree(str(checkout)) == OnBranch("fix", "me/hello")


async def test_git_is_asked_once_while_nothing_changes(checkout, tmp_path):
    calls = tmp_path / "calls"
    program = make_program(tmp_path / "git", f'echo . >> "{calls}"', 'exec git "$@"')
    reader = WorktreeReader(Git(ENVIRON, program=program))
    describe_remotes(checkout, BASE, FORK)

    for _ in range(3):
        await reader.read_worktree(str(checkout))
    assert calls.read_text().count(".") == 1

    describe_remotes(checkout, ("remote.pushDefault", "me"))
    assert await reader.read_worktree(str(checkout)) == OnBranch("fix", "me/hello")
    assert calls.read_text().count(".") == 1

    describe_remotes(checkout, ("include.path", "/dev/null"))
    reader.forget()
    await reader.read_worktree(str(checkout))
    assert calls.read_text().count(".") == 2


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        pytest.param("exit 128", "git config failed (128)", id="fails"),
        pytest.param(
            "exit 0", "git does not read this repository's settings", id="distrusts"
        ),
    ],
)
async def test_a_git_that_does_not_answer_makes_the_branch_unknown(
    checkout, tmp_path, line, reason
):
    describe_remotes(checkout, ("include.path", "/dev/null"))
    program = make_program(tmp_path / "git", line)
    reader = WorktreeReader(Git(ENVIRON, program=program))

    assert await reader.read_worktree(str(checkout)) == UnknownBranch(reason)


async def test_an_url_that_git_cannot_expand_makes_the_branch_unknown(
    checkout, tmp_path
):
    describe_remotes(checkout, ("remote.origin.url", "gh:octo/hello"))
    program = make_program(tmp_path / "git", "exit 2")
    reader = WorktreeReader(Git(ENVIRON, program=program))

    assert await reader.read_worktree(str(checkout)) == UnknownBranch(
        "git remote failed (2)"
    )


@pytest.mark.parametrize(
    ("lines", "reading"),
    [
        pytest.param(["echo refs/heads/fix"], FIX, id="a branch"),
        pytest.param(["exit 1"], DETACHED, id="detached"),
        pytest.param(
            ["exit 128"], UnknownBranch("git symbolic-ref failed (128)"), id="fails"
        ),
        pytest.param(
            ["echo refs/heads/.invalid"],
            UnknownBranch("git names no branch"),
            id="says the same",
        ),
    ],
)
async def test_references_in_tables_are_read_by_git(checkout, tmp_path, lines, reading):
    set_head(checkout, b"ref: refs/heads/.invalid\n")
    reader = WorktreeReader(
        Git(ENVIRON, program=make_program(tmp_path / "git", *lines))
    )

    assert await reader.read_worktree(str(checkout)) == reading


async def test_tables_are_asked_again_only_when_they_changed(checkout, tmp_path):
    set_head(checkout, b"ref: refs/heads/.invalid\n")
    tables = checkout / ".git" / "reftable" / "tables.list"
    tables.parent.mkdir()
    tables.write_text("one")
    answer = tmp_path / "answer"
    answer.write_text("refs/heads/fix\n")
    reader = WorktreeReader(
        Git(ENVIRON, program=make_program(tmp_path / "git", f'cat "{answer}"'))
    )
    assert await reader.read_worktree(str(checkout)) == FIX

    answer.write_text("refs/heads/more\n")
    assert await reader.read_worktree(str(checkout)) == FIX

    tables.write_text("one, two")
    assert await reader.read_worktree(str(checkout)) == OnBranch("more")


async def test_tables_without_a_git_program_are_unknown(checkout, files_only):
    set_head(checkout, b"ref: refs/heads/.invalid\n")

    assert await files_only.read_worktree(str(checkout)) == UnknownBranch(
        "git is not installed"
    )


async def test_a_repository_with_tables_is_read_where_git_knows_them(tmp_path, reader):
    git(
        tmp_path,
        *("init", "-q", "--ref-format=reftable", "-b", "fix"),
        may_fail=True,
    )
    if not (tmp_path / ".git").exists():
        pytest.skip("this git has no reftable")

    assert await reader.read_worktree(str(tmp_path)) == FIX
