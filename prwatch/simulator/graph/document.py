"""Reads, checks and remembers GraphQL documents, with errors in GitHub's shapes."""

import functools
import importlib.resources
import re
from dataclasses import dataclass
from typing import Any

from graphql import (
    DocumentNode,
    FragmentDefinitionNode,
    GraphQLError,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLSyntaxError,
    OperationDefinitionNode,
    build_schema,
    parse,
    validate,
)
from graphql.execution.values import VariableValues, get_variable_values

KEPT_DOCUMENTS = 256
_UNDEFINED = re.compile(r"^Cannot query field '(\w+)' on type '(\w+)'")


class Refused(Exception):
    """The document is refused as a whole; `errors` is what GitHub would say."""

    def __init__(self, errors: list[dict[str, Any]]) -> None:
        super().__init__(errors[0]["message"])
        self.errors = errors


@dataclass(frozen=True, slots=True)
class Operation:
    """One checked operation, ready to be priced and executed."""

    schema: GraphQLSchema
    document: DocumentNode
    definition: OperationDefinitionNode
    fragments: dict[str, FragmentDefinitionNode]

    @property
    def name(self) -> str:
        """Return the operation's name, '' for an anonymous one."""
        return self.definition.name.value if self.definition.name else ""


@functools.lru_cache(maxsize=8)
def load_schema(removed_fields: frozenset[str] = frozenset()) -> GraphQLSchema:
    """Return the schema without the `Type.field`s that were removed."""
    text = importlib.resources.files(__package__).joinpath("schema.graphql").read_text()
    schema = build_schema(text)
    for removed in removed_fields:
        type_name, _, field_name = removed.partition(".")
        found = schema.get_type(type_name)
        if isinstance(found, GraphQLObjectType):
            found.fields.pop(field_name, None)
    return schema


@functools.lru_cache(maxsize=KEPT_DOCUMENTS)
def parse_operation(
    text: str, operation_name: str = "", removed_fields: frozenset[str] = frozenset()
) -> Operation:
    """Return the operation of that name. Raises `Refused`."""
    schema = load_schema(removed_fields)
    try:
        document = parse(text)
    except GraphQLSyntaxError as error:
        raise Refused([_render_syntax_error(error)]) from error
    operations = [
        found
        for found in document.definitions
        if isinstance(found, OperationDefinitionNode)
        and (not operation_name or (found.name and found.name.value == operation_name))
    ]
    if len(operations) != 1:
        raise Refused([{"message": "An operation name is required"}])
    definition = operations[0]
    name = definition.name.value if definition.name else ""
    problems = validate(schema, document)
    if problems:
        raise Refused([_render_problem(problem, name) for problem in problems])
    fragments = {
        found.name.value: found
        for found in document.definitions
        if isinstance(found, FragmentDefinitionNode)
    }
    return Operation(schema, document, definition, fragments)


def coerce_variables(operation: Operation, given: dict[str, Any]) -> VariableValues:
    """Return the variables as the operation declares them. Raises `Refused`."""
    definitions = operation.definition.variable_definitions or ()
    values = get_variable_values(operation.schema, definitions, given)
    if isinstance(values, VariableValues):
        return values
    raise Refused(
        [
            {
                "message": problem.message,
                "extensions": {"value": None, "problems": [{"path": []}]},
                "locations": _render_locations(problem),
            }
            for problem in values
        ]
    )


def _render_syntax_error(error: GraphQLSyntaxError) -> dict[str, Any]:
    line, column = error.locations[0] if error.locations else (1, 1)
    return {"message": f"Parse error on [{line}, {column}]: {error.message}"}


def _render_problem(problem: GraphQLError, operation_name: str) -> dict[str, Any]:
    """Return a static error; an undefined field has the shape old servers send."""
    found = _UNDEFINED.match(problem.message)
    rendered: dict[str, Any] = {
        "message": problem.message,
        "locations": _render_locations(problem),
        "path": [f"query {operation_name}".strip()],
    }
    if found is not None:
        field_name, type_name = found.groups()
        rendered["message"] = (
            f"Field '{field_name}' doesn't exist on type '{type_name}'"
        )
        rendered["path"].append(field_name)
        rendered["extensions"] = {
            "code": "undefinedField",
            "typeName": type_name,
            "fieldName": field_name,
        }
    return rendered


def _render_locations(problem: GraphQLError) -> list[dict[str, int]]:
    return [{"line": at.line, "column": at.column} for at in problem.locations or ()]
