"""
Executes checked operations over the world's things.

A document is executed a hundred times more often than it is read, and most fields
are attributes, so each selection is turned into a flat list of steps once per
request and type; introspection is left to the library.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from graphql import (
    FieldNode,
    GraphQLAbstractType,
    GraphQLIncludeDirective,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSkipDirective,
    SelectionSetNode,
    execute_sync,
    get_named_type,
    is_abstract_type,
    is_leaf_type,
)
from graphql.execution.values import (
    VariableValues,
    get_argument_values,
    get_directive_values,
)

from prwatch.simulator.graph.connection import halve
from prwatch.simulator.graph.document import Operation
from prwatch.simulator.graph.problem import FieldError

Resolver = Callable[[Any, dict[str, Any], Any], Any]
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


@dataclass(slots=True)
class _Step:
    """
    How one field of one type is answered.

    `read` needs the source alone; `resolve` needs arguments and context as well.
    `below` is None for a leaf. A null where `is_required` makes its object null.
    """

    key: str
    location: dict[str, int]
    is_required: bool
    is_time: bool
    read: Callable[[Any], Any] | None
    resolve: Resolver | None
    arguments: dict[str, Any]
    below: tuple[SelectionSetNode, ...] | None
    type_: GraphQLObjectType | GraphQLAbstractType | None
    steps: dict[str, list["_Step"]] = field(default_factory=dict)


@dataclass(slots=True)
class Execution:
    """
    One execution. `errors` holds what went wrong at single fields.

    `halves_lists` loses the second half of each connection, without a word.
    """

    operation: Operation
    variables: VariableValues
    context: Any
    resolvers: Mapping[tuple[str, str], Resolver]
    errors: list[dict[str, Any]] = field(default_factory=list)
    halves_lists: bool = False

    def run(self) -> dict[str, Any]:
        """Return the data, in the order that the document asks for it."""
        root = self.operation.schema.query_type
        selections = self.operation.definition.selection_set
        if root is None or self._asks_for_schema(selections):
            return self._introspect()
        return self._answer(self._plan(root, (selections,)), None, ()) or {}

    def _asks_for_schema(self, selections: SelectionSetNode) -> bool:
        return any(
            isinstance(node, FieldNode) and node.name.value in {"__schema", "__type"}
            for node in selections.selections
        )

    def _introspect(self) -> dict[str, Any]:
        answer = execute_sync(
            self.operation.schema,
            self.operation.document,
            variable_values=self.variables.coerced,
        )
        return answer.data or {}

    def _answer(
        self, steps: list[_Step], source: Any, path: tuple[str | int, ...]
    ) -> dict[str, Any] | None:
        data: dict[str, Any] = {}
        for step in steps:
            try:
                if step.read is not None:
                    value = step.read(source)
                elif step.resolve is not None:
                    value = step.resolve(source, step.arguments, self.context)
                else:
                    value = None
            except FieldError as error:
                value = error
            if isinstance(value, FieldError):
                value = self._complete(step, value, (*path, step.key))
                if step.is_required:
                    return None
            if value is None or (step.below is None and not step.is_time):
                data[step.key] = value
            elif step.is_time:
                data[step.key] = f"{value.isoformat()[:19]}Z"
            else:
                completed = self._complete(step, value, (*path, step.key))
                if completed is None and step.is_required:
                    return None
                data[step.key] = completed
        return data

    def _complete(self, step: _Step, value: Any, path: tuple[str | int, ...]) -> Any:
        if isinstance(value, FieldError):
            self.errors.append(value.render(path, step.location))
            return None
        if isinstance(value, list | tuple):
            return [
                None if item is None else self._complete(step, item, (*path, index))
                for index, item in enumerate(value)
            ]
        type_ = step.type_
        name = type_.name if isinstance(type_, GraphQLObjectType) else name_type(value)
        steps = step.steps.get(name)
        if steps is None:
            concrete = self.operation.schema.get_type(name)
            steps = self._plan(concrete, step.below or ())
            step.steps[name] = steps
        return self._answer(steps, value, path)

    def _plan(
        self, type_: Any, selections: tuple[SelectionSetNode, ...]
    ) -> list[_Step]:
        groups: dict[str, list[FieldNode]] = {}
        for selection in selections:
            self._collect(type_, selection, groups)
        return [self._build_step(type_, key, nodes) for key, nodes in groups.items()]

    def _collect(
        self,
        type_: Any,
        selections: SelectionSetNode,
        groups: dict[str, list[FieldNode]],
    ) -> None:
        """Gather the fields that hold for this type, under their response keys."""
        for node in selections.selections:
            if node.directives and not self._is_wanted(node):
                continue
            if isinstance(node, FieldNode):
                key = node.alias.value if node.alias else node.name.value
                groups.setdefault(key, []).append(node)
            elif opened := self.operation.open_fragment(node):
                condition, below = opened
                if not condition or self._holds(type_, condition):
                    self._collect(type_, below, groups)

    def _holds(self, type_: Any, condition: str) -> bool:
        if type_.name == condition:
            return True
        wider = self.operation.schema.get_type(condition)
        return is_abstract_type(wider) and self.operation.schema.is_sub_type(
            wider, type_
        )

    def _is_wanted(self, node: Any) -> bool:
        skip = get_directive_values(GraphQLSkipDirective, node, self.variables)
        include = get_directive_values(GraphQLIncludeDirective, node, self.variables)
        return not (skip and skip["if"]) and (include is None or include["if"])

    def _build_step(self, type_: Any, key: str, nodes: list[FieldNode]) -> _Step:
        node = nodes[0]
        name = node.name.value
        if name == "__typename":
            typename = type_.name
            return _Step(key, {}, True, False, lambda _: typename, None, {}, None, None)
        definition = type_.fields[name]
        result: Any = get_named_type(definition.type)
        below = tuple(found.selection_set for found in nodes if found.selection_set)
        arguments = (
            get_argument_values(definition, node, self.variables)
            if definition.args
            else {}
        )
        resolve = self.resolvers.get((type_.name, name))
        if result.name.endswith("Connection") and resolve is not None:
            resolve = _guard(resolve, name, arguments, below)
            resolve = _lose_half(resolve) if self.halves_lists else resolve
        return _Step(
            key,
            _locate(node),
            isinstance(definition.type, GraphQLNonNull),
            result.name == "DateTime",
            None if resolve else attrgetter(_CAPITAL.sub("_", name).lower()),
            resolve,
            arguments,
            None if is_leaf_type(result) else below,
            None if is_leaf_type(result) else result,
        )


def name_type(source: Any) -> str:
    """Return the GraphQL type of one of the world's things."""
    kind = getattr(source, "kind", None)
    if kind is not None:
        return str(kind)
    name = type(source).__name__
    return {"Review": "PullRequestReview"}.get(name, name)


