"""Looking at watch files by hand, and how they stand, over a real store."""

import pytest

from prwatch.app.command.check import check_and_deliver
from prwatch.app.command.references import parse_reference
from prwatch.app.command.review.commands import add_review
from prwatch.app.command.review.conflicts import list_review_conflicts
from prwatch.app.command.sync import read_sync_status, run_sync
from prwatch.app.command.task_attention import note_person
from prwatch.app.command.task_commands import archive_task
from prwatch.app.command.watch_commands import remove_watch
from prwatch.app.runtime import open_runtime
from prwatch.domain.events import Narrowing
from prwatch.domain.review_watch import ReviewSettings
from prwatch.errors import ConfigError, PrwatchError
from prwatch.simulator import DEFAULT_TOKEN
from prwatch.store.query import Query
from tests.benches import ONE, make_stage

SYNC = '[[workspace.sync]]\nrepository = "octo/team"\nbranch = "main"\npath = "/lists/"'
HELLO = '[[watch]]\nrepository = "octo/hello"\npull_request = 12\n'

TAKE_OUT = "take it out of one of the two"
OTHER = "choose another name"


@pytest.fixture
def stage(tmp_path):
    stage = make_stage(tmp_path, f"{ONE}\n{SYNC}")
    stage.world.add_repository("octo/team")
    stage.world.write_file("octo/team", "lists/a.toml", HELLO)
    return stage


async def sync(stage, workspace=""):
    async with stage.bench() as bench:
        return await run_sync(bench, stage.loaded, workspace)


async def status(stage):
    async with stage.bench() as bench:
        return (await read_sync_status(bench)).as_json()


async def test_a_folder_is_looked_at_without_a_daemon(stage):
    (first,) = await sync(stage, "acme")
    (second,) = await sync(stage)

    assert (first["folder"], first["result"]) == ("octo/team@main:lists", "changed")
    assert (second["result"], second["steps"]) == ("unchanged", 0)


async def test_a_folder_that_fails_is_looked_at_again_by_hand(stage):
    stage.world.set_token(DEFAULT_TOKEN, repositories=("octo/hello",))
    (failed,) = await sync(stage)
    (row,) = (await status(stage))["folders"]
    stage.world.set_token(DEFAULT_TOKEN)
    (mended,) = await sync(stage)

    assert (failed["result"], failed["class"], failed["code"]) == (
        "failed",
        "config",
        "resource_gone",
    )
    assert row["circuit"]["code"] == "resource_gone"
    assert row["circuit"]["open_until"] == failed["until"]
    assert mended["result"] == "changed"
    assert (await status(stage))["folders"][0]["circuit"] is None


NONE = "workspaces that follow a folder: none"


@pytest.mark.parametrize(
    ("workspace", "hint"),
    [
        ("", "a [[workspace.sync]] entry does"),
        ("acme", f"a [[workspace.sync]] entry does; {NONE}"),
        ("corp", f"commands: now, status; {NONE}"),
    ],
)
async def test_without_a_folder_it_is_said_what_to_write(tmp_path, workspace, hint):
    stage = make_stage(tmp_path, ONE)

    with pytest.raises(ConfigError) as refused:
        await sync(stage, workspace)

    assert refused.value.hint == hint


async def test_before_any_look_a_folder_is_told_as_configured(stage):
    told = await status(stage)

    assert told == {
        "folders": [
            {
                "workspace": "acme",
                "folder": "octo/team@main:lists",
                "poll_enabled": True,
                "interval_seconds": 300,
                "changed_at": None,
                "files": [],
                "circuit": None,
            }
        ],
        "warnings": {},
    }


async def test_the_status_tells_files_mistakes_and_what_does_not_count(stage):
    stage.world.write_file("octo/team", "lists/b.toml", HELLO)
    stage.world.write_file("octo/team", "lists/c.toml", "a = 1")
    await sync(stage)

    told = await status(stage)

    (row,) = told["folders"]
    assert [(each["name"], each["problems"]) for each in row["files"]] == [
        ("a.toml", []),
        ("b.toml", []),
        (
            "c.toml",
            ["c.toml:1:1: a: is not a key here; allowed are review, sink, task, watch"],
        ),
    ]
    assert row["changed_at"] == row["files"][0]["changed_at"]
    assert told["warnings"] == {
        "acme": [
            (
                "octo/team@main:lists/b.toml: task octo/hello#12 is declared by"
                " octo/team@main:lists/a.toml, which wins"
            )
        ]
    }


