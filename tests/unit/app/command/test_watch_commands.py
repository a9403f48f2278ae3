"""Adding and removing watches as a person does."""

import pytest

from prwatch.app.command.references import (
    NamedBranch,
    NamedPullRequest,
    NamedRepository,
    parse_reference,
)
from prwatch.app.command.task_commands import NewTask, add_task
from prwatch.app.command.task_listing import list_tasks
from prwatch.app.command.watch_commands import add_adoption, add_watch, remove_watch
from prwatch.app.command.watch_listing import find_watches, list_watches
from prwatch.errors import ConfigError, PrwatchError, WatchNotFound
from tests.benches import ONE, TWO, get_pull_request, make_stage

PULL_REQUEST = NamedPullRequest(owner="octo", name="hello", number=12)
BRANCH = NamedBranch(owner="octo", name="hello", branch="fix")
REPOSITORY = NamedRepository(owner="octo", name="hello")
CONFIGURED = f"""{ONE}
[[workspace.watch]]
repository = "octo/hello"
pull_request = 12

[[workspace.watch]]
repository = "octo/hello"
all = true
"""


@pytest.fixture
def stage(tmp_path):
    return make_stage(tmp_path)


async def list_states(bench, **options):
    listed = await list_watches(bench, **options)
    return [(row.reference, row.state, row.task) for row in listed.watches]


async def test_a_pull_request_is_watched_at_once_and_read_in_the_next_cycle(stage):
    async with stage.bench() as bench:
        added = await add_watch(bench, PULL_REQUEST)
        before = await list_states(bench)
    await stage.cycle()
    async with stage.bench() as bench:
        after = await list_states(bench)

    assert (added.reference, added.workspace, added.task, added.is_new, added.note) == (
        "octo/hello#12",
        "acme",
        "octo/hello#12",
        True,
        "",
    )
    assert before == [("octo/hello#12", "unread", "octo/hello#12")]
    assert after == [("octo/hello#12", "OPEN", "octo/hello#12")]


async def test_adding_it_again_changes_nothing(stage):
    async with stage.bench() as bench:
        first = await add_watch(bench, PULL_REQUEST)
        written = bench.database.rows_written
        second = await add_watch(bench, PULL_REQUEST)

        assert (second.is_new, second.rows) == (False, first.rows)
        assert bench.database.rows_written == written


@pytest.mark.parametrize(
    ("named", "task"),
    [
        pytest.param(BRANCH, "octo/hello@fix", id="branch"),
        pytest.param(
            NamedBranch(
                owner="Octo", name="Hello", branch="Fix", head_repository="Me/Hello"
            ),
            "octo/hello@me/hello:Fix",
            id="fork",
        ),
    ],
)
async def test_a_branch_is_a_task_of_the_name_that_an_entry_gives_it(
    stage, named, task
):
    async with stage.bench() as bench:
        added = await add_watch(bench, named)

    assert [(row.task, row.state, row.branch) for row in added.rows] == [
        (task, "searching", named.branch)
    ]


async def test_a_branch_is_found_in_the_next_cycle(stage):
    async with stage.bench() as bench:
        await add_watch(bench, BRANCH)
    await stage.cycle()
    async with stage.bench() as bench:
        rows = await find_watches(bench, BRANCH)

    assert [(row.reference, row.state, row.branch) for row in rows] == [
        ("octo/hello#12", "OPEN", "fix")
    ]


async def test_a_default_branch_is_not_watched_and_that_is_said(stage):
    async with stage.bench() as bench:
        named = NamedBranch(owner="octo", name="hello", branch="main")
        added = await add_watch(bench, named)

    assert added.rows == ()
    assert added.note.startswith("a default branch is not watched")


async def test_a_watch_may_be_for_a_task_of_its_own(stage):
    async with stage.bench() as bench:
        await add_watch(bench, PULL_REQUEST, task="T-1")
        await add_watch(bench, BRANCH, task="T-1")
        states = await list_states(bench)

    assert states == [
        ("octo/hello@fix", "searching", "T-1"),
        ("octo/hello#12", "unread", "T-1"),
    ]


async def test_a_merged_pull_request_is_not_watched_and_that_is_said(stage):
    async with stage.bench() as bench:
        await add_watch(bench, PULL_REQUEST)
    await stage.cycle()
    stage.world.merge(get_pull_request(stage.world))
    await stage.cycle()
    async with stage.bench() as bench:
        added = await add_watch(bench, PULL_REQUEST)

    assert (added.rows, added.note) == ((), "it is MERGED and so not watched any more")


async def test_one_of_several_workspaces_must_be_named(tmp_path):
    stage = make_stage(tmp_path, TWO)
    on_corp = parse_reference("https://github.corp.example/octo/hello/pull/1")
    async with stage.bench() as bench:
        with pytest.raises(ConfigError, match="--workspace: acme, corp"):
            await add_watch(bench, PULL_REQUEST)
        named = await add_watch(bench, PULL_REQUEST, workspace="acme")
        by_host = await add_watch(bench, on_corp)
        with pytest.raises(ConfigError, match="no workspace acme on github"):
            await add_watch(bench, on_corp, workspace="acme")

    assert (named.workspace, by_host.workspace) == ("acme", "corp")


