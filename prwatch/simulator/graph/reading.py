"""
What one request may read: who asks, what is refused, which faults it meets.

Every way into the world (a node id, a name, a number) passes here, so that a
spoiling fault meets one thing and leaves its neighbours alone.
"""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from prwatch.simulator.entities import Account, PullRequest, Repository
from prwatch.simulator.fault_answers import NOT_ACCESSIBLE_TEXT, SAML_TEXT
from prwatch.simulator.faults import Fault
from prwatch.simulator.graph.cost import Price
from prwatch.simulator.graph.problem import FieldError
from prwatch.simulator.limits import Budget, Token
from prwatch.simulator.listing import can_see
from prwatch.simulator.world import World

NO_TEXT = "Something went wrong while executing your query."


@dataclass(slots=True)
class Reading:
    """One GraphQL request on its way through the world."""

    world: World
    token: Token
    price: Price
    budget: Budget
    faults: list[Fault] = field(default_factory=list)
    disguises: Mapping[str, Fault] = field(default_factory=dict)
    broken_rollups: set[int] = field(default_factory=set)
    entered: int = 0
    """Things that were read so far; a thing that is asked for twice counts twice."""
    now: dt.datetime = field(init=False)

    def __post_init__(self) -> None:
        self.now = self.world.now()

    def enter(self, thing: Any, asked_as: str) -> Any:
        """
        Return the thing if this request may read it.

        Raises `FieldError` when it is refused or spoiled; returns None for a null
        that no error explains.
        """
        if isinstance(thing, PullRequest):
            names = (
                thing.id,
                f"{thing.repository.name_with_owner}#{thing.number}",
            )
            self._check_access(thing.repository, asked_as)
        elif isinstance(thing, Repository):
            names = (thing.id, thing.name_with_owner)
            self._check_access(thing, asked_as)
        else:
            return thing
        return self._spoil(thing, names, asked_as) if self.faults else thing

    def refuse(self, asked_as: str) -> FieldError:
        """Return GitHub's words for something that is not there for this token."""
        return FieldError("NOT_FOUND", f"Could not resolve to a {asked_as}.")

    def _check_access(self, repository: Repository, asked_as: str) -> None:
        if not can_see(self.token, repository):
            raise self.refuse(asked_as)
        if repository.owner.login.lower() in self.token.sso_organizations:
            raise FieldError("FORBIDDEN", SAML_TEXT, extensions={"saml_failure": True})

    def _spoil(self, thing: Any, names: tuple[str, ...], asked_as: str) -> Any:
        self.entered += 1
        for fault in list(self.faults):
            if self._meets_as_one_of_many(fault, thing):
                raise self._build_error(fault, asked_as)
            if _meets_many(fault) or (fault.target and fault.target not in names):
                continue
            if fault.kind == "integer_path":
                if isinstance(thing, PullRequest):
                    self.faults.remove(fault)
                    self.broken_rollups.add(thing.database_id)
                    return thing
                continue
            self.faults.remove(fault)
            if fault.kind == "null_alias":
                return None
            raise self._build_error(fault, asked_as)
        return thing

    def _meets_as_one_of_many(self, fault: Fault, thing: Any) -> bool:
        if fault.after is not None:
            return self.entered > fault.after
        return isinstance(thing, PullRequest) and fault.hides(thing.number, thing.id)

    def _build_error(self, fault: Fault, asked_as: str) -> FieldError:
        if fault.kind in {"not_found", "partial_not_found"}:
            return self.refuse(asked_as)
        if fault.kind == "forbidden":
            return FieldError("FORBIDDEN", NOT_ACCESSIBLE_TEXT)
        text = "Resource limits for this query exceeded."
        return FieldError("RESOURCE_LIMITS_EXCEEDED", text)


def _meets_many(fault: Fault) -> bool:
    return fault.kind == "partial_not_found" or fault.after is not None


def read_actor(account: Account | None) -> Account | None:
    """Return the account, or None once it was deleted."""
    return None if account is None or account.is_deleted else account
