"""Who owns the token of an account, as far as reviews are concerned."""

from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from prwatch.app.walk.cycle import Account, is_read_by_rest
from prwatch.errors import ProtocolViolation, ProviderUnavailable

if TYPE_CHECKING:
    from prwatch.github.credentials import Credential

TRIES: Final = 3
"""How often a token may be replaced while it is asked whose it is."""


class Unfit(ProtocolViolation):
    """What this account cannot read, whatever GitHub answers: settings forbid it."""

    code = "config_invalid"


class Logins:
    """
    Remembers the login that a token itself told, for as long as it is that token.

    What polling knows is no help: it may be of the token before.
    """

    def __init__(self) -> None:
        self._logins: WeakKeyDictionary[Credential, tuple[int, str]] = (
            WeakKeyDictionary()
        )

    def is_known(self, account: Account) -> bool:
        """Return whether it can be told without asking; an app's never is asked."""
        return account.github.limits.is_fixed or self._find(account) is not None

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
        for _ in range(TRIES):
            known = self._find(account)
            if known is not None:
                return known
            generation = credential.generation
            viewer = await account.github.viewer()
            if credential.generation == generation:
                self._logins[credential] = (generation, viewer.login)
                return viewer.login
            # Replaced meanwhile: nobody knows which of the two answered.
        raise ProviderUnavailable("the token is replaced again and again")

    def _find(self, account: Account) -> str | None:
        credential = account.github.credential
        generation, login = self._logins.get(credential, (0, None))
        return login if generation == credential.generation else None


def require_graphql(account: Account, read_path: str) -> None:
    """
    Refuse an account that is asked through REST alone.

    Raises:
        Unfit: It is one.
    """
    if is_read_by_rest(account, read_path):
        raise Unfit("a review watch is searched through GraphQL alone")
