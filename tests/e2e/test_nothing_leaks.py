"""What the daemon shows to whoever may look holds no name of anybody's work."""

import base64
import contextlib
import http.client
import json
import re
import signal
import subprocess
import time

import pytest

from tests.e2e.conftest import CLASSIC, FINE_GRAINED, INSTALLATION

pytestmark = pytest.mark.e2e

PATIENCE = 40.0
PLANTED = "clandestine"
INLINE = "ghp_" + "pL4nt3d" * 5 + "x"
HOOK_SECRET = base64.b64encode(b"clandestine-hook-secret-01").decode()
CONFIG = """
[[workspace]]
name = "clandestine-one"
token_env = "CLASSIC_TOKEN"
api_url = "{api_url}"

[[workspace.watch]]
repository = "clandestineorg/clandestinerepo"
pull_request = 12

[[workspace.watch]]
repository = "clandestineorg/clandestinerepo"
pull_request = 999

[[workspace.watch]]
repository = "clandestineorg/clandestinerepo"
branch = "clandestine-later"

[[workspace.task]]
id = "CLANDESTINE-7"
title = "clandestine task"
repositories = [{{ repository = "clandestineorg/clandestinerepo", branch = "clandestine-b" }}]

[[workspace]]
name = "clandestine-two"
token_env = "INSTALLATION_TOKEN"
api_url = "{api_url}"

[[workspace.watch]]
repository = "clandestineorg/clandestinerepo"
pull_request = 12

[[workspace]]
name = "clandestine-three"
token_env = "FINE_GRAINED_TOKEN"
api_url = "{api_url}"

[[workspace.watch]]
repository = "clandestinesso/clandestinevault"
pull_request = 5

[[sink]]
name = "clandestine-hook"
kind = "webhook"
url = "http://127.0.0.1:1/clandestine-path"
secret_env = "HOOK_SECRET"

[[sink]]
name = "clandestine-out"
kind = "stdout"

[poll]
settle = "0s"
interval = "1s"

[daemon]
metrics_listen = "127.0.0.1:0"

[log]
level = "debug"
format = "{log_format}"
"""


def plant(world):
    """Fill the world with names that may be shown nowhere."""
    world.add_repository("clandestineorg/clandestinerepo")
    world.add_repository("clandestinesso/clandestinevault")
    pull_request = world.open_pull_request(
        "clandestineorg/clandestinerepo",
        branch="clandestine-b",
        title="clandestine title",
        author="clandestine-login",
        number=12,
    )
    world.open_pull_request(
        "clandestinesso/clandestinevault", branch="clandestine-c", number=5
    )
    world.set_check(pull_request, "clandestine check", conclusion="FAILURE")
    world.set_token(CLASSIC, login="clandestine-login")
    world.revoke_token(INSTALLATION)
    world.set_token(
        FINE_GRAINED, login="clandestine-other", sso_organizations=("clandestinesso",)
    )
    return pull_request


@contextlib.contextmanager
def running(program):
    """Run the daemon; give what reads one of its pages, and its process."""
    log, out = program.folder / "daemon.log", program.folder / "daemon.out"
    with log.open("wb") as stderr, out.open("wb") as stdout:
        process = subprocess.Popen(
            program.command("run"),
            cwd=program.folder,
            env=program.environment(HOOK_SECRET=f"whsec_{HOOK_SECRET}"),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
        )
        try:
            yield process, wait_for(lambda: find_port(log.read_text()))
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)


def find_port(log):
    found = re.search(r"127\.0\.0\.1:(\d+)", log.partition("metrics.listening")[2])
    return int(found[1]) if found else None


def wait_for(look):
    """Look until there is something, and return it."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        pause(0.1)
    pytest.fail("it never came")


def pause(seconds):
    """Give the other process a moment."""
    import select

    select.select([], [], [], seconds)


def get(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    with contextlib.closing(connection):
        connection.request("GET", path)
        return connection.getresponse().read().decode()


def read_metrics(port):
    lines = get(port, "/metrics").splitlines()
    pairs = [line.rpartition(" ") for line in lines if not line.startswith("#")]
    return {name: float(value) for name, _, value in pairs}


def has_all_failures(port):
    found = read_metrics(port)
    return (
        found['prwatch_failures_total{class="auth"}'] >= 2
        and found['prwatch_failures_total{class="transient"}'] >= 1
        and found['prwatch_deliveries_total{outcome="failed",sink_kind="webhook"}'] >= 1
        and found['prwatch_deliveries_total{outcome="delivered",sink_kind="stdout"}']
        >= 1
    )


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_no_identifier_is_in_health_or_metrics_and_no_secret_anywhere(
    hub, prwatch, log_format
):
    pull_request = plant(hub.world)
    prwatch.configure(CONFIG.format(api_url=hub.api_url, log_format=log_format))
    log = prwatch.folder / "daemon.log"
    good = prwatch.config.read_text()
    with running(prwatch) as (process, port):
        wait_for(lambda: has_all_failures(port))
        prwatch.config.write_text(good.replace("CLASSIC_TOKEN", INLINE))
        process.send_signal(signal.SIGHUP)
        wait_for(lambda: "configuration.refused" in log.read_text())
        prwatch.config.write_text(good)
        hub.world.exhaust_rate_limit(login="clandestine-login")
        wait_for(
            lambda: read_metrics(port).get(
                'prwatch_rate_limit_blocked_accounts{bucket="graphql"}'
            )
        )
        told = prwatch.run("health", "--json")
        shown = {
            "metrics": get(port, "/metrics"),
            "readyz": get(port, "/readyz"),
            "healthz": get(port, "/healthz"),
            "health": told.stdout,
            "words": prwatch.run("health").stdout,
        }

    reasons = {each["reason"] for each in json.loads(shown["health"])["reasons"]}
    assert reasons >= {
        "token_refused",
        "organisation_refused",
        "limit",
        "sink_failing",
        "reload_refused",
    }
    names = (PLANTED, "octocat", hub.url, str(prwatch.folder), pull_request.node_id)
    assert [
        (place, name)
        for place, text in shown.items()
        for name in names
        if name.lower() in text.lower()
    ] == []
    # What people read of their own work names it, and holds no secret.
    everything = log.read_text() + "".join(shown.values()) + told.stderr
    assert PLANTED in everything
    assert [s for s in (INLINE, HOOK_SECRET) if s in everything] == []
