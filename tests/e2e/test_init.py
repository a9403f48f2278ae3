"""From nothing to a first pass, with what `prwatch init` writes."""

import subprocess

import pytest

from tests.e2e.conftest import CLASSIC

pytestmark = pytest.mark.e2e


def test_what_init_writes_is_enough_for_a_first_pass(hub, prwatch):
    hub.world.open_pull_request(
        "octo/hello", branch="mine", title="x", author="octocat"
    )
    written = prwatch.run("init", "--config", prwatch.config, GITHUB_TOKEN=CLASSIC)
    text = prwatch.config.read_text()
    line = '# api_url = "https://api.github.com"'
    prwatch.config.write_text(text.replace(line, f'api_url = "{hub.api_url}"'))
    options = ("--state-dir", prwatch.state_dir)

    report = prwatch.read("--cycle", *options, GITHUB_TOKEN=CLASSIC)

    assert written.returncode == 0
    assert line in text
    assert report["failures"] == []
    assert report["watches"]["discovered"] == 1
    assert (prwatch.state_dir / "events.jsonl").read_text().count("\n") == 1


def test_the_repository_of_the_folder_is_watched(prwatch):
    for arguments in (
        ["init", "-q"],
        ["remote", "add", "origin", "https://github.com/octo/hello"],
    ):
        subprocess.run(
            ["git", *arguments], cwd=prwatch.folder, check=True, capture_output=True
        )

    prwatch.run("init", "--config", prwatch.config)
    shown = prwatch.read("config", "show")

    assert shown["workspace[0].watch[0].repository"]["value"] == "octo/hello"
