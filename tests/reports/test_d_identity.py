"""Reports about which pull request belongs to a branch, and what keeps its identity."""

import pytest

from tests.checkouts import git, make_checkout
from tests.product import ALL, BRANCH, ONE, list_changes, open_product
from tests.reports.acts import check
from tests.reports.altered_github import AlteredGitHub
from tests.reports.asked_github import AskedGitHub
from tests.reports.stage import (
    BRANCH_OF_FORK,
    PATHS,
    configure,
    make_stage,
    name_fields,
)

FOUND = (("associated", None, 12),)
MERGED = (("state", "OPEN", "MERGED"),)


def add_forks(world, count, *, is_merged=False):
    """Open that many pull requests from other forks, on a branch of the same name."""
    opened = []
    for number in range(count):
        world.add_repository(f"fork{number}/hello", fork_of="octo/hello")
        one = world.open_pull_request(
            "octo/hello", branch="fix-greeting", head_repository=f"fork{number}/hello"
        )
        if is_merged:
            world.merge(one)
        opened.append(one)
    return opened


# pingdotgg/t3code#3900, learningequality/kolibri#14719, openchamber/openchamber#2929


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    ("open_count", "merged_count"),
    [
        pytest.param(2, 0, id="D2 two others are newer"),
        pytest.param(19, 0, id="D2 nineteen others are newer"),
        pytest.param(25, 0, id="D2 it stands on the second page"),
        pytest.param(0, 0, id="D3 the fork alone"),
        pytest.param(1, 0, id="D3 another fork has the branch"),
        pytest.param(0, 1, id="D6 another fork's was merged"),
        pytest.param(0, 25, id="D6 twenty-five others were merged"),
        pytest.param(3, 3, id="D6 some are open and some merged"),
    ],
)
async def test_ours_is_found_among_all_with_that_branch(
    tmp_path, open_count, merged_count, read_path
):
    world, _ = make_stage()
    add_forks(world, merged_count, is_merged=True)
    for number in range(open_count):
        world.add_repository(f"other{number}/hello", fork_of="octo/hello")
        world.open_pull_request(
            "octo/hello", branch="fix-greeting", head_repository=f"other{number}/hello"
        )
    options = {"watches": [BRANCH_OF_FORK], **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        told = await product.cycles(3)

    assert list_changes(told) == [FOUND]
    assert product.report.failures == []


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("count", [1, 3])
async def test_d2_a_branch_of_the_repository_is_none_of_a_forks(
    tmp_path, count, read_path
):
    world, _ = make_stage()
    add_forks(world, count)
    options = {"watches": [BRANCH], **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        told = await product.cycles(3)

    assert told == []


# squalrus/merge-bot#92


@pytest.mark.parametrize("conclusion", ["SUCCESS", "FAILURE"])
async def test_d4_the_checks_of_a_fork_are_asked_by_commit(tmp_path, conclusion):
    world, one = make_stage()
    check(conclusion=conclusion)(world, one)
    world.clock.advance(60)
    github = AlteredGitHub(world)
    options = {"transport": github, **configure("rest")}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycle()
        (row,) = product.ask("SELECT checks FROM task_pull_requests")

    paths = [each.path for each in github.asked if "/commits/" in each.path]
    assert row["checks"] == conclusion.lower()
    assert paths
    assert all(one.head.oid in path for path in paths)


# pingdotgg/t3code#1966


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("branch", ["main", "trunk"])
@pytest.mark.parametrize("state", ["MERGED", "OPEN"])
async def test_d7_a_worktree_on_the_default_branch_is_nobodys_pull_request(
    tmp_path, branch, state, read_path
):
    world, _ = make_stage()
    world.get_repository("octo/hello").default_branch = branch
    reverse = world.open_pull_request("octo/hello", branch=branch, base="release")
    if state == "MERGED":
        world.merge(reverse)
    folder = make_checkout(
        tmp_path / "code" / "hello",
        remotes={"origin": "https://github.com/octo/hello.git"},
    )
    git(folder, "checkout", "-q", "-b", branch)
    top = f'[[checkout]]\nroots = ["{tmp_path / "code"}"]'
    options = {"watches": [], **configure(read_path)}
    async with open_product(tmp_path, world, tasks=top, **options) as product:
        told = await product.cycles(5)
        rows = product.ask("SELECT pr_number FROM pr_watches WHERE pr_number != 0")

    assert (told, rows) == ([], [])


# Intrect-io/OpenSwarm#531 (D8), Untrivial-ai/agent-orchestrator#2879 (D19)


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("times", [pytest.param(2, id="D8"), pytest.param(4, id="D19")])
@pytest.mark.parametrize("end", ["merge", "close"])
async def test_a_branch_that_is_used_again_moves_to_its_newest_pull_request(
    tmp_path, times, end, read_path
):
    world, one = make_stage()
    told, numbers = [], [12]
    options = {"watches": [BRANCH_OF_FORK], **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        told += await product.cycle()
        for _ in range(times - 1):
            getattr(world, end)(one)
            told += await product.cycles(3)
            one = world.open_pull_request(
                "octo/hello", branch="fix-greeting", head_repository="ada/hello"
            )
            numbers.append(one.number)
            told += await product.cycles(3)
        kept = product.ask("SELECT pr_number FROM task_pull_requests ORDER BY 1")
        watched = product.ask("SELECT pr_number FROM pr_watches")
        tasks = product.ask("SELECT id FROM tasks WHERE archived_at IS NULL")

    final = "MERGED" if end == "merge" else "CLOSED"
    expected = [(("associated", None, 12),)]
    for number in numbers[1:]:
        expected += [(("state", "OPEN", final),), (("associated", None, number),)]
    assert list_changes(told) == expected
    assert [row["pr_number"] for row in kept] == numbers
    assert [row["pr_number"] for row in watched] == numbers[-1:]
    assert len(tasks) == 1


async def test_d8_the_next_one_that_was_opened_before_the_look_is_found_too(tmp_path):
    world, one = make_stage()
    async with open_product(tmp_path, world, watches=[BRANCH_OF_FORK]) as product:
        await product.cycle()
        world.merge(one)
        world.clock.advance(5)
        second = world.open_pull_request(
            "octo/hello", branch="fix-greeting", head_repository="ada/hello"
        )
        told = await product.cycles(3)

    assert list_changes(told) == [MERGED, (("associated", None, second.number),)]


async def test_d19_one_that_opened_and_merged_between_two_looks_is_told(tmp_path):
    world, one = make_stage()
    async with open_product(tmp_path, world, watches=[BRANCH_OF_FORK]) as product:
        await product.cycle()
        world.merge(one)
        await product.cycles(2)
        world.clock.advance(5)
        second = world.open_pull_request(
            "octo/hello", branch="fix-greeting", head_repository="ada/hello"
        )
        world.clock.advance(5)
        world.merge(second)
        told = await product.cycles(3)

    assert list_changes(told) == [
        (("associated", None, second.number), ("state", None, "MERGED"))
    ]


# Untrivial-ai/agent-orchestrator#4089, NEAR-DevHub/race-of-sloths#205

NEW_NAMES = ["octo/greeting", "mona/hello", "mona/greeting", "octo/HELLO"]


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    "watch", [ONE, ALL, BRANCH_OF_FORK], ids=["one", "all", "branch"]
)
@pytest.mark.parametrize("name", NEW_NAMES)
async def test_d10_a_renamed_repository_is_the_same_one(
    tmp_path, name, watch, read_path
):
    world, one = make_stage()
    options = {"watches": [watch], **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycle()
        before = product.ask("SELECT id, repository_id FROM pr_watches WHERE pr_number")
        world.rename_repository("octo/hello", name)
        renamed = await product.cycles(3)
        after = product.ask("SELECT id, repository_id FROM pr_watches WHERE pr_number")
        (stored,) = product.ask(
            "SELECT owner, name FROM repositories WHERE id = ?",
            before[0]["repository_id"],
        )
        world.mark_draft(one)
        told = await product.cycles(2)

    assert renamed == []
    assert after == before
    assert f"{stored['owner']}/{stored['name']}" == name
    assert name_fields(list_changes(told)) == [("is_draft",)]
    assert {e["data"]["repository"]["name"] for e in told} == {name.split("/")[1]}


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize("kind", ["pull_request = 12", "all = true"])
@pytest.mark.parametrize("is_known", [True, False], ids=["known before", "at first"])
async def test_d11_both_names_of_a_repository_are_one_row(
    tmp_path, is_known, kind, read_path
):
    world, one = make_stage()
    names = ("octo/hello", "octo/greeting")
    watches = [f'repository = "{name}"\n{kind}' for name in names]
    options = configure(read_path)
    if is_known:
        async with open_product(
            tmp_path, world, watches=watches[:1], **options
        ) as product:
            await product.cycle()
    world.rename_repository("octo/hello", "octo/greeting")
    github = AskedGitHub(world)
    options |= {"watches": watches, "transport": github}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycles(2)
        github.take()
        await product.cycle()
        rows = product.ask("SELECT owner, name FROM repositories")
        asked = str(github.take())
        world.mark_draft(one)
        later = await product.cycles(3)

    assert rows == [{"owner": "octo", "name": "greeting"}]
    assert asked
    assert ('"hello"' in asked, "octo/hello" in asked) == (False, False)
    assert set(list_changes(later)) == {(("is_draft", False, True),)}
    assert product.report.failures == []


# Untrivial-ai/agent-orchestrator#2509


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    "watch", [ONE, ALL, BRANCH_OF_FORK], ids=["one", "all", "branch"]
)
@pytest.mark.parametrize("is_renamed", [False, True], ids=["as it was", "renamed"])
async def test_d14_a_restart_asks_what_was_asked_before(
    tmp_path, is_renamed, watch, read_path
):
    world, _ = make_stage()
    github = AskedGitHub(world)
    options = {"watches": [watch], "transport": github, **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycle()
        if is_renamed:
            world.rename_repository("octo/hello", "octo/greeting")
            await product.cycles(2)
        github.take()
        await product.cycle()
        asked = github.take()
    async with open_product(tmp_path, world, **options) as product:
        told = await product.cycle()
        at_once = github.take()
        told += await product.cycle()
        again = github.take()

    # What no start may forget; a first look may read one thing more in full.
    assert again == asked <= at_once
    assert (told, product.report.failures) == ([], [])
    assert product.report.rows_written == 0
    assert {each.status for each in world.requests.entries} <= {200, 301, 304}


# gyrinx-app/gyrinx#2315


@pytest.mark.parametrize("read_path", PATHS)
@pytest.mark.parametrize(
    "watch", [ONE, ALL, BRANCH_OF_FORK], ids=["one", "all", "branch"]
)
async def test_d18_a_base_that_goes_is_the_reason_and_the_task_goes_on(
    tmp_path, watch, read_path
):
    world, one = make_stage()
    options = {"watches": [watch], **configure(read_path)}
    async with open_product(tmp_path, world, **options) as product:
        await product.cycle()
        world.delete_branch(one.repository, one.base_ref_name)
        told = await product.cycles(3)
        tasks = product.ask("SELECT archived_at FROM tasks")

    changes = [e["data"]["changes"] for e in told if e["type"] == "GitHubPRFeedback"]
    closed = {"field": "state", "previous": "OPEN", "current": "CLOSED"}
    # REST does not say whether the base is there.
    reason = {"reason": "base_deleted"} if read_path == "graphql" else {}
    assert changes == [[closed | reason]]
    assert tasks == [{"archived_at": None}]


@pytest.mark.parametrize("read_path", PATHS)
async def test_d18_a_plain_close_has_no_such_reason(tmp_path, read_path):
    world, one = make_stage()
    async with open_product(tmp_path, world, **configure(read_path)) as product:
        await product.cycle()
        world.close(one)
        told = await product.cycles(2)

    assert all("reason" not in c for e in told for c in e["data"]["changes"])
