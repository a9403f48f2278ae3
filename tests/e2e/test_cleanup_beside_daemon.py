"""Cleaning up beside a daemon that runs: it sweeps, and says what it holds back."""

import pytest

from prwatch.simulator import Fault
from tests.e2e.test_watch_beside_daemon import running

pytestmark = pytest.mark.e2e


def test_the_daemon_cleans_up_and_tells_what_it_holds_back(configured, hub):
    one = next(iter(hub.world.pull_requests.values()))
    hub.world.request_review(one, "octocat")
    with running(configured):
        configured.read("review", "add", "mine")
        configured.read("review", "poll", "mine")
        hub.world.merge(one)
        cleaned = configured.read("review", "cleanup")
        planned = configured.read("review", "cleanup", "--dry-run")
        said = configured.run("review", "cleanup", "--dry-run", "mine").stdout
        shown = configured.run("review", "show", "mine").stdout
        hidden = Fault(kind="partial_not_found", numbers=(12,), match="ReviewEnds")
        hub.world.faults.add(hidden)
        failed = configured.run("review", "cleanup")
        (kept,) = configured.read("review", "show", "mine")["tasks"]
        described = configured.run("review", "show", "mine").stdout
        status = configured.read("status")
        (circuit,) = configured.read("circuit", "list")["circuits"]
        closed = configured.read("circuit", "reset", "acme")
        left = configured.read("circuit", "list")
        hub.world.faults.add(Fault(kind="html503", match="ReviewEnds"))
        whole = configured.run("review", "cleanup")

    (finding,) = planned["plan"]
    assert cleaned == {"deleted": 0}
    assert (finding["verdict"], finding["evidence"]["state"]) == ("grace", "MERGED")
    assert said.startswith("review:octo/hello#12 in acme is done (MERGED ")
    assert "; it goes when one more look after " in said
    assert "(done, MERGED " in shown
    assert (failed.returncode, failed.stdout) == (4, "0 review tasks removed\n")
    assert failed.stderr.startswith("octo/hello#12 in acme: ")
    assert (whole.returncode, whole.stderr) == (4, "acme: GitHub answered 503\n")
    assert kept["kept_until"] is not None
    assert f"kept: {kept['kept']} until 20" in described
    loop = status["daemon"]["facts"]["loops"]["review_cleanup"]
    assert loop["open_circuits"] == {"config": 1}
    named = (circuit["circuit"], circuit["workspace"], circuit["name"])
    assert named == ("review_task", "acme", "octo/hello#12")
    assert closed == {"running": True, "closed": 1}
    assert left == {"running": True, "circuits": []}
