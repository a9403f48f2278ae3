import datetime as dt

import pytest

from prwatch.domain.circuit import Cause, CircuitKind, trip
from prwatch.domain.events import EventType
from prwatch.domain.notice import CircuitNotice, LimitNotice, build_notice, is_news
from prwatch.domain.outcome import FailureClass
from prwatch.domain.task import Workspace

NOON = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
ACME = Workspace(id="w1", name="acme")
CAUSE = Cause(failure_class=FailureClass.AUTH, code="sso", message="wants sign-on")
OPEN = trip(None, CAUSE, now=NOON, chance_value=0.0)


def make_circuit(circuit=OPEN, kind=CircuitKind.ORGANISATION, name="octo"):
    return CircuitNotice(workspace=ACME, kind=kind, name=name, circuit=circuit)


def test_an_open_circuit_says_why_and_when_it_is_tried_again():
    notice = make_circuit()

    event = build_notice(notice, event_id="e1", source="prwatch:test", now=NOON)

    assert event.type is EventType.PROVIDER_CIRCUIT_OPENED
    assert event.subject == "acme/circuit/organisation/octo"
    assert (event.watch_id, event.revision, event.pr_number) == ("", 0, 0)
    assert event.data == {
        "workspace": "acme",
        "circuit": "organisation",
        "name": "octo",
        "state": "open",
        "class": "auth",
        "code": "sso",
        "message": "wants sign-on",
        "retry_at": "2026-11-30T12:05:00.000000Z",
    }


def test_a_closed_circuit_says_that_it_is_closed():
    notice = make_circuit(circuit=None, kind=CircuitKind.WORKSPACE, name="")

    event = build_notice(notice, event_id="e1", source="prwatch:test", now=NOON)

    assert event.type is EventType.PROVIDER_CIRCUIT_CLOSED
    assert event.subject == "acme/circuit/workspace"
    assert event.data["state"] == "closed"
    assert event.data["retry_at"] is event.data["class"] is None


@pytest.mark.parametrize(
    ("until", "state", "text"),
    [(NOON, "exhausted", "2026-11-30T12:00:00.000000Z"), (None, "recovered", None)],
)
def test_a_limit_says_until_when(until, state, text):
    notice = LimitNotice(workspace=ACME, bucket="graphql", blocked_until=until)

    event = build_notice(notice, event_id="e1", source="prwatch:test", now=NOON)

    assert event.type is EventType.RATE_LIMIT_CHANGED
    assert event.subject == "acme/rate_limit/graphql"
    assert event.data["state"] == state
    assert event.data["blocked_until"] == text


@pytest.mark.parametrize(
    ("last", "opened", "closed"),
    [
        pytest.param(None, True, False, id="nothing was told yet"),
        pytest.param("open", False, True, id="it was told to be open"),
        pytest.param("closed", True, False, id="it was told to be closed"),
    ],
)
def test_only_what_differs_from_the_last_word_is_news(last, opened, closed):
    told = last and {"state": last}

    assert is_news(make_circuit(), told) is opened
    assert is_news(make_circuit(circuit=None), told) is closed
