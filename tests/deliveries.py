"""Builders of events and deliveries, with a default for everything."""

import datetime as dt
from dataclasses import replace

from prwatch.domain.events import Event, EventType
from prwatch.domain.outbox import Delivery

NOON = dt.datetime(2026, 11, 30, 12, 0, 0, 123456, tzinfo=dt.UTC)
EVENT_ID = "01936f2e-7c00-7abc-8def-0123456789ab"


def make_event(**changes):
    event = Event(
        id=EVENT_ID,
        type=EventType.PR_FEEDBACK,
        source="prwatch:test",
        subject="acme/T-1/octo/hello#12",
        time=NOON,
        workspace_id="w-1",
        task_id="t-1",
        repository_id="r-1",
        pr_number=12,
        watch_id="watch-1",
        revision=7,
        head_ref_oid="a" * 40,
        is_terminal=False,
        data={
            "workspace": "acme",
            "task_id": "T-1",
            "session_id": "S-1",
            "watch_id": "watch-1",
            "revision": 7,
            "repository": {"owner": "octo", "name": "hello", "node_id": "R_1"},
            "pull_request": {
                "number": 12,
                "url": "https://github.com/octo/hello/pull/12",
                "title": "Say hello",
                "state": "OPEN",
            },
            "changes": [
                {"field": "checks", "previous": "pending", "current": "failure"}
            ],
            "observed_at": "2026-11-30T12:00:00.000000Z",
        },
    )
    return replace(event, **changes)


def make_delivery(**changes):
    delivery = Delivery(
        event=make_event(),
        sink="out",
        position=1,
        attempt=1,
        first_due_at=NOON,
        lease_token="lease-1",
        is_superseded=False,
    )
    return replace(delivery, **changes)
