import errno

import pytest

from prwatch.sinks.reason import build_reason, describe_error
from prwatch.telemetry.redaction import redact

TOKEN = "ghp_" + "a1B2" * 10


@pytest.mark.parametrize(
    ("detail", "expected"),
    [
        pytest.param("", "x failed", id="no detail"),
        pytest.param(" \n ", "x failed", id="blank detail"),
        pytest.param("a\n b\tc\x1b[0m", "x failed: a b c [0m", id="one line"),
        pytest.param(f"with {TOKEN}", "x failed: with ***", id="no secret"),
        pytest.param(
            "y" * 400, "x failed: …" + "y" * 289, id="the end is kept when it is long"
        ),
        pytest.param(
            TOKEN + " " + "y" * 280,
            "x failed: *** " + "y" * 280,
            id="a secret is masked before the cut",
        ),
    ],
)
def test_a_reason_is_one_clean_line(detail, expected):
    assert build_reason("x failed", detail, redact) == expected


def test_a_head_that_is_too_long_is_cut():
    assert build_reason("h" * 299, "detail", redact) == "h" * 299 + ":"
    assert build_reason("h" * 400, "", redact) == "h" * 300


def test_an_error_is_told_in_the_systems_words_without_its_file():
    error = OSError(errno.ENOSPC, "No space left on device", "/secret/place")

    assert describe_error(error) == "No space left on device"
    assert describe_error(OSError()) == "OSError"
