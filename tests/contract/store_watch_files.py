"""Rows of folders of watch files, of their files, and of open circuits."""

from dataclasses import replace

import pytest

from prwatch.domain.circuit import Cause, Circuit, CircuitState
from prwatch.domain.outcome import FailureClass
from prwatch.domain.task import Origin, Task
from prwatch.domain.watch_file import WatchFile, WatchFolder
from prwatch.store import tasks, watch_files
from prwatch.store.watch_files import StoredCircuit
from tests.contract.store_rows import at

FOLDER = WatchFolder(
    id="f1", workspace_id="w1", repository="octo/team", path=".prwatch"
)
READ = replace(FOLDER, tag='"a"', fingerprint="print", changed_at=at(5))
GOOD = WatchFile(name="a.toml", blob="b1", declared="[[watch]]", changed_at=at(1))
BROKEN = WatchFile(
    name="b.yaml",
    blob="b2",
    declared="",
    problems=("b.yaml:1:1: é", "two"),
    changed_at=at(2),
)
CIRCUIT = StoredCircuit(
    fingerprint="print",
    circuit=Circuit(
        state=CircuitState.OPEN,
        cause=Cause(
            failure_class=FailureClass.CONFIG, code="resource_gone", message="gone"
        ),
        failures=2,
        opened_at=at(1),
        open_until=at(600),
    ),
)


def by_name(*files):
    return {each.name: each for each in files}


async def put(store, *files):
    assert await store.write(watch_files.put_reading, READ, before=FOLDER)
    await store.write(watch_files.replace_files, READ, by_name(*files))


class WatchFilesContract:
    """Runs on every backend over one workspace."""

    async def test_a_folder_is_added_once(self, store):
        again = replace(FOLDER, id="f2")

        assert await store.write(watch_files.add_folder, FOLDER)
        assert not await store.write(watch_files.add_folder, again)

        assert await store.read(watch_files.list_folders, "w1") == [FOLDER]
        assert await store.read(watch_files.list_folders, "w2") == []

    async def test_files_come_back_as_they_were(self, store):
        await store.write(watch_files.add_folder, FOLDER)

        await put(store, BROKEN, GOOD)

        found = await store.read(watch_files.list_files, "f1")
        assert list(found.items()) == [("a.toml", GOOD), ("b.yaml", BROKEN)]
        assert await store.read(watch_files.list_folders, "w1") == [READ]

    async def test_just_the_files_that_are_there_are_kept(self, store):
        await store.write(watch_files.add_folder, FOLDER)
        await store.write(watch_files.replace_files, READ, by_name(BROKEN, GOOD))
        fixed = replace(BROKEN, problems=(), declared="watch: []", blob="b3")

        await store.write(watch_files.replace_files, READ, by_name(fixed))

        assert await store.read(watch_files.list_files, "f1") == by_name(fixed)

    async def test_a_reading_is_stored_over_the_one_that_it_followed(self, store):
        await store.write(watch_files.add_folder, FOLDER)
        later = replace(READ, tag='"b"', changed_at=at(9))

        assert not await store.write(watch_files.put_reading, later, before=READ)
        assert await store.write(watch_files.put_reading, READ, before=FOLDER)
        assert not await store.write(watch_files.put_reading, later, before=FOLDER)
        assert await store.read(watch_files.list_folders, "w1") == [READ]
        assert await store.write(watch_files.put_reading, later, before=READ)

    async def test_what_a_workspace_has_of_watch_files_is_found(self, store):
        assert not await store.read(watch_files.has_any, "w1")
        await store.write(watch_files.add_folder, FOLDER)

        assert await store.read(watch_files.has_any, "w1")
        assert not await store.read(watch_files.has_any, "w2")

    @pytest.mark.parametrize(
        ("origin", "archived_at", "is_found"),
        [
            (Origin.WATCH_FILE, None, True),
            (Origin.WATCH_FILE, at(5), False),
            (Origin.CONFIG, None, False),
        ],
    )
    async def test_what_a_file_left_is_found(
        self, store, origin, archived_at, is_found
    ):
        task = Task(
            id="t9",
            workspace_id="w1",
            external_id="T-9",
            origin=origin,
            archived_at=archived_at,
            created_at=at(1),
        )
        await store.write(tasks.add_task, task)

        assert await store.read(watch_files.has_any, "w1") is is_found

    async def test_a_circuit_comes_back_until_it_closes(self, store):
        await store.write(watch_files.add_folder, FOLDER)
        assert await store.read(watch_files.find_circuit, "f1") is None

        await store.write(watch_files.put_circuit, "f1", CIRCUIT)
        longer = replace(
            CIRCUIT, circuit=replace(CIRCUIT.circuit, failures=3, open_until=at(999))
        )
        await store.write(watch_files.put_circuit, "f1", longer)

        assert await store.read(watch_files.find_circuit, "f1") == longer
        assert await store.write(watch_files.remove_circuit, "f1")
        assert not await store.write(watch_files.remove_circuit, "f1")
        assert await store.read(watch_files.find_circuit, "f1") is None

    async def test_a_folder_goes_with_all_that_hangs_on_it(self, store):
        await store.write(watch_files.add_folder, FOLDER)
        await store.write(watch_files.replace_files, READ, by_name(GOOD))
        await store.write(watch_files.put_circuit, "f1", CIRCUIT)

        await store.write(watch_files.remove_folder, "f1")

        assert await store.read(watch_files.list_folders, "w1") == []
        assert await store.read(watch_files.list_files, "f1") == {}
        assert await store.read(watch_files.find_circuit, "f1") is None
