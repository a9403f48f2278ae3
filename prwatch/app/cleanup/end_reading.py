"""Reading how review tasks stand, as each login that counts: a request a part."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from prwatch.app.cleanup.turn import Turn
from prwatch.app.review.logins import Unfit
from prwatch.domain.outcome import Found, Outcome, Unreadable
from prwatch.domain.review_cleanup import (
    SweptRow,
    SweptTask,
    is_approved,
    without_opinion,
)
from prwatch.domain.review_hit import ReviewFacts
from prwatch.domain.review_watch import NOBODY
from prwatch.errors import AuthenticationFailed, ConfigError

OWN: Final = ""
"""The login that stands for the token's own account."""
LEFT_OUT: Final = Unreadable("GitHub left it out", "left_out")


@dataclass(slots=True, kw_only=True)
class Readings:
    """
    What GitHub said since `asked_at`, by the login that counts and the node id.

    `generation` is that of the token whose own account counted; None when none did.
    """

    asked_at: dt.datetime
    generation: int | None = None
    found: dict[tuple[str, str], Outcome[ReviewFacts]] = field(default_factory=dict)

    def put(self, login: str, node_id: str, outcome: Outcome[ReviewFacts]) -> None:
        """Note what was said of a pull request."""
        self.found[login, node_id] = outcome

    def find(self, row: SweptRow) -> Outcome[ReviewFacts]:
        """Return what was said of a row's pull request."""
        return self.found.get(_key(row), LEFT_OUT)

    def is_of_owner(self, turn: Turn) -> bool:
        """Return whether the token's own account is the one that counted."""
        generation = turn.account.github.credential.generation
        return self.generation in {None, generation}

    def is_whole(self, swept: SweptTask) -> bool:
        """Return whether each row of a task was answered for."""
        return all(_key(row) in self.found for row in swept.rows)


async def read_ends(turn: Turn, part: Sequence[SweptTask], readings: Readings) -> None:
    """
    Read the pull requests of a part, each as each login that counts stands to it.

    Raises:
        ProviderError: A request failed as a whole; `readings` has what came before.
    """
    for login in part[0].logins:
        node_ids = dict.fromkeys(
            each.row.pull_request.node_id
            for swept in part
            for each in swept.rows
            if each.login == login
        )
        try:
            who = login or await _read_login(turn)
            if login == OWN and who != NOBODY:
                readings.generation = turn.account.github.credential.generation
            approved = await _read_ends(turn, login, who, tuple(node_ids), readings)
            await _read_approved(turn, login, who, approved, readings, part=part)
        except ConfigError as error:
            # The source of the token went bad while we ran.
            raise AuthenticationFailed(f"{error}; {error.hint}") from error


async def _read_ends(
    turn: Turn, login: str, who: str, node_ids: Sequence[str], readings: Readings
) -> list[str]:
    """Read states and opinions; return what is approved, which is no end by itself."""
    approved: list[str] = []
    reading = turn.account.github.review_reader.iter_ends(node_ids, who)
    async for outcomes in reading:
        turn.sweep.circuits.succeed(turn.connection_id)
        for node_id, outcome in outcomes.items():
            seen = _see(outcome, who)
            if isinstance(seen, Found) and is_approved(seen.value):
                approved.append(node_id)
            else:
                readings.put(login, node_id, seen)
    return approved


async def _read_approved(
    turn: Turn,
    login: str,
    who: str,
    node_ids: Sequence[str],
    readings: Readings,
    *,
    part: Sequence[SweptTask],
) -> None:
    """
    Read whether the review of what is approved is asked for again.

    Whether a request to a team counts is a matter of each task, not of what shares the
    request with it: those two are read apart.
    """
    with_teams = {
        each.row.pull_request.node_id
        for swept in part
        if swept.counts_teams(login)
        for each in swept.rows
    }
    for counts_teams in (False, True):
        own = [each for each in node_ids if (each in with_teams) is counts_teams]
        if not own:
            continue
        reading = turn.account.github.review_reader.iter_facts(
            own, who, counts_teams=counts_teams
        )
        async for outcomes in reading:
            for node_id, outcome in outcomes.items():
                readings.put(login, node_id, outcome)


async def _read_login(turn: Turn) -> str:
    try:
        return await turn.sweep.logins.read(turn.account)
    except Unfit:
        return NOBODY


def _see(outcome: Outcome[ReviewFacts], who: str) -> Outcome[ReviewFacts]:
    if who == NOBODY and isinstance(outcome, Found):
        return Found(without_opinion(outcome.value))
    return outcome


def _key(row: SweptRow) -> tuple[str, str]:
    return row.login, row.row.pull_request.node_id
