"""Review watches as commands make, change and search them."""

import datetime as dt
from dataclasses import replace

import pytest

from prwatch.app.command.review.commands import (
    add_review,
    edit_review,
    poll_reviews,
    remove_review,
)
from prwatch.app.command.review.listing import (
    AUDIT_LIMIT,
    list_reviews,
    show_review,
)
from prwatch.app.command.task_attention import note_person, wait_for
from prwatch.app.command.task_commands import archive_task
from prwatch.domain.review_watch import CleanupPolicy, ReviewScope, ReviewSettings
from prwatch.errors import (
    ConfigError,
    NotFound,
    PrwatchError,
    StoreConflict,
    TaskNotFound,
)
from prwatch.simulator.faults import Fault
from prwatch.store import review_audit, review_watches
from tests.benches import ONE, TWO, get_pull_request, make_stage
from tests.contract.store_review_audit import make_audit

DECLARED = f"""{ONE}
[[workspace.review]]
name = "mine"
"""
APP = """
[[workspace]]
name = "acme"
app = { id = 1, installation = 2, private_key_env = "ACME_TOKEN" }
"""
TASK = "review:octo/hello#12"


@pytest.fixture
def stage(tmp_path):
    stage = make_stage(tmp_path)
    stage.world.request_review(get_pull_request(stage.world), "octocat")
    return stage


async def test_a_review_watch_is_made_searched_and_shown(stage):
    async with stage.bench() as bench:
        added = await add_review(bench, "mine", ReviewSettings())
        found = await poll_reviews(bench, stage.loaded, "mine")
        row = await show_review(bench, "mine")

    assert (added.state, added.tasks) == ("new", ())
    assert found.failures == ()
    assert found.watches == (
        {
            "workspace": "acme",
            "name": "mine",
            "hits": 1,
            "created": 1,
            "joined": 0,
            "ended": 0,
            "unasked": 0,
            "cleaned": 0,
            "left": 0,
            "unread": 0,
            "refused": 0,
            "is_complete": True,
            "incomplete_reason": "",
            "problems": [],
        },
    )
    assert row.state == "good"
    assert [(t.id, t.reference, t.title, t.state) for t in row.tasks] == [
        (TASK, "octo/hello#12", "Fix it", "open")
    ]
    assert b"GitHubPRReviewRequested" in stage.surroundings.stdout.getvalue()


@pytest.mark.parametrize("name", ["mine", ""])
async def test_what_is_declared_is_searched_before_any_start(tmp_path, name):
    stage = make_stage(tmp_path, DECLARED)
    stage.world.request_review(get_pull_request(stage.world), "octocat")
    async with stage.bench() as bench:
        found = await poll_reviews(bench, stage.loaded, name)

    assert [each["created"] for each in found.watches] == [1]


async def test_a_cycle_searches_review_watches_too(stage):
    async with stage.bench() as bench:
        await add_review(bench, "mine", ReviewSettings())

    report = await stage.cycle()

    assert report.events_by_type == {"GitHubPRReviewRequested": 1}
    assert report.as_json()["requests"]["graphql"] > 0


async def test_an_edit_changes_what_is_given_alone(stage):
    first = ReviewSettings(query="label:x", interval=dt.timedelta(minutes=9))
    async with stage.bench() as bench:
        await add_review(bench, "mine", first)
        row = await edit_review(bench, "mine", {"scope": ReviewScope.USER_AND_TEAMS})

    assert row.watch.revision == 2
    assert row.watch.settings == ReviewSettings(
        scope=ReviewScope.USER_AND_TEAMS,
        query="label:x",
        interval=dt.timedelta(minutes=9),
    )
    assert row.as_json()["interval"] == "9m"


class Meddled:
    """A database in which somebody else edits the watch before each write."""

    def __init__(self, bench, edits):
        self._database = bench.database
        self._edits = iter(edits)

    async def transact(self, fn):
        settings = next(self._edits, None)
        if settings is not None:

            async def edit(tx):
                (watch,) = await review_watches.list_review_watches(tx, self.workspace)
                await review_watches.put_review_settings(tx, watch, settings)

            await self._database.transact(edit)
        return await self._database.transact(fn)

    async def read(self, fn):
        return await self._database.read(fn)


async def test_edits_at_once_all_stay(stage):
    often = ReviewSettings(interval=dt.timedelta(minutes=1))
    async with stage.bench() as bench:
        await add_review(bench, "mine", ReviewSettings())
        meddled = Meddled(bench, [often])
        (workspace,) = await bench.list_workspaces()
        meddled.workspace = workspace.id
        beside = replace(bench, database=meddled)
        await edit_review(beside, "mine", {"policy": CleanupPolicy.NEVER})
        row = await show_review(bench, "mine")

    assert row.watch.settings == replace(often, policy=CleanupPolicy.NEVER)


async def test_an_edit_that_loses_each_time_is_refused(stage):
    async with stage.bench() as bench:
        await add_review(bench, "mine", ReviewSettings())
        edits = [ReviewSettings(query=f"label:{word}") for word in "abcdefgh"]
        meddled = Meddled(bench, edits)
        (workspace,) = await bench.list_workspaces()
        meddled.workspace = workspace.id
        beside = replace(bench, database=meddled)
        with pytest.raises(StoreConflict, match="changed by others") as caught:
            await edit_review(beside, "mine", {"policy": CleanupPolicy.NEVER})
        row = await show_review(bench, "mine")

    assert caught.value.hint
    assert row.watch.settings.policy is CleanupPolicy.AUTO


