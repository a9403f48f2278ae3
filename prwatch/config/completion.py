"""Fills in the values that follow from other values of the configuration."""

from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from prwatch.config.addresses import build_graphql_url
from prwatch.config.entries import DEFAULT_TOKEN_ENV, Checkout, Workspace
from prwatch.config.model import Config, Poll
from prwatch.config.sink import Sink
from prwatch.config.toml_lines import KeyPath

DEFAULT_SINK: Final = Sink(name="stdout", kind="stdout")
DEFAULT_EVENT_FILE: Final = Path("events.jsonl")


def complete_config(config: Config, given: AbstractSet[KeyPath]) -> Config:
    """
    Return the configuration with nothing left to guess.

    `given` are the keys that somebody set: they are never changed.
    """
    names = [workspace.name for workspace in config.workspaces]
    return replace(
        config,
        poll=_complete_poll(config.poll, given),
        workspaces=tuple(_complete_workspace(each) for each in config.workspaces),
        checkouts=tuple(_complete_checkout(each, names) for each in config.checkouts),
        sinks=tuple(_complete_sink(each) for each in config.sinks) or (DEFAULT_SINK,),
    )


def _complete_poll(poll: Poll, given: AbstractSet[KeyPath]) -> Poll:
    if ("poll", "hot_interval") not in given:
        poll = replace(poll, hot_interval=min(poll.hot_interval, poll.interval))
    if ("poll", "tick") not in given:
        poll = replace(poll, tick=min(poll.tick, poll.hot_interval))
    if ("poll", "idle_interval") not in given:
        poll = replace(poll, idle_interval=max(poll.idle_interval, poll.interval))
    if ("poll", "idle_rest_interval") not in given:
        rest = max(poll.idle_rest_interval, poll.idle_interval)
        poll = replace(poll, idle_rest_interval=rest)
    if ("poll", "longest_interval") not in given:
        longest = max(poll.longest_interval, poll.idle_rest_interval)
        poll = replace(poll, longest_interval=longest)
    if ("poll", "search_idle_interval") not in given:
        idle = max(poll.search_idle_interval, poll.search_interval)
        poll = replace(poll, search_idle_interval=idle)
    if ("poll", "search_rest_interval") not in given:
        rest = max(poll.search_rest_interval, poll.search_idle_interval)
        poll = replace(poll, search_rest_interval=rest)
    return poll


def _complete_workspace(workspace: Workspace) -> Workspace:
    sources = workspace.gh, workspace.token_file, workspace.token_credential
    if not any(sources) and workspace.app is None and not workspace.token_env:
        workspace = replace(workspace, token_env=DEFAULT_TOKEN_ENV)
    if not workspace.graphql_url:
        url = build_graphql_url(workspace.api_url)
        workspace = replace(workspace, graphql_url=url)
    return workspace


def _complete_checkout(checkout: Checkout, names: list[str]) -> Checkout:
    if checkout.workspace or len(names) != 1:
        return checkout
    return replace(checkout, workspace=names[0])


def _complete_sink(sink: Sink) -> Sink:
    if sink.kind != "jsonl" or sink.path is not None:
        return sink
    return replace(sink, path=DEFAULT_EVENT_FILE)
