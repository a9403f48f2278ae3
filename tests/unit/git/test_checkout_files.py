import threading

import anyio
import anyio.lowlevel
import pytest

from prwatch.domain.targets import OnBranch, UnknownBranch
from prwatch.git.checkout_files import NO_ANSWER, CheckoutFiles, CheckoutReader
from prwatch.git.process import Git
from prwatch.git.settings import Settings
from tests.checkouts import ENVIRON, make_checkout


class SlowSettings(Settings):
    """Settings of which one folder does not answer before `answers` is set."""

    def __init__(self, slow):
        super().__init__(Git(ENVIRON))
        self.slow = slow / ".git"
        self.answers = threading.Event()
        self.asked = []

    def read_local(self, layout):
        self.asked.append(layout.git_dir.parent.name)
        if layout.git_dir == self.slow:
            self.answers.wait(10)
        return super().read_local(layout)


@pytest.fixture
def folders(tmp_path):
    return [make_checkout(tmp_path / name) for name in "abc"]


async def wait_for_answer(reader, folder):
    with anyio.fail_after(5):
        while (await reader.read([folder]))[folder] == NO_ANSWER:
            await anyio.lowlevel.checkpoint()


def describe(results):
    return {
        folder.name: found.head if isinstance(found, CheckoutFiles) else found
        for folder, found in results.items()
    }


async def test_one_thread_reads_all_folders_that_answer(folders):
    reader = CheckoutReader(Settings(Git(ENVIRON)))
    nowhere = folders[0].parent

    results = await reader.read([*folders, nowhere])

    fix = OnBranch("fix")
    assert describe(results) == {
        "a": fix,
        "b": fix,
        "c": fix,
        nowhere.name: UnknownBranch("there is no checkout in this folder"),
    }


async def test_a_folder_that_hangs_is_left_and_the_others_are_read(folders):
    slow = SlowSettings(folders[1])
    reader = CheckoutReader(slow, read_seconds=0.1)
    expected = {"a": OnBranch("fix"), "b": NO_ANSWER, "c": OnBranch("fix")}

    for _ in range(3):
        assert describe(await reader.read(folders)) == expected

    # Only one thread waits in that folder, and it went no further by itself.
    assert slow.asked.count("b") == 1
    slow.answers.set()
    with anyio.fail_after(5):
        while describe(await reader.read([folders[1]])) == {"b": NO_ANSWER}:
            await anyio.lowlevel.checkpoint()
    assert slow.asked == ["a", "b", "c", "a", "c", "a", "c", "b"]


async def test_a_cancelled_reading_goes_no_further(folders):
    slow = SlowSettings(folders[0])
    reader = CheckoutReader(slow, read_seconds=10)

    with anyio.move_on_after(0.1):
        await reader.read(folders)

    assert describe(await reader.read(folders[:1])) == {"a": NO_ANSWER}

    slow.answers.set()
    await wait_for_answer(reader, folders[0])
    assert slow.asked == ["a", "a"]
