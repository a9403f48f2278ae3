"""
Tokens and what they may do: rate budgets, secondary limits, refusals, outages.

GitHub's rules:
<https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api>.
"""

import datetime as dt
from dataclasses import dataclass

from prwatch.simulator.entities import Account, Repository
from prwatch.simulator.state import WorldState

DEFAULT_TOKEN = "ghp_simulator"  # noqa: S105 -- a made-up token of a made-up world
WINDOW = dt.timedelta(hours=1)
DEFAULT_LIMITS = {"core": 5000, "graphql": 5000, "search": 30}
ANONYMOUS_LIMITS = {"core": 60, "graphql": 0, "search": 10}


@dataclass(slots=True, kw_only=True)
class Token:
    """
    A credential. All tokens of one account share its budgets.

    `repositories` are lower-case `owner/name` it may see, None for all.
    `sso_organizations` are lower-case owners that want a single sign-on first.
    `installation` is the number of the one that an app's token belongs to.
    `refused_fields` are GraphQL's `Type.field`s that it may not read, and
    `refused_in` the lower-case repositories in which that holds, and that it may not
    read checks; None is everywhere.
    """

    account: Account
    scopes: tuple[str, ...] | None = ("repo",)
    repositories: frozenset[str] | None = None
    sso_organizations: frozenset[str] = frozenset()
    can_read_checks: bool = True
    refused_fields: frozenset[str] = frozenset()
    refused_in: frozenset[str] | None = None
    expires_at: dt.datetime | None = None
    is_revoked: bool = False
    installation: int | None = None

    def may_read(self, field: str, repository: Repository | None = None) -> bool:
        """Return whether a field of a repository's things is shown to it."""
        return field not in self.refused_fields or not self._is_bound(repository)

    def may_read_checks(self, repository: Repository) -> bool:
        """Return whether the check runs of a repository are shown to it."""
        return self.can_read_checks or not self._is_bound(repository)

    def _is_bound(self, repository: Repository | None) -> bool:
        places = self.refused_in
        if places is None or repository is None:
            return True
        return repository.name_with_owner.lower() in places


@dataclass(slots=True)
class Budget:
    """What is left of one account's hour in one bucket."""

    limit: int
    reset_at: dt.datetime
    used: int = 0

    @property
    def remaining(self) -> int:
        """Return what is left; never below zero."""
        return max(0, self.limit - self.used)


class LimitVerbs(WorldState):
    """The moves of GitHub's gate keepers."""

    tokens: dict[str, Token]
    budgets: dict[tuple[str, str], Budget]
    limits: dict[str, int]
    secondary_until: dt.datetime | None
    down_until: dt.datetime | None

    def set_token(
        self,
        value: str,
        *,
        login: str = "octocat",
        scopes: tuple[str, ...] | None = ("repo",),
        repositories: tuple[str, ...] | None = None,
        sso_organizations: tuple[str, ...] = (),
        can_read_checks: bool = True,
        expires_at: dt.datetime | None = None,
    ) -> Token:
        """Make or replace a token. `scopes` None is a token that names no scopes."""
        token = Token(
            account=self.find_account(login) or self.put_account(login),
            scopes=scopes,
            repositories=None
            if repositories is None
            else frozenset(name.lower() for name in repositories),
            sso_organizations=frozenset(name.lower() for name in sso_organizations),
            can_read_checks=can_read_checks,
            expires_at=expires_at,
        )
        self.tokens[value] = token
        return token

    def refuse_fields(
        self,
        *fields: str,
        token: str = DEFAULT_TOKEN,
        repositories: tuple[str, ...] | None = None,
    ) -> None:
        """
        Let a token read no such `Type.field` any more; without any, all again.

        `CheckRun` stands for the check runs of the repositories; None is all.
        """
        found = self.tokens[token]
        found.can_read_checks = "CheckRun" not in fields
        found.refused_fields = frozenset(fields) - {"CheckRun"}
        found.refused_in = None
        if repositories is not None:
            found.refused_in = frozenset(name.lower() for name in repositories)

    def revoke_token(self, value: str = DEFAULT_TOKEN) -> None:
        """Refuse the token from now on, as after its owner deleted it."""
        self.tokens[value].is_revoked = True

    def find_token(self, value: str) -> Token | None:
        """Return the token if it is known and good now."""
        token = self.tokens.get(value)
        if token is None or token.is_revoked or token.account.is_deleted:
            return None
        if token.expires_at is not None and self.clock.now() >= token.expires_at:
            return None
        return token

    def get_budget(self, login: str, bucket: str) -> Budget:
        """Return the account's budget, a fresh one when its hour is over."""
        now = self.now()
        budget = self.budgets.get((login, bucket))
        if budget is None or now >= budget.reset_at:
            limits = self.limits if login else ANONYMOUS_LIMITS
            budget = Budget(limits[bucket], now + WINDOW)
            self.budgets[login, bucket] = budget
        return budget

    def exhaust_rate_limit(
        self,
        bucket: str = "graphql",
        *,
        login: str = "octocat",
        for_: dt.timedelta = WINDOW,
    ) -> None:
        """Leave nothing in a bucket until `for_` has passed."""
        limit = self.limits[bucket]
        self.budgets[login, bucket] = Budget(limit, self.now() + for_, limit)

    def secondary_limit(self, for_: dt.timedelta = dt.timedelta(seconds=60)) -> None:
        """Refuse everybody with the secondary limit for a while."""
        self.secondary_until = self.now() + for_

    def go_down(self, for_: dt.timedelta) -> None:
        """Answer 502 with an HTML page to everything for a while."""
        self.down_until = self.now() + for_

    def come_back(self) -> None:
        """End an outage and a secondary limit at once."""
        self.down_until = None
        self.secondary_until = None
