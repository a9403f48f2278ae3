"""The form in which an event leaves: CloudEvents 1.0 in JSON."""

from prwatch.domain.events import Event
from prwatch.domain.timestamp import format_time


def build_envelope(event: Event, *, is_superseded: bool) -> dict[str, object]:
    """
    Return the JSON object of one event (CloudEvents 1.0.2, JSON event format).

    It is the same at each delivery but for `data.superseded`, which is never true
    of a terminal event.
    https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md
    """
    return {
        "specversion": "1.0",
        "id": event.id,
        "source": event.source,
        "type": event.type.value,
        "subject": event.subject,
        "time": format_time(event.time),
        "datacontenttype": "application/json",
        "data": {
            **event.data,
            "superseded": is_superseded and not event.is_terminal,
        },
    }
