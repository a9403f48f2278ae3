"""
Every kind of fault, with its parameters here and there, and what it may do.

A kind belongs to the class whose backoff bounds how soon all is well again.
"""

import enum
from dataclasses import dataclass, field

from prwatch.simulator.faults import REPLACING

FIRST_WINDOW = 600.0
"""Seconds until the first window of the rate limits ends."""


class Effect(enum.StrEnum):
    """What bounds the recovery from a fault."""

    TRANSIENT = "transient"
    AUTH = "auth"
    CONFIG = "config"
    LIMIT = "limit"
    """The limit's own end."""
    DISGUISE = "disguise"
    """The next full reading, since nothing seemed wrong."""
    NONE = "none"
    """Nothing: every answer can be read."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """
    One kind as it is put into force.

    `standin` is its name there, '' where it has none. `touches` are the fields that
    are shown otherwise than they are. `holds` is how long a limit goes on after the
    fault itself.
    """

    name: str
    effect: Effect
    parameters: str = ""
    times: int | None = None
    standin: str = ""
    standin_parameters: dict = field(default_factory=dict)
    touches: frozenset = frozenset()
    keeps: frozenset = frozenset()
    """Fields of which what was shown last may stay, until something else changes."""
    holds: float = 0.0

    @property
    def answers_nothing(self):
        """Whether no request is answered as long as it is in force."""
        return self.name in REPLACING and self.times is None

    @property
    def line(self):
        times = "none" if self.times is None else self.times
        parameters = f";{self.parameters}" if self.parameters else ""
        return f"{self.name}{parameters};times={times}"


def _build(name, effect, parameters="", **traits):
    """Build a kind whose name and parameters are the same on the stand-in."""
    words = dict(word.split("=") for word in parameters.split(";") if word)
    traits.setdefault("standin", name)
    traits.setdefault("standin_parameters", words)
    return Kind(name=name, effect=effect, parameters=parameters, **traits)


_TRANSIENT = (
    *("html502", "html503", "html504", "json500", "json502", "json503", "timeout504"),
    *("something_went_wrong", "service_unavailable", "internal", "null_data"),
    *("empty200", "reset", "truncate", "max_nodes", "server_error_400"),
)
_AUTH = (
    *("bad_credentials", "max_login_attempts", "account_suspended"),
    *("suspended_installation", "insufficient_scopes"),
)
_CONFIG = ("not_accessible", "gone410", "dmca451", "blocked403")
_REVIEWS = frozenset({"review", "review_decision", "checks", "comments"})

CATALOGUE = (
    *(_build(name, Effect.TRANSIENT) for name in _TRANSIENT),
    *(_build(name, Effect.AUTH) for name in _AUTH),
    *(_build(name, Effect.CONFIG) for name in _CONFIG),
    _build("sso", Effect.AUTH, "org=octo"),
    _build("ip_allow_list", Effect.AUTH, "org=octo"),
    _build("no_repository", Effect.CONFIG, standin="not_found"),
    # The same words as a page of HTML with status 200, and JSON that is cut off.
    _build("cut_json", Effect.TRANSIENT, standin="not_json"),
    _build("not_json", Effect.TRANSIENT, standin=""),
    _build("hang", Effect.TRANSIENT, "seconds=15", standin_parameters={}),
    # Until the window ends, which stages let begin so that it soon does.
    _build("rate_limited", Effect.LIMIT, times=1, holds=FIRST_WINDOW),
    _build("secondary", Effect.LIMIT, "after=90", holds=90.0),
    _build("abuse", Effect.LIMIT, "after=60", holds=60.0),
    # There it hides whose token it is as well, and so answers nothing.
    _build("null_author", Effect.TRANSIENT),
    _build("null_head_repository", Effect.NONE),
    _build("mergeable_unknown", Effect.DISGUISE),
    _build("many_contexts", Effect.DISGUISE, "n=120", touches=frozenset({"checks"})),
    _build("silent_truncation", Effect.DISGUISE, "over=2", touches=_REVIEWS),
    _build("incomplete_results", Effect.NONE),
    _build("partial_not_found", Effect.CONFIG, "numbers=2+3"),
    _build("resource_limits", Effect.TRANSIENT, "after=2"),
    _build("slow", Effect.NONE, "seconds=1", standin_parameters={"ms": "20"}),
    _build("slow_body", Effect.NONE, "seconds=1", standin_parameters={"ms": "20"}),
    _build("gzip", Effect.NONE),
    _build("not_found", Effect.CONFIG, "target=octo/hello#2", standin=""),
    _build("forbidden", Effect.CONFIG, "target=octo/hello#2", standin=""),
    _build("null_alias", Effect.TRANSIENT, "target=octo/hello#2", standin=""),
    _build("integer_path", Effect.DISGUISE, "target=octo/hello#2", standin=""),
    _build("lone_surrogate", Effect.NONE, standin="", keeps=frozenset({"title"})),
)
STANDIN = tuple(kind for kind in CATALOGUE if kind.standin)
