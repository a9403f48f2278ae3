"""
The GraphQL documents: read from `queries/`, composed, printed once and kept.

A book belongs to one host. When an old server refuses a field, the book leaves it
out of every later document until the server's version changes.
"""

import functools
from collections.abc import Iterable, Sequence
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

from prwatch.github.pruning import FieldPath, prune

MAX_KEPT: Final = 128
"""Composed documents that a book keeps. The batches of a steady set have few shapes."""


@dataclass(frozen=True, slots=True)
class Document:
    """A whole document: the operation's name, its syntax tree and its printed text."""

    name: str
    tree: DocumentNode
    text: str


class DocumentBook:
    """The documents as one host understands them."""

    def __init__(self) -> None:
        self._kept: dict[str, Document] = {}
        self._refused: frozenset[FieldPath] = frozenset()
        self._version = ""

    @property
    def refused(self) -> frozenset[FieldPath]:
        """Return the paths of the fields that this host does not know."""
        return self._refused

    def document(self, operation: str) -> Document:
        """
        Return a whole document for an operation's name in `queries/` or for its text.

        Fragments that it needs are added from `queries/`.
        """
        kept = self._kept.get(operation)
        if kept is None:
            if len(self._kept) >= MAX_KEPT:
                self._kept.clear()
            kept = self._kept[operation] = self._compose(operation)
        return kept

    def refuse(self, path: FieldPath) -> bool:
        """Leave the field out from now on; return whether that is news."""
        if path in self._refused:
            return False
        self._refused |= {path}
        self._kept.clear()
        return True

    def see_version(self, version: str) -> None:
        """Forget what was refused when the server has become another version."""
        if version == self._version:
            return
        if self._version:
            self._refused = frozenset()
            self._kept.clear()
        self._version = version

    def _compose(self, operation: str) -> Document:
        parts = load_parts()
        if operation in parts.operations:
            root = parts.operations[operation]
        else:
            root = _only_operation(operation)
        tree = _with_fragments(root, parts.fragments)
        if self._refused:
            # A lost field may leave a fragment that nothing spreads any more.
            pruned = sort_definitions(prune(tree, self._refused))
            tree = _with_fragments(
                pruned.operations.get(_name(root), root), pruned.fragments
            )
        return Document(_name(root), tree, strip_ignored_characters(print_ast(tree)))


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
