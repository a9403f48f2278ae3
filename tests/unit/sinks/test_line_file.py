import os
import resource
import signal
from contextlib import contextmanager

import pytest

from prwatch.sinks.line_file import LineFile, NotAFile


@pytest.fixture
def path(tmp_path):
    return tmp_path / "events.jsonl"


@pytest.fixture
def make_file(path):
    opened = []

    def make(*, max_bytes=0, keep=2, is_durable=False):
        file = LineFile(path, max_bytes=max_bytes, keep=keep, is_durable=is_durable)
        opened.append(file)
        return file

    yield make
    for file in opened:
        file.close()


@contextmanager
def full_disk(size):
    """Let no file grow beyond `size`: writes are short first and then refused."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def read_folder(path):
    return {each.name: each.read_bytes() for each in path.parent.iterdir()}


def test_lines_follow_one_another(make_file, path):
    file = make_file(is_durable=True)

    file.append(b"one\n")
    file.append(b"two\n")

    assert path.read_bytes() == b"one\ntwo\n"
    assert path.stat().st_mode & 0o007 == 0


def test_what_is_there_already_stays(make_file, path):
    path.write_bytes(b"old\n")

    make_file().append(b"new\n")

    assert path.read_bytes() == b"old\nnew\n"


def test_a_line_that_a_crash_cut_short_is_ended_first(make_file, path):
    path.write_bytes(b"old\n{half")

    make_file().append(b"new\n")

    assert path.read_bytes() == b"old\n{half\nnew\n"


def test_a_full_disk_leaves_no_part_of_a_line(make_file, path):
    file = make_file()
    file.append(b"one\n")

    with full_disk(10), pytest.raises(OSError, match="File too large"):
        file.append(b"a long line\n")

    assert path.read_bytes() == b"one\n"
    file.append(b"two\n")
    assert path.read_bytes() == b"one\ntwo\n"


def test_the_file_that_stands_at_the_path_is_written(make_file, path):
    file = make_file()
    file.append(b"one\n")

    path.rename(path.with_name("moved"))
    file.append(b"two\n")
    path.unlink()
    file.append(b"three\n")

    assert read_folder(path) == {"moved": b"one\n", path.name: b"three\n"}


def test_a_file_that_was_emptied_in_place_is_written_from_its_start(make_file, path):
    file = make_file()
    file.append(b"one\n")

    os.truncate(path, 0)
    file.append(b"two\n")

    assert path.read_bytes() == b"two\n"


def test_a_full_file_becomes_the_first_of_the_old_ones(make_file, path):
    file = make_file(max_bytes=8, keep=2)

    for line in (b"1__\n", b"2__\n", b"3__\n", b"4__\n", b"5__\n", b"6__\n", b"7__\n"):
        file.append(line)

    assert read_folder(path) == {
        path.name: b"7__\n",
        f"{path.name}.1": b"5__\n6__\n",
        f"{path.name}.2": b"3__\n4__\n",
    }


def test_without_old_files_a_full_one_is_begun_again(make_file, path):
    file = make_file(max_bytes=8, keep=0)

    for line in (b"1__\n", b"2__\n", b"3__\n"):
        file.append(line)

    assert read_folder(path) == {path.name: b"3__\n"}


def test_a_line_larger_than_a_file_gets_one_of_its_own(make_file, path):
    file = make_file(max_bytes=8, keep=1)

    file.append(b"a very long line\n")
    file.append(b"x\n")

    assert read_folder(path) == {
        path.name: b"x\n",
        f"{path.name}.1": b"a very long line\n",
    }


def test_an_old_file_that_somebody_removed_is_no_hindrance(make_file, path):
    file = make_file(max_bytes=4, keep=3)
    for line in (b"1__\n", b"2__\n", b"3__\n"):
        file.append(line)
    path.with_name(f"{path.name}.1").unlink()

    file.append(b"4__\n")

    assert read_folder(path) == {
        path.name: b"4__\n",
        f"{path.name}.1": b"3__\n",
        f"{path.name}.3": b"1__\n",
    }


def test_a_pipe_in_its_place_is_refused(make_file, path):
    os.mkfifo(path)

    with pytest.raises(NotAFile, match="not a regular file"):
        make_file().append(b"one\n")


def test_a_closed_file_is_opened_again(make_file, path):
    file = make_file()
    file.append(b"one\n")
    file.close()
    file.close()

    file.append(b"two\n")

    assert path.read_bytes() == b"one\ntwo\n"
