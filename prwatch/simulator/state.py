"""
What the simulated world is made of, before anybody does anything with it.

Times have whole seconds, as GitHub's have: two changes within one second are not
told apart by their times.
"""

import datetime as dt
import hashlib

from prwatch.clock import Clock
from prwatch.errors import NotFound
from prwatch.simulator.entities import (
    Account,
    App,
    Commit,
    PullRequest,
    Repository,
    parse_node_id,
)


class WorldState:
    """The tables of the world, and the small moves that every verb is made of."""

    def __init__(self, clock: Clock, *, seed: int = 0) -> None:
        self.clock = clock
        self.seed = seed
        self.accounts: dict[str, Account] = {}
        self.repositories: dict[str, Repository] = {}
        self.repositories_by_id: dict[int, Repository] = {}
        self.pull_requests: dict[int, PullRequest] = {}
        self.commits: dict[str, Commit] = {}
        self.apps: dict[str, App] = {}
        self.listings: dict[object, tuple[int, list[PullRequest]]] = {}
        self.removed_fields: frozenset[str] = frozenset()
        self.enterprise_version = ""
        """Of the Enterprise Server that this world is; '' is github.com."""
        self.has_graphql = True
        self._last_id = 1000

    def now(self) -> dt.datetime:
        """Return the world's time in whole seconds."""
        return self.clock.now().replace(microsecond=0)

    def next_id(self) -> int:
        """Return a database id that nothing else has."""
        self._last_id += 1
        return self._last_id

    def build_commit(self, oid: str = "") -> Commit:
        """Return a new commit. Equal seeds give equal oids in equal stories."""
        number = self.next_id()
        text = f"{self.seed}:{number}".encode()
        oid = oid or hashlib.sha1(text, usedforsecurity=False).hexdigest()
        commit = Commit(number, oid)
        self.commits[oid] = commit
        return commit

    def put_account(self, login: str, kind: str = "User") -> Account:
        """Return the account of that login; it is made on first mention."""
        key = f"{kind == 'Team'}:{login.lower()}"
        account = self.accounts.get(key)
        if account is None:
            account = Account(self.next_id(), login, kind)
            self.accounts[key] = account
        return account

    def find_account(self, login: str) -> Account | None:
        """Return the user, bot or organisation of that login, deleted or not."""
        return self.accounts.get(f"False:{login.lower()}")

    def find_repository(
        self, name_with_owner: str, *, follow_renames: bool = True
    ) -> Repository | None:
        """Return the repository of that name, or one that once had it."""
        found = self.repositories.get(name_with_owner.lower())
        if found is None or found.is_deleted:
            return None
        is_present_name = found.name_with_owner.lower() == name_with_owner.lower()
        return found if is_present_name or follow_renames else None

    def get_repository(self, repository: Repository | str) -> Repository:
        """Return the repository. Raises `NotFound` for an unknown name."""
        if isinstance(repository, Repository):
            return repository
        found = self.find_repository(repository)
        if found is None:
            raise NotFound(f"the simulated world has no repository {repository}")
        return found

    def find_node(self, node_id: str) -> PullRequest | Repository | Account | None:
        """Return what that global id names, or None."""
        parsed = parse_node_id(node_id)
        if parsed is None:
            return None
        prefix, number = parsed
        if prefix == "PR":
            pull_request = self.pull_requests.get(number)
            if pull_request is None or pull_request.repository.is_deleted:
                return None
            return pull_request
        if prefix == "R":
            repository = self.repositories_by_id.get(number)
            return None if repository is None or repository.is_deleted else repository
        for account in self.accounts.values():
            if account.database_id == number and not account.is_deleted:
                return account
        return None

    def touch(self, pull_request: PullRequest) -> None:
        """Let the update time move, as any visible edit does."""
        pull_request.updated_at = self.now()
        pull_request.repository.version += 1

    def remove_field(self, type_name: str, field_name: str) -> None:
        """Serve a schema without that field, as an older Enterprise Server does."""
        self.removed_fields |= {f"{type_name}.{field_name}"}
