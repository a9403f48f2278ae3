"""The entries of review watches, and what they ask for."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Final, Literal

from msgspec import Struct

from prwatch.config.forms import (
    FLAG,
    NAME,
    REPOSITORY,
    TEXT,
    duration,
    matching,
    one_of,
)
from prwatch.config.problems import Problems, quote
from prwatch.config.toml_lines import KeyPath
from prwatch.domain.review_search import list_problems
from prwatch.domain.review_watch import (
    DEFAULT_INTERVAL,
    CleanupPolicy,
    ReviewScope,
    ReviewSettings,
)
from prwatch.domain.review_watch_plan import DesiredReviewWatch

if TYPE_CHECKING:
    from prwatch.config.model import Config

SCOPES = ("user", "user_and_teams")
POLICIES = ("auto", "always", "never")
_LOGIN: Final = matching(
    "the login of an account", r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}[A-Za-z0-9_])?"
)


class Review(Struct, frozen=True, kw_only=True):
    """A search for pull requests that ask for review; each hit becomes a task."""

    name: Annotated[str, NAME]
    """The review watch's name, distinct inside its workspace."""
    scope: Annotated[Literal["user", "user_and_teams"], one_of(SCOPES)] = "user"
    """Whose requests count: those to the person, or those to their teams too."""
    repositories: tuple[Annotated[str, REPOSITORY], ...] = ()
    """The repositories that are searched, as owner/name; without any, all."""
    organisations: tuple[Annotated[str, _LOGIN], ...] = ()
    """The organisations whose repositories are searched; excludes `repositories`."""
    query: Annotated[str, TEXT] = ""
    """A search of your own, as GitHub takes it, instead of the one for `scope`. It must
    find pull requests alone: OR and parentheses are refused."""
    target_login: Annotated[str, _LOGIN] = ""
    """Whose review is asked; without it, that of the account behind the token. An app
    is no person, so it is required there."""
    interval: Annotated[dt.timedelta, duration("60s", "24h")] = DEFAULT_INTERVAL
    """How often it is searched."""
    policy: Annotated[Literal["auto", "always", "never"], one_of(POLICIES)] = "auto"
    """When a task goes whose review is done: when no person wrote in it, always, or
    never."""
    enabled: Annotated[bool, FLAG] = True
    """Whether it is searched at all."""


def build_settings(entry: Review) -> ReviewSettings:
    """Return what an entry chooses."""
    return ReviewSettings(
        scope=ReviewScope(entry.scope),
        repositories=tuple(entry.repositories),
        organisations=tuple(entry.organisations),
        query=entry.query,
        target_login=entry.target_login,
        interval=entry.interval,
        policy=CleanupPolicy(entry.policy),
        is_enabled=entry.enabled,
    )


def list_desired_reviews(
    config: "Config",
) -> Mapping[str, tuple[DesiredReviewWatch, ...]]:
    """Return the review watches that each workspace asks for, by its name."""
    return {
        workspace.name: tuple(
            DesiredReviewWatch(name=entry.name, settings=build_settings(entry))
            for entry in workspace.reviews
        )
        for workspace in config.workspaces
    }


def check_reviews(
    reviews: Sequence[Review], path: KeyPath, problems: Problems, *, is_app: bool
) -> None:
    """Note what is wrong with the review watches at `path`, such as one name twice."""
    names = [entry.name for entry in reviews]
    for index, entry in enumerate(reviews):
        if entry.name and entry.name in names[:index]:
            first = f"{path[-1]}[{names.index(entry.name)}]"
            text = f"found {quote(entry.name)}, the name of {first} too"
            problems.add((*path, index, "name"), text)
        for key, problem in list_problems(build_settings(entry), is_app=is_app):
            if not problems.has((*path, index, key)):
                problems.add((*path, index, key), problem)
