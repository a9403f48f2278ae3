"""Review watches beside a daemon that runs: it searches when it is asked to."""

import pytest

from tests.e2e.test_watch_beside_daemon import running

pytestmark = pytest.mark.e2e


def test_the_daemon_searches_a_review_watch_once_for_everybody(configured, hub):
    one = next(iter(hub.world.pull_requests.values()))
    hub.world.request_review(one, "octocat")
    with running(configured):
        configured.read("review", "add", "mine")
        first = configured.read("review", "poll", "mine")
        second = configured.read("review", "poll")
        shown = configured.read("review", "show", "mine")
        said = configured.run("review", "poll", "mine").stdout
        described = configured.run("review", "show", "mine").stdout
        status = configured.read("status")
    told = configured.run("events", "tail", "--type", "GitHubPRReviewRequested")

    (searched,), (again,) = first["watches"], second["watches"]
    assert (searched["hits"], again["created"]) == (1, 0)
    assert [task["id"] for task in shown["tasks"]] == ["review:octo/hello#12"]
    assert said == "mine in acme: 1 hit, 0 new tasks\n"
    assert "\n  review:octo/hello#12 (open) " in described
    assert "review_queue" in status["daemon"]["facts"]["loops"]
    assert told.stdout.count("GitHubPRReviewRequested") == 1
