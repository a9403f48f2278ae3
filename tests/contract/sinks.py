"""What every sink promises; a backend brings the sink and reads what arrived."""

import anyio
import pytest

from prwatch.domain.envelope import build_envelope
from prwatch.domain.outbox import Delivered, Retry
from tests.deliveries import make_delivery, make_event

TIMEOUT_SECONDS = 20


class SinkContract:
    kind: str

    @pytest.fixture
    async def sink(self):
        """A sink called `out` with limit 4, whose destination works."""
        raise NotImplementedError("a backend provides the sink")

    @pytest.fixture
    def arrived(self):
        """A function that returns the envelopes that the destination has now."""
        raise NotImplementedError("a backend provides what arrived")

    @pytest.fixture
    async def failing_sink(self):
        """A sink whose destination cannot take anything at the moment."""
        raise NotImplementedError("a backend provides the failing sink")

    async def test_a_sink_says_what_it_is(self, sink):
        assert (sink.name, sink.kind, sink.limit) == ("out", self.kind, 4)

    async def test_a_delivered_event_is_at_the_destination(self, sink, arrived):
        delivery = make_delivery()

        assert await sink.deliver(delivery) == Delivered()

        assert arrived() == [build_envelope(delivery.event, is_superseded=False)]

    async def test_an_event_says_that_it_is_superseded(self, sink, arrived):
        await sink.deliver(make_delivery(is_superseded=True))

        assert [envelope["data"]["superseded"] for envelope in arrived()] == [True]

    async def test_a_repeated_delivery_carries_the_same_id(self, sink, arrived):
        await sink.deliver(make_delivery(attempt=1))
        await sink.deliver(make_delivery(attempt=2))

        first, second = arrived()
        assert first == second

    async def test_concurrent_deliveries_arrive_whole(self, sink, arrived):
        events = [
            make_event(id=f"event-{number}", data={"text": "x" * 20_000})
            for number in range(sink.limit)
        ]
        outcomes = []

        async def deliver(event):
            outcomes.append(await sink.deliver(make_delivery(event=event)))

        with anyio.fail_after(TIMEOUT_SECONDS):
            async with anyio.create_task_group() as tasks:
                for event in events:
                    tasks.start_soon(deliver, event)

        assert outcomes == [Delivered()] * sink.limit
        expected = [build_envelope(event, is_superseded=False) for event in events]
        assert sorted(arrived(), key=lambda envelope: envelope["id"]) == expected

    @pytest.mark.parametrize(
        "text",
        [
            pytest.param("line\r\nbreak\u2028 and \x1b[31m", id="controls"),
            pytest.param("größer 🙂", id="other scripts"),
            pytest.param("x" * 300_000, id="long"),
            pytest.param("\0", id="NUL"),
            pytest.param("\udc80", id="lone surrogate"),
        ],
    )
    async def test_any_text_arrives_as_it_is(self, sink, arrived, text):
        event = make_event(data={"title": text, "pull_request": {"title": text[:99]}})

        assert await sink.deliver(make_delivery(event=event)) == Delivered()

        assert arrived() == [build_envelope(event, is_superseded=False)]

    async def test_a_failing_destination_is_an_outcome(self, failing_sink):
        outcome = await failing_sink.deliver(make_delivery())

        assert isinstance(outcome, Retry)
        assert outcome.reason.isprintable()
        assert 0 < len(outcome.reason) <= 300

    async def test_a_cancelled_call_leaves_the_sink_usable(self, sink, arrived):
        with anyio.CancelScope() as scope:
            scope.cancel()
            await sink.deliver(make_delivery())

        delivery = make_delivery(event=make_event(id="after"))
        assert await sink.deliver(delivery) == Delivered()
        assert arrived()[-1] == build_envelope(delivery.event, is_superseded=False)

    async def test_a_closed_sink_takes_nothing(self, sink, arrived):
        await sink.close()
        await sink.close()

        assert await sink.deliver(make_delivery()) == Retry("the sink is closed")
        assert arrived() == []
