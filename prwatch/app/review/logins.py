"""Whose token an account's is, as far as reviews are concerned."""

from prwatch.app.walk.cycle import Account, is_read_by_rest
from prwatch.errors import ProtocolViolation


class Unfit(ProtocolViolation):
    """What this account cannot read, whatever GitHub answers."""


class Logins:
    """Remembers it for the generation of a token. It is not polling's `viewer`."""

    def __init__(self) -> None:
        self._logins: dict[str, tuple[int, str]] = {}

    def is_known(self, account: Account) -> bool:
        """Return whether it can be told without asking; an app's never is asked."""
        known = self._logins.get(account.key)
        generation = account.github.credential.generation
        return account.github.limits.is_fixed or (
            known is not None and known[0] == generation
        )

    async def read(self, account: Account) -> str:
        """
        Return the login of the account behind the token.

        Raises:
            Unfit: An app is no person.
            ProviderError: It cannot be told.
        """
        if account.github.limits.is_fixed:
            raise Unfit("an app is no person whose review is asked; give target_login")
        credential = account.github.credential
        generation = credential.generation
        known = self._logins.get(account.key)
        if known is not None and known[0] == generation:
            return known[1]
        # What polling knows may still be of the token before.
        is_same = account.generation == generation
        viewer = (account.viewer if is_same else None) or await account.github.viewer()
        if credential.generation == generation:  # else it was replaced meanwhile
            self._logins[account.key] = (generation, viewer.login)
        return viewer.login


def require_graphql(account: Account, read_path: str) -> None:
    """
    Refuse an account that is asked through REST alone.

    Raises:
        Unfit: It is one.
    """
    if is_read_by_rest(account, read_path):
        raise Unfit("a review watch is searched through GraphQL alone")
