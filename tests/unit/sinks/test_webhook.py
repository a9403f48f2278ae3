import base64
import datetime as dt
import hashlib
import hmac

import anyio
import httpx
import pytest

from prwatch.domain.outbox import Dead, Delivered, Retry
from prwatch.errors import ConfigError
from prwatch.sinks.payload import encode_event
from prwatch.sinks.sink import SinkSettings
from prwatch.sinks.webhook import WebhookSink
from prwatch.telemetry.secret import Secret
from tests.deliveries import EVENT_ID, make_delivery
from tests.webhook_receiver import answer, open_webhook_receiver

NOW = dt.datetime(2026, 11, 30, 12, 0, tzinfo=dt.UTC)
SETTINGS = SinkSettings(name="out")
BRIEF = SinkSettings(name="out", timeout=dt.timedelta(milliseconds=200))
TOKEN = "ghp_" + "a1B2" * 10


class StandingClock:
    def now(self):
        return NOW

    def monotonic(self):
        return 0.0

    async def sleep(self, seconds):
        raise AssertionError("a sink does not wait")


@pytest.fixture
async def receiver():
    async with open_webhook_receiver() as receiver:
        yield receiver


@pytest.fixture
async def client():
    async with httpx.AsyncClient(trust_env=False) as client:
        yield client


@pytest.fixture
def make_sink(receiver, client):
    def make(settings=SETTINGS, url=None, **options):
        return WebhookSink(
            settings,
            url or receiver.url,
            client=client,
            clock=StandingClock(),
            **options,
        )

    return make


async def test_an_event_is_posted_as_a_signed_cloud_event(receiver, make_sink):
    delivery = make_delivery(attempt=3)

    await make_sink(secret=Secret("raw key")).deliver(delivery)

    (request,) = receiver.requests
    timestamp = str(int(NOW.timestamp()))
    signed = f"{EVENT_ID}.{timestamp}.".encode() + encode_event(delivery)
    digest = hmac.new(b"raw key", signed, hashlib.sha256).digest()
    assert request.line == "POST /hook/path-secret HTTP/1.1"
    assert request.body == encode_event(delivery)
    assert request.headers["content-type"] == "application/cloudevents+json"
    assert {k: v for k, v in request.headers.items() if k.startswith("webhook-")} == {
        "webhook-id": EVENT_ID,
        "webhook-timestamp": timestamp,
        "webhook-signature": "v1," + base64.b64encode(digest).decode(),
    }


async def test_without_a_secret_nothing_is_signed(receiver, make_sink):
    await make_sink().deliver(make_delivery())

    assert "webhook-signature" not in receiver.requests[0].headers


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param(200, Delivered(), id="ok"),
        pytest.param(202, Delivered(), id="accepted"),
        pytest.param(299, Delivered(), id="any 2xx"),
        pytest.param(410, Dead("127.0.0.1 answered 410"), id="gone"),
        pytest.param(304, Retry("127.0.0.1 answered 304"), id="not modified"),
        pytest.param(400, Retry("127.0.0.1 answered 400"), id="bad request"),
        pytest.param(401, Retry("127.0.0.1 answered 401"), id="unauthorized"),
        pytest.param(404, Retry("127.0.0.1 answered 404"), id="not found"),
        pytest.param(500, Retry("127.0.0.1 answered 500"), id="server error"),
        pytest.param(799, Retry("127.0.0.1 answered 799"), id="no known status"),
    ],
)
async def test_the_status_decides(receiver, make_sink, status, expected):
    receiver.reply = answer(status)

    assert await make_sink().deliver(make_delivery()) == expected


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_never_followed(receiver, make_sink, status):
    receiver.reply = answer(status, location=receiver.url)

    outcome = await make_sink().deliver(make_delivery())

    assert outcome == Retry(f"127.0.0.1 answered {status}")
    assert len(receiver.requests) == 1


