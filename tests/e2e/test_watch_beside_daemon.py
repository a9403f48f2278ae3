"""Commands beside a daemon that runs: they ask it, and nudge it when they wrote."""

import contextlib
import json
import signal
import socket
import subprocess

import pytest

pytestmark = pytest.mark.e2e

READY_SECONDS = 30.0


@contextlib.contextmanager
def running(program):
    """Run the daemon until the block ends; it is ready when the block begins."""
    address = program.folder / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(str(address))
        notify.settimeout(READY_SECONDS)
        process = subprocess.Popen(
            program.command("run"),
            cwd=program.folder,
            env=program.environment(NOTIFY_SOCKET=str(address)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            while b"READY=1" not in notify.recv(4096).splitlines():
                pass
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=30)
            program.printed += [out, err]


def test_the_daemon_is_asked_and_nudged(configured, hub):
    hub.world.open_pull_request("octo/hello", branch="other", number=13)
    configured.read("cycle")
    with running(configured) as process:
        status = configured.read("status")
        words = configured.run("status").stdout
        (row,) = configured.read("watch", "show", "octo/hello#12")["watches"]
        pull_request = next(iter(hub.world.pull_requests.values()))
        hub.world.set_check(pull_request, "test", conclusion="FAILURE")
        checked = configured.read("watch", "check", row["id"])
        configured.read("watch", "add", "octo/hello#13")
        waited = configured.read("wait", "octo/hello#12", code=1)
        health = configured.read("health")
        (explained,) = configured.read("explain", "octo/hello#12")["explanations"]
        explanation = configured.run("explain", "octo/hello#12").stdout

    assert explained["next_look"]["why"].startswith("every ")
    assert explained["words"]["needs"] == "failing"
    assert "\n  next look   " in explanation
    assert status["needs"][0]["count"] == 1
    assert status["daemon"]["pid"] == process.pid
    assert (health["running"], health["verdict"], health["reasons"]) == (
        True,
        "ok",
        [],
    )
    assert set(status["daemon"]["facts"]) >= {"loops", "last_cycle"}
    assert words.startswith(f"The daemon runs with pid {process.pid}.\n")
    assert checked["watches"][0]["pull_request"]["checks"] == "failure"
    assert checked["checks"][0]["delivered"] == 0
    assert (waited["verdict"], waited["pull_request"]["checks"]) == (
        "failed",
        "failure",
    )
    told = [json.loads(line) for line in configured.printed[-2].splitlines()]
    assert {event["data"]["pull_request"]["number"] for event in told} == {12, 13}


def test_the_daemon_tells_why_it_could_not_check(configured, hub):
    configured.read("cycle")
    with running(configured):
        (row,) = configured.read("watch", "show", "octo/hello#12")["watches"]
        for token in list(hub.world.tokens):
            hub.world.revoke_token(token)
        result = configured.run("watch", "check", row["id"])

    assert result.returncode == 4
    assert result.stderr.startswith("prwatch: ")


def test_circuits_are_shown_and_closed_by_hand(configured, hub):
    configured.read("cycle")
    (watch,) = configured.read("watch", "show", "octo/hello#12")["watches"]
    with running(configured):
        for token in [*hub.world.tokens]:
            hub.world.revoke_token(token)
        refused = configured.run("watch", "check", watch["id"])
        shown = configured.read("circuit", "list")
        words = configured.run("circuit", "list").stdout
        health = configured.read("health", code=1)
        closed = configured.read("circuit", "reset", "acme")
        unknown = configured.run("circuit", "reset", "nobody")
    without = configured.read("circuit", "list")

    (row,) = shown["circuits"]
    assert (refused.returncode, unknown.returncode) == (4, 1)
    assert (row["circuit"], row["workspace"], row["class"]) == (
        "workspace",
        "acme",
        "auth",
    )
    assert "the token is refused" in words
    assert health["circuits"] == [{"circuit": "workspace", "class": "auth", "open": 1}]
    assert closed == {"running": True, "closed": 1}
    assert "no workspace nobody is configured" in unknown.stderr
    assert (without["running"], len(without["circuits"])) == (False, 1)


def test_all_who_wait_share_what_the_daemon_sees(configured, hub):
    configured.read("cycle")
    pull_request = next(iter(hub.world.pull_requests.values()))
    hub.world.set_check(pull_request, "test")
    with running(configured):
        waiting = [
            subprocess.Popen(
                configured.command("wait", "octo/hello#12", "--json"),
                cwd=configured.folder,
                env=configured.environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(3)
        ]
        words = [each.stderr.readline() for each in waiting]
        rest = hub.world.requests.rest
        hub.world.set_check(pull_request, "test", conclusion="SUCCESS")
        found = [json.loads(each.communicate(timeout=30)[0]) for each in waiting]

    assert all("wait.observed" in line for line in words)
    assert [each["verdict"] for each in found] == ["reached"] * 3
    assert rest == hub.world.requests.rest == 0
