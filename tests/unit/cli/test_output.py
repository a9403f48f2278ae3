"""Tables, objects and times as people and programs get them."""

import datetime as dt
import io
import json

import pytest

from prwatch.cli.output import (
    format_age,
    format_count,
    format_time,
    is_terminal,
    print_json,
    print_table,
    print_text,
)

NOON = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
BERLIN = dt.timezone(dt.timedelta(hours=1), "CET")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_table_is_aligned_text_where_no_terminal_is(capsys):
    rows = [("octo/hello#12", 7, None, True), ("a/b#1", 1000, "x", False)]

    print_table(("pull request", "revision", "due", "draft"), rows)

    assert capsys.readouterr().out == (
        "PULL REQUEST   REVISION  DUE  DRAFT\n"
        "octo/hello#12  7         -    yes\n"
        "a/b#1          1000      x    no\n"
    )


@pytest.mark.parametrize(
    ("empty", "out"), [("Nothing is watched.", "Nothing is watched.\n"), ("", "")]
)
def test_a_table_without_rows_is_words(capsys, empty, out):
    print_table(("a",), [], empty=empty)

    assert capsys.readouterr().out == out


def test_a_cell_of_strangers_steers_no_terminal_and_keeps_to_its_line(capsys):
    print_table(("title",), [("a\x1b[2J\nb",)])

    assert capsys.readouterr().out == "TITLE\na\\x1b[2J b\n"


def test_an_object_is_one_line_with_times_in_utc(capsys):
    print_json({"at": NOON.astimezone(BERLIN), "title": "größer\ud83d", "none": None})

    out = capsys.readouterr().out
    assert out == (
        '{"at":"2026-11-30T12:00:00Z","title":"größer\\ud83d","none":null}\n'
    )
    assert json.loads(out)["title"] == "größer\ud83d"


def test_text_of_strangers_steers_no_terminal(capsys):
    print_text("a\x07\nb", err=True)

    assert capsys.readouterr() == ("", "a\\x07\nb\n")


def test_a_time_is_shown_in_the_zone_of_the_person():
    assert format_time(NOON, BERLIN) == "2026-11-30 13:00:00 CET"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "0 s"),
        (0.4, "0 s"),
        (45, "45 s"),
        (60, "1 min"),
        (61, "1 min 1 s"),
        (3600, "1 h"),
        (3601, "1 h"),
        (12_000, "3 h 20 min"),
        (200_000, "2 d 7 h"),
    ],
)
def test_an_age_is_told_by_its_two_largest_units(seconds, text):
    assert format_age(dt.timedelta(seconds=seconds)) == text


def test_a_terminal_is_known_by_its_stream():
    closed = io.StringIO()
    closed.close()

    assert [is_terminal(each) for each in (Terminal(), io.StringIO(), closed)] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("number", "words", "text"),
    [
        pytest.param(0, ("time",), "0 times", id="none"),
        pytest.param(1, ("time",), "1 time", id="one"),
        pytest.param(2, ("branch", "branches"), "2 branches", id="a plural of its own"),
    ],
)
def test_a_count_agrees_with_its_word(number, words, text):
    assert format_count(number, *words) == text
