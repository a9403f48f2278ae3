"""Review tasks as commands clean them up, and bring them back."""

import pytest

from prwatch.app.cleanup.cleanup import ReviewCleanup
from prwatch.app.command.references import NamedBranch
from prwatch.app.command.review.cleanup import clean_reviews
from prwatch.app.command.review.commands import add_review, poll_reviews, remove_review
from prwatch.app.command.review.listing import show_review
from prwatch.app.command.review.restore import restore_review
from prwatch.app.command.task_attention import note_person
from prwatch.app.command.task_commands import NewTask, add_task
from prwatch.app.command.task_edit import get_task
from prwatch.app.runtime import open_runtime
from prwatch.domain.review_watch import CleanupPolicy, ReviewSettings
from prwatch.domain.task import Checkout, Origin, PullRequestLink, Repository, Session
from prwatch.errors import ConfigError, NotFound, PrwatchError
from prwatch.simulator import Fault
from prwatch.store import repositories, tasks
from prwatch.store.query import Query
from tests.benches import ONE, get_pull_request, make_stage
from tests.product import NOON

TASK = "review:octo/hello#12"
FIX = NamedBranch(owner="octo", name="hello", branch="fix")
DELETED = b"GitHubPRReviewTaskDeleted"
WEEK = 7 * 24 * 3600


@pytest.fixture
def stage(tmp_path):
    stage = make_stage(tmp_path, f'{ONE}\n[review]\nundo = "2d"')
    stage.world.request_review(get_pull_request(stage.world), "octocat")
    return stage


def open_second(world):
    return world.open_pull_request("octo/hello", branch="second", number=13)


async def sweep_twice(stage, runtime):
    for _ in range(2):
        stage.clock.advance(301)
        await ReviewCleanup(runtime).run_once()


async def find(stage, bench, policy=CleanupPolicy.AUTO):
    await add_review(bench, "mine", ReviewSettings(policy=policy))
    await poll_reviews(bench, stage.loaded)


async def clean(stage, bench, *arguments, seconds=301, **options):
    stage.clock.advance(seconds)
    return await clean_reviews(bench, stage.loaded, *arguments, **options)


async def find_and_clean(stage, bench, **options):
    await find(stage, bench, **options)
    stage.world.merge(get_pull_request(stage.world))
    first = await clean(stage, bench)
    second = await clean(stage, bench)
    assert (first.as_json(), second.as_json()) == ({"deleted": 0}, {"deleted": 1})


async def test_cleaning_up_by_hand_says_how_many_went(stage):
    async with stage.bench() as bench:
        await find_and_clean(stage, bench)
        row = await show_review(bench, "mine")

    (audit,) = row.audit
    assert row.tasks == ()
    assert (audit.reason, audit.acted_by.value) == ("pr_merged_or_closed", "person")
    assert b"GitHubPRReviewTaskDeleted" in stage.surroundings.stdout.getvalue()


async def test_a_dry_run_is_a_plan_with_its_evidence(stage):
    async with stage.bench() as bench:
        await find(stage, bench)
        stage.world.merge(get_pull_request(stage.world))
        await clean(stage, bench)
        plan = await clean(stage, bench, "mine", is_dry=True)
        row = await show_review(bench, "mine")

    (found,) = plan.as_plan()["plan"]
    assert plan.deleted == 0
    assert (found["task"], found["verdict"]) == (TASK, "deleted")
    assert found["evidence"]["state"] == "MERGED"
    assert [task.state for task in row.tasks] == ["done"]


async def test_a_review_task_that_is_there_may_be_added_to_by_hand(stage):
    async with stage.bench() as bench:
        await find(stage, bench)
        new = NewTask(id=TASK, repositories=(FIX,))
        row = await add_task(bench, new)

    assert (row.id, row.origin, len(row.repositories)) == (TASK, Origin.REVIEW, 1)


