"""
Faults as data: which requests fail, how, and how often.

A kind either replaces the whole answer, spoils single things in it, shows the world
otherwise than it is, or harms the answer on its way. `docs/reference/faults.md` lists
them with their parameters; a line of text such as `secondary;after=7;hold` is a fault
too, so that an incident can be written down and played again.
"""

import datetime as dt
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

REPLACING: Final = frozenset(
    {"rate_limited", "secondary", "abuse", "bad_credentials", "max_login_attempts"}
    | {"sso", "ip_allow_list", "not_accessible", "insufficient_scopes"}
    | {"account_suspended", "suspended_installation"}
    | {"html502", "html503", "html504", "json500", "json502", "json503", "timeout504"}
    | {"something_went_wrong", "service_unavailable", "internal", "max_nodes"}
    | {"null_data", "not_json", "empty200", "cut_json"}
    | {"no_repository", "gone410", "dmca451", "blocked403", "server_error_400"}
    | {"hang", "reset"}
)
"""The whole answer is another one, or none comes."""

SPOILING: Final = frozenset(
    {"not_found", "forbidden", "null_alias", "integer_path", "resource_limits"}
    | {"partial_not_found"}
)
"""Single things of an answer are refused or null, and the others are good."""

DISGUISING: Final = frozenset(
    {"null_author", "null_head_repository", "mergeable_unknown", "many_contexts"}
    | {"silent_truncation", "incomplete_results"}
)
"""The world is shown otherwise than it is, and no error says so."""

CARRYING: Final = frozenset({"slow", "slow_body", "truncate", "gzip", "lone_surrogate"})
"""The answer is good, and comes late, broken off, packed or with a broken sign."""

KINDS: Final = REPLACING | SPOILING | DISGUISING | CARRYING


@dataclass(slots=True, kw_only=True)
class Fault:
    """
    One rule. Without `match` and `token` it meets every request.

    `match` is a regular expression that is searched in
    `METHOD path operation`. `target` is the thing a spoiling fault meets:
    `owner/name`, `owner/name#number` or a node id; '' is the first one asked for.
    The first `skip` matching requests are spared; `times` None never ends.
    """

    kind: str
    times: int | None = 1
    skip: int = 0
    match: str = ""
    token: str = ""
    target: str = ""
    seconds: float | None = None
    """How long a late answer takes (1), an answer that never comes (an hour), or the
    window of a used up limit goes on (as it stands)."""
    retry_after: int | None = 60
    """What a secondary limit says, None says nothing."""
    is_held: bool = False
    """Whether a secondary limit then refuses all that comes before its end."""
    status: int | None = None
    """Another status than the usual one, for limits and typeless errors."""
    organization: str = "ssocorp"
    after: int | None = None
    """How many things `resource_limits` leaves whole before it cuts off the rest."""
    count: int = 150
    """How many check runs `many_contexts` shows."""
    numbers: tuple[int, ...] = ()
    share: float = 0.0
    """Which pull requests `partial_not_found` hides: by number, or that part of all."""
    over: int = 50
    """How many ids or aliases a query may ask before `silent_truncation`."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"{self.kind} is no kind of fault")

    def hides(self, number: int, node_id: str) -> bool:
        """Return whether this is `partial_not_found`, and hides that pull request."""
        if self.kind != "partial_not_found":
            return False
        part = zlib.crc32(node_id.encode()) % 1000 / 1000
        return number in self.numbers or part < self.share


class Faults:
    """The rules in force, in the order they were added."""

    def __init__(self) -> None:
        self.holds: dict[str, dt.datetime] = {}
        """Until when a secondary limit with `is_held` refuses a credential."""
        self._rules: list[Fault] = []

    def add(self, fault: Fault | str) -> Fault:
        """Put a rule into force, given as such or as text."""
        added = parse_fault(fault) if isinstance(fault, str) else fault
        self._rules.append(added)
        return added

    def remove(self, fault: Fault) -> None:
        """Take a rule out of force, if it still is."""
        self._rules = [each for each in self._rules if each is not fault]

    def clear(self) -> None:
        """Take all rules out of force, and what they still hold back."""
        self._rules.clear()
        self.holds.clear()

    def take(self, line: str, token: str = "") -> list[Fault]:
        """Return the faults of the request that `line` describes, and count them."""
        rules = list(self._rules)
        return [fault for fault in rules if self._meets(fault, line, token)]

    def _meets(self, fault: Fault, line: str, token: str) -> bool:
        if fault.token and fault.token != token:
            return False
        if fault.match and not re.search(fault.match, line):
            return False
        if fault.skip:
            fault.skip -= 1
            return False
        if fault.times is not None:
            fault.times -= 1
            if fault.times <= 0:
                self.remove(fault)
        return True


def parse_fault(text: str) -> Fault:
    """
    Return the fault that a line says: its kind, then parameters behind semicolons.

    A parameter without a value is 1, `none` is None, and numbers are joined by `+`,
    as in `secondary;after=none;hold` or `partial_not_found;numbers=2+5;times=none`.

    Raises:
        ValueError: the kind or a parameter is unknown, or its value is none.
    """
    kind, *parameters = (part.strip() for part in text.split(";"))
    values: dict[str, Any] = {}
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        known = PARAMETERS.get(name)
        if known is None:
            raise ValueError(f"{name} is no parameter of a fault")
        member, read = known
        if name == "after" and kind != "resource_limits":
            member = "retry_after"
        values[member] = None if value == "none" else read(value or "1")
    return Fault(kind=kind, **values)


def _read_numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split("+"))


PARAMETERS: Final[Mapping[str, tuple[str, Callable[[str], Any]]]] = {
    "times": ("times", int),
    "skip": ("skip", int),
    "match": ("match", str),
    "token": ("token", str),
    "target": ("target", str),
    "seconds": ("seconds", float),
    "after": ("after", int),
    "hold": ("is_held", lambda text: text == "1"),
    "status": ("status", int),
    "org": ("organization", str),
    "n": ("count", int),
    "numbers": ("numbers", _read_numbers),
    "frac": ("share", float),
    "over": ("over", int),
}
