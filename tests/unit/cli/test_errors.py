"""What a person reads when a command fails."""

import sys

import pytest

from prwatch.cli.errors import (
    find_reported,
    install_excepthook,
    is_interrupt,
    render_error,
)
from prwatch.cli.options import Options
from prwatch.config.loader import load_config
from prwatch.errors import ConfigError, ProviderUnavailable, StoreUnavailable
from prwatch.telemetry.redaction import Redactor
from prwatch.telemetry.secret import Secret

TOKEN = "ghp_" + "a1" * 18


def knowing(redactor):
    options = Options()
    options.redactor = redactor
    return options


@pytest.fixture
def restored_excepthook():
    before = sys.excepthook
    yield
    sys.excepthook = before


def test_each_mistake_of_a_configuration_has_its_line():
    with pytest.raises(ConfigError) as caught:
        load_config("[poll]\ninterval = 1\njitter = 2\n", environ={"HOME": "/h"})

    text = render_error(caught.value, Options())

    assert [line.split(": ")[:3] for line in text.splitlines()] == [
        ["prwatch", "prwatch.toml:2", "poll.interval"],
        ["prwatch", "prwatch.toml:3", "poll.jitter"],
    ]


def test_a_message_that_says_more_than_its_problems_stands_above_them():
    error = ConfigError("no workspace can be used", problems=("a: x", "b: y"))

    assert render_error(error, Options()) == (
        "prwatch: no workspace can be used\nprwatch: a: x\nprwatch: b: y"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param(Options(), f"cannot use {TOKEN}", id="by its shape"),
        pytest.param(
            knowing(Redactor([Secret("sesame-open")])),
            "cannot use sesame-open",
            id="by its value",
        ),
    ],
)
def test_a_secret_in_a_message_is_masked(options, message):
    assert render_error(StoreUnavailable(message), options) == "prwatch: cannot use ***"


def test_a_message_keeps_to_its_line_and_steers_no_terminal():
    error = StoreUnavailable("one\ntwo\x1b[31m")

    assert render_error(error, Options()) == "prwatch: one two\\x1b[31m"


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        pytest.param(ZeroDivisionError(), None, id="a bug"),
        pytest.param(ConfigError("a"), "a", id="ours"),
        pytest.param(
            ExceptionGroup("g", [ExceptionGroup("h", [ConfigError("a")])]),
            "a",
            id="in groups",
        ),
        pytest.param(
            ExceptionGroup("g", [ConfigError("a"), ProviderUnavailable("b")]),
            "b",
            id="the gravest of two",
        ),
        pytest.param(
            ExceptionGroup("g", [ConfigError("a"), ZeroDivisionError()]),
            None,
            id="a bug beside it",
        ),
    ],
)
def test_the_error_to_tell_is_found(error, expected):
    found = find_reported(error)

    assert (found and found.message) == expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        pytest.param(KeyboardInterrupt(), True, id="alone"),
        pytest.param(
            BaseExceptionGroup("g", [ValueError(), KeyboardInterrupt()]),
            True,
            id="in a group",
        ),
        pytest.param(ExceptionGroup("g", [ValueError()]), False, id="another"),
    ],
)
def test_an_interrupt_is_seen(error, expected):
    assert is_interrupt(error) is expected


def test_the_traceback_of_a_bug_holds_no_secret(capsys, restored_excepthook):
    install_excepthook(Options())
    error = ValueError(f"Bearer {TOKEN}")

    sys.excepthook(ValueError, error, None)

    assert capsys.readouterr().err == "ValueError: Bearer ***\n"
