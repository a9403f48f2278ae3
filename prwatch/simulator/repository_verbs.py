"""What happens to repositories, branches, forks and accounts."""

from prwatch.simulator.entities import Account, PullRequest, Repository
from prwatch.simulator.state import WorldState


class RepositoryVerbs(WorldState):
    """The moves of repositories and of the accounts that own them."""

    def add_repository(
        self,
        name_with_owner: str,
        *,
        fork_of: Repository | str | None = None,
        is_private: bool = False,
        requires_reviews: bool = False,
        has_merge_queue: bool = False,
        default_branch: str = "main",
    ) -> Repository:
        """Make a repository with one commit on its default branch."""
        owner, _, name = name_with_owner.partition("/")
        now = self.now()
        repository = Repository(
            self.next_id(),
            self.put_account(owner),
            name,
            created_at=now,
            updated_at=now,
            parent=None if fork_of is None else self.get_repository(fork_of),
            default_branch=default_branch,
            is_private=is_private,
            requires_reviews=requires_reviews,
            is_merge_queue_enabled=has_merge_queue,
        )
        repository.branches[default_branch] = self.build_commit()
        self.repositories[name_with_owner.lower()] = repository
        self.repositories_by_id[repository.database_id] = repository
        return repository

    def add_user(self, login: str) -> Account:
        """Make a person's account; naming one elsewhere makes it as well."""
        return self.put_account(login)

    def add_bot(self, login: str) -> Account:
        """Make a bot, whose login REST spells with `[bot]` at its end."""
        return self.put_account(login.removesuffix("[bot]"), "Bot")

    def add_organization(self, login: str) -> Account:
        """Make an organisation. Do it before its first repository."""
        return self.put_account(login, "Organization")

    def add_team(self, organization: str, slug: str) -> Account:
        """Make a team that reviews can be requested from."""
        team = self.put_account(slug, "Team")
        team.organization = organization
        return team

    def rename_repository(
        self, repository: Repository | str, name_with_owner: str
    ) -> Repository:
        """Rename or transfer it. The old name goes on leading to it."""
        found = self.get_repository(repository)
        owner, _, name = name_with_owner.partition("/")
        found.owner, found.name = self.put_account(owner), name
        found.version += 1
        self.repositories[name_with_owner.lower()] = found
        return found

    def archive_repository(self, repository: Repository | str) -> None:
        """Make it read-only."""
        self.get_repository(repository).is_archived = True

    def unarchive_repository(self, repository: Repository | str) -> None:
        """Make it writable again."""
        self.get_repository(repository).is_archived = False

    def delete_repository(self, repository: Repository | str) -> None:
        """
        Delete it; deleting a fork leaves the pull requests that came from it.

        Those answer null as their head repository from then on.
        """
        found = self.get_repository(repository)
        found.is_deleted = True
        for pull_request in self.pull_requests.values():
            if pull_request.head_repository is found:
                pull_request.head_repository = None

    delete_fork = delete_repository

    def delete_user(self, login: str) -> None:
        """Delete an account: what it wrote answers a null author."""
        account = self.put_account(login)
        account.is_deleted = True

    def delete_branch(self, repository: Repository | str, name: str) -> None:
        """Delete a branch. Pull requests into it close; those from it stay."""
        found = self.get_repository(repository)
        found.branches.pop(name, None)
        for pull_request in found.pull_requests.values():
            if pull_request.base_ref_name == name and pull_request.state == "OPEN":
                self._close(pull_request)

    def _close(self, pull_request: PullRequest) -> None:
        now = self.now()
        pull_request.state = "CLOSED"
        pull_request.closed_at = now
        pull_request.merge_queue_entry = None
        pull_request.auto_merge_request = None
        self.touch(pull_request)
