"""How a workspace reaches GitHub: which credential pays, and whether it works."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """
    The one connection of a workspace. It never holds a secret.

    `source` names where the credential comes from, `account` is `user/ID` or
    `installation/ID` once GitHub has named who pays, and '' until then.
    `generation` grows whenever the credential is replaced, so that what was
    learnt about the old one (a circuit, a limit) is not held against the new.
    """

    id: str
    workspace_id: str
    source: str
    host: str
    account: str = ""
    generation: int = 1
    status: str = "unknown"
