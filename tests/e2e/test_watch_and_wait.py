"""`prwatch watch`, `wait`, `events` and `status` as a person's processes."""

import json
import signal
import subprocess

import pytest

from prwatch.simulator import Fault

pytestmark = pytest.mark.e2e


def get_pull_request(hub):
    (found,) = hub.world.pull_requests.values()
    return found


@pytest.fixture
def bare(hub, prwatch):
    """The program with one workspace that watches nothing yet."""
    hub.world.open_pull_request("octo/hello", branch="fix", title="Fix it", number=12)
    prwatch.configure(
        f"""
[[workspace]]
name = "acme"
token_env = "FINE_GRAINED_TOKEN"
api_url = "{hub.api_url}"

[poll]
settle = "0s"
tick = "100ms"
hot_interval = "1s"
"""
    )
    return prwatch


def test_a_branch_is_added_checked_and_shown(bare, hub):
    added = bare.read("watch", "add", "octo/hello@fix")
    checked = bare.read("watch", "check", "octo/hello@fix")
    hub.world.submit_review(get_pull_request(hub), "mona", "APPROVED")
    words = bare.run("watch", "check", "octo/hello#12", "--direct")
    shown = bare.read("watch", "show", "octo/hello@fix")

    assert [row["state"] for row in added["watches"]] == ["searching"]
    assert [row["reference"] for row in checked["watches"]] == ["octo/hello#12"]
    assert [c["events"] for c in checked["checks"]] == [{"GitHubTaskPRUpdated": 1}]
    assert (words.returncode, words.stderr) == (0, "")
    assert words.stdout.splitlines()[-2].startswith("wrote 2 events; ")
    assert words.stdout.splitlines()[-1] == (
        "octo/hello#12: OPEN, checks not yet registered, review approved"
    )
    assert shown["watches"][0]["pull_request"]["review"] == "approved"


def test_a_check_that_github_does_not_answer_ends_with_4(bare, hub):
    bare.read("watch", "add", "octo/hello#12")
    hub.world.faults.add(Fault(kind="html503", times=None))

    result = bare.run("watch", "check", "octo/hello#12")

    assert result.returncode == 4
    assert result.stderr.startswith("prwatch: ")


def test_a_check_of_what_is_not_there_ends_with_4_and_is_told(bare):
    bare.read("watch", "add", "octo/hello#99")

    words = bare.run("watch", "check", "octo/hello#99")
    value = bare.read("watch", "check", "octo/hello#99", code=4)

    assert words.returncode == 4
    assert words.stderr.startswith("octo/hello#99: ")
    assert [f["code"] for f in value["checks"][0]["failures"]] == ["not_found"]


def test_waiting_ends_with_what_was_decided(bare, hub):
    pull_request = get_pull_request(hub)
    late = bare.read("wait", "octo/hello#12", "--timeout", "2s", code=124)
    hub.world.set_check(pull_request, "test", conclusion="FAILURE")
    failed = bare.run("wait", "octo/hello#12")
    hub.world.submit_review(pull_request, "mona", "APPROVED")
    approved = bare.run("wait", "octo/hello#12", "--for", "review")
    hub.world.close(pull_request)
    closed = bare.read("wait", "octo/hello#12", "--for", "merged", code=1)

    assert late["verdict"] == "timed_out"
    assert (failed.returncode, approved.returncode) == (1, 0)
    assert failed.stdout.startswith("octo/hello#12: checks decided: failed after ")
    assert (closed["verdict"], closed["pull_request"]["state"]) == ("failed", "CLOSED")


def test_waiting_with_a_refused_token_ends_with_4(bare, hub):
    for token in list(hub.world.tokens):
        hub.world.revoke_token(token)

    result = bare.run("wait", "octo/hello#12")

    assert result.returncode == 4


def test_events_are_shown_and_dead_ones_sent_again(bare, hub):
    with bare.config.open("a") as file:
        file.write('[[sink]]\nname = "no"\nkind = "command"\nargv = ["/bin/false"]\n')
    bare.read("watch", "add", "octo/hello#12")
    bare.read("cycle")

    lines = bare.run("events", "tail", "--json").stdout.splitlines()
    event = json.loads(lines[0])
    words = bare.run("events", "show", event["id"])
    retried = bare.run("events", "retry", event["id"], "--sink", "no")
    status = bare.read("status")

    assert (len(lines), event["type"]) == (1, "GitHubTaskPRUpdated")
    assert "  associated: none yet → 12" in words.stdout
    assert [line.split()[:3] for line in words.stdout.splitlines()[-1:]] == [
        ["no", "dead", "1"]
    ]
    assert retried.stdout == "1 dead delivery will be sent again\n"
    assert (status["sinks"][0]["pending"], status["sinks"][0]["dead"]) == (1, 0)


def test_the_status_without_a_daemon_says_how_old_it_is(configured):
    configured.read("cycle")

    result = configured.run("status")

    assert result.returncode == 0
    assert result.stdout.startswith("No daemon runs.\nThis is what the store knows;")
    assert "1 open" in result.stdout


def test_following_goes_on_until_it_is_interrupted(configured):
    configured.read("cycle")
    process = subprocess.Popen(
        configured.command("events", "tail", "--follow", "--json"),
        cwd=configured.folder,
        env=configured.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    first = process.stdout.readline()
    configured.read("watch", "add", "octo/hello#12", "--task", "T-1")
    configured.read("cycle")
    second = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)

    assert [json.loads(line)["data"]["task_id"] for line in (first, second)] == [
        "octo/hello#12",
        "T-1",
    ]
    assert (process.returncode, out, err) == (130, "", "")
