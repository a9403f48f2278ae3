"""Tasks as commands make and change them."""

import pytest

from prwatch.app.command.references import (
    NamedBranch,
    NamedPullRequest,
    NamedRepository,
)
from prwatch.app.command.task_commands import (
    NewTask,
    add_task,
    archive_task,
    detach_pull_request,
    end_session,
    link_pull_request,
    start_session,
    unarchive_task,
)
from prwatch.app.command.task_listing import list_tasks, show_task
from prwatch.app.command.watch_commands import add_adoption, add_watch
from prwatch.app.command.watch_listing import list_watches
from prwatch.errors import ConfigError, NotFound, PrwatchError, TaskNotFound
from tests.benches import ONE, TWO, get_pull_request, make_stage
from tests.checkouts import git, make_checkout

PULL_REQUEST = NamedPullRequest(owner="octo", name="hello", number=12)
FIX = NamedBranch(owner="octo", name="hello", branch="fix")
OTHER = NamedBranch(owner="octo", name="hello", branch="other")
CONFIGURED = f"""{ONE}
[[workspace.task]]
id = "T-9"
repositories = [{{ repository = "octo/hello", branch = "fix" }}]
"""


@pytest.fixture
def stage(tmp_path):
    return make_stage(tmp_path)


def tell(row):
    """Return what a task asks for and what stands for it, in short."""
    return (
        row.repositories,
        row.links,
        [(s.id, s.ended_at is None, s.checkouts) for s in row.sessions],
        [(w.reference, w.state) for w in row.watches],
    )


async def test_a_task_holds_all_that_it_was_given(stage):
    new = NewTask(
        id="T-1",
        title="Fix the login",
        repositories=(FIX, NamedRepository(owner="octo", name="other")),
        session="S-1",
        links=(NamedPullRequest(owner="octo", name="other", number=3),),
    )
    async with stage.bench() as bench:
        row = await add_task(bench, new)

    assert (row.id, row.title, row.workspace, row.origin.value) == (
        "T-1",
        "Fix the login",
        "acme",
        "command",
    )
    assert tell(row) == (
        ("octo/hello@fix", "octo/other"),
        ("octo/other#3",),
        [("S-1", True, ("octo/hello@fix",))],
        [("octo/hello@fix", "searching"), ("octo/other#3", "unread")],
    )


async def test_adding_to_a_task_takes_nothing_away(stage):
    async with stage.bench() as bench:
        await add_task(bench, NewTask(id="T-1", title="One", repositories=(FIX,)))
        row = await add_task(bench, NewTask(id="T-1", links=(PULL_REQUEST,)))

    assert (row.title, row.repositories, row.links) == (
        "One",
        ("octo/hello@fix",),
        ("octo/hello#12",),
    )


async def test_a_detached_pull_request_stays_off_until_it_is_linked_again(stage):
    async with stage.bench() as bench:
        await add_task(bench, NewTask(id="T-1", repositories=(FIX,)))
    await stage.cycle()
    async with stage.bench() as bench:
        await detach_pull_request(bench, "T-1", PULL_REQUEST)
    await stage.cycle()
    async with stage.bench() as bench:
        detached = await show_task(bench, "T-1")
        await link_pull_request(bench, "T-1", PULL_REQUEST)
    await stage.cycle()
    async with stage.bench() as bench:
        linked = await show_task(bench, "T-1")

    assert tell(detached)[3] == [
        ("octo/hello@fix", "searching"),
        ("octo/hello#12", "detached"),
    ]
    assert tell(linked)[3] == [("octo/hello#12", "OPEN")]


async def test_what_a_task_does_not_have_cannot_be_detached(stage):
    async with stage.bench() as bench:
        await add_task(bench, NewTask(id="T-1", repositories=(FIX,)))

        with pytest.raises(NotFound, match="has no pull request octo/hello#12"):
            await detach_pull_request(bench, "T-1", PULL_REQUEST)
        with pytest.raises(NotFound, match="has no pull request octo/none#12"):
            await detach_pull_request(
                bench, "T-1", NamedPullRequest(owner="octo", name="none", number=12)
            )


async def test_a_link_that_was_never_read_can_be_detached(stage):
    async with stage.bench() as bench:
        await add_task(bench, NewTask(id="T-1", links=(PULL_REQUEST,)))
        await detach_pull_request(bench, "T-1", PULL_REQUEST)
        row = await show_task(bench, "T-1")

    assert tell(row) == ((), (), [], [])


async def test_an_archived_task_watches_nothing_and_adopts_afresh_when_it_is_back(
    stage,
):
    async with stage.bench() as bench:
        await add_task(bench, NewTask(id="T-1", links=(PULL_REQUEST,)))
    await stage.cycle()
    async with stage.bench() as bench:
        archived = await archive_task(bench, "T-1")
        again = await archive_task(bench, "T-1")
        active = await list_tasks(bench)
        every = await list_tasks(bench, is_all=True)
        watches = await list_watches(bench)
        back = await unarchive_task(bench, "T-1")
        still = await unarchive_task(bench, "T-1")
    report = await stage.cycle()

    assert (archived, again, back, still) == (True, False, True, False)
    assert (active, watches.watches) == ((), ())
    assert [row.id for row in every] == ["T-1"]
    assert dict(report.events_by_type) == {"GitHubTaskPRUpdated": 1}


async def test_nothing_is_linked_to_an_archived_task(stage):
    async with stage.bench() as bench:
        await add_task(bench, NewTask(id="T-1"))
        await archive_task(bench, "T-1")

        with pytest.raises(PrwatchError, match="is archived") as refused:
            await link_pull_request(bench, "T-1", PULL_REQUEST)
        with pytest.raises(PrwatchError, match="is archived"):
            await start_session(bench, "T-1", "S-1")

    assert refused.value.hint == "`prwatch task unarchive T-1` takes it up again"


