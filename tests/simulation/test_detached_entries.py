"""A pull request that was detached, and the entries that name it before and after."""

import pytest

from prwatch.app.command.references import NamedPullRequest
from prwatch.app.command.task_commands import detach_pull_request
from prwatch.app.command.task_listing import show_task
from prwatch.app.command.watch_commands import add_watch
from prwatch.config.loader import load_config
from prwatch.errors import NotFound, PrwatchError
from tests.benches import ONE, make_stage

TASK = "octo/hello#12"
TWELVE = NamedPullRequest(owner="octo", name="hello", number=12)
ENTRY = """[[workspace.watch]]
repository = "octo/hello"
pull_request = 12
"""
ALL = """[[workspace.watch]]
repository = "octo/hello"
all = true
"""


class Life:
    """One product over several configurations: each cycle is a start of its own."""

    def __init__(self, folder):
        self._folder = folder
        self.stage = make_stage(folder)

    async def cycle(self, entries=""):
        """Start with these entries; return how many rows that wrote."""
        file = self._folder / "prwatch.toml"
        file.write_text(f'state_dir = "{self._folder}/state"\n{ONE}{entries}')
        environ = self.stage.surroundings.environ
        self.stage.loaded = load_config(file, environ=environ, cwd=self._folder)
        return (await self.stage.cycle()).rows_written

    async def detach(self):
        async with self.stage.bench() as bench:
            await detach_pull_request(bench, TASK, TWELVE)

    async def find_state(self):
        """Return what the task says of the pull request."""
        async with self.stage.bench() as bench:
            row = await show_task(bench, TASK)
            return [watch.state for watch in row.watches]


@pytest.fixture
def life(tmp_path):
    return Life(tmp_path)


async def begin_as_entry(life):
    await life.cycle(ENTRY)
    return ENTRY


async def begin_as_command_that_an_entry_names_too(life):
    await begin_as_command(life)
    await life.cycle(ENTRY)
    return ENTRY


async def begin_as_command(life):
    async with life.stage.bench() as bench:
        await add_watch(bench, TWELVE)
    await life.cycle()
    return ""


async def begin_as_adoption(life):
    await life.cycle(ALL)
    return ALL


async def begin_as_adoption_that_an_entry_names_too(life):
    await life.cycle(ALL)
    await life.cycle(ALL + ENTRY)
    return ALL + ENTRY


BEGINNINGS = [
    begin_as_entry,
    begin_as_command,
    begin_as_command_that_an_entry_names_too,
    begin_as_adoption,
    begin_as_adoption_that_an_entry_names_too,
]


@pytest.mark.parametrize("begin", BEGINNINGS)
async def test_what_was_detached_stays_off_however_often_one_starts(life, begin):
    entries = await begin(life)
    before = await life.find_state()
    await life.detach()

    written = [await life.cycle(entries) for _ in range(3)]

    assert (before, await life.find_state()) == (["OPEN"], ["detached"])
    assert written == [0, 0, 0]


@pytest.mark.parametrize("begin", BEGINNINGS)
async def test_an_entry_that_is_added_after_the_detaching_attaches_again(life, begin):
    entries = await begin(life)
    await life.detach()
    without = entries.replace(ENTRY, "")
    await life.cycle(without)

    await life.cycle(without + ENTRY)

    assert await life.find_state() == ["OPEN"]
    assert await life.cycle(without + ENTRY) == 0


async def test_an_entrys_pull_request_that_was_never_read_cannot_be_detached(life):
    world = life.stage.world
    await life.cycle(ENTRY.replace("12", "13"))
    thirteen = NamedPullRequest(owner="octo", name="hello", number=13)

    async with life.stage.bench() as bench:
        with pytest.raises(PrwatchError, match="because the configuration asks for it"):
            await detach_pull_request(bench, "octo/hello#13", thirteen)

    world.open_pull_request("octo/hello", branch="next", number=13)
    await life.cycle(ENTRY.replace("12", "13"))
    async with life.stage.bench() as bench:
        await detach_pull_request(bench, "octo/hello#13", thirteen)
        with pytest.raises(NotFound, match="has no pull request octo/hello#13"):
            await detach_pull_request(bench, "octo/hello#13", thirteen)


async def test_a_renamed_repositorys_entry_is_detached_under_either_name(life):
    await life.cycle(ENTRY)
    life.stage.world.rename_repository("octo/hello", "octo/moved")
    await life.cycle(ENTRY)

    await life.detach()

    assert await life.find_state() == ["detached"]
    assert await life.cycle(ENTRY) == 0