async def test_each_watch_shows_its_own_record(stage):
    async with stage.bench() as bench:
        quiet = await add_review(bench, "quiet", ReviewSettings())
        busy = await add_review(bench, "busy", ReviewSettings())
        (workspace,) = await bench.list_workspaces()

        async def write(tx):
            for number in range(AUDIT_LIMIT + 5):
                watch = busy.watch if number else quiet.watch
                entry = make_audit(
                    number, workspace_id=workspace.id, review_watch_id=watch.id
                )
                await review_audit.add_audit(tx, entry)

        await bench.database.transact(write)
        rows = await list_reviews(bench)

    assert {row.watch.name: len(row.audit) for row in rows} == {
        "quiet": 1,
        "busy": AUDIT_LIMIT,
    }


async def test_a_removed_watch_leaves_its_tasks(stage):
    async with stage.bench() as bench:
        await add_review(bench, "mine", ReviewSettings())
        await poll_reviews(bench, stage.loaded)
        await remove_review(bench, "mine")

        assert await list_reviews(bench) == []
        assert await note_person(bench, TASK)
        with pytest.raises(NotFound):
            await remove_review(bench, "mine")


@pytest.mark.parametrize("name", ["", "a b", "-x"])
async def test_a_bad_name_is_refused(stage, name):
    async with stage.bench() as bench:
        with pytest.raises(ConfigError, match="name of a review watch"):
            await add_review(bench, name, ReviewSettings())


async def test_what_cannot_be_searched_is_refused(stage):
    async with stage.bench() as bench:
        await add_review(bench, "mine", ReviewSettings())
        with pytest.raises(PrwatchError, match="there is a review watch mine"):
            await add_review(bench, "mine", ReviewSettings())
        with pytest.raises(ConfigError, match="query"):
            await edit_review(bench, "mine", {"query": "is:issue"})
        with pytest.raises(NotFound):
            await edit_review(bench, "other", {"query": ""})
        with pytest.raises(NotFound):
            await show_review(bench, "other")
        await edit_review(bench, "mine", {"is_enabled": False})
        with pytest.raises(PrwatchError, match="disabled"):
            await poll_reviews(bench, stage.loaded, "mine")
        assert (await show_review(bench, "mine")).state == "disabled"


async def test_an_app_needs_the_login_of_a_person(tmp_path):
    stage = make_stage(tmp_path, APP)
    async with stage.bench() as bench:
        with pytest.raises(ConfigError, match="target_login is missing"):
            await add_review(bench, "mine", ReviewSettings())
        row = await add_review(bench, "mine", ReviewSettings(target_login="ada"))

    assert row.watch.settings.target_login == "ada"


async def test_what_an_entry_declares_is_changed_there_alone(tmp_path):
    stage = make_stage(tmp_path, DECLARED)
    await stage.cycle()
    async with stage.bench() as bench:
        with pytest.raises(PrwatchError, match="declared by the configuration"):
            await edit_review(bench, "mine", {"query": "x"})
        with pytest.raises(PrwatchError, match="declared by the configuration"):
            await remove_review(bench, "mine")

        assert (await show_review(bench, "mine")).watch.revision == 1


async def test_one_name_in_two_workspaces_must_be_chosen(tmp_path):
    stage = make_stage(tmp_path, TWO)
    async with stage.bench() as bench:
        for workspace in ("acme", "corp"):
            await add_review(bench, "mine", ReviewSettings(), workspace=workspace)
        with pytest.raises(ConfigError, match="choose one"):
            await show_review(bench, "mine")
        with pytest.raises(ConfigError, match="choose one"):
            await remove_review(bench, "mine")
        await remove_review(bench, "mine", workspace="corp")

        assert [row.workspace for row in await list_reviews(bench)] == ["acme"]


async def test_a_failed_search_is_told_and_kept(stage):
    async with stage.bench() as bench:
        await add_review(bench, "mine", ReviewSettings())
        stage.world.faults.add(Fault(kind="bad_credentials", times=None))
        found = await poll_reviews(bench, stage.loaded)
        row = await show_review(bench, "mine")

    assert [each["scope"] for each in found.failures] == ["review"]
    assert (row.state, bool(row.watch.last_error)) == ("failing", True)


async def test_a_task_holds_what_people_say_of_it(stage):
    async with stage.bench() as bench:
        await add_review(bench, "mine", ReviewSettings())
        await poll_reviews(bench, stage.loaded)
        assert await note_person(bench, TASK)
        assert await wait_for(bench, TASK, "an answer")
        assert not await wait_for(bench, TASK, "an answer")
        (task,) = (await show_review(bench, "mine")).tasks
        assert await wait_for(bench, TASK, "")
        with pytest.raises(TaskNotFound):
            await note_person(bench, "nothing")
        await archive_task(bench, TASK)
        with pytest.raises(PrwatchError, match="archived"):
            await note_person(bench, TASK)
        (after,) = (await show_review(bench, "mine")).tasks

    assert (task.waits_for, task.person_wrote_at) == ("an answer", stage.clock.now())
    assert (after.waits_for, after.state) == ("", "archived")
