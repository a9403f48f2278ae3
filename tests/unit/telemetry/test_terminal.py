import pytest

from prwatch.telemetry.terminal import escape_controls


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("größer → 12\n", "größer → 12\n", id="what can be read"),
        pytest.param("a\x1b[2J", "a\\x1b[2J", id="escape sequence"),
        pytest.param("a\rb\x07\t", "a\\rb\\x07\\t", id="other controls"),
        pytest.param("a\u202eb", "a\\u202eb", id="turned direction"),
        pytest.param("\udc80", "\\udc80", id="lone surrogate"),
    ],
)
def test_what_cannot_be_seen_is_written_out(text, shown):
    assert escape_controls(text) == shown
