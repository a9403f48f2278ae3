"""Reads, checks and remembers GraphQL documents, with errors in GitHub's shapes."""

import functools
import importlib.resources
import re
from dataclasses import dataclass
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLSyntaxError,
    InlineFragmentNode,
    Node,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
    VariableDefinitionNode,
    build_schema,
    parse,
    print_ast,
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

    def open_fragment(self, node: SelectionNode) -> tuple[str, SelectionSetNode] | None:
        """
        Return the type that a spread asks for, '' for any, and what it selects.

        None says that the node is a field.
        """
        match node:
            case FragmentSpreadNode():
                fragment = self.fragments[node.name.value]
                return fragment.type_condition.name.value, fragment.selection_set
            case InlineFragmentNode(type_condition=condition):
                return condition.name.value if condition else "", node.selection_set
        return None


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
    problems = validate(schema, document)
    if problems:
        raise Refused([_render_problem(problem, document) for problem in problems])
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
                "message": _name_variable(operation, problem),
                "extensions": {
                    "value": None,
                    "problems": [{"path": [], "explanation": problem.message}],
                },
                "locations": _render_locations(problem),
            }
            for problem in values
        ]
    )


def _name_variable(operation: Operation, problem: GraphQLError) -> str:
    for node in problem.nodes or ():
        if isinstance(node, VariableDefinitionNode):
            name, type_ = node.variable.name.value, print_ast(node.type)
            return f"Variable ${name} of type {type_} was provided invalid value"
    return f"{operation.name}: {problem.message}"


def _render_syntax_error(error: GraphQLSyntaxError) -> dict[str, Any]:
    line, column = error.locations[0] if error.locations else (1, 1)
    found = error.message.removeprefix("Syntax Error: ")
    return {
        "message": f"Parse error on {found} at [{line}, {column}]",
        "locations": [{"line": line, "column": column}],
    }


def _render_problem(problem: GraphQLError, document: DocumentNode) -> dict[str, Any]:
    """Return a static error; an undefined field has the shape old servers send."""
    found = _UNDEFINED.match(problem.message)
    rendered: dict[str, Any] = {
        "message": problem.message,
        "locations": _render_locations(problem),
        "path": _find_path(problem, document),
    }
    if found is not None:
        field_name, type_name = found.groups()
        rendered["message"] = (
            f"Field '{field_name}' doesn't exist on type '{type_name}'"
        )
        rendered["extensions"] = {
            "code": "undefinedField",
            "typeName": type_name,
            "fieldName": field_name,
        }
    return rendered


def _find_path(problem: GraphQLError, document: DocumentNode) -> list[str]:
    """Return the names from the definition down to the node that is wrong."""
    node = problem.nodes[0] if problem.nodes else None
    for definition in document.definitions:
        if isinstance(definition, OperationDefinitionNode):
            name = definition.name.value if definition.name else ""
            start = f"{definition.operation.value} {name}".strip()
        elif isinstance(definition, FragmentDefinitionNode):
            start = f"fragment {definition.name.value}"
        else:
            continue
        if definition is node:
            return [start]
        below = _find_below(node, definition.selection_set)
        if below is not None:
            return [start, *below]
    return []


def _find_below(node: Node | None, selections: SelectionSetNode) -> list[str] | None:
    for each in selections.selections:
        name = _name_selection(each)
        if each is node:
            return [name]
        inner = getattr(each, "selection_set", None)
        below = None if inner is None else _find_below(node, inner)
        if below is not None:
            return [name, *below]
    return None


def _name_selection(node: SelectionNode) -> str:
    if isinstance(node, FieldNode):
        return node.alias.value if node.alias else node.name.value
    if isinstance(node, InlineFragmentNode) and node.type_condition:
        return f"... on {node.type_condition.name.value}"
    return "..."


def _render_locations(problem: GraphQLError) -> list[dict[str, int]]:
    return [{"line": at.line, "column": at.column} for at in problem.locations or ()]
