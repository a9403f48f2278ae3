"""
What an operation costs, before it is executed.

The formula is the published one: a request for each connection and each parent it
hangs off, all pages assumed full, divided by 100, at least one. See
<https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api>.
"""

from dataclasses import dataclass
from typing import Any

from graphql import (
    FieldNode,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLUnionType,
    SelectionSetNode,
    get_named_type,
)
from graphql.execution.values import VariableValues, get_argument_values

from prwatch.simulator.graph.document import Operation, Refused

MAX_NODES = 500_000
MAX_IDS = 100


@dataclass(slots=True)
class Price:
    """The measure of one operation. `ids` counts what `nodes(ids:)` was given."""

    requests: int = 0
    node_count: int = 0
    ids: int = 0

    @property
    def cost(self) -> int:
        """Return the points, rounded half up."""
        return max(1, (self.requests + 50) // 100)


def measure(operation: Operation, variables: VariableValues) -> Price:
    """Return the price. Raises `Refused` for what is too large to be asked."""
    price = Price()
    root = operation.schema.query_type
    if root is not None:
        walk = _Walk(operation, variables, price)
        walk.count(root, operation.definition.selection_set, 1)
    return price


@dataclass(slots=True)
class _Walk:
    operation: Operation
    variables: VariableValues
    price: Price

    def count(self, type_: Any, selections: SelectionSetNode, parents: int) -> None:
        """Add what a selection costs below that many parents."""
        for node in selections.selections:
            if isinstance(node, FieldNode):
                self._count_field(type_, node, parents)
            elif opened := self.operation.open_fragment(node):
                condition, below = opened
                schema = self.operation.schema
                narrowed = schema.get_type(condition) if condition else type_
                self.count(narrowed, below, parents)

    def _count_field(self, type_: Any, node: FieldNode, parents: int) -> None:
        name = node.name.value
        if (
            name.startswith("__")
            or isinstance(type_, GraphQLUnionType)
            or not isinstance(type_, GraphQLObjectType | GraphQLInterfaceType)
        ):
            return
        field = type_.fields[name]
        result = get_named_type(field.type)
        if name == "nodes" and type_.name == "Query":
            parents = self._count_ids(field, node)
        elif result.name.endswith("Connection"):
            parents = self._count_connection(field, node, parents)
        if node.selection_set is not None:
            self.count(result, node.selection_set, parents)

    def _count_ids(self, field: Any, node: FieldNode) -> int:
        ids = get_argument_values(field, node, self.variables)["ids"]
        if len(ids) > MAX_IDS:
            message = (
                f"You may not provide more than {MAX_IDS} node ids; "
                f"you provided {len(ids)}."
            )
            raise Refused([{"type": "ARGUMENT_LIMIT", "message": message}])
        self.price.ids += len(ids)
        self.price.node_count += len(ids)
        return len(ids)

    def _count_connection(self, field: Any, node: FieldNode, parents: int) -> int:
        arguments = get_argument_values(field, node, self.variables)
        size = arguments.get("first") or arguments.get("last") or 0
        self.price.requests += parents
        self.price.node_count += parents * size
        if self.price.node_count > MAX_NODES:
            name = node.name.value
            message = (
                f"By the time this query traverses to the {name} connection, it is "
                f"requesting up to {self.price.node_count:,} possible nodes which "
                f"exceeds the maximum limit of {MAX_NODES:,}."
            )
            raise Refused([{"type": "MAX_NODE_LIMIT_EXCEEDED", "message": message}])
        return parents * size
