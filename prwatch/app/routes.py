"""From sinks in the configuration to sinks that can be delivered to."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from prwatch.app.outbox_relay import SinkRoute
from prwatch.clock import Clock
from prwatch.config.secrets import read_secret
from prwatch.config.sink import Sink as SinkEntry
from prwatch.domain.events import Interest
from prwatch.http.client import BoundedClient
from prwatch.sinks.command import CommandSink
from prwatch.sinks.jsonl import JsonlSink
from prwatch.sinks.sink import Sink, SinkSettings
from prwatch.sinks.stdout import StdoutSink
from prwatch.sinks.webhook import WebhookSink


def wire_routes(
    entries: Sequence[SinkEntry],
    *,
    webhooks: BoundedClient | None,
    environ: Mapping[str, str],
    clock: Clock,
    stdout: BinaryIO,
    state_dir: Path,
) -> tuple[SinkRoute, ...]:
    """
    Build every sink; nothing is sent or opened. A webhook needs its HTTP client.

    Raises:
        ConfigError: An address or a signing secret cannot be used.
    """

    def build(entry: SinkEntry) -> Sink:
        settings = SinkSettings(
            name=entry.name, limit=entry.limit, timeout=entry.timeout
        )
        match entry.kind:
            case "stdout":
                return StdoutSink(settings, stdout)
            case "jsonl":
                return JsonlSink(
                    settings,
                    entry.path or state_dir / "events.jsonl",
                    max_bytes=entry.max_bytes,
                    keep=entry.keep,
                )
            case "webhook":
                assert webhooks is not None  # noqa: S101 - made when there is such a sink
                secret = read_secret(entry.secret, environ) if entry.secret else None
                return WebhookSink(
                    settings, entry.url, client=webhooks, clock=clock, secret=secret
                )
            case "command":
                return CommandSink(settings, entry.argv, environ=environ)

    return tuple(
        SinkRoute(sink=build(entry), is_dropping_superseded=entry.superseded == "drop")
        for entry in entries
    )


def build_interests(entries: Sequence[SinkEntry]) -> tuple[Interest, ...]:
    """Return which events each sink wants."""
    return tuple(
        Interest(
            sink=entry.name,
            events=frozenset(entry.events),
            fields=frozenset(entry.fields),
            workspaces=frozenset(entry.workspaces),
            repositories=frozenset(name.lower() for name in entry.repositories),
        )
        for entry in entries
    )
