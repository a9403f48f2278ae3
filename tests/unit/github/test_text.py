import pytest

from prwatch.github.text import clean_text, repair_json


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("plain", "plain", id="plain"),
        pytest.param("a\0b", "ab", id="nul"),
        pytest.param("ä\0\ud83d", "ä\ufffd", id="lone surrogate"),
        pytest.param("\U0001f600", "\U0001f600", id="whole letter"),
    ],
)
def test_text_from_outside_is_cleaned(text, expected):
    assert clean_text(text) == expected


def test_json_is_repaired_in_keys_lists_and_texts():
    body = b'{"a\\u0000": ["\\ud800", 1, null, {"b": "\xff"}], "c": 1.5}'

    repaired = repair_json(body)

    expected = '{"a":["\ufffd",1,null,{"b":"\ufffd"}],"c":1.5}'
    assert repaired.decode() == expected


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"{", id="cut"),
        pytest.param(b"[" * 100_000, id="nested too deeply"),
    ],
)
def test_what_is_no_json_stays_none(body):
    with pytest.raises(ValueError):
        repair_json(body)
