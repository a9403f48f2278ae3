import json

from prwatch.config import load_config
from prwatch.config.show import ShownValue, list_shown, render_json, render_text

TEXT = """\
[poll]
interval = "30s"
[[workspace]]
name = "acme"
token_file = "token"
[[sink]]
name = "file"
kind = "jsonl"
max_bytes = "1MiB"
[[sink]]
name = "hook"
kind = "webhook"
url = "https://hooks.example/services/T00/s3cr3t"
[[sink]]
name = "run"
kind = "command"
argv = ["curl", "-H", "X-Key: s3cr3t"]
"""


def list_values():
    loaded = load_config(
        TEXT, environ={"HOME": "/home/me", "PRWATCH_LOG_LEVEL": "debug"}
    )
    return {shown.key: shown for shown in list_shown(loaded)}


def test_each_value_is_shown_as_it_is_written_with_its_origin():
    shown = list_values()

    keys = (
        "instance",
        "poll.interval",
        "poll.jitter",
        "poll.feedback_on_activity",
        "log.level",
        "workspace[0].token_file",
        "workspace[0].watch",
        "sink[0].max_bytes",
    )
    assert [shown[key] for key in keys] == [
        ShownValue("instance", None, "default"),
        ShownValue("poll.interval", "30s", "prwatch.toml:2"),
        ShownValue("poll.jitter", 0.1, "default"),
        ShownValue("poll.feedback_on_activity", False, "default"),
        ShownValue("log.level", "debug", "environment PRWATCH_LOG_LEVEL"),
        ShownValue(
            "workspace[0].token_file",
            "/home/me/.local/state/prwatch/token",
            "prwatch.toml:5",
        ),
        ShownValue("workspace[0].watch", [], "default"),
        ShownValue("sink[0].max_bytes", "1MiB", "prwatch.toml:9"),
    ]


def test_what_may_hold_a_secret_is_masked():
    shown = list_values()

    assert shown["sink[1].url"].value == "https://hooks.example/***"
    assert shown["sink[2].argv"].value == ["curl", "***", "***"]
    assert "s3cr3t" not in render_text(list(shown.values()))
    assert "s3cr3t" not in render_json(list(shown.values()))


def test_the_text_has_one_aligned_line_a_key():
    values = [
        ShownValue("log.level", "debug", "prwatch.toml:1"),
        ShownValue("instance", None, "default"),
        ShownValue("sink[0].events", ["GitHubPRFeedback"], "prwatch.toml:4"),
    ]

    assert render_text(values) == (
        'log.level = "debug"                    # prwatch.toml:1\n'
        "instance = (none)                      # default\n"
        'sink[0].events = ["GitHubPRFeedback"]  # prwatch.toml:4'
    )


def test_the_json_is_one_object_by_key():
    values = [ShownValue("poll.jitter", 0.1, "default")]

    assert json.loads(render_json(values)) == {
        "poll.jitter": {"value": 0.1, "origin": "default"}
    }
