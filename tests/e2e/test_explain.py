"""`prwatch explain` as a person's process, after a cycle and with a look of its own."""

import pytest

pytestmark = pytest.mark.e2e


def test_a_verdict_is_explained_from_the_store_and_read_now(configured, hub):
    (one,) = hub.world.pull_requests.values()
    hub.world.set_check(one, "test", conclusion="FAILURE", workflow="CI")
    configured.read("cycle")
    stored = configured.run("explain", "octo/hello#12")
    hub.world.set_check(one, "test", conclusion="SUCCESS", workflow="CI")
    hub.world.submit_review(one, "alice", "APPROVED")
    live = configured.read("explain", "octo/hello#12", "--live")
    words = configured.run("explain", "octo/hello#12", "--live")
    again = configured.run("explain", "octo/hello#12")

    lines = [" ".join(line.split()) for line in stored.stdout.splitlines()]
    assert (lines[0], stored.returncode, stored.stderr) == ("octo/hello#12", 0, "")
    assert {"checks failure", "1 of 1 failed: test"} <= set(lines)
    assert any(line.startswith("test github-actions failed - 2") for line in lines)
    assert any(line.endswith("associated: none yet → 12") for line in lines)
    (explained,) = live["explanations"]
    assert explained["stored"]["pull_request"]["checks"] == "failure"
    assert explained["live"]["pull_request"]["checks"] == "success"
    assert [each["said"] for each in explained["live"]["checks"]] == ["success"]
    assert [each["author"] for each in explained["live"]["opinions"]] == ["alice"]
    assert "github-actions" in words.stdout
    assert [line for line in again.stdout.splitlines() if "checks " in line] == [
        line for line in stored.stdout.splitlines() if "checks " in line
    ]


def test_a_live_reading_that_github_refuses_ends_with_4(configured, hub):
    for token in list(hub.world.tokens):
        hub.world.revoke_token(token)

    result = configured.run("explain", "octo/hello#12", "--live")

    assert (result.returncode, result.stdout) == (4, "")
    assert result.stderr.startswith("prwatch: ")
