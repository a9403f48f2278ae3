import os
import socket
import tempfile
from pathlib import Path

import pytest

from prwatch.app.control.socket_place import (
    bind_socket,
    choose_socket_path,
    remove_socket,
)
from prwatch.errors import StoreUnavailable


def test_the_runtime_folder_of_systemd_comes_first(tmp_path):
    environ = {"RUNTIME_DIRECTORY": "/run/prwatch:/run/other"}

    path = choose_socket_path(environ, tmp_path)

    assert str(path) == "/run/prwatch/prwatch.sock"


def test_without_it_the_socket_stands_in_the_state_folder(tmp_path):
    assert choose_socket_path({}, tmp_path) == tmp_path / "prwatch.sock"


@pytest.fixture
def long(tmp_path):
    return tmp_path / ("x" * 100)


@pytest.fixture
def temporary():
    """A folder with a short path, which pytest's own are not."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


def test_a_long_path_is_replaced_by_a_private_folder(temporary, long):
    environ = {"TMPDIR": str(temporary)}

    path = choose_socket_path(environ, long)
    again = choose_socket_path(environ, long)
    other = choose_socket_path(environ, long / "other")

    assert path.parent.parent == temporary
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert (again == path, other == path) == (True, False)


@pytest.mark.parametrize(
    ("size", "is_moved"),
    [pytest.param(100, False, id="100"), pytest.param(101, True, id="101")],
)
def test_a_path_has_at_most_a_hundred_bytes(temporary, size, is_moved):
    state_dir = Path("/" + "y" * (size - len("//prwatch.sock")))

    path = choose_socket_path({"TMPDIR": str(temporary)}, state_dir)

    assert (path != state_dir / "prwatch.sock") == is_moved


def test_a_long_temporary_folder_is_not_used(long):
    path = choose_socket_path({"TMPDIR": str(long)}, long)
    path.parent.rmdir()

    assert path.parent.parent == Path("/tmp")


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda folder: folder.mkdir(mode=0o755), id="open to others"),
        pytest.param(lambda folder: folder.symlink_to("/"), id="a link"),
        pytest.param(lambda folder: folder.write_text(""), id="a file"),
    ],
)
def test_a_folder_that_somebody_else_prepared_is_refused(temporary, long, spoil):
    environ = {"TMPDIR": str(temporary)}
    folder = choose_socket_path(environ, long).parent
    folder.rmdir()
    spoil(folder)

    with pytest.raises(StoreUnavailable, match="not a private folder"):
        choose_socket_path(environ, long)


def test_a_temporary_folder_that_is_not_there_is_an_error_of_the_store(temporary, long):
    with pytest.raises(StoreUnavailable, match="cannot make"):
        choose_socket_path({"TMPDIR": str(temporary / "none")}, long)


@pytest.fixture
def no_mask():
    before = os.umask(0)
    yield
    os.umask(before)


def test_the_socket_is_for_its_owner_alone_whatever_the_mask(tmp_path, no_mask):
    path = tmp_path / "s"

    with bind_socket(path):
        mode = path.stat().st_mode & 0o777

    assert mode == 0o600


def test_a_socket_of_a_dead_daemon_is_replaced(tmp_path):
    path = tmp_path / "s"
    bind_socket(path).close()

    with (
        bind_socket(path),
        socket.socket(socket.AF_UNIX) as client,
    ):
        client.connect(str(path))


def test_what_is_no_socket_is_left_where_it_is(tmp_path):
    path = tmp_path / "s"
    path.write_text("precious")

    with pytest.raises(StoreUnavailable, match="cannot listen"):
        bind_socket(path)
    remove_socket(path)

    assert path.read_text() == "precious"


def test_a_path_that_the_kernel_refuses_is_an_error_of_the_store(tmp_path, long):
    with pytest.raises(StoreUnavailable, match="cannot listen"):
        bind_socket(long / "s")


def test_removing_a_socket_that_is_not_there_is_no_error(tmp_path):
    remove_socket(tmp_path / "s")

    assert list(tmp_path.iterdir()) == []