async def test_a_task_that_would_come_back_is_not_archived(tmp_path):
    stage = make_stage(tmp_path, CONFIGURED)
    await stage.cycle()
    async with stage.bench() as bench:
        await add_adoption(bench, NamedRepository(owner="octo", name="hello"))
        stage.world.open_pull_request("octo/hello", branch="b", number=13)
    await stage.cycle()
    async with stage.bench() as bench:
        with pytest.raises(PrwatchError, match="because the configuration asks for it"):
            await archive_task(bench, "T-9")
        with pytest.raises(PrwatchError, match="because its repository is watched"):
            await archive_task(bench, "octo/hello#13")


async def test_a_session_can_end_and_start_again(stage):
    async with stage.bench() as bench:
        await add_task(bench, NewTask(id="T-1"))
        first = await start_session(bench, "T-1", "S-1", checkout=FIX)
        stage.clock.advance(60)
        ended = await end_session(bench, "T-1", "S-1")
        again = await end_session(bench, "T-1", "S-1")
        after = await show_task(bench, "T-1")
        stage.clock.advance(60)
        second = await start_session(bench, "T-1", "S-1", checkout=FIX)

    assert tell(first) == (
        ("octo/hello",),
        (),
        [("S-1", True, ("octo/hello@fix",))],
        [("octo/hello@fix", "searching")],
    )
    assert (ended, again) == (True, False)
    assert tell(after)[2] == [("S-1", False, ("octo/hello@fix",))]
    assert tell(after)[3] == [("octo/hello@fix", "searching")]
    assert tell(second) == tell(first)
    assert second.sessions[0].started_at > first.sessions[0].started_at


async def test_a_second_branch_of_a_session_replaces_the_first(stage):
    async with stage.bench() as bench:
        await add_task(bench, NewTask(id="T-1"))
        await start_session(bench, "T-1", "S-1", checkout=FIX)
        row = await start_session(bench, "T-1", "S-1", checkout=OTHER)

    assert tell(row)[2:] == (
        [("S-1", True, ("octo/hello@other",))],
        [("octo/hello@other", "searching")],
    )


async def test_a_session_may_work_in_a_worktree(stage, tmp_path):
    remotes = {"origin": "https://github.com/octo/hello"}
    folder = make_checkout(tmp_path / "work", remotes=remotes)
    (folder / "inner").mkdir()
    async with stage.bench() as bench:
        await add_task(bench, NewTask(id="T-1"))
        row = await start_session(bench, "T-1", "S-1", checkout=folder / "inner")
        git(folder, "checkout", "-q", "-b", "other")
        await unarchive_task(bench, "T-1")
        moved = await show_task(bench, "T-1")

    assert tell(row)[2:] == (
        [("S-1", True, (f"octo/hello in {folder}",))],
        [("octo/hello@fix", "searching")],
    )
    assert tell(moved)[3] == [("octo/hello@other", "searching")]


async def test_a_folder_without_a_repository_of_the_host_is_refused(stage, tmp_path):
    elsewhere = make_checkout(
        tmp_path / "elsewhere", remotes={"origin": "https://git.example/octo/hello"}
    )
    async with stage.bench() as bench:
        await add_task(bench, NewTask(id="T-1"))

        with pytest.raises(NotFound, match="is not inside a git checkout"):
            await start_session(bench, "T-1", "S-1", checkout=tmp_path)
        with pytest.raises(NotFound, match=r"no remote .* is a repository"):
            await start_session(bench, "T-1", "S-1", checkout=elsewhere)


async def test_what_is_not_there_is_said(stage):
    async with stage.bench() as bench:
        await add_task(bench, NewTask(id="T-1"))

        with pytest.raises(TaskNotFound, match="there is no task T-2"):
            await show_task(bench, "T-2")
        with pytest.raises(NotFound, match="the task T-1 has no session S-1"):
            await end_session(bench, "T-1", "S-1")
        with pytest.raises(NotFound, match="there is no workspace nowhere"):
            await show_task(bench, "T-1", workspace="nowhere")


async def test_a_task_that_two_workspaces_have_must_be_chosen(tmp_path):
    stage = make_stage(tmp_path, TWO)
    async with stage.bench() as bench:
        await add_task(bench, NewTask(id="T-1"), workspace="acme")
        await add_task(bench, NewTask(id="T-1"), workspace="corp")

        with pytest.raises(TaskNotFound, match="several workspaces have a task T-1"):
            await show_task(bench, "T-1")
        row = await show_task(bench, "T-1", workspace="corp")

    assert row.workspace == "corp"


async def test_a_closed_pull_request_of_a_task_is_still_shown(stage):
    async with stage.bench() as bench:
        await add_watch(bench, PULL_REQUEST, task="T-1")
    await stage.cycle()
    stage.world.merge(get_pull_request(stage.world))
    await stage.cycle()
    async with stage.bench() as bench:
        row = await show_task(bench, "T-1")

    assert tell(row)[3] == [("octo/hello#12", "MERGED")]


async def test_no_review_task_is_made_by_hand(stage):
    name = "review:octo/hello#12"
    async with stage.bench() as bench:
        with pytest.raises(ConfigError, match="do not begin with review:"):
            await add_task(bench, NewTask(id=name, title="Mine"))
        with pytest.raises(ConfigError, match="do not begin with review:"):
            await add_watch(bench, FIX, task=name)
        rows = await list_tasks(bench, is_all=True)

    assert rows == ()
