import copy
import json
import pickle
from dataclasses import asdict, dataclass

import msgspec
import pytest

from prwatch.telemetry.secret import Secret

VALUE = "correct horse"


def test_the_value_comes_out_only_when_asked_for():
    assert Secret(VALUE).reveal() == VALUE


@pytest.mark.parametrize(
    "show",
    [
        pytest.param(str, id="str"),
        pytest.param(repr, id="repr"),
        pytest.param("{}".format, id="format"),
        pytest.param("{!r}".format, id="format with repr"),
        pytest.param(lambda secret: f"{secret}", id="f-string"),
        pytest.param(lambda secret: "%s" % (secret,), id="percent"),  # noqa: UP031 the old form is what is tested
    ],
)
def test_every_print_shows_stars(show):
    assert show(Secret(VALUE)) == "***"


def test_a_container_shows_stars_too():
    assert repr({"token": [Secret(VALUE)]}) == "{'token': [***]}"


@pytest.mark.parametrize(
    "leak",
    [
        pytest.param(pickle.dumps, id="pickle"),
        pytest.param(json.dumps, id="json"),
        pytest.param(msgspec.json.encode, id="msgspec"),
        pytest.param(vars, id="vars"),
    ],
)
def test_it_cannot_be_written_by_accident(leak):
    with pytest.raises(TypeError):
        leak(Secret(VALUE))


def test_a_copy_is_the_same_secret():
    @dataclass
    class Credential:
        token: Secret

    secret = Secret(VALUE)

    assert copy.copy(secret) is secret
    assert asdict(Credential(secret))["token"] is secret


def test_secrets_are_equal_when_their_values_are():
    assert Secret("ä" + VALUE) == Secret("ä" + VALUE)
    assert Secret(VALUE) != Secret(VALUE + "!")
    assert Secret(VALUE) != VALUE
    assert len({Secret(VALUE), Secret(VALUE), Secret("other")}) == 2


def test_a_secret_with_a_lone_surrogate_can_be_compared():
    assert Secret("\udc80") == Secret("\udc80")


def test_only_an_empty_secret_is_false():
    assert not Secret("")
    assert Secret(" ")
