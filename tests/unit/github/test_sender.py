import contextlib

import httpx
import pytest

from prwatch.errors import AuthenticationFailed, ProviderUnavailable
from prwatch.github.credentials import TokenCredential
from prwatch.github.sender import Sender, Sending
from prwatch.http.client import MAX_BODY_BYTES, create_http_client
from prwatch.telemetry.secret import Secret
from tests.product import MovedClock


async def send(token, answer, url="https://api.github.com/user", on_end=lambda: None):
    """Send one request; return what came of it and the requests that left."""
    asked = []

    def respond(request):
        asked.append(request)
        if isinstance(answer, Exception):
            raise answer
        return answer

    credential = TokenCredential(Secret(token), source="env:TOKEN")
    async with create_http_client(transport=httpx.MockTransport(respond)) as http:
        sender = Sender(http, credential, MovedClock())
        with sender.followed_by(on_end):
            return await sender.send(Sending("GET", url, "user", {})), asked


@pytest.mark.parametrize(
    "token",
    [
        pytest.param("ghp_one\nghp_two", id="two lines"),
        pytest.param("ghp_\u00e9", id="no ASCII"),
        pytest.param("ghp_\ufffd", id="bytes that are no text"),
        pytest.param("ghp_\0", id="a NUL"),
        pytest.param("ghp_\x7f", id="a control sign"),
    ],
)
async def test_what_no_header_can_carry_is_not_sent_and_not_shown(token):
    with pytest.raises(AuthenticationFailed) as caught:
        await send(token, httpx.Response(200))

    assert str(caught.value) == "env:TOKEN holds characters that no token has"
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("token", ["ghp_one two", "ghs_" + "a.b-c_" * 86])
async def test_any_printable_token_is_sent_as_it_is(token):
    _, asked = await send(token, httpx.Response(200))

    assert [each.headers["authorization"] for each in asked] == [f"Bearer {token}"]


async def test_an_answer_that_is_too_long_is_a_failure_of_the_host():
    body = httpx.Response(200, content=bytes(MAX_BODY_BYTES + 1))

    with pytest.raises(ProviderUnavailable) as caught:
        await send("ghp_one", body)

    assert (str(caught.value), caught.value.scope) == (
        "GitHub's answer is too long",
        "host",
    )


@pytest.mark.parametrize(
    "answer", [httpx.Response(502), httpx.ReadTimeout("nothing for 15 s")]
)
async def test_a_request_that_was_not_answered_has_ended_too(answer):
    ended = []
    with contextlib.suppress(ProviderUnavailable):
        await send("ghp_one", answer, on_end=lambda: ended.append(1))

    assert ended == [1]


async def test_an_address_that_is_none_is_a_failure_of_the_host():
    with pytest.raises(ProviderUnavailable, match="cannot be reached"):
        await send("ghp_one", httpx.Response(200), "https://api.github.com/\x01")
