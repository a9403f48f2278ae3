"""
Takes refused fields out of a document, for servers with an older schema.

GitHub names an unknown field by its path through the document's text:
`["query Probe", "nodes", "... on PullRequest", "isInMergeQueue"]`, or with
`"fragment CoreFields"` as the first step.
"""

from typing import Any, TypeAlias

from graphql.language import (
    REMOVE,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    OperationDefinitionNode,
    Visitor,
    visit,
)

FieldPath: TypeAlias = tuple[str, ...]


def prune(document: DocumentNode, refused: frozenset[FieldPath]) -> DocumentNode:
    """
    Return the document without the refused fields.

    A selection that becomes empty goes with them, and so do the spreads of a
    fragment that becomes empty. A path that leads nowhere changes nothing.
    """
    if not refused:
        return document
    pruned: DocumentNode = visit(document, _RefusedFields(refused))
    while True:
        emptied = _EmptySelections(_fragments(pruned))
        pruned = visit(pruned, emptied)
        if not emptied.has_removed:
            return pruned


def _fragments(document: DocumentNode) -> frozenset[str]:
    return frozenset(
        each.name.value
        for each in document.definitions
        if isinstance(each, FragmentDefinitionNode)
    )


class _RefusedFields(Visitor):
    """Removes the fields whose path was refused."""

    def __init__(self, refused: frozenset[FieldPath]) -> None:
        super().__init__()
        self._refused = refused
        self._path: list[str] = []

    def enter(self, node: Any, *_: Any) -> Any:
        step = _step(node)
        if step is None:
            return None
        if isinstance(node, FieldNode) and (*self._path, step) in self._refused:
            return REMOVE
        self._path.append(step)
        return None

    def leave(self, node: Any, *_: Any) -> None:
        if _step(node) is not None:
            self._path.pop()


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


def _step(node: Any) -> str | None:
    if isinstance(node, FieldNode):
        return node.alias.value if node.alias else node.name.value
    if isinstance(node, InlineFragmentNode):
        return f"... on {node.type_condition.name.value if node.type_condition else ''}"
    if isinstance(node, FragmentDefinitionNode):
        return f"fragment {node.name.value}"
    if isinstance(node, OperationDefinitionNode):
        name = f" {node.name.value}" if node.name else ""
        return f"{node.operation.value}{name}"
    return None