async def test_one_pass_looks_at_folders_before_it_polls(stage):
    report = await stage.cycle()
    stage.world.delete_repository("octo/team")
    failed = await stage.cycle()

    assert report.watches_discovered == 1
    assert report.usage.rest == 2
    assert [each.reference for each in failed.failures] == ["octo/team@main:lists"]
    assert failed.failed_workspaces == frozenset()


async def test_a_check_without_a_daemon_knows_what_sinks_leave_out(stage):
    stage.world.write_file("octo/team", "lists/b.toml", '[[sink]]\nname = "stdout"')
    await sync(stage)

    async with open_runtime(stage.loaded, stage.surroundings) as runtime:
        await check_and_deliver(runtime, [])

        (interest,) = runtime.interests
        assert interest.narrowings == (Narrowing(workspace="acme", sink="stdout"),)


async def test_what_cannot_be_read_any_more_takes_nothing_away(stage):
    """A file that a former version accepted may be refused by this one."""
    await sync(stage)
    async with stage.bench() as bench:

        async def spoil(tx):
            await tx.execute(Query("spoil", "UPDATE watch_files SET declared = 'a'"))

        await bench.database.transact(spoil)

    (outcome,) = await sync(stage)
    told = await status(stage)

    assert outcome["steps"] == 0
    assert outcome["warnings"] == told["warnings"]["acme"]
    assert outcome["warnings"][0].startswith("a.toml:1:2: ")


@pytest.mark.parametrize(
    ("own", "told"),
    [
        (
            '[[workspace.review]]\nname = "mine"',
            f"the configuration, which declares it; {TAKE_OUT}, or {OTHER}",
        ),
        (
            "",
            f"the person who made it; {OTHER}, or let it go: prwatch review remove mine",
        ),
    ],
    ids=["configuration", "person"],
)
async def test_a_review_watch_whose_name_another_one_has_is_told(tmp_path, own, told):
    told = f"review watch mine is left to {told}"
    stage = make_stage(tmp_path, f"{ONE}\n{own}\n{SYNC}")
    stage.world.add_repository("octo/team")
    stage.world.write_file("octo/team", "lists/a.toml", '[[review]]\nname = "mine"\n')
    if own:
        await stage.cycle()
    else:
        async with stage.bench() as bench:
            await add_review(bench, "mine", ReviewSettings())
    (synced,) = await sync(stage)
    async with stage.bench() as bench:
        conflicts = await list_review_conflicts(bench)

    assert synced["warnings"] == [told]
    assert (await status(stage))["warnings"] == {"acme": [told]}
    assert conflicts == (told,)


async def test_an_adoption_of_a_file_is_not_removed_by_hand(stage):
    everything = '[[watch]]\nrepository = "octo/hello"\nall = true\n'
    stage.world.write_file("octo/team", "lists/a.toml", everything)
    await sync(stage)
    async with stage.bench() as bench:
        with pytest.raises(PrwatchError, match="a watch file asks for octo/hello"):
            await remove_watch(bench, parse_reference("octo/hello"))


async def test_a_task_that_outlived_its_file_is_archived_by_hand(stage):
    await sync(stage)
    async with stage.bench() as bench:
        await note_person(bench, "octo/hello#12")
        with pytest.raises(PrwatchError, match="because a watch file asks for it"):
            await archive_task(bench, "octo/hello#12")
        stage.world.write_file("octo/team", "lists/a.toml", "")
        (kept,) = await sync(stage)
        is_archived = await archive_task(bench, "octo/hello#12")
    (after,) = await sync(stage)

    told = "task octo/hello#12 is declared no more, and kept: somebody works in it"
    assert kept["warnings"] == [told]
    assert is_archived
    assert after["warnings"] == []
