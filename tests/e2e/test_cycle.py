"""`prwatch --cycle`: what one pass prints, writes and ends with."""

import json

import pytest

from prwatch.simulator import Fault
from tests.e2e.conftest import CLASSIC

pytestmark = pytest.mark.e2e


def test_a_first_pass_adopts_and_tells_in_one_object(configured):
    result = configured.run("--cycle", "--config", configured.config, "--json")

    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["events"] == {
        "written": 1,
        "delivered": 1,
        "by_type": {"GitHubTaskPRUpdated": 1},
    }
    assert report["watches"] == {"searching": 0, "discovered": 1}
    assert report["failures"] == []
    # Under --json the events of a stdout sink are on stderr.
    events = [line for line in result.stderr.splitlines() if '"specversion"' in line]
    assert [json.loads(line)["type"] for line in events] == ["GitHubTaskPRUpdated"]


def test_the_object_has_exactly_its_members(configured):
    assert set(configured.read("--cycle")) == {
        *("cycle_id", "duration_ms", "references", "requests", "points", "bytes"),
        *("rows_written", "events", "watches", "failures", "skipped"),
    }


def test_a_quiet_pass_writes_nothing_and_asks_once(configured):
    configured.read("--cycle")
    configured.read("--cycle")

    report = configured.read("--cycle")

    assert report["rows_written"] == 0
    assert report["events"]["written"] == 0
    assert report["references"] == 1


def test_a_change_is_told_once_with_what_was_before(configured, hub):
    configured.read("--cycle")
    (pull_request,) = hub.world.pull_requests.values()
    hub.world.set_check(pull_request, "test", conclusion="FAILURE")

    first = configured.run("cycle")
    again = configured.run("cycle")

    events = [json.loads(line) for line in first.stdout.splitlines()]
    changes = [{"field": "checks", "previous": "none", "current": "failure"}]
    assert {event["type"]: event["data"]["changes"] for event in events} == {
        "GitHubPRFeedback": changes,
        "GitHubTaskPRUpdated": changes,
    }
    assert (
        "Told 1 GitHubPRFeedback, 1 GitHubTaskPRUpdated; delivered 2." in first.stderr
    )
    assert (again.returncode, again.stdout) == (0, "")
    assert "Nothing changed." in again.stderr


def test_words_go_to_stdout_when_events_go_elsewhere(configured):
    with configured.config.open("a") as file:
        file.write('[[sink]]\nname = "log"\nkind = "jsonl"\n')

    result = configured.run("--cycle")

    assert "Watching 1 pull request" in result.stdout
    lines = (configured.state_dir / "events.jsonl").read_text().splitlines()
    assert [json.loads(line)["type"] for line in lines] == ["GitHubTaskPRUpdated"]


def test_a_refused_token_ends_with_1_and_says_of_whom(configured, hub):
    hub.world.revoke_token(CLASSIC)

    report = configured.read("--cycle", code=1)
    words = configured.run("--cycle")

    assert [
        (each["workspace"], each["scope"], each["class"]) for each in report["failures"]
    ] == [("acme", "token", "auth")]
    assert words.returncode == 1
    assert "acme" in words.stderr


def test_a_failing_record_is_listed_and_ends_with_0(configured):
    with configured.config.open("a") as file:
        file.write(
            '[[workspace.watch]]\nrepository = "octo/hello"\npull_request = 404\n'
        )

    report = configured.read("--cycle")

    assert [(each["scope"], each["reference"]) for each in report["failures"]] == [
        ("record", "octo/hello#404")
    ]


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("html502;times=none;match=ReviewHits", 1),
        ("bad_credentials;times=none;match=ReviewEnds", 1),
        ("partial_not_found;times=none;numbers=12;match=ReviewEnds", 0),
    ],
)
def test_reviews_that_could_not_be_had_at_all_end_with_1(configured, hub, fault, code):
    (pull_request,) = hub.world.pull_requests.values()
    hub.world.request_review(pull_request, "octocat")
    configured.read("review", "add", "mine", "--policy", "always")
    configured.read("--cycle")
    hub.world.faults.add(fault)

    report = configured.read("--cycle", code=code)

    assert [each["scope"] for each in report["failures"]] == ["review"]


def test_one_workspace_without_a_token_does_not_stop_the_other(configured):
    with configured.config.open("a") as file:
        file.write('[[workspace]]\nname = "other"\ntoken_env = "MISSING_TOKEN"\n')

    report = configured.read("--cycle", code=1)

    assert report["watches"]["discovered"] == 1
    assert [(each["workspace"], each["code"]) for each in report["failures"]] == [
        ("other", "no_token")
    ]


def test_github_being_down_ends_with_1(configured, hub):
    hub.world.faults.add(Fault(kind="html503", times=None))

    report = configured.read("--cycle", code=1)

    assert {each["class"] for each in report["failures"]} == {"transient"}


def test_every_mistake_is_on_a_line_of_its_own_and_ends_with_2(prwatch):
    prwatch.configure(
        '[poll]\ninterval = "0s"\nsettel = "1s"\n[[sink]]\nkind = "fax"\n'
    )

    result = prwatch.run("--cycle")

    assert (result.returncode, result.stdout) == (2, "")
    lines = result.stderr.splitlines()
    assert all(line.startswith("prwatch: ") for line in lines)
    assert [
        word
        for line in lines
        for word in ("poll.interval", "poll.settel", "sink[0].name", "sink[0].kind")
        if f" {word}: " in line
    ] == ["poll.interval", "poll.settel", "sink[0].name", "sink[0].kind"]


def test_no_workspace_that_can_be_used_ends_with_2(prwatch):
    prwatch.configure('[[workspace]]\nname = "a"\ntoken_env = "MISSING_TOKEN"\n')

    result = prwatch.run("--cycle", "--json")

    assert (result.returncode, result.stdout) == (2, "")
    assert "environment variable MISSING_TOKEN is not set" in result.stderr


def test_a_state_folder_that_cannot_be_made_ends_with_3(prwatch):
    blocked = prwatch.folder / "file"
    blocked.write_text("")

    result = prwatch.run("--cycle", "--state-dir", blocked / "state")

    assert (result.returncode, result.stdout) == (3, "")
    assert result.stderr.splitlines()[0].startswith(
        f"prwatch: the state folder {blocked}/state cannot be written"
    )


def test_a_damaged_database_ends_with_3(configured):
    configured.state_dir.mkdir()
    (configured.state_dir / "prwatch.db").write_bytes(b"no database at all" * 100)

    result = configured.run("--cycle")

    assert result.returncode == 3
    assert result.stderr.splitlines()[0].startswith(
        "prwatch: the file is not a database"
    )


def test_nothing_configured_is_no_failure(prwatch):
    result = prwatch.run("--cycle")

    assert result.returncode == 0
    assert "Nothing is configured" in result.stdout + result.stderr


def test_full_reads_in_full_what_did_not_move(configured, hub):
    configured.read("--cycle")
    configured.read("--cycle")
    hub.world.requests.entries.clear()

    configured.read("--cycle", "--full")

    assert "Details" in {each.operation for each in hub.world.requests.entries}
