import datetime as dt
from pathlib import Path

import pytest

from prwatch.config import load_config
from prwatch.config.environment import iter_scalars, name_variable
from prwatch.errors import ConfigError

HOME = {"HOME": "/home/me"}


def get_problems(text, environ, flags=None):
    with pytest.raises(ConfigError) as refusal:
        load_config(text, environ={**HOME, **environ}, flags=flags or {})
    return list(refusal.value.problems)


@pytest.mark.parametrize(
    ("variable", "text", "key", "value"),
    [
        pytest.param("PRWATCH_INSTANCE", "box", "instance", "box", id="top"),
        pytest.param(
            "PRWATCH_POLL_INTERVAL",
            "30s",
            "poll.interval",
            dt.timedelta(seconds=30),
            id="duration",
        ),
        pytest.param("PRWATCH_POLL_JITTER", "0.25", "poll.jitter", 0.25, id="number"),
        pytest.param(
            "PRWATCH_POLL_FEEDBACK_ON_ACTIVITY",
            "true",
            "poll.feedback_on_activity",
            True,
            id="flag",
        ),
        pytest.param("PRWATCH_LOG_LEVEL", "debug", "log.level", "debug", id="word"),
        pytest.param(
            "PRWATCH_HTTP_CA_FILE",
            "/ca.pem",
            "http.ca_file",
            Path("/ca.pem"),
            id="path",
        ),
    ],
)
def test_a_variable_sets_a_single_value(variable, text, key, value):
    loaded = load_config(None, environ={**HOME, variable: text})

    found = loaded.config
    for name in key.split("."):
        found = getattr(found, name)
    assert (found, loaded.origins[key]) == (value, f"environment {variable}")


def test_every_single_value_has_a_variable_and_no_two_share_one():
    names = [name_variable(path) for path, _ in iter_scalars()]

    assert len(set(names)) == len(names) == 34


def test_a_flag_wins_over_a_variable_and_that_over_the_file():
    loaded = load_config(
        '[poll]\ninterval = "61s"\nsettle = "1s"\nfull_read = "1m"\n',
        environ={
            **HOME,
            "PRWATCH_POLL_INTERVAL": "62s",
            "PRWATCH_POLL_SETTLE": "2s",
        },
        flags={"poll.interval": "63s"},
    )

    keys = ("poll.interval", "poll.settle", "poll.full_read", "poll.tick")
    assert {key: loaded.origins[key] for key in keys} == {
        "poll.interval": "command line --poll-interval",
        "poll.settle": "environment PRWATCH_POLL_SETTLE",
        "poll.full_read": "prwatch.toml:4",
        "poll.tick": "default",
    }
    assert loaded.config.poll.interval == dt.timedelta(seconds=63)


def test_an_empty_variable_counts_as_not_set():
    loaded = load_config(None, environ={**HOME, "PRWATCH_LOG_LEVEL": ""})

    assert loaded.origins["log.level"] == "default"


def test_a_mistake_outside_the_file_is_told_where_it_was_made():
    found = get_problems(
        None,
        {"PRWATCH_LOG_LEVEL": "warn", "PRWATCH_POLL_JITTER": "much"},
        {"daemon.grace": "soon"},
    )

    assert found == [
        (
            'command line: --daemon-grace: found "soon"; allowed is a duration such as'
            ' "500ms", "30s", "15m", "2h" or "30d"'
        ),
        (
            'environment: PRWATCH_LOG_LEVEL: found "warn"; allowed is one of debug, info,'
            " warning, error; did you mean warning?"
        ),
        (
            'environment: PRWATCH_POLL_JITTER: found "much"; allowed is a number from 0.0'
            " to 0.5"
        ),
    ]


def test_a_password_in_a_variable_of_the_database_is_refused_and_not_shown():
    [problem] = get_problems(
        None, {"PRWATCH_DATABASE_URL": "postgresql://me:hunter2@db.example/x"}
    )

    assert problem.startswith(
        "environment: PRWATCH_DATABASE_URL: found text that is not"
    )
    assert "hunter2" not in problem


@pytest.mark.parametrize(
    ("variable", "nearest"),
    [
        pytest.param("PRWATCH_POLL_INTERVALL", "PRWATCH_POLL_INTERVAL", id="section"),
        pytest.param("PRWATCH_LOG_LVL", "PRWATCH_LOG_LEVEL", id="far off"),
        pytest.param("PRWATCH_STATEDIR", "PRWATCH_STATE_DIR", id="top"),
        pytest.param("PRWATCH_CONFG", "PRWATCH_CONFIG", id="the file"),
    ],
)
def test_a_misspelled_variable_is_told_with_the_nearest(variable, nearest):
    assert get_problems(None, {variable: "x"}) == [
        f"environment: {variable}: sets no key; did you mean {nearest}?"
    ]


@pytest.mark.parametrize(
    "variable", ["PRWATCH_CONFIG", "PRWATCH_TOKEN", "POLL_INTERVAL"]
)
def test_other_variables_are_none_of_our_business(variable):
    loaded = load_config(None, environ={**HOME, variable: "x"})

    assert set(loaded.origins.values()) == {"default"}


def test_a_flag_that_sets_no_key_is_a_mistake_of_the_program():
    with pytest.raises(ValueError, match=r"no such key: poll\.x"):
        load_config(None, environ=HOME, flags={"poll.x": "1"})


def test_a_mistake_in_an_option_is_told_under_the_name_that_was_written():
    [problem] = get_problems(None, {}, {"daemon.metrics_listen": "0.0.0.0:1"})

    assert problem.startswith('command line: --metrics-listen: found "0.0.0.0:1"')
