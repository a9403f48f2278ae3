"""A folder of watch files is edited, broken, mended, moved and taken away."""

import contextlib

import pytest

from prwatch.app.polling import start
from prwatch.app.sync.outcome import SyncResult
from prwatch.app.sync.sync_loop import sync_due, sync_now
from tests.followed import (
    BROKEN,
    FIX,
    HELLO,
    INTERVAL,
    SYNC,
    TASK,
    follow,
    list_active,
    make_team,
    turn,
    write,
)
from tests.product import OUT


@pytest.fixture
def world():
    return make_team()


def get_pull_request(world):
    return world.get_repository("octo/hello").pull_requests[12]


async def test_what_a_file_declares_is_watched(tmp_path, world):
    write(world, HELLO)
    write(world, "watch:\n- repository: octo/hello\n  branch: fix\n", "b.yaml")
    async with follow(tmp_path, world) as product:
        outcome = await turn(product)
        events = await product.cycle()

        assert outcome.result is SyncResult.CHANGED
        assert outcome.warnings == ()
        assert list_active(product) == ["octo/hello#12", "octo/hello@fix"]
        assert {event["data"]["task_id"] for event in events} == {"octo/hello#12"}
        assert {row["origin"] for row in product.ask("SELECT origin FROM tasks")} == {
            "watch_file"
        }


async def test_a_quiet_turn_is_one_conditional_request_and_no_row(tmp_path, world):
    write(world, HELLO)
    async with follow(tmp_path, world) as product:
        await turn(product)
        before = product.runtime.wired.accounts[0].github.usage
        with product.refused_writes():
            outcome = await turn(product)
        after = product.runtime.wired.accounts[0].github.usage

    assert outcome.result is SyncResult.UNCHANGED
    assert (after.rest - before.rest, after.not_modified - before.not_modified) == (
        1,
        1,
    )


async def test_a_start_with_an_unchanged_folder_writes_nothing(tmp_path, world):
    write(world, HELLO)
    async with follow(tmp_path, world) as product:
        await turn(product)
    async with follow(tmp_path, world) as product:
        with product.refused_writes():
            await start(product.runtime)
            outcome = await turn(product)
        used = product.runtime.wired.accounts[0].github.usage

        assert outcome.result is SyncResult.UNCHANGED
        assert (used.rest, used.not_modified) == (1, 1)
        assert list_active(product) == ["octo/hello#12"]


async def test_a_folder_is_looked_at_when_its_interval_is_over(tmp_path, world):
    async with follow(tmp_path, world) as product:
        await turn(product)
        product.clock.advance(INTERVAL - 1)
        early = await sync_due(product.runtime)
        product.clock.advance(1)

        assert early == []
        assert len(await sync_due(product.runtime)) == 1


async def test_a_folder_that_is_not_polled_is_looked_at_by_hand_alone(tmp_path, world):
    write(world, HELLO)
    async with follow(tmp_path, world, sync=f"{SYNC}\npoll_enabled = false") as product:
        assert await sync_due(product.runtime) == []

        (outcome,) = await sync_now(product.runtime, "acme")

        assert outcome.result is SyncResult.CHANGED
        assert list_active(product) == ["octo/hello#12"]


async def test_an_edited_file_adds_and_takes_away(tmp_path, world):
    write(world, HELLO + FIX)
    async with follow(tmp_path, world) as product:
        await turn(product)
        write(world, TASK + FIX)
        await turn(product)

        assert list_active(product) == ["T-1", "octo/hello@fix"]


async def test_a_broken_file_freezes_what_it_declared_until_it_is_mended(
    tmp_path, world
):
    write(world, HELLO)
    write(world, TASK, "b.toml")
    async with follow(tmp_path, world) as product:
        await turn(product)
        write(world, BROKEN)
        write(world, "", "b.toml")
        broken = await turn(product)
        quiet = await turn(product)

        assert list_active(product) == ["octo/hello#12"]
        assert "a.toml:3:1: watch[0].brnch: is not a key here; did you mean" in str(
            broken.warnings
        )
        assert quiet.warnings == broken.warnings

        write(world, FIX)
        mended = await turn(product)

        assert mended.warnings == ()
        assert list_active(product) == ["octo/hello@fix"]


async def test_a_frozen_file_stays_frozen_over_a_restart(tmp_path, world):
    write(world, HELLO)
    async with follow(tmp_path, world) as product:
        await turn(product)
        write(world, BROKEN)
        await turn(product)
    async with follow(tmp_path, world) as product:
        with product.refused_writes():
            outcome = await turn(product)

        assert list_active(product) == ["octo/hello#12"]
        assert len(outcome.warnings) == 2


async def test_a_renamed_file_changes_nothing(tmp_path, world):
    write(world, HELLO)
    async with follow(tmp_path, world) as product:
        await turn(product)
        await product.cycle()
        before = product.watermarks()
        world.rename_file("octo/team", ".prwatch/a.toml", ".prwatch/z.toml")
        outcome = await turn(product)

        assert (outcome.result, outcome.steps) == (SyncResult.CHANGED, 0)
        assert product.watermarks() == before


async def test_a_file_that_is_renamed_and_broken_at_once_loses_nothing(tmp_path, world):
    write(world, HELLO)
    async with follow(tmp_path, world) as product:
        await turn(product)
        world.rename_file("octo/team", ".prwatch/a.toml", ".prwatch/z.toml")
        write(world, BROKEN, "z.toml")
        outcome = await turn(product)
        write(world, FIX, "other.toml")
        await turn(product)
        kept = list_active(product)
        write(world, FIX, "z.toml")
        await turn(product)

        assert "a.toml: is gone, and kept until z.toml can be read" in outcome.warnings
        assert kept == ["octo/hello#12", "octo/hello@fix"]
        assert list_active(product) == ["octo/hello@fix"]


