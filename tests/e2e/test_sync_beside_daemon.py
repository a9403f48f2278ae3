"""Watch files beside a daemon that runs: it follows them, and is asked to look."""

import json

import pytest

from tests.e2e.test_watch_beside_daemon import running

pytestmark = pytest.mark.e2e

HELLO = '[[watch]]\nrepository = "octo/hello"\npull_request = 13\n'


def test_the_daemon_follows_a_folder_and_looks_when_it_is_asked(configured, hub):
    text = configured.config.read_text()
    sync = '[[workspace.sync]]\nrepository = "octo/team"\n[poll]'
    configured.config.write_text(text.replace("[poll]", sync))
    other = hub.world.open_pull_request("octo/hello", branch="other", number=13)
    hub.world.set_check(other, "test", conclusion="FAILURE")
    hub.world.add_repository("octo/team")
    with running(configured):
        first = configured.read("sync")
        hub.world.write_file("octo/team", ".prwatch/a.toml", HELLO)
        second = configured.read("sync")
        unknown = configured.run("sync", "corp")
        waited = configured.read("wait", "octo/hello#13", code=1)
        loops = configured.read("status")["daemon"]["facts"]["loops"]
    stored = configured.read("sync", "status")

    assert first["folders"][0]["warnings"] == ["the folder is not there"]
    assert second["folders"][0]["result"] == "changed"
    assert unknown.returncode == 2
    assert waited["verdict"] == "failed"
    assert loops["sync"]["state"] == "running"
    assert [each["name"] for each in stored["folders"][0]["files"]] == ["a.toml"]
    told = [json.loads(line) for line in configured.printed[-4].splitlines()]
    assert {event["data"]["pull_request"]["number"] for event in told} == {12, 13}
