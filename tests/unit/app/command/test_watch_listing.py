"""What is shown of watches, and what a reference finds."""

import pytest

from prwatch.app.command.references import (
    NamedBranch,
    NamedPullRequest,
    parse_reference,
)
from prwatch.app.command.task_commands import NewTask, add_task, archive_task
from prwatch.app.command.watch_commands import add_adoption, add_watch
from prwatch.app.command.watch_listing import find_watches, list_watches
from prwatch.errors import NotFound, WatchNotFound
from tests.benches import ONE, get_pull_request, make_stage
from tests.unit.simulator.stage import NOON

PULL_REQUEST = NamedPullRequest(owner="octo", name="hello", number=12)
FIX = NamedBranch(owner="octo", name="hello", branch="fix")
LATER = NamedBranch(owner="octo", name="hello", branch="later")
CONFIGURED = f"""{ONE}
[[workspace.watch]]
repository = "octo/hello"
branch = "later"
"""


@pytest.fixture
def stage(tmp_path):
    return make_stage(tmp_path)


async def add(stage, named, **options):
    async with stage.bench() as bench:
        return await add_watch(bench, named, **options)


async def list_rows(stage, **options):
    async with stage.bench() as bench:
        return (await list_watches(bench, **options)).watches


async def test_a_watch_is_shown_with_what_was_read_last(stage):
    await add(stage, PULL_REQUEST)
    finished = get_pull_request(stage.world)
    stage.world.set_check(finished, "test", conclusion="FAILURE")
    stage.world.submit_review(finished, "mona", "APPROVED")
    await stage.cycle()

    row = (await list_rows(stage))[0]

    facts = row.as_json()
    pull_request = facts.pop("pull_request")
    assert facts == {
        "id": row.id,
        "reference": "octo/hello#12",
        "workspace": "acme",
        "task": "octo/hello#12",
        "origin": "command",
        "archived": False,
        "repository": "octo/hello",
        "branch": None,
        "head_repository": None,
        "state": "OPEN",
        "revision": 1,
        "observed_at": "2026-11-30T12:01:00.000000Z",
        "last_sign_at": None,
        "checks_notes": list(row.notes),
        "other_pull_requests": [],
        "words": row.words.as_json(),
    }
    assert row.words.checks.text == "1 of 1 failed: test"
    assert (pull_request["checks"], pull_request["review"]) == ("failure", "approved")
    assert row.notes


async def test_a_branch_rests_after_a_month_without_a_sign_of_life(stage):
    await add(stage, LATER)

    stage.clock.advance(29 * 86_400)
    before = (await list_rows(stage))[0]
    stage.clock.advance(2 * 86_400)
    after = (await list_rows(stage))[0]

    assert (before.state, after.state) == ("searching", "resting")
    assert after.last_sign_at == NOON


async def test_a_branch_of_the_configuration_does_not_rest(tmp_path):
    stage = make_stage(tmp_path, CONFIGURED)
    await stage.cycle()

    stage.clock.advance(60 * 86_400)

    assert [row.state for row in await list_rows(stage)] == ["searching"]


async def test_several_pull_requests_of_one_branch_know_each_other(stage):
    stage.world.open_pull_request("octo/hello", branch="fix", base="next", number=13)
    await add(stage, FIX)
    await stage.cycle()

    rows = await list_rows(stage)

    assert [(row.reference, row.companions) for row in rows] == [
        ("octo/hello#12", (13,)),
        ("octo/hello#13", (12,)),
    ]


async def test_what_is_finished_or_archived_is_shown_when_all_is_asked_for(stage):
    await add(stage, PULL_REQUEST)
    stage.world.open_pull_request("octo/hello", branch="other", number=13)
    async with stage.bench() as bench:
        link = NamedPullRequest(owner="octo", name="hello", number=13)
        await add_task(bench, NewTask(id="T-1", links=(link,)))
    await stage.cycle()
    stage.world.merge(get_pull_request(stage.world))
    await stage.cycle()
    async with stage.bench() as bench:
        await archive_task(bench, "T-1")

    watched = await list_rows(stage)
    every = await list_rows(stage, is_all=True)

    assert watched == ()
    assert [(row.reference, row.state, row.is_archived, row.id) for row in every] == [
        ("octo/hello#12", "MERGED", False, ""),
        ("octo/hello#13", "OPEN", True, ""),
    ]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("octo/hello#12", id="number"),
        pytest.param("OCTO/Hello#12", id="other case"),
        pytest.param("octo/hello@fix", id="branch"),
        pytest.param("octo/hello", id="repository"),
        pytest.param("https://github.com/octo/hello/pull/12/files", id="url"),
    ],
)
async def test_a_watch_is_found_by_what_names_it(stage, text):
    await add(stage, PULL_REQUEST)
    await stage.cycle()
    async with stage.bench() as bench:
        rows = await find_watches(bench, parse_reference(text))

    assert [row.reference for row in rows] == ["octo/hello#12"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("octo/hello#13", id="other number"),
        pytest.param("octo/other#12", id="other repository"),
        pytest.param("octo/hello@Fix", id="branch in another case"),
        pytest.param("octo/hello@me/hello:fix", id="fork"),
        pytest.param("0000-0000", id="id"),
    ],
)
async def test_what_is_not_watched_is_not_found(stage, text):
    await add(stage, PULL_REQUEST)
    await stage.cycle()
    async with stage.bench() as bench:
        with pytest.raises(WatchNotFound, match="is not watched") as refused:
            await find_watches(bench, parse_reference(text))

    assert refused.value.hint == "`prwatch watch add` watches it"


async def test_a_finished_pull_request_is_found_while_nothing_watches_it(stage):
    await add(stage, PULL_REQUEST)
    await stage.cycle()
    stage.world.merge(get_pull_request(stage.world))
    await stage.cycle()
    async with stage.bench() as bench:
        rows = await find_watches(bench, PULL_REQUEST)

    assert [(row.state, row.id) for row in rows] == [("MERGED", "")]


async def test_a_list_is_empty_before_anything_was_stored(stage):
    async with stage.bench() as bench:
        listed = await list_watches(bench, workspace="acme")
        with pytest.raises(NotFound, match="there is no workspace nowhere"):
            await list_watches(bench, workspace="nowhere")

    assert listed.as_json() == {"watches": [], "repository_watches": []}


async def test_an_adoption_is_shown_by_its_repository(stage):
    async with stage.bench() as bench:
        await add_adoption(bench, parse_reference("octo/hello"))
        listed = await list_watches(bench)

    assert listed.as_json()["repository_watches"] == [
        {
            "workspace": "acme",
            "repository": "octo/hello",
            "author": None,
            "origin": "command",
        }
    ]
