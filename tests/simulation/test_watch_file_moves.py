"""What is declared moves between the configuration and files: it moves, and lives on."""

import contextlib

import pytest

from prwatch.app.sync.outcome import SyncResult
from prwatch.app.sync.sync_loop import sync_due
from prwatch.simulator import DEFAULT_TOKEN, Fault
from tests.followed import (
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

OWN = 'repository = "octo/hello"\npull_request = 12'
ALL = 'repository = "octo/hello"\nall = true'
OTHER = '[[workspace.sync]]\nrepository = "octo/other"\ninterval = "1h"'
REVIEW = '[[workspace.review]]\nname = "mine"'
REVIEWS = "SELECT id, name, origin, written_as FROM review_watches ORDER BY name"


@pytest.fixture
def world():
    return make_team()


def list_origins(product):
    return {
        row["external_id"]: row["origin"]
        for row in product.ask("SELECT external_id, origin FROM tasks")
    }


async def begin(product):
    """Look at what is due, let the first events pass, and return the watermarks."""
    await sync_due(product.runtime)
    await product.cycle()
    return product.watermarks()


@pytest.mark.parametrize("entry", [OWN, ALL], ids=["one", "all"])
@pytest.mark.parametrize("is_read_first", [True, False], ids=["in turn", "at once"])
async def test_an_entry_moves_from_the_configuration_to_a_file(
    tmp_path, world, entry, is_read_first
):
    async with follow(tmp_path, world, tasks=SYNC, watches=(entry,)) as product:
        before = await begin(product)
        write(world, f"[[watch]]\n{entry}\n")
        if is_read_first:
            await turn(product)
    async with follow(tmp_path, world) as product:
        kept = product.watermarks()
        outcome = await turn(product)
        events = await product.cycle()

        assert kept == before
        assert outcome.warnings == ()
        assert list_active(product) == ["octo/hello#12"]
        assert events == []
        world.remove_file("octo/team", ".prwatch/a.toml")
        await turn(product)
        assert list_active(product) == []


async def test_an_entry_moves_from_a_file_to_the_configuration(tmp_path, world):
    write(world, HELLO)
    async with follow(tmp_path, world) as product:
        before = await begin(product)
    async with follow(tmp_path, world, tasks=SYNC, watches=(OWN,)) as product:
        await turn(product)
        write(world, FIX)
        await turn(product)

        assert list_origins(product)["octo/hello#12"] == "config"
        assert await product.cycle() == []
        assert product.watermarks()[1] == before[1]


async def test_an_entry_that_no_file_names_ends_once_the_files_were_read(
    tmp_path, world
):
    write(world, FIX)
    own = f"{REVIEW}\n{SYNC}"
    async with follow(tmp_path, world, tasks=own, watches=(OWN,)) as product:
        await begin(product)
    async with follow(tmp_path, world) as product:
        waiting = list_active(product)
        await turn(product)

        assert waiting == ["octo/hello#12", "octo/hello@fix"]
        assert list_active(product) == ["octo/hello@fix"]
        assert product.ask(REVIEWS) == []


FAULTS = [
    *((kind, "contents") for kind in ("html502", "secondary", "bad_credentials")),
    *((kind, r"a\.toml") for kind in ("html502", "secondary", "bad_credentials")),
    ("gone410", "contents"),
    ("gone410", r"a\.toml"),
]
MINE = '[[review]]\nname = "mine"\n'


@pytest.mark.parametrize(("kind", "match"), FAULTS)
async def test_what_moved_to_a_file_outlives_looks_that_fail(
    tmp_path, world, kind, match
):
    own = f"{REVIEW}\n{SYNC}"
    async with follow(tmp_path, world, tasks=own, watches=(OWN, ALL)) as product:
        await begin(product)
        before = (product.watermarks(), product.ask(REVIEWS)[0]["id"])
    write(world, f"[[watch]]\n{OWN}\n[[watch]]\n{ALL}\n{MINE}")
    async with follow(tmp_path, world) as product:
        fault = world.faults.add(Fault(kind=kind, match=match, times=None))
        for _ in range(3):
            await sync_due(product.runtime)
            product.clock.advance(15.0)
        world.faults.remove(fault)
        kept = (product.watermarks(), product.ask(REVIEWS)[0]["id"])
        product.clock.advance(7200.0)
        await sync_due(product.runtime)
        (review,) = product.ask(REVIEWS)

        assert kept == (product.watermarks(), review["id"]) == before
        assert list_origins(product)["octo/hello#12"] == "watch_file"
        assert review["origin"] == "watch_file"


async def test_what_ends_nowhere_yet_is_told_and_ends_once_all_is_read(tmp_path, world):
    world.add_repository("octo/other")
    world.write_file("octo/other", "README.md", "theirs")
    write(world, FIX)
    own = f"{REVIEW}\n{SYNC}\n{OTHER}"
    async with follow(tmp_path, world, tasks=own, watches=(OWN,)) as product:
        await begin(product)
    world.set_token(DEFAULT_TOKEN, repositories=("octo/hello", "octo/team"))
    sync = f"{SYNC}\n{OTHER}"
    async with follow(tmp_path, world, sync=sync) as product:
        product.clock.advance(INTERVAL)
        read, failed = await sync_due(product.runtime)
        again = await turn(product)
        kept = list_active(product)

        assert failed.result is SyncResult.FAILED
        until = "is declared no more, and kept until octo/other:.prwatch is read"
        assert (
            read.warnings
            == again.warnings
            == tuple(
                f"{what} {until} as a whole"
                for what in ("task octo/hello#12", "review watch mine")
            )
        )
        assert kept == ["octo/hello#12", "octo/hello@fix"]

    async with follow(tmp_path, world) as product:
        await turn(product)

        assert list_active(product) == ["octo/hello@fix"]
        assert product.ask(REVIEWS) == []


async def test_what_waits_for_the_one_folder_that_fails_is_told_there(tmp_path, world):
    async with follow(tmp_path, world, tasks=SYNC, watches=(OWN,)) as product:
        await begin(product)
    world.set_token(DEFAULT_TOKEN, repositories=("octo/hello",))
    async with follow(tmp_path, world) as product:
        outcome = await turn(product)

        assert outcome.result is SyncResult.FAILED
        assert outcome.warnings == (
            (
                "task octo/hello#12 is declared no more, and kept until"
                " octo/team:.prwatch is read as a whole"
            ),
        )
        assert list_active(product) == ["octo/hello#12"]


async def test_what_moved_to_a_file_outlives_a_start_without_a_token(tmp_path, world):
    corp = f'[[workspace]]\nname = "corp"\ntoken_env = "CORP"\n{SYNC}'
    secrets = {"CORP": DEFAULT_TOKEN}
    both = f"{corp}\n[[workspace.watch]]\n{OWN}"
    async with follow(tmp_path, world, sync=both, secrets=secrets) as product:
        before = await begin(product)
    write(world, HELLO)
    async with follow(tmp_path, world, sync=corp) as product:
        skipped = await turn(product)
        assert (skipped.reason, product.watermarks()) == ("no_token", before)
    async with follow(tmp_path, world, sync=corp, secrets=secrets) as product:
        await turn(product)

        assert list_origins(product)["octo/hello#12"] == "watch_file"
        assert product.watermarks() == before


@pytest.mark.parametrize("is_new", [True, False], ids=["new file", "known file"])
async def test_what_moved_to_a_file_outlives_a_mistake_in_it(tmp_path, world, is_new):
    own = f"{REVIEW}\n{SYNC}"
    if not is_new:
        write(world, FIX)
    async with follow(tmp_path, world, tasks=own, watches=(OWN,)) as product:
        await begin(product)
        before = (product.watermarks(), product.ask(REVIEWS)[0]["id"])
    write(world, f"{FIX}{HELLO}{MINE}nonsense = 'is:open'")
    for _ in range(2):
        async with follow(tmp_path, world) as product:
            outcome = await turn(product)

            assert "nonsense" in outcome.warnings[0]
            assert "task octo/hello#12 is declared no more" in outcome.warnings[1]
            assert (product.watermarks(), product.ask(REVIEWS)[0]["id"]) == before
    async with follow(tmp_path, world) as product:
        write(world, f"{FIX}{HELLO}{MINE}")
        await turn(product)

        assert list_origins(product)["octo/hello#12"] == "watch_file"
        assert product.ask(REVIEWS)[0]["id"] == before[1]


async def test_a_file_that_is_never_read_holds_nothing_of_the_configuration(
    tmp_path, world
):
    async with follow(tmp_path, world, tasks=SYNC, watches=(OWN,)) as product:
        await begin(product)
    write(world, "#" * 70_000, "long.toml")
    async with follow(tmp_path, world) as product:
        await turn(product)

        assert list_active(product) == []


async def test_what_moved_outlives_a_stored_file_that_this_version_cannot_read(
    tmp_path, world
):
    write(world, HELLO)
    both = {"tasks": SYNC, "watches": (OWN,)}
    async with follow(tmp_path, world, **both) as product:
        before = await begin(product)
        with contextlib.closing(product.connect()) as rows:
            rows.execute("UPDATE watch_files SET declared = 'old = 1'")
    async with follow(tmp_path, world) as product:
        outcome = await turn(product)
        kept = product.watermarks()
        write(world, f"{HELLO}\n{FIX}")
        await turn(product)

        assert "old: is not a key here" in str(outcome.warnings)
        assert kept == before
        assert list_origins(product)["octo/hello#12"] == "watch_file"


async def test_an_entry_moves_between_two_files(tmp_path, world):
    write(world, HELLO)
    async with follow(tmp_path, world) as product:
        before = await begin(product)
        write(world, "")
        write(world, HELLO, "b.toml")
        outcome = await turn(product)

        assert (outcome.steps, outcome.warnings) == (0, ())
        assert product.watermarks() == before


async def test_an_entry_moves_to_a_folder_that_is_not_due_yet(tmp_path, world):
    world.add_repository("octo/other")
    world.write_file("octo/other", "README.md", "theirs")
    write(world, HELLO)
    async with follow(tmp_path, world, sync=f"{SYNC}\n{OTHER}") as product:
        before = await begin(product)
        write(world, "")
        world.write_file("octo/other", ".prwatch/b.toml", HELLO)
        product.clock.advance(INTERVAL)
        outcomes = await sync_due(product.runtime)

        assert [(each.place, each.result.value) for each in outcomes] == [
            ("octo/team:.prwatch", "changed"),
            ("octo/other:.prwatch", "changed"),
        ]
        assert product.watermarks() == before
        assert await product.cycle() == []


async def test_nothing_ends_that_may_stand_in_a_folder_that_cannot_be_read(
    tmp_path, world
):
    world.add_repository("octo/other")
    world.write_file("octo/other", "README.md", "theirs")
    review = '[[review]]\nname = "mine"\n'
    entries = f"{TASK}[[watch]]\n{ALL}\n{review}"
    write(world, entries)
    sync = f"{SYNC}\n{OTHER}"
    async with follow(tmp_path, world, sync=sync) as product:
        await begin(product)
        before = (list_active(product), product.ask(REVIEWS)[0]["id"])
        write(world, "")
        world.write_file("octo/other", ".prwatch/b.toml", entries)
        fault = Fault(kind="json500", match="octo/other/contents", times=None)
        world.faults.add(fault)
        product.clock.advance(INTERVAL)
        first, failed = await sync_due(product.runtime)
        kept = (list_active(product), product.ask(REVIEWS)[0]["id"])

        assert failed.result is SyncResult.FAILED
        assert kept == before
        until = "is declared no more, and kept until octo/other:.prwatch is read"
        told = ("task T-1", "the watch on all of octo/hello", "review watch mine")
        for what in told:
            assert f"{what} {until} as a whole" in first.warnings

    async with follow(tmp_path, world, sync=sync) as product:
        product.clock.advance(INTERVAL)
        await sync_due(product.runtime)
        assert (list_active(product), product.ask(REVIEWS)[0]["id"]) == before
        world.faults.clear()
        product.clock.advance(3600)
        outcomes = await sync_due(product.runtime)

        assert [each.warnings for each in outcomes] == [(), ()]
        assert (list_active(product), product.ask(REVIEWS)[0]["id"]) == before
        world.remove_file("octo/other", ".prwatch/b.toml")
        product.clock.advance(3600)
        await sync_due(product.runtime)
        assert list_active(product) == []
        assert product.ask(REVIEWS) == []


async def test_a_review_watch_moves_there_and_back(tmp_path, world):
    async with follow(tmp_path, world, tasks=f"{REVIEW}\n{SYNC}") as product:
        (first,) = product.ask(REVIEWS)
        write(world, '[[review]]\nname = "mine"\n')
        outcome = await turn(product)
    async with follow(tmp_path, world) as product:
        await turn(product)
        (there,) = product.ask(REVIEWS)
    async with follow(tmp_path, world, tasks=f"{REVIEW}\n{SYNC}") as product:
        write(world, FIX)
        await turn(product)
        (back,) = product.ask(REVIEWS)

    assert outcome.warnings == (
        (
            "review watch mine is left to the configuration, which declares it; take it"
            " out of one of the two, or choose another name"
        ),
    )
    assert there == {
        **first,
        "origin": "watch_file",
        "written_as": "octo/team:.prwatch/a.toml",
    }
    assert back == first
