"""Review watches and a daemon that runs: it searches by itself, and when asked to."""

import json

import pytest

from prwatch.simulator.faults import Fault
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
    assert shown["searched_at"] < shown["due_at"]
    assert (shown["held_by"], shown["held_until"]) == ("", None)
    assert "\n  searched last " in described
    assert said == "mine in acme: 1 hit, 0 new tasks\n"
    assert "\n  review:octo/hello#12 (open) " in described
    assert "review_queue" in status["daemon"]["facts"]["loops"]
    assert told.stdout.count("GitHubPRReviewRequested") == 1


def test_a_search_that_is_not_answered_exits_with_four(configured, hub):
    configured.run("review", "add", "mine")
    configured.run("review", "add", "rest", "--repository", "octo/hello")
    hub.world.faults.add(Fault(kind="sso", times=1, match="ReviewHits"))
    refused = configured.run("review", "poll")
    answered = configured.run("review", "poll")
    hub.world.faults.add(Fault(kind="html502", times=None))
    broken = configured.read("review", "poll", "mine", code=4)

    assert (refused.returncode, answered.returncode) == (4, 0)
    (told,) = refused.stderr.splitlines()
    assert told.startswith("mine in acme: the organisation asks for single sign-on")
    assert "; " in told
    assert [each["class"] for each in broken["failures"]] == ["transient"]


def test_the_daemon_finds_by_itself_what_the_configuration_declares(configured, hub):
    one = next(iter(hub.world.pull_requests.values()))
    hub.world.request_review(one, "octocat")
    path = configured.folder / "prwatch.toml"
    text = path.read_text().replace(
        "[[workspace.watch]]",
        '[[workspace.review]]\nname = "mine"\n\n[[workspace.watch]]',
        1,
    )
    path.write_text(text)
    with running(configured) as process:
        # Nobody asks: the line comes or the test runs into its time.
        told = json.loads(process.stdout.readline())
        while told["type"] != "GitHubPRReviewRequested":
            told = json.loads(process.stdout.readline())

    assert told["data"]["task_id"] == "review:octo/hello#12"
