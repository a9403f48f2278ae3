"""Which account each workspace uses, and what GitHub says about its token."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, replace

from prwatch.app.accounts import build_credential
from prwatch.app.host import find_host
from prwatch.app.surroundings import Surroundings
from prwatch.config.entries import Workspace as WorkspaceEntry
from prwatch.config.model import Config
from prwatch.domain.rate_limit import Budget
from prwatch.domain.reference import Viewer
from prwatch.errors import ConfigError, ProtocolViolation, ProviderError
from prwatch.github.client import Endpoints, GitHub
from prwatch.github.token_facts import name_kind
from prwatch.http.client import BoundedClient, create_http_client


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenStatus:
    """
    The token of one workspace, without the token.

    `viewer` is None when GitHub did not say whose it is; then `code`, `problem` and
    `remedy` say why. `drift` is by how much our clock is ahead of GitHub's.
    `is_renewed` says that the token is replaced before it ends, by itself.
    """

    workspace: str
    source: str
    host: str
    kind: str = ""
    viewer: Viewer | None = None
    budgets: tuple[Budget, ...] = ()
    drift: dt.timedelta | None = None
    code: str = ""
    problem: str = ""
    remedy: str = ""
    is_renewed: bool = False

    def as_json(self) -> dict[str, object]:
        """Return the members of the printed object."""
        viewer = self.viewer
        scopes = viewer.scopes if viewer else None
        return {
            "workspace": self.workspace,
            "source": self.source,
            "host": self.host,
            "kind": self.kind or None,
            "login": viewer.login if viewer else None,
            "scopes": None if scopes is None else list(scopes),
            "expires_at": viewer.token_expires_at if viewer else None,
            "problem": {"code": self.code, "message": self.problem}
            if self.problem
            else None,
        }


async def read_token_statuses(
    config: Config, surroundings: Surroundings
) -> tuple[TokenStatus, ...]:
    """
    Ask GitHub once for each credential whose it is.

    Raises:
        ConfigError: `ca_file` cannot be used.
    """
    found: dict[tuple[str, str], TokenStatus] = {}
    statuses = []
    client = create_http_client(
        ca_file=str(config.http.ca_file or ""), transport=surroundings.transport
    )
    async with client:
        for entry in config.workspaces:
            key = (entry.api_url, entry.account)
            if key not in found:
                found[key] = await _ask(entry, client, surroundings)
            statuses.append(replace(found[key], workspace=entry.name))
    return tuple(statuses)


async def _ask(
    entry: WorkspaceEntry, client: BoundedClient, surroundings: Surroundings
) -> TokenStatus:
    status = TokenStatus(
        workspace=entry.name,
        source=entry.account,
        host=find_host(entry.api_url),
        is_renewed=entry.is_app,
    )
    clock = surroundings.clock
    try:
        credential = build_credential(
            entry, surroundings.environ, http=client, clock=clock
        )
        status = replace(status, kind=name_kind(await credential.token()))
        github = GitHub(
            client,
            credential,
            endpoints=Endpoints(entry.api_url, entry.graphql_url),
            clock=clock,
            settle=dt.timedelta(0),
        )
        viewer = await _find_viewer(github)
    except (ConfigError, ProviderError) as error:
        return replace(
            status, code=error.code, problem=str(error), remedy=_advise(error)
        )
    answered_at = viewer.answered_at or clock.now()
    budgets: Mapping[str, Budget] = github.limits.budgets
    return replace(
        status,
        viewer=viewer,
        budgets=tuple(budgets.values()),
        drift=clock.now() - answered_at,
    )


async def _find_viewer(github: GitHub) -> Viewer:
    try:
        return await github.viewer()
    except ProtocolViolation:
        if github.capabilities.has_graphql:
            raise
        return await github.rest_reader.viewer()


def _advise(error: ConfigError | ProviderError) -> str:
    if error.hint:
        return error.hint
    match error.code:
        case "config_invalid":
            return "give the workspace a token, then run `prwatch config check`"
        case "authentication_failed":
            return "renew the token, or authorise it for the organisation"
        case "rate_limited":
            return "wait, and see what else uses the account"
        case _:
            return "see https://www.githubstatus.com, the proxy and api_url"
