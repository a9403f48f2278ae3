"""
Faults as data: which requests fail, how, and how often.

Kinds that replace the whole answer
    `html502`, `html503`, `html504`, `json500`, `unauthorized`, `secondary`,
    `rate_limited`, `null_data`, `truncated`, `not_json`, `typeless_error`,
    `hang` (an hour of the world's time, then 504), `reset` (the connection breaks).
Kinds that spoil one thing in a GraphQL answer
    `not_found`, `forbidden`, `null_alias` (null without an error), `integer_path`
    (a field of it is null, with an error whose path holds integers),
    `resource_limits`.
Kinds that change a good answer
    `slow` (`seconds` of the world's time), `lone_surrogate` (in the first title).
"""

import re
from dataclasses import dataclass
from typing import Final

SPOILING: Final = frozenset(
    {"not_found", "forbidden", "null_alias", "integer_path", "resource_limits"}
)
CHANGING: Final = frozenset({"slow", "lone_surrogate"})
REPLACING: Final = frozenset(
    {
        "html502",
        "html503",
        "html504",
        "json500",
        "unauthorized",
        "secondary",
        "rate_limited",
        "null_data",
        "truncated",
        "not_json",
        "typeless_error",
        "hang",
        "reset",
    }
)


@dataclass(slots=True, kw_only=True)
class Fault:
    """
    One rule. Without `match` it meets every request.

    `match` is a regular expression that is searched in
    `METHOD path operation`. `target` is the thing a spoiling fault meets:
    `owner/name`, `owner/name#number` or a node id; '' is the first one asked for.
    The first `skip` matching requests are spared; `times` None never ends.
    `retry_after` is what a secondary limit says, None says nothing.
    """

    kind: str
    times: int | None = 1
    skip: int = 0
    match: str = ""
    target: str = ""
    seconds: float = 1.0
    retry_after: int | None = 60

    def __post_init__(self) -> None:
        if self.kind not in REPLACING | SPOILING | CHANGING:
            raise ValueError(f"{self.kind} is no kind of fault")


class Faults:
    """The rules in force, in the order they were added."""

    def __init__(self) -> None:
        self._rules: list[Fault] = []

    def add(self, fault: Fault) -> Fault:
        """Put a rule into force."""
        self._rules.append(fault)
        return fault

    def clear(self) -> None:
        """Take all rules out of force."""
        self._rules.clear()

    def take(self, line: str) -> list[Fault]:
        """Return the faults of the request that `line` describes, and count them."""
        return [fault for fault in list(self._rules) if self._meets(fault, line)]

    def _meets(self, fault: Fault, line: str) -> bool:
        if fault.match and not re.search(fault.match, line):
            return False
        if fault.skip:
            fault.skip -= 1
            return False
        if fault.times is not None:
            fault.times -= 1
            if fault.times <= 0:
                self._rules.remove(fault)
        return True
