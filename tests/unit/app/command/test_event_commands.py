"""Showing events, following them, and sending dead ones again."""

import anyio
import pytest

from prwatch.app.command.event_commands import (
    TailFilter,
    describe_delivery,
    describe_event,
    find_last_position,
    follow,
    list_changes,
    list_recent,
    retry_dead,
    retry_event,
    show_event,
)
from prwatch.app.command.references import NamedPullRequest
from prwatch.app.command.watch_commands import add_watch
from prwatch.errors import EventNotFound, NotFound
from tests.benches import ONE, get_pull_request, make_stage

PULL_REQUEST = NamedPullRequest(owner="octo", name="hello", number=12)
REFUSING = f"""{ONE}
[[sink]]
name = "refuse"
kind = "command"
argv = ["/bin/false"]

[[sink]]
name = "file"
kind = "jsonl"
path = "events.jsonl"
"""
ANY = TailFilter()


@pytest.fixture
def stage(tmp_path):
    return make_stage(tmp_path, REFUSING)


async def play(stage):
    """Watch the pull request, and let a review come in: three events."""
    async with stage.bench() as bench:
        await add_watch(bench, PULL_REQUEST)
    await stage.cycle()
    stage.world.submit_review(get_pull_request(stage.world), "mona", "APPROVED")
    await stage.cycle()


async def test_the_newest_events_are_shown_oldest_first(stage):
    await play(stage)
    async with stage.bench() as bench:
        every = await list_recent(bench, ANY, limit=10)
        last = await list_recent(bench, ANY, limit=1)
        none = await list_recent(bench, ANY, limit=0)
        updated = TailFilter(workspace="acme", type="GitHubTaskPRUpdated")
        typed = await list_recent(bench, updated, limit=10)

    assert [list_changes(record) for record in every] == [
        ["associated: none yet → 12"],
        ["review: none → approved"],
        ["review: none → approved"],
    ]
    assert (last, none) == (every[-1:], [])
    assert [record.event.type for record in typed] == ["GitHubTaskPRUpdated"] * 2


async def test_nothing_is_shown_before_anything_was_said(stage):
    async with stage.bench() as bench:
        assert await list_recent(bench, TailFilter(workspace="acme"), limit=5) == []
        assert await find_last_position(bench) == 0
        with pytest.raises(NotFound, match="there is no workspace nowhere"):
            await list_recent(bench, TailFilter(workspace="nowhere"), limit=5)


async def test_an_event_is_shown_as_sinks_get_it(stage):
    await play(stage)
    async with stage.bench() as bench:
        record = (await list_recent(bench, ANY, limit=1))[0]

    shown = describe_event(record)
    assert (shown["specversion"], shown["id"], shown["subject"]) == (
        "1.0",
        record.event.id,
        "acme/octo/hello#12/octo/hello#12",
    )
    assert "superseded" not in shown["data"]


async def test_who_follows_gets_each_event_once_and_in_order(stage):
    async with stage.bench() as bench:
        await add_watch(bench, PULL_REQUEST)
    seen = []
    async with stage.bench() as bench, anyio.create_task_group() as group:

        async def read():
            async for record in follow(bench, ANY):
                seen.append(record.position)
                if len(seen) == 3:
                    group.cancel_scope.cancel()

        group.start_soon(read)
        await stage.cycle()
        stage.world.submit_review(get_pull_request(stage.world), "mona", "APPROVED")
        await stage.cycle()
        with anyio.fail_after(10):
            await anyio.sleep_forever()

    assert seen == [1, 2, 3]


async def test_who_follows_begins_where_the_list_ended(stage):
    await play(stage)
    async with stage.bench() as bench:
        async for record in follow(bench, ANY, after=2):
            first = record.position
            break

    assert first == 3


async def test_an_event_is_shown_with_its_deliveries(stage):
    await play(stage)
    async with stage.bench() as bench:
        newest = (await list_recent(bench, ANY, limit=1))[0]
        record = await show_event(bench, newest.event.id)

    told = [describe_delivery(each) for each in record.deliveries]
    assert [(each["sink"], each["state"], each["attempt"]) for each in told] == [
        ("file", "delivered", 1),
        ("refuse", "dead", 1),
    ]
    assert (told[0]["error"], bool(told[1]["error"])) == (None, True)


async def test_a_dead_delivery_is_sent_again_under_its_id(stage):
    await play(stage)
    async with stage.bench() as bench:
        event_id = (await list_recent(bench, ANY, limit=1))[0].event.id
        none = await retry_event(bench, event_id, sink="file")
        one = await retry_event(bench, event_id)
        after = await show_event(bench, event_id)

    assert (none, one) == (0, 1)
    assert [each.state.value for each in after.deliveries] == ["delivered", "pending"]


async def test_all_dead_deliveries_are_sent_again(stage):
    await play(stage)
    async with stage.bench() as bench:
        elsewhere = await retry_dead(bench, sink="file")
        every = await retry_dead(bench)
        again = await retry_dead(bench)
    report = await stage.cycle()

    assert (elsewhere, every, again) == (0, 3, 0)
    assert report.delivered == 0
    async with stage.bench() as bench:
        assert await retry_dead(bench, sink="refuse") == 3


async def test_what_is_not_there_cannot_be_sent_again(stage):
    await play(stage)
    async with stage.bench() as bench:
        event_id = (await list_recent(bench, ANY, limit=1))[0].event.id

        with pytest.raises(EventNotFound, match="no event 0000"):
            await retry_event(bench, "0000")
        with pytest.raises(NotFound, match="no delivery to the sink nowhere"):
            await retry_event(bench, event_id, sink="nowhere")
