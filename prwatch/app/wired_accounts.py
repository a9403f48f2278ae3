"""What the workspaces of a configuration came to, as values."""

from collections.abc import Mapping
from dataclasses import dataclass

from prwatch.app.walk.cycle import Account
from prwatch.domain.task import Workspace


@dataclass(frozen=True, slots=True)
class UnusableWorkspace:
    """A workspace that cannot be polled, and what its person has to do."""

    name: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WiredAccounts:
    """
    What the configuration's workspaces came to.

    `hosts` maps each workspace's name to the host of its repositories.
    """

    accounts: tuple[Account, ...]
    unusable: tuple[UnusableWorkspace, ...]
    workspaces: Mapping[str, Workspace]
    hosts: Mapping[str, str]
