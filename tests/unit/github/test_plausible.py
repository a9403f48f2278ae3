import datetime as dt

import msgspec
import pytest

from prwatch.github.plausible import (
    Count,
    FullName,
    NodeId,
    Number,
    ObjectId,
    Timed,
    is_plausible,
)

AT = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)


class _Step(Timed):
    began_at: dt.datetime
    ended_at: dt.datetime | None = None


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        pytest.param(AT, True, id="now"),
        pytest.param(AT.replace(year=1970), True, id="the first year"),
        pytest.param(AT.replace(year=1969), False, id="before it"),
        pytest.param(AT.replace(year=2999), True, id="the last year"),
        pytest.param(AT.replace(year=3000), False, id="after it"),
        pytest.param(AT.replace(tzinfo=None), False, id="no zone"),
    ],
)
def test_a_time_has_a_zone_and_is_no_end_of_the_calendar(moment, expected):
    assert is_plausible(moment) is expected


def test_a_time_that_may_be_missing_is_left_out():
    read = msgspec.json.decode(
        b'{"began_at":"2026-11-30T12:00:00Z","ended_at":"0001-01-01T00:00:00Z"}',
        type=_Step,
    )

    assert read == _Step(AT, None)


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+23:59", "2026-11-30T12:00:00"])
def test_a_time_that_may_not_be_missing_refuses_the_whole(text):
    with pytest.raises(msgspec.ValidationError, match="began_at is no time"):
        msgspec.convert({"began_at": text}, _Step)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        pytest.param(0, Number, id="no number"),
        pytest.param(2**31, Number, id="a large number"),
        pytest.param(-1, Count, id="fewer than none"),
        pytest.param("", NodeId, id="no id"),
        pytest.param("a b", NodeId, id="a space"),
        pytest.param("a\0b", NodeId, id="a NUL"),
        pytest.param("a\n", NodeId, id="a line break"),
        pytest.param("x" * 501, NodeId, id="a long id"),
        pytest.param("a\0b", ObjectId, id="a commit with NUL"),
        pytest.param("octo/hello/../..", FullName, id="a way out"),
        pytest.param("octo/\0hello", FullName, id="a name with NUL"),
        pytest.param("octo", FullName, id="no owner"),
    ],
)
def test_what_no_database_holds_is_refused(value, kind):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(value, kind)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        pytest.param(1, Number, id="the first number"),
        pytest.param(0, Count, id="none"),
        pytest.param("PR_kwDOABCD_-=", NodeId, id="an id"),
        pytest.param("", ObjectId, id="no commit"),
        pytest.param("octo_acme/hello.world-1", FullName, id="a repository"),
    ],
)
def test_what_github_sends_is_taken(value, kind):
    assert msgspec.convert(value, kind) == value
