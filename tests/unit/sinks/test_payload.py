import json

import pytest

from prwatch.domain.envelope import build_envelope
from prwatch.sinks.payload import encode_event
from tests.deliveries import make_delivery, make_event


@pytest.mark.parametrize("title", ["größer\n\u2028", "\udc80 and \0"])
def test_an_event_is_its_envelope_on_one_line(title):
    event = make_event(data={"title": title, "when": None, "ok": True, "number": 1})

    body = encode_event(make_delivery(event=event, is_superseded=True))

    assert json.loads(body) == build_envelope(event, is_superseded=True)
    assert body.count(b"\n") == 0
    assert b": " not in body
