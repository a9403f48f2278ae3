"""Refuses single fields to a token, as GitHub does where a permission is missing."""

import re
from collections.abc import Mapping
from typing import Any

from prwatch.simulator.fault_answers import NOT_ACCESSIBLE_TEXT
from prwatch.simulator.graph.execute import Resolver
from prwatch.simulator.graph.problem import FieldError
from prwatch.simulator.graph.reading import Reading
from prwatch.simulator.limits import Token

_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def guard_fields(
    resolvers: Mapping[tuple[str, str], Resolver], token: Token
) -> Mapping[tuple[str, str], Resolver]:
    """Return the resolvers, of which those of refused fields ask who is there."""
    if not token.refused_fields:
        return resolvers
    guarded = dict(resolvers)
    for refused in token.refused_fields:
        type_name, _, name = refused.partition(".")
        inner = resolvers.get((type_name, name)) or _read_attribute(name)
        guarded[type_name, name] = _guard(inner, refused)
    return guarded


def _guard(inner: Resolver, field: str) -> Resolver:
    def resolve(source: Any, arguments: dict[str, Any], reading: Reading) -> Any:
        # What hangs deeper does not know its repository, and is refused everywhere.
        if reading.token.may_read(field, getattr(source, "repository", None)):
            return inner(source, arguments, reading)
        raise FieldError("FORBIDDEN", NOT_ACCESSIBLE_TEXT)

    return resolve


def _read_attribute(name: str) -> Resolver:
    attribute = _CAPITAL.sub("_", name).lower()
    return lambda source, *_: getattr(source, attribute)
