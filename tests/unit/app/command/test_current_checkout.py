"""What the folder that a person stands in means."""

import pytest

from prwatch.app.command.current_checkout import find_checkout, find_current_branch
from prwatch.app.command.references import NamedBranch
from prwatch.errors import NotFound
from tests.checkouts import ENVIRON, git, make_checkout

UPSTREAM = "https://github.com/octo/hello"
FORK = "git@github.com:me/hello.git"


async def find(folder, host="github.com"):
    return await find_current_branch(folder, host, ENVIRON)


@pytest.mark.parametrize(
    ("remotes", "head"),
    [
        pytest.param({"origin": UPSTREAM}, "", id="own branch"),
        pytest.param({"origin": FORK, "upstream": UPSTREAM}, "me/hello", id="fork"),
    ],
)
async def test_the_branch_is_found_from_anywhere_inside(tmp_path, remotes, head):
    folder = make_checkout(tmp_path / "clone", remotes=remotes)
    (folder / "deep/inside").mkdir(parents=True)
    git(folder, "config", "branch.fix.remote", "origin")

    found = await find(folder / "deep/inside")

    assert found == NamedBranch(
        owner="octo", name="hello", branch="fix", head_repository=head
    )


async def test_no_checkout_no_remote_and_no_branch_are_told_apart(tmp_path):
    bare = make_checkout(tmp_path / "bare")
    detached = make_checkout(tmp_path / "detached", remotes={"origin": UPSTREAM})
    git(detached, "checkout", "-q", "--detach")

    with pytest.raises(NotFound, match="is not inside a git checkout"):
        await find(tmp_path)
    with pytest.raises(NotFound, match=r"no remote of .*bare is a repository on"):
        await find(bare)
    with pytest.raises(NotFound, match=r"detached is on no branch to watch: "):
        await find(detached)
    assert (await find_checkout(detached, "github.com", ENVIRON))[0] == str(detached)
