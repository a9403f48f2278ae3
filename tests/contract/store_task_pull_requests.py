"""Rows of the associations of pull requests with tasks."""

from dataclasses import replace

import pytest

from prwatch.domain.checks_summary import ChecksSummary, NamedCheck
from prwatch.domain.merge_progress import MergeProgress
from prwatch.domain.pull_request import (
    ChecksState,
    CommentItem,
    CommentMark,
    Mergeable,
    PullRequestState,
    RepositoryName,
    ReviewDecision,
    ReviewState,
)
from prwatch.domain.task import Origin, TaskRepository
from prwatch.store import (
    repositories,
    targets,
    task_pull_requests,
    tasks,
    watches,
)
from tests.contract.store_rows import (
    at,
    make_discovered,
    make_observation,
    make_repository,
    make_task,
    make_task_pull_request,
    make_watermark,
)

FULL = make_observation(
    checks_notes=("2 of 3 passed", "naïve"),
    state=PullRequestState.MERGED,
    closed_at=at(1),
    merged_at=at(2),
    title="A «title»",
    url="https://github.com/octo/hello1/pull/12",
    head_ref_oid="abc",
    head_ref_name="feature",
    base_ref_name="main",
    head_repository_id="R_9",
    author="octocat",
    is_draft=True,
    merged_by="hubot",
    is_archived=False,
    is_base_deleted=True,
    checks=ChecksState.SUCCESS,
    review=ReviewState.CHANGES_REQUESTED,
    review_decision=ReviewDecision.REVIEW_REQUIRED,
    mergeable=Mergeable.CONFLICTING,
    merge_queue=False,
    auto_merge=True,
    unresolved_threads=0,
    requested_reviewers=2,
    approvals=3,
    comment_mark=CommentMark((CommentItem(at(-9), "a"), CommentItem(at(-8), "b"))),
)
SUMMARY = ChecksSummary(
    total=3,
    failing=1,
    named=(NamedCheck(name="naïve", said="failed", state=ChecksState.FAILURE),),
)
NULLS = make_observation(
    merged_by=None, review_decision=None, author=None, comment_mark=CommentMark()
)