async def test_every_open_pull_request_of_a_repository_is_adopted(stage):
    stage.world.open_pull_request("octo/hello", branch="other", number=13)
    async with stage.bench() as bench:
        first = await add_adoption(bench, REPOSITORY)
        second = await add_adoption(bench, REPOSITORY)
    await stage.cycle()
    async with stage.bench() as bench:
        listed = await list_watches(bench)

    assert (first.is_new, second.is_new) == (True, False)
    assert [row.reference for row in listed.adoptions] == ["octo/hello"]
    assert [row.reference for row in listed.watches] == [
        "octo/hello#12",
        "octo/hello#13",
    ]


async def test_a_repository_that_is_no_longer_watched_takes_its_tasks_with_it(stage):
    stage.world.open_pull_request("octo/hello", branch="other", number=13)
    async with stage.bench() as bench:
        await add_adoption(bench, REPOSITORY)
    await stage.cycle()
    async with stage.bench() as bench:
        await add_watch(bench, PULL_REQUEST)
        removed = await remove_watch(bench, REPOSITORY)
        states = await list_states(bench)

    assert removed.done == (
        "stopped adopting from octo/hello",
        "archived the task octo/hello#13",
    )
    assert states == [("octo/hello#12", "OPEN", "octo/hello#12")]


async def test_a_watch_of_its_own_is_removed_with_its_task(stage):
    async with stage.bench() as bench:
        await add_watch(bench, PULL_REQUEST)
        removed = await remove_watch(bench, PULL_REQUEST)
        states = await list_states(bench)
        tasks = await list_tasks(bench)

    assert removed.done == ("archived the task octo/hello#12",)
    assert (states, tasks) == ([], ())


async def test_what_is_removed_can_be_added_again(stage):
    async with stage.bench() as bench:
        await add_watch(bench, PULL_REQUEST)
    await stage.cycle()
    async with stage.bench() as bench:
        await remove_watch(bench, PULL_REQUEST)
        await add_watch(bench, PULL_REQUEST)
    report = await stage.cycle()

    assert dict(report.events_by_type) == {"GitHubTaskPRUpdated": 1}


async def test_a_task_with_more_work_only_loses_what_is_removed(stage):
    async with stage.bench() as bench:
        new = NewTask(id="T-1", repositories=(BRANCH,), session="S-1")
        await add_task(bench, new)
        await add_watch(bench, PULL_REQUEST, task="T-1")
        by_branch = await remove_watch(bench, BRANCH)
        by_number = await remove_watch(bench, PULL_REQUEST)
        states = await list_states(bench, is_all=True)
        tasks = await list_tasks(bench)

    assert by_branch.done == ("took octo/hello@fix from the task T-1",)
    assert by_number.done == ("detached octo/hello#12 from the task T-1",)
    assert states == []
    assert [task.id for task in tasks] == ["T-1"]


async def test_a_watch_is_removed_by_the_beginning_of_its_id(stage):
    async with stage.bench() as bench:
        added = await add_watch(bench, PULL_REQUEST)
        named = parse_reference(added.rows[0].id[:20])
        await remove_watch(bench, named)

        assert await list_states(bench) == []


async def test_an_id_that_begins_several_watches_is_refused(stage):
    async with stage.bench() as bench:
        await add_watch(bench, PULL_REQUEST)
        added = await add_watch(bench, BRANCH, task="T-1")
        named = parse_reference(added.rows[0].id[:4])

        with pytest.raises(WatchNotFound, match="2 watches have an id that begins"):
            await remove_watch(bench, named)


@pytest.mark.parametrize(
    "named",
    [
        pytest.param(PULL_REQUEST, id="pull request"),
        pytest.param(REPOSITORY, id="repository"),
    ],
)
async def test_what_the_configuration_asks_for_is_not_removed(tmp_path, named):
    stage = make_stage(tmp_path, CONFIGURED)
    await stage.cycle()
    async with stage.bench() as bench:
        before = await list_states(bench)
        with pytest.raises(PrwatchError, match="the configuration asks for"):
            await remove_watch(bench, named)

        assert await list_states(bench) == before


@pytest.mark.parametrize(
    "named",
    [
        pytest.param(PULL_REQUEST, id="pull request"),
        pytest.param(BRANCH, id="branch"),
        pytest.param(REPOSITORY, id="repository"),
    ],
)
async def test_what_is_not_watched_cannot_be_removed(stage, named):
    async with stage.bench() as bench:
        with pytest.raises(WatchNotFound):
            await remove_watch(bench, named)


async def test_an_adopted_pull_request_that_is_removed_stays_off(stage):
    async with stage.bench() as bench:
        await add_adoption(bench, REPOSITORY)
    await stage.cycle()
    async with stage.bench() as bench:
        await remove_watch(bench, PULL_REQUEST)
    await stage.cycle()
    async with stage.bench() as bench:
        states = await list_states(bench, is_all=True)

    assert states == [("octo/hello#12", "detached", "octo/hello#12")]
