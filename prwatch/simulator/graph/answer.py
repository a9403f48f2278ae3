"""Answers `POST /graphql`: reads, prices, charges and executes one operation."""

import re
from collections.abc import Sequence
from typing import Any

from prwatch.simulator.answer import Answer, build_failure, build_json, build_primary
from prwatch.simulator.faults import DISGUISING, SPOILING, Fault
from prwatch.simulator.graph.cost import measure
from prwatch.simulator.graph.document import (
    Refused,
    coerce_variables,
    parse_operation,
)
from prwatch.simulator.graph.execute import Execution
from prwatch.simulator.graph.fields import FIELDS
from prwatch.simulator.graph.permission import guard_fields
from prwatch.simulator.graph.reading import Reading
from prwatch.simulator.limits import Token
from prwatch.simulator.world import World

_NAME = re.compile(r"\b(?:query|mutation)\s+(\w+)")


def find_operation_name(payload: object) -> str:
    """Return the name of the operation that a request's body asks for, or ''."""
    if not isinstance(payload, dict):
        return ""
    given = payload.get("operationName")
    if given:
        return str(given)
    found = _NAME.search(str(payload.get("query", "")))
    return found.group(1) if found else ""


def answer_graphql(
    world: World, token: Token, payload: Any, faults: Sequence[Fault]
) -> Answer:
    """Return the answer; its cost was charged to the token's account."""
    if not world.has_graphql:
        return build_failure(404, "Not Found")
    if not isinstance(payload, dict) or not isinstance(payload.get("query"), str):
        return build_failure(400, "Problems parsing JSON")
    budget = world.get_budget(token.account.login, "graphql")
    if budget.remaining == 0:
        world.requests.while_limited += 1
        account = token.account
        return build_primary(account.login, account.database_id, is_graphql=True)
    try:
        operation = parse_operation(
            payload["query"], payload.get("operationName") or "", world.removed_fields
        )
        variables = coerce_variables(operation, payload.get("variables") or {})
        price = measure(operation, variables)
    except Refused as refused:
        budget.used += 1
        answer = build_json(200, {"errors": refused.errors})
        answer.cost = 1
        return answer
    budget.used += price.cost
    spoiling = [fault for fault in faults if fault.kind in SPOILING]
    disguises = {fault.kind: fault for fault in faults if fault.kind in DISGUISING}
    reading = Reading(world, token, price, budget, spoiling, disguises)
    resolvers = guard_fields(FIELDS, token)
    execution = Execution(operation, variables, reading, resolvers)
    wide = disguises.get("silent_truncation")
    aliases = len(operation.definition.selection_set.selections)
    execution.halves_lists = wide is not None and max(price.ids, aliases) > wide.over
    body: dict[str, Any] = {"data": execution.run()}
    if execution.errors:
        body["errors"] = execution.errors
    answer = build_json(200, body)
    answer.cost, answer.ids_count = price.cost, price.ids
    return answer
