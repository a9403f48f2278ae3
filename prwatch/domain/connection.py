"""How a workspace reaches GitHub: which credential pays, and whether it works."""

import hashlib
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

    @property
    def fingerprint(self) -> str:
        """
        Return the digest that names this state of the connection; no secret goes in.

        It changes when any of the facts changes that a person or a new credential
        changes, and deleting and making a connection anew never brings an old one
        back. Learning who pays is no change.
        """
        facts = (self.source, self.host, self.id, str(self.generation), self.status)
        text = "\n".join(f"{len(each)}:{each}" for each in facts)
        return hashlib.sha256(text.encode()).hexdigest()[:32]