class TaskPullRequestsContract:
    """Runs on every backend over a workspace with two repositories and two tasks."""

    @pytest.mark.parametrize(
        "observation",
        [
            pytest.param(FULL, id="everything observed"),
            pytest.param(NULLS, id="null is observed"),
            pytest.param(make_observation(), id="nothing observed"),
        ],
    )
    async def test_an_association_comes_back_as_it_was(self, store, observation):
        row = make_task_pull_request(observation=observation, detached_at=at(9))

        assert await store.write(task_pull_requests.put_task_pull_request, row)

        assert (
            await store.read(task_pull_requests.find_task_pull_request, "t1", "r1", 12)
            == row
        )
        assert await store.read(
            task_pull_requests.list_task_pull_requests, workspace_id="w1"
        ) == [row]

    @pytest.mark.parametrize("summary", [SUMMARY, None], ids=["counted", "uncounted"])
    async def test_the_numbers_behind_the_verdict_come_back(self, store, summary):
        observation = replace(FULL, checks_summary=summary)
        row = make_task_pull_request(observation=observation)
        await store.write(task_pull_requests.put_task_pull_request, row)

        (found,) = await store.read(
            task_pull_requests.list_task_pull_requests, task_id="t1"
        )

        assert found.observation.checks_summary == summary

    async def test_progress_to_a_merge_is_kept(self, store):
        plain = make_task_pull_request(observation=FULL)
        progress = MergeProgress(ready_since=at(3), queue_left_at=at(4))
        moved = replace(plain, progress=progress)
        await store.write(task_pull_requests.put_task_pull_request, plain)

        assert await store.write(task_pull_requests.put_task_pull_request, moved)

        assert await store.read(
            task_pull_requests.list_task_pull_requests, task_id="t1"
        ) == [moved]

    async def list_polled(self, store):
        rows = await store.read(task_pull_requests.list_polled_task_pull_requests, "w1")
        return [(row.task_id, row.pr_number) for row in rows]

    async def adopt(self, store, number, watermark):
        """Let an adopted task watch a pull request that was read, or was not."""
        task = make_task(9, origin=Origin.ADOPTED)
        row = make_task_pull_request(number, task_id=task.id)
        watch = make_discovered(number, number, task_id=task.id, watermark=watermark)
        await store.write(tasks.add_task, task)
        await store.write(task_pull_requests.put_task_pull_request, row)
        await store.write(watches.add_watch, watch)
        return watch

    async def test_what_an_adopted_task_watches_and_has_read_is_not_polled(self, store):
        plain = make_task_pull_request()
        await store.write(task_pull_requests.put_task_pull_request, plain)
        await self.adopt(store, 20, make_watermark())
        await self.adopt(store, 21, None)

        assert await self.list_polled(store) == [("t1", 12), ("t9", 21)]

    async def test_it_is_polled_when_its_watch_goes_or_the_task_searches(self, store):
        watch = await self.adopt(store, 20, make_watermark())
        entry = TaskRepository(
            task_id="t9", repository_id="r1", position=0, branch="fix"
        )
        await store.write(targets.put_task_repository, entry)
        assert await self.list_polled(store) == [("t9", 20)]

        await store.write(targets.remove_task_repository, "t9", "r1")
        assert await self.list_polled(store) == []

        await store.write(watches.remove_watch, watch)
        assert await self.list_polled(store) == [("t9", 20)]

    async def test_one_that_is_not_there_is_none(self, store):
        assert (
            await store.read(task_pull_requests.find_task_pull_request, "t1", "r1", 1)
            is None
        )

    async def test_a_change_replaces_the_row(self, store):
        row = make_task_pull_request(observation=FULL)
        changed = replace(
            row, observation=replace(NULLS, observed_at=at(5)), observed_at=at(5)
        )
        await store.write(task_pull_requests.put_task_pull_request, row)

        assert await store.write(task_pull_requests.put_task_pull_request, changed)

        assert await store.read(
            task_pull_requests.list_task_pull_requests, task_id="t1"
        ) == [changed]

    async def test_a_mere_later_reading_is_not_written(self, store):
        row = make_task_pull_request(observation=FULL)
        later = replace(
            row,
            observed_at=at(60),
            observation=replace(
                FULL,
                observed_at=at(60),
                settles_at=at(70),
                checks_notes=("other",),
                checks_summary=SUMMARY,
            ),
        )
        await store.write(task_pull_requests.put_task_pull_request, row)

        assert await store.rows_written_by(
            task_pull_requests.put_task_pull_request, later
        ) == (0, False)

    async def test_a_renamed_repository_renames_what_it_has(self, store):
        await store.write(
            task_pull_requests.put_task_pull_request, make_task_pull_request()
        )
        await store.write(
            repositories.put_repository_facts, make_repository(1, name="renamed")
        )

        row = await store.read(
            task_pull_requests.find_task_pull_request, "t1", "r1", 12
        )
        assert row.observation.repository == RepositoryName("octo", "renamed", "R_1")

    async def test_detaching_deletes_the_watch(self, store):
        await store.write(
            task_pull_requests.put_task_pull_request, make_task_pull_request()
        )
        await store.write(watches.add_watch, make_discovered())
        key = ("t1", "r1", 12)

        assert await store.write(task_pull_requests.detach, *key, at(7))
        assert not await store.write(task_pull_requests.detach, *key, at(8))

        assert await store.read(watches.list_watches, "w1") == []
        assert await store.read(
            task_pull_requests.find_task_pull_request, *key
        ) == make_task_pull_request(detached_at=at(7))

    async def test_what_was_detached_is_attached_again_once(self, store):
        row = make_task_pull_request(detached_at=at(7))
        await store.write(task_pull_requests.put_task_pull_request, row)
        key = ("t1", "r1", 12)

        assert await store.write(task_pull_requests.attach, *key)

        assert await store.rows_written_by(task_pull_requests.attach, *key) == (
            0,
            False,
        )
        assert (
            await store.read(task_pull_requests.find_task_pull_request, *key)
            == make_task_pull_request()
        )