async def test_the_last_file_that_goes_takes_what_it_alone_declared(tmp_path, world):
    write(world, HELLO)
    write(world, HELLO + FIX, "b.toml")
    async with follow(tmp_path, world) as product:
        first = await turn(product)
        world.remove_file("octo/team", ".prwatch/b.toml")
        await turn(product)
        left = list_active(product)
        world.remove_file("octo/team", ".prwatch/a.toml")
        gone = await turn(product)

        assert first.warnings == (
            (
                "octo/team:.prwatch/b.toml: task octo/hello#12 is declared by"
                " octo/team:.prwatch/a.toml, which wins"
            ),
        )
        assert left == ["octo/hello#12"]
        assert gone.warnings == ("the folder is not there",)
        assert list_active(product) == []


async def test_a_file_of_another_program_keeps_nothing(tmp_path, world):
    write(world, HELLO)
    async with follow(tmp_path, world) as product:
        await turn(product)
        world.remove_file("octo/team", ".prwatch/a.toml")
        write(world, "extends: default", ".yamllint.yml")
        outcome = await turn(product)

        assert list_active(product) == []
        assert outcome.warnings == (
            ".yamllint.yml: has a name that cannot be used: it begins with a dot",
        )


@pytest.mark.parametrize("work", ["session", "message"])
async def test_what_a_person_works_in_outlives_its_file(tmp_path, world, work):
    write(world, HELLO + TASK)
    async with follow(tmp_path, world) as product:
        await turn(product)
        with contextlib.closing(product.connect()) as rows:
            if work == "session":
                rows.execute(
                    "INSERT INTO sessions SELECT 's', id, 'S-1', 'ended', 0, 1 FROM"
                    " tasks WHERE external_id = 'T-1'"
                )
            else:
                rows.execute(
                    "UPDATE tasks SET person_wrote_at = 1 WHERE external_id = 'T-1'"
                )
        world.remove_file("octo/team", ".prwatch/a.toml")
        outcome = await turn(product)

        assert list_active(product) == ["T-1"]
        assert (
            "task T-1 is declared no more, and kept: somebody works in it"
            in outcome.warnings
        )

        write(world, TASK)
        back = await turn(product)

        assert (back.steps, back.warnings) == (0, ())


async def test_an_entry_that_is_taken_out_takes_its_tasks_with_it(tmp_path, world):
    write(world, HELLO)
    async with follow(tmp_path, world) as product:
        await turn(product)
    async with follow(tmp_path, world, sync="") as product:
        assert list_active(product) == []
        assert product.ask("SELECT * FROM watch_folders") == []


async def test_the_configuration_goes_before_a_file(tmp_path, world):
    write(world, HELLO)
    async with follow(tmp_path, world) as product:
        await turn(product)
    own = ('repository = "octo/hello"\npull_request = 12',)
    async with follow(tmp_path, world, tasks=SYNC, watches=own) as product:
        outcome = await turn(product)
        (outcome,) = await sync_now(product.runtime)
        world.remove_file("octo/team", ".prwatch/a.toml")
        await turn(product)

        assert outcome.warnings == (
            "task octo/hello#12 is left to the configuration, which declares it",
        )
        assert list_active(product) == ["octo/hello#12"]


async def test_an_adoption_of_a_file_ends_with_what_it_found(tmp_path, world):
    write(world, '[[watch]]\nrepository = "octo/hello"\nall = true\n')
    async with follow(tmp_path, world) as product:
        await turn(product)
        await product.cycle()
        found = list_active(product)
        await start(product.runtime)
        kept = list_active(product)
        world.remove_file("octo/team", ".prwatch/a.toml")
        await turn(product)

        assert found == kept == ["octo/hello#12"]
        assert list_active(product) == []


async def test_a_file_narrows_what_a_sink_gets_of_its_workspace(tmp_path, world):
    narrow = '[[sink]]\nname = "out"\nevents = ["GitHubPRFeedback"]\n'
    write(world, HELLO + narrow + '[[sink]]\nname = "other"\n')
    async with follow(tmp_path, world, sinks=OUT) as product:
        outcome = await turn(product)
        await product.cycle()
    async with follow(tmp_path, world, sinks=OUT) as product:
        world.submit_review(get_pull_request(world), "bob", "APPROVED")
        events = await product.cycle()

        assert "sink other is not configured" in str(outcome.warnings)
        assert [event["type"] for event in events] == ["GitHubPRFeedback"]


async def test_a_review_watch_of_a_file_comes_and_goes_with_it(tmp_path, world):
    write(world, '[[review]]\nname = "mine"\ninterval = "10m"\n')
    own = '[[workspace.review]]\nname = "ours"\n'
    sql = "SELECT name, origin, written_as, interval_seconds FROM review_watches"
    async with follow(tmp_path, world, tasks=f"{own}{SYNC}") as product:
        await turn(product)
        made = product.ask(f"{sql} WHERE origin = 'watch_file'")
        await start(product.runtime)
        world.remove_file("octo/team", ".prwatch/a.toml")
        await turn(product)
        left = product.ask(sql)

    assert made == [
        {
            "name": "mine",
            "origin": "watch_file",
            "written_as": "octo/team:.prwatch/a.toml",
            "interval_seconds": 600,
        }
    ]
    assert [row["name"] for row in left] == ["ours"]
