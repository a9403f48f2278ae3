import datetime as dt
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prwatch.telemetry.redaction import Redactor, redact
from prwatch.telemetry.secret import Secret

HIDDEN = 'pä ss"w/ord+1'
TOKEN = "ghs_" + "Ab1." * 129
ALPHABET = st.characters(blacklist_categories=["Cs"])
TOKENS = st.from_regex(r"\A(gh[opusr]_[A-Za-z0-9]{36}|ghs_[A-Za-z0-9._-]{36,520})\Z")


def structures(leaf):
    return st.recursive(
        leaf,
        lambda inner: (
            st.lists(inner, min_size=1, max_size=3)
            | st.tuples(inner, inner)
            | st.dictionaries(st.text(max_size=5) | leaf, inner, min_size=1, max_size=3)
        ),
        max_leaves=6,
    )


def containing(value):
    return structures(
        st.sampled_from([value, value.encode(), ValueError(value), f"a {value}, b"])
    )


def render(entry):
    return json.dumps(entry, ensure_ascii=False)


@given(st.data(), TOKENS)
def test_a_token_leaves_no_structure(data, token):
    value = data.draw(containing(token))

    shown = render(Redactor().redact_value(value))

    assert token not in shown
    assert "***" in shown


@given(st.data(), st.text(ALPHABET, min_size=4).filter(lambda s: len(s.strip()) > 3))
def test_a_registered_value_leaves_no_text(data, value):
    prefix, suffix = data.draw(st.text(ALPHABET)), data.draw(st.text(ALPHABET))

    shown = Redactor([Secret(value)]).redact(prefix + value + suffix)

    assert value.strip("* ") == "" or value not in shown.replace("***", "\0")


@given(st.text() | TOKENS.map("a {} b".format))
def test_redacting_twice_is_redacting_once(text):
    redactor = Redactor([Secret(HIDDEN)])

    assert redactor.redact(redactor.redact(text)) == redactor.redact(text)


@given(structures(st.none() | st.booleans() | st.floats() | st.text() | st.binary()))
def test_every_entry_becomes_plain_json(value):
    entry = Redactor().redact_value({"value": value})

    assert json.loads(json.dumps(entry, allow_nan=False)) == entry


@pytest.mark.parametrize(
    "form",
    [
        pytest.param("{}".format, id="as it is"),
        pytest.param(repr, id="repr"),
        pytest.param(lambda value: repr(value.encode()), id="repr of bytes"),
        pytest.param(json.dumps, id="JSON"),
        pytest.param(
            lambda value: json.dumps(value, ensure_ascii=False), id="raw JSON"
        ),
        pytest.param(lambda _: "p%C3%A4%20ss%22w%2Ford%2B1", id="URL"),
        pytest.param(lambda _: "p%C3%A4+ss%22w%2Ford%2B1", id="form"),
        pytest.param(lambda _: "cMOkIHNzIncvb3JkKzE=", id="base64"),
    ],
)
def test_a_registered_value_is_found_in_its_usual_spellings(form):
    shown = Redactor([Secret(HIDDEN)]).redact(f"<{form(HIDDEN)}>")

    assert shown.strip("<>\"'b=") == "***"


def test_overlapping_secrets_are_masked_as_one():
    redactor = Redactor([Secret("abcdef"), Secret("defghi"), Secret("ghp_012345$rest")])

    assert redactor.redact("1 abcdefghi 2") == "1 *** 2"
    assert redactor.redact("1 ghp_0123456789$rest 2") == "1 ***$rest 2"
    assert redactor.redact("1 ghp_012345$rest 2") == "1 *** 2"


def test_a_value_that_repeats_itself_is_masked_whole():
    assert Redactor([Secret("aaaa")]).redact("aaaaaa") == "***"


def test_a_value_below_four_characters_is_left_alone():
    assert Redactor([Secret("abc")]).redact("abcabc") == "abcabc"


def test_a_secret_registered_later_is_masked_from_then_on():
    redactor = Redactor()
    redactor.register(Secret("hunter2hunter2"))

    assert redactor.redact("hunter2hunter2") == "***"
    assert redact("hunter2hunter2") == "hunter2hunter2"


def test_a_log_entry_is_redacted_in_keys_values_and_under_telling_names():
    entry = {
        "event": f"request.failed {TOKEN}",
        TOKEN: 1,
        "password": "x",
        "headers": {"Authorization": "x", "accept": "json"},
        "raw": [(b"authorization", b"x"), (b"accept", b"json")],
        "pair": ("cookie", "x"),
        "error": ValueError(f"bad {TOKEN}"),
        "secret_value": Secret("x"),
        "numbers": [1, 2.5, 48213377, float("inf")],
        "flags": {True, None},
        "when": dt.datetime(2026, 1, 2, tzinfo=dt.UTC),
        "path": Path("/srv"),
        "body": memoryview(b"ok"),
    }

    redacted = Redactor([Secret("48213377")])(None, "info", dict(entry))

    assert sorted(redacted.pop("flags"), key=str) == [None, True]
    assert redacted == {
        "event": "request.failed ***",
        "***": 1,
        "password": "***",
        "headers": {"Authorization": "***", "accept": "json"},
        "raw": [["authorization", "***"], ["accept", "json"]],
        "pair": ["cookie", "***"],
        "error": "ValueError: bad ***",
        "secret_value": "***",
        "numbers": [1, 2.5, "***", "inf"],
        "when": "2026-01-02 00:00:00+00:00",
        "path": "/srv",
        "body": "ok",
    }


def test_a_structure_that_contains_itself_ends():
    loop = {"token": TOKEN}
    loop["self"] = loop

    assert TOKEN not in render(Redactor().redact_value(loop))
