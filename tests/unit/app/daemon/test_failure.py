import pytest

from prwatch.app.daemon.failure import LoopFailure, describe_failure, find_cause
from prwatch.errors import StoreConflict, StoreUnavailable
from prwatch.telemetry.redaction import redact

TOKEN = "ghp_" + "a1B2" * 9


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        pytest.param(
            StoreUnavailable("busy"), LoopFailure("store_unavailable", "busy"), id="own"
        ),
        pytest.param(
            ValueError("a\n b"), LoopFailure("internal", "ValueError: a b"), id="fault"
        ),
        pytest.param(
            ExceptionGroup("two", [OSError("x"), StoreConflict("row")]),
            LoopFailure("store_conflict", "row"),
            id="own one of a group",
        ),
        pytest.param(
            ExceptionGroup("outer", [ExceptionGroup("inner", [OSError("x")])]),
            LoopFailure("internal", "OSError: x"),
            id="nested group",
        ),
        pytest.param(
            OSError("y" * 1000),
            LoopFailure("internal", "OSError: " + "y" * 291),
            id="long",
        ),
        pytest.param(
            OSError(f"{'z' * 280} {TOKEN}"),
            LoopFailure("internal", f"OSError: {'z' * 280} ***"),
            id="secret at the cut",
        ),
    ],
)
def test_a_failure_is_one_clean_line(error, expected):
    assert describe_failure(error, redact) == expected


def test_the_cause_of_a_single_error_is_itself():
    error = OSError("x")

    assert find_cause(error) is error