def _locate(node: FieldNode) -> dict[str, int]:
    if node.loc is None:
        return {"line": 1, "column": 1}
    token = node.loc.start_token
    return {"line": token.line, "column": token.column}


def _guard(
    resolve: Resolver,
    name: str,
    arguments: dict[str, Any],
    below: tuple[SelectionSetNode, ...],
) -> Resolver:
    """Refuse a connection whose items are asked for without a sensible bound."""
    size = arguments.get("first") or arguments.get("last")
    asks_for_items = any(
        isinstance(node, FieldNode) and node.name.value in {"nodes", "edges"}
        for selection in below
        for node in selection.selections
    )
    if size is None and asks_for_items:
        problem = FieldError(
            "MISSING_PAGINATION_BOUNDARIES",
            "You must provide a `first` or `last` value to properly paginate the "
            f"`{name}` connection.",
        )
    elif size is not None and not 1 <= size <= 100:
        problem = FieldError(
            "EXCESSIVE_PAGINATION",
            f"Requesting {size} records on the `{name}` connection exceeds the "
            "`first` limit of 100 records.",
        )
    else:
        return resolve
    return lambda *_: problem


def _lose_half(resolve: Resolver) -> Resolver:
    return lambda source, arguments, context: halve(
        resolve(source, arguments, context), arguments
    )
