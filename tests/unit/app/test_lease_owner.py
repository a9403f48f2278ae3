"""A lease tells whose it is, and whether that process still lives."""

import os
import socket
import subprocess
import sys

import pytest

from prwatch.app.lease_owner import build_lease_owner, is_owner_gone


def test_the_owner_that_lives_is_not_gone():
    assert not is_owner_gone(f"{build_lease_owner(os.getpid())}/some-id")


def test_a_process_that_ended_is_gone():
    with subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE
    ) as process:
        token = f"{build_lease_owner(process.pid)}/some-id"
        assert not is_owner_gone(token)
        process.kill()

    assert is_owner_gone(token)


def test_a_number_that_another_process_has_now_is_gone():
    assert is_owner_gone(f"{socket.gethostname()}/{os.getpid()}/1/some-id")


@pytest.mark.parametrize(
    "token",
    [
        pytest.param("", id="none"),
        pytest.param("some-id", id="without an owner"),
        pytest.param("/some-id", id="with an empty owner"),
        pytest.param("elsewhere.example/1/1/some-id", id="another machine's"),
        pytest.param(f"{socket.gethostname()}/../1/some-id", id="no number"),
    ],
)
def test_nothing_is_said_of_whom_one_cannot_see(token):
    assert not is_owner_gone(token)
