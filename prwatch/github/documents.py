"""
The GraphQL documents: read from `queries/`, composed, printed once and kept.

A document can be had without some of its fields: an old server may not know them, or
a token may not read them. What is left out is said by who asks.
"""

import functools
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from importlib import resources
from typing import Final

from graphql import DocumentNode, parse
from graphql.language import (
    FragmentDefinitionNode,
    FragmentSpreadNode,
    Node,
    OperationDefinitionNode,
    Visitor,
    print_ast,
    visit,
)
from graphql.utilities import strip_ignored_characters

from prwatch.github.pruning import drop_unused_variables, list_variables, prune

MAX_KEPT: Final = 128
"""Composed documents that a book keeps. The batches of a steady set have few shapes."""


@dataclass(frozen=True, slots=True)
class Document:
    """
    A whole document: the operation's name, its syntax tree and its printed text.

    `variables` are those that it declares.
    """

    name: str
    tree: DocumentNode
    text: str
    variables: frozenset[str] = frozenset()


class DocumentBook:
    """The documents that were composed lately."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, AbstractSet[str]], Document] = {}

    def document(
        self, operation: str, without: AbstractSet[str] = frozenset()
    ) -> Document:
        """
        Return a whole document for an operation's name in `queries/` or for its text.

        Fragments that it needs are added from `queries/`. Fields that are named in
        `without`, as `Type.field`, are not asked for.
        """
        kept = self._kept.get((operation, without))
        if kept is None:
            if len(self._kept) >= MAX_KEPT:
                self._kept.clear()
            kept = _compose(operation, without)
            self._kept[operation, without] = kept
        return kept


def _compose(operation: str, without: AbstractSet[str]) -> Document:
    parts = load_parts()
    if operation in parts.operations:
        root = parts.operations[operation]
    else:
        root = _only_operation(operation)
    tree = _with_fragments(root, parts.fragments)
    if without:
        # A lost field may leave a fragment that nothing spreads any more.
        pruned = sort_definitions(prune(tree, without))
        root = pruned.operations.get(_name(root), root)
        tree = drop_unused_variables(_with_fragments(root, pruned.fragments))
    return Document(
        name=_name(root),
        tree=tree,
        text=strip_ignored_characters(print_ast(tree)),
        variables=list_variables(tree),
    )


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything that stands in `queries/`, by name."""

    operations: dict[str, OperationDefinitionNode]
    fragments: dict[str, FragmentDefinitionNode]


@functools.cache
def load_parts() -> Parts:
    """Read and parse `queries/*.graphql`, once a process."""
    folder = resources.files("prwatch.github") / "queries"
    files = sorted(folder.iterdir(), key=lambda each: each.name)
    texts = [each.read_text("utf-8") for each in files if each.name.endswith("ql")]
    return sort_definitions(parse("\n".join(texts), no_location=True))


def sort_definitions(document: DocumentNode) -> Parts:
    """Return the document's operations and fragments by their names."""
    parts = Parts({}, {})
    for node in document.definitions:
        if isinstance(node, FragmentDefinitionNode):
            parts.fragments[node.name.value] = node
        elif isinstance(node, OperationDefinitionNode):
            parts.operations[_name(node)] = node
    return parts


def _name(operation: OperationDefinitionNode) -> str:
    return operation.name.value if operation.name else ""


def _with_fragments(
    root: OperationDefinitionNode, fragments: dict[str, FragmentDefinitionNode]
) -> DocumentNode:
    return DocumentNode(definitions=(root, *_needed_fragments([root], fragments)))


def _only_operation(text: str) -> OperationDefinitionNode:
    (node,) = parse(text, no_location=True).definitions
    if not isinstance(node, OperationDefinitionNode):
        raise TypeError("a composed document begins with its operation")
    return node


def _needed_fragments(
    roots: Sequence[Node], fragments: dict[str, FragmentDefinitionNode]
) -> Iterable[FragmentDefinitionNode]:
    """Return the fragments that the roots spread, directly or not, in a fixed order."""
    needed: dict[str, FragmentDefinitionNode] = {}
    waiting = list(roots)
    while waiting:
        for name in _spreads(waiting.pop()):
            if name not in needed:
                needed[name] = fragments[name]
                waiting.append(fragments[name])
    return [needed[name] for name in sorted(needed)]


def _spreads(node: Node) -> list[str]:
    found = _Spreads()
    visit(node, found)
    return found.names


class _Spreads(Visitor):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def enter_fragment_spread(self, node: FragmentSpreadNode, *_: object) -> None:
        self.names.append(node.name.value)
