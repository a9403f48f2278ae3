"""Looks whether webhooks can be reached and trusted, without sending an event."""

from collections.abc import AsyncIterator, Mapping
from typing import Final

from prwatch.app.command.finding import Finding, Health
from prwatch.config.model import Config
from prwatch.http.reachability import Attempt, Reach, try_server

_SAID: Final[Mapping[Reach, str]] = {
    Reach.REACHED: "{server} can be reached",
    Reach.UNKNOWN_NAME: "{server}: the name is not known",
    Reach.REFUSED: "{server} takes no connection",
    Reach.SILENT: "{server} does not answer: {detail}",
    Reach.UNTRUSTED: "{server} cannot be trusted: {detail}",
}
_REMEDIES: Final[Mapping[Reach, str]] = {
    Reach.REACHED: "",
    Reach.UNKNOWN_NAME: "correct the sink's url, or the name service of this machine",
    Reach.REFUSED: "start the receiver, or correct the sink's url",
    Reach.SILENT: "look whether a firewall or a proxy stands in the way",
    Reach.UNTRUSTED: (
        "renew the receiver's certificate, or name its authority in `[http] ca_file`"
    ),
}


async def examine_sinks(config: Config) -> AsyncIterator[Finding]:
    """Yield what is found of each webhook's server, named by the host alone."""
    ca_file = str(config.http.ca_file or "")
    for sink in config.sinks:
        if sink.kind == "webhook":
            attempt = await try_server(sink.url, ca_file=ca_file)
            yield _judge(f"sink {sink.name}", attempt)


def _judge(subject: str, attempt: Attempt) -> Finding:
    text = _SAID[attempt.reach].format(server=attempt.server, detail=attempt.detail)
    if attempt.is_proxy:
        text = f"proxy {text}"
        if attempt.reach is Reach.REACHED:
            text += "; what is behind it was not tried"
    # Deliveries wait for it, so the daemon itself works on.
    is_well = attempt.reach is Reach.REACHED
    health = Health.OK if is_well else Health.WARNING
    return Finding(subject, health, text, _REMEDIES[attempt.reach])