@pytest.mark.parametrize(
    ("status", "value", "after"),
    [
        pytest.param(429, "30", dt.timedelta(seconds=30), id="429 in seconds"),
        pytest.param(
            503, "Mon, 30 Nov 2026 12:01:00 GMT", dt.timedelta(minutes=1), id="503 date"
        ),
        pytest.param(503, "soon", None, id="nonsense"),
        pytest.param(500, "30", None, id="not on other statuses"),
    ],
)
async def test_retry_after_counts_where_it_has_a_meaning(
    receiver, make_sink, status, value, after
):
    receiver.reply = answer(status, retry_after=value)

    outcome = await make_sink().deliver(make_delivery())

    assert outcome == Retry(f"127.0.0.1 answered {status}", after)


async def test_the_answer_becomes_part_of_the_reason_without_secrets(
    receiver, make_sink
):
    receiver.reply = answer(403, f"no\n entry for {TOKEN}".encode())

    outcome = await make_sink().deliver(make_delivery())

    assert outcome == Retry("127.0.0.1 answered 403: no entry for ***")


async def test_an_answer_without_end_is_read_for_its_beginning_only(
    receiver, make_sink
):
    head = b"HTTP/1.1 500 X\r\ncontent-length: 999999999\r\n\r\n"
    receiver.reply = head + b"a" * 1024 + b"b" * 9000

    outcome = await make_sink().deliver(make_delivery())

    assert outcome == Retry("127.0.0.1 answered 500: …" + "a" * 275)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param(200, Delivered(), id="delivered"),
        pytest.param(500, Retry("127.0.0.1 answered 500"), id="not delivered"),
    ],
)
async def test_a_body_that_never_comes_does_not_change_the_outcome(
    receiver, make_sink, status, expected
):
    receiver.reply = f"HTTP/1.1 {status} X\r\ncontent-length: 5\r\n\r\n".encode()

    assert await make_sink(BRIEF).deliver(make_delivery()) == expected


async def test_a_torn_body_does_not_change_the_outcome(receiver, make_sink):
    receiver.reply = b"HTTP/1.1 200 X\r\ncontent-length: 5\r\n\r\nab"
    receiver.is_hanging_up = True

    assert await make_sink().deliver(make_delivery()) == Delivered()


async def test_a_receiver_that_does_not_answer_is_left_after_the_timeout(
    receiver, make_sink
):
    receiver.reply = None

    with anyio.fail_after(20):
        outcome = await make_sink(BRIEF).deliver(make_delivery())

    assert outcome == Retry("127.0.0.1 request failed: no answer within 0.2 s")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        pytest.param(b"", "RemoteProtocolError", id="hangs up"),
        pytest.param(
            b"\x16\x03\x01 nonsense\r\n\r\n", "RemoteProtocolError", id="noise"
        ),
    ],
)
async def test_an_answer_that_is_no_http_is_tried_again(
    receiver, make_sink, reply, reason
):
    receiver.reply, receiver.is_hanging_up = reply, True

    outcome = await make_sink().deliver(make_delivery())

    assert isinstance(outcome, Retry)
    assert outcome.reason.startswith(f"127.0.0.1 request failed: {reason} ")


async def test_a_receiver_that_is_not_there_is_tried_again(make_sink):
    sink = make_sink(url="http://user:hunter2@127.0.0.1:1/path-secret?x=hunter2")

    outcome = await sink.deliver(make_delivery())

    assert outcome == Retry(
        "127.0.0.1 request failed: ConnectError All connection attempts failed"
    )


async def test_a_connection_is_used_again_after_a_short_answer(receiver, make_sink):
    receiver.reply = answer(200, b"thanks")
    sink = make_sink()

    for _ in range(3):
        await sink.deliver(make_delivery())

    assert len(receiver.requests) == 3
    assert receiver.connections == 1


@pytest.mark.parametrize(
    "url", ["ftp://example.org", "example.org/x", "https://", "http://[::1", ""]
)
async def test_an_address_that_cannot_be_posted_to_is_refused(client, url):
    with pytest.raises(ConfigError, match="address"):
        WebhookSink(SETTINGS, url, client=client, clock=StandingClock())