async def test_the_tasks_of_one_watch_go_alone(stage):
    async with stage.bench() as bench:
        await find(stage, bench)
        await add_review(bench, "other", ReviewSettings(query="label:none"))
        stage.world.merge(get_pull_request(stage.world))
        await clean(stage, bench, "mine")
        other = await clean(stage, bench, "other")
        mine = await clean(stage, bench, "mine", workspace="acme")

        assert (other.deleted, mine.deleted) == (0, 1)
        with pytest.raises(NotFound):
            await clean(stage, bench, "nothing")
        with pytest.raises(NotFound):
            await clean(stage, bench, workspace="nowhere")


async def test_a_failure_is_told(stage):
    async with stage.bench() as bench:
        await find(stage, bench)
        stage.world.faults.add(Fault(kind="bad_credentials", times=None))
        answer = await clean(stage, bench)

    assert answer.as_json() == {"deleted": 0}
    assert [each["class"] for each in answer.failures] == ["auth"]


async def test_what_went_is_told_and_delivered_though_the_store_failed_then(stage):
    stage.world.request_review(open_second(stage.world), "octocat")
    async with stage.bench() as bench:
        await find(stage, bench)
        for one in stage.world.pull_requests.values():
            stage.world.merge(one)
        await clean(stage, bench)
        refusal = (
            "CREATE TRIGGER hook BEFORE DELETE ON tasks"
            " WHEN old.external_id LIKE '%#12' BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
        await bench.database.transact(lambda tx: tx.execute(Query("hook", refusal)))
        answer = await clean(stage, bench)

    assert answer.deleted == 1
    assert answer.has_store_failed
    assert [each["reference"] for each in answer.failures] == [TASK]
    assert stage.surroundings.stdout.getvalue().count(DELETED) == 1


async def test_a_dry_run_delivers_nothing(stage):
    async with stage.bench() as bench:
        await find(stage, bench)
        stage.world.merge(get_pull_request(stage.world))
        before = stage.surroundings.stdout.getvalue()
        async with open_runtime(stage.loaded, stage.surroundings) as runtime:
            await sweep_twice(stage, runtime)
        await clean(stage, bench, is_dry=True)
        dry = stage.surroundings.stdout.getvalue()
        await clean(stage, bench)

    assert dry == before
    assert stage.surroundings.stdout.getvalue().count(DELETED) == 1


async def test_a_name_that_two_workspaces_have_is_to_be_chosen(tmp_path):
    stage = make_stage(tmp_path, f'{ONE}\n[[workspace]]\nname = "two"')
    async with stage.bench() as bench:
        for workspace in ("acme", "two"):
            await add_review(bench, "mine", ReviewSettings(), workspace=workspace)

        with pytest.raises(ConfigError, match="--workspace: acme, two"):
            await clean(stage, bench, "mine")
        assert (await clean(stage, bench, "mine", workspace="two")).deleted == 0


async def test_what_keeps_a_task_is_shown(stage):
    async with stage.bench() as bench:
        await find(stage, bench)
        before = await show_review(bench, "mine")
        await note_person(bench, TASK)
        after = await show_review(bench, "mine")

    assert [task.kept for task in before.tasks + after.tasks] == ["", "person_wrote"]
    assert after.as_json()["tasks"][0]["kept_until"] is None


@pytest.mark.parametrize("policy", [CleanupPolicy.AUTO, CleanupPolicy.ALWAYS])
async def test_a_restored_task_is_the_persons_and_stays(stage, policy):
    async with stage.bench() as bench:
        await find_and_clean(stage, bench, policy=policy)
        restored = await restore_review(bench, TASK)
        task = (await get_task(bench, TASK)).task
        later = [await clean(stage, bench) for _ in range(3)]
        row = await show_review(bench, "mine")

    assert restored.as_json() == {"id": TASK, "workspace": "acme", "restored": True}
    assert (task.origin, task.title) == (Origin.COMMAND, "Fix it")
    assert [each.deleted for each in later] == [0, 0, 0]
    assert [(each.id, each.kept) for each in row.tasks] == [(TASK, "not_a_review_task")]
    assert [each.action.value for each in row.audit] == ["restored", "deleted"]


async def test_what_hung_on_a_task_comes_back_with_it(stage):
    async with stage.bench() as bench:
        await find(stage, bench)
        task = (await get_task(bench, TASK)).task
        repository = Repository(
            id="r1",
            workspace_id=task.workspace_id,
            host="github.com",
            owner="octo",
            name="hello",
        )
        session = Session(id="s1", task_id=task.id, external_id="one", started_at=NOON)
        checkout = Checkout(session_id="s1", repository_id="r1", branch="fix")
        link = PullRequestLink(task_id=task.id, repository_id="r1", pr_number=12)

        async def hang(tx):
            await repositories.add_repository(tx, repository)
            await tasks.put_session(tx, session)
            await tasks.put_checkout(tx, checkout)
            await tasks.put_link(tx, link)

        await bench.database.transact(hang)
        stage.world.merge(get_pull_request(stage.world))
        await clean(stage, bench)
        await clean(stage, bench)
        gone = await bench.load_snapshot((await bench.list_workspaces())[0])
        await restore_review(bench, TASK)
        back = await bench.load_snapshot((await bench.list_workspaces())[0])

    assert (gone.tasks, gone.sessions, gone.checkouts, gone.links) == ((), (), (), ())
    assert back.sessions == (session,)
    assert back.checkouts == (checkout,)
    assert back.links == (link,)


async def test_a_task_of_a_removed_watch_goes_by_the_policy_that_it_had(stage):
    async with stage.bench() as bench:
        await find(stage, bench)
        await remove_review(bench, "mine")
        stage.world.merge(get_pull_request(stage.world))
        await clean(stage, bench)
        gone = await clean(stage, bench)
        await restore_review(bench, TASK)

        assert gone.deleted == 1
        assert (await get_task(bench, TASK)).task.external_id == TASK


async def test_an_entry_of_the_record_restores_too_and_once(stage):
    async with stage.bench() as bench:
        await find_and_clean(stage, bench)
        (entry,) = (await show_review(bench, "mine")).audit
        await restore_review(bench, entry.id)

        with pytest.raises(PrwatchError, match="there is a task") as refused:
            await restore_review(bench, entry.id)
        assert refused.value.hint.startswith("it was brought back already")


async def test_a_task_that_was_made_anew_says_so_when_it_is_to_come_back(stage):
    async with stage.bench() as bench:
        await find(stage, bench)
        one = get_pull_request(stage.world)
        stage.world.close(one)
        for _ in range(2):
            await clean(stage, bench)
        stage.world.reopen(one)
        stage.clock.advance(301)
        await poll_reviews(bench, stage.loaded)

        with pytest.raises(PrwatchError, match="there is a task") as refused:
            await restore_review(bench, TASK)
        assert refused.value.hint.startswith("its review is asked for again")


@pytest.mark.parametrize(
    "broken", ["{", "[]", "5", '{"task": 5}', '{"task": {"id": "t"}}', "[" * 3000]
)
async def test_what_was_kept_and_is_broken_is_told_and_brings_nothing_back(
    stage, broken
):
    statement = Query("break", "UPDATE review_audit SET snapshot = :broken")
    async with stage.bench() as bench:
        await find_and_clean(stage, bench)
        await bench.database.transact(lambda tx: tx.execute(statement, broken=broken))
        with pytest.raises(PrwatchError) as caught:
            await restore_review(bench, TASK)
        stored = await bench.database.read(lambda tx: tasks.list_tasks(tx, "w1"))

    assert caught.value.hint
    assert stored == []


async def test_the_time_to_undo_ends(stage):
    async with stage.bench() as bench:
        await find_and_clean(stage, bench)
        stage.clock.advance(WEEK)
        with pytest.raises(NotFound):
            await restore_review(bench, TASK)
        await clean(stage, bench)
        (entry,) = (await show_review(bench, "mine")).audit

    assert (entry.snapshot, entry.undo_until) == ({}, None)
    assert entry.evidence["state"] == "MERGED"


async def test_a_cycle_cleans_up_too(stage):
    async with stage.bench() as bench:
        await find(stage, bench)
    stage.world.merge(get_pull_request(stage.world))

    reports = [await stage.cycle(seconds=301) for _ in range(3)]

    assert [each.events_by_type for each in reports] == [
        {},
        {"GitHubPRReviewTaskDeleted": 1},
        {},
    ]
