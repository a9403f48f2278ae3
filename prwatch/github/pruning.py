"""
Takes fields out of a document: those that a server lacks or a token may not read.

Fields are named by the type that has them, `PullRequest.isInMergeQueue`, so that one
refusal speaks for every document. GitHub itself names an unknown field by its path
through the document's text: `["query Probe", "nodes", "... on PullRequest",
"isInMergeQueue"]`, or with `"fragment CoreFields"` as the first step.
"""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from graphql.language import (
    REMOVE,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    OperationDefinitionNode,
    VariableDefinitionNode,
    VariableNode,
    Visitor,
    visit,
)

from prwatch.github.document_types import TYPES


def prune(document: DocumentNode, refused: AbstractSet[str]) -> DocumentNode:
    """
    Return the document without the refused fields.

    A selection that becomes empty goes with them, and so do the spreads of a
    fragment that becomes empty. A field that nothing asks for changes nothing.
    """
    if not refused:
        return document
    pruned: DocumentNode = visit(document, _Fields(lambda _, field: field in refused))
    while True:
        emptied = _EmptySelections(_fragments(pruned))
        pruned = visit(pruned, emptied)
        if not emptied.has_removed:
            return pruned


def drop_unused_variables(document: DocumentNode) -> DocumentNode:
    """Return the document without the variables that nothing uses any more."""
    used = _UsedVariables()
    visit(document, used)
    pruned: DocumentNode = visit(document, _UnusedVariables(used.names))
    return pruned


def list_variables(document: DocumentNode) -> frozenset[str]:
    """Return the names of the variables that the document declares."""
    return frozenset(
        variable.variable.name.value
        for each in document.definitions
        if isinstance(each, OperationDefinitionNode)
        for variable in each.variable_definitions or ()
    )


def find_field_at(document: DocumentNode, path: Sequence[str]) -> str:
    """Return the `Type.field` to which the path through the text leads, or ''."""
    wanted, found = tuple(path), [""]

    def see(shown: tuple[str, ...], field: str) -> bool:
        if shown == wanted:
            found.append(field)
        return False

    visit(document, _Fields(see))
    return found[-1]


def _fragments(document: DocumentNode) -> frozenset[str]:
    return frozenset(
        each.name.value
        for each in document.definitions
        if isinstance(each, FragmentDefinitionNode)
    )


class _Fields(Visitor):
    """Shows each field with the path that leads to it; it goes where `see` says so."""

    def __init__(self, see: Callable[[tuple[str, ...], str], bool]) -> None:
        super().__init__()
        self._see = see
        self._path: list[str] = []
        self._types: list[str] = []

    def enter(self, node: Any, *_: Any) -> Any:
        step = _step(node)
        if step is None:
            return None
        if isinstance(node, FieldNode):
            field = f"{self._types[-1]}.{node.name.value}"
            if self._see((*self._path, step), field):
                return REMOVE
            below = TYPES.get(field, "")
        else:
            below = _type_of(node)
        self._path.append(step)
        self._types.append(below)
        return None

    def leave(self, node: Any, *_: Any) -> None:
        if _step(node) is not None:
            self._path.pop()
            self._types.pop()


class _EmptySelections(Visitor):
    """Removes what selects nothing any more, and spreads of lost fragments."""

    def __init__(self, fragments: frozenset[str]) -> None:
        super().__init__()
        self._fragments = fragments
        self.has_removed = False

    def leave(self, node: Any, *_: Any) -> Any:
        if isinstance(node, FragmentSpreadNode):
            is_lost = node.name.value not in self._fragments
        else:
            selection_set = getattr(node, "selection_set", None)
            is_lost = selection_set is not None and not selection_set.selections
        if is_lost:
            self.has_removed = True
            return REMOVE
        return None


class _UsedVariables(Visitor):
    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def enter_argument(self, node: Any, *_: Any) -> None:
        # Ours are given whole, never inside of a list or an object.
        if isinstance(node.value, VariableNode):
            self.names.add(node.value.name.value)


class _UnusedVariables(Visitor):
    def __init__(self, used: AbstractSet[str]) -> None:
        super().__init__()
        self._used = used

    def enter_variable_definition(self, node: VariableDefinitionNode, *_: Any) -> Any:
        return None if node.variable.name.value in self._used else REMOVE


def _step(node: Any) -> str | None:
    if isinstance(node, FieldNode):
        return node.alias.value if node.alias else node.name.value
    if isinstance(node, InlineFragmentNode):
        return f"... on {_type_of(node)}"
    if isinstance(node, FragmentDefinitionNode):
        return f"fragment {node.name.value}"
    if isinstance(node, OperationDefinitionNode):
        name = f" {node.name.value}" if node.name else ""
        return f"{node.operation.value}{name}"
    return None


def _type_of(node: Any) -> str:
    if isinstance(node, OperationDefinitionNode):
        return "Query"
    condition = node.type_condition
    return condition.name.value if condition else ""
