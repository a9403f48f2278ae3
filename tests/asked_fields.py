"""Every field that our documents ask for, after the schema that GitHub publishes."""

import functools
import gzip
from pathlib import Path

from graphql import (
    TypeInfo,
    TypeInfoVisitor,
    Visitor,
    build_schema,
    get_named_type,
    parse,
    visit,
)

from prwatch.github.branches import build_query
from prwatch.github.details import build_number_query
from prwatch.github.documents import DocumentBook, load_parts
from prwatch.github.probe import build_nodes_query

SAMPLES = Path(__file__).parent / "samples"
COMPOSED = {
    "probe of 500": build_nodes_query("Probe", "ProbeFields", 5),
    "details": build_nodes_query("Details", "DetailFields", 1),
    "details by number": build_number_query(25),
    "branches of three repositories": build_query((3, 1, 2)),
}
OPERATIONS = [*sorted(load_parts().operations), *COMPOSED.values()]


@functools.cache
def load_schema():
    text = gzip.decompress((SAMPLES / "github.graphql.gz").read_bytes()).decode()
    return build_schema(text, assume_valid=True, assume_valid_sdl=True)


class _Asked(Visitor):
    """Gathers the fields that a document asks for, with their types."""

    def __init__(self, info):
        super().__init__()
        self.info = info
        self.types = {}

    def enter_field(self, node, *_):
        parent, found = self.info.get_parent_type(), self.info.get_type()
        if not node.name.value.startswith("__"):
            below = get_named_type(found).name if node.selection_set else ""
            self.types[f"{parent.name}.{node.name.value}"] = below


@functools.cache
def list_asked_fields():
    """Return the type of each `Type.field` that is asked for, '' for plain values."""
    found = {}
    for operation in OPERATIONS:
        info = TypeInfo(load_schema())
        fields = _Asked(info)
        text = DocumentBook().document(operation).text
        visit(parse(text), TypeInfoVisitor(info, fields))
        found |= fields.types
    return found
