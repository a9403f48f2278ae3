"""The size and the shape of the code: what still fits in a head."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parent.parent
PRODUCT: Final = sorted((ROOT / "prwatch").rglob("*.py"))
TESTS: Final = sorted((ROOT / "tests").rglob("*.py"))

PRODUCT_FILE_LINES: Final = 400
TEST_FILE_LINES: Final = 500
FUNCTION_LINES: Final = 60
PUBLIC_METHODS: Final = 12
NESTING: Final = 4

EXCEPTIONS: Final[dict[str, str]] = {}
"""What may pass a limit: the finding without its measure, and the reason."""

EMPTY_NAMES: Final = frozenset(
    {"common", "core", "helper", "helpers", "misc", "models", "services"}
    | {"util", "utils"}
)
BLOCKS: Final = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.TryStar,
    ast.Match,
)
FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


def place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def nodes(paths) -> Iterator[tuple[str, ast.AST]]:
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            yield place(path), node


def refused(findings) -> list[str]:
    """Return the findings, as text, that no exception allows."""
    return [f"{name}: {size}" for name, size in findings if name not in EXCEPTIONS]


def nesting(node: ast.AST, depth: int = 0) -> int:
    """Return how deep blocks stand in blocks. An `elif` is as deep as its `if`."""
    deepest = depth
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            continue
        is_elif = isinstance(node, ast.If) and node.orelse == [child]
        is_block = isinstance(child, BLOCKS) and not (
            is_elif and isinstance(child, ast.If)
        )
        deepest = max(deepest, nesting(child, depth + is_block))
    return deepest


@pytest.mark.parametrize(
    ("paths", "limit"),
    [
        pytest.param(PRODUCT, PRODUCT_FILE_LINES, id="product"),
        pytest.param(TESTS, TEST_FILE_LINES, id="tests"),
    ],
)
def test_a_file_fits_in_a_head(paths, limit):
    sizes = ((place(path), len(path.read_bytes().splitlines())) for path in paths)

    assert refused(found for found in sizes if found[1] > limit) == []


def test_a_function_fits_on_a_screen():
    sizes = (
        (f"{file} {node.name}", (node.end_lineno or 0) - node.lineno + 1)
        for file, node in nodes(PRODUCT)
        if isinstance(node, FUNCTIONS)
    )

    assert refused(found for found in sizes if found[1] > FUNCTION_LINES) == []


def test_a_class_has_few_public_methods():
    counts = (
        (
            f"{file} {node.name}",
            sum(
                isinstance(part, FUNCTIONS) and not part.name.startswith("_")
                for part in node.body
            ),
        )
        for file, node in nodes(PRODUCT)
        if isinstance(node, ast.ClassDef)
    )

    assert refused(found for found in counts if found[1] > PUBLIC_METHODS) == []


def test_blocks_are_nested_little():
    depths = (
        (f"{file} {node.name}", nesting(node))
        for file, node in nodes(PRODUCT)
        if isinstance(node, FUNCTIONS)
    )

    assert refused(found for found in depths if found[1] > NESTING) == []


@pytest.mark.parametrize(
    ("source", "depth"),
    [
        pytest.param("def f():\n return 1", 0, id="flat"),
        pytest.param(
            "def f():\n if a:\n  x\n elif b:\n  y\n elif c:\n  z", 1, id="elif"
        ),
        pytest.param(
            "def f():\n if a:\n  x\n else:\n  if b:\n   y\n  z", 2, id="else if"
        ),
        pytest.param(
            "def f():\n for a in b:\n  with c:\n   if d:\n    e", 3, id="three"
        ),
        pytest.param("def f():\n if a:\n  def g():\n   if b:\n    c", 1, id="inner"),
    ],
)
def test_nesting_is_counted_as_a_reader_counts_it(source, depth):
    assert nesting(ast.parse(source).body[0]) == depth


def test_every_exception_is_still_needed_by_a_file_that_exists():
    gone = [name for name in EXCEPTIONS if not (ROOT / name.split()[0]).exists()]

    assert gone == []
    assert all(EXCEPTIONS.values())


def test_a_module_is_named_for_its_idea():
    parts = {part for path in PRODUCT + TESTS for part in Path(place(path)).parts}

    assert {part.removesuffix(".py") for part in parts} & EMPTY_NAMES == set()


def test_work_that_is_left_names_its_issue():
    marker = re.compile(r"\bTOD[O]\b(?!\(#\d+\))|\bFIXM[E]\b|\bXX[X]\b")
    found = [
        f"{place(path)}:{number}: {line.strip()}"
        for path in PRODUCT + TESTS
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if marker.search(line)
    ]

    assert found == []


def test_tests_use_fakes_and_not_mocks():
    mocks = {"Mock", "MagicMock", "AsyncMock", "mocker", "patch"}
    found = [
        f"{file}:{node.lineno}"
        for file, node in nodes(TESTS)
        if (isinstance(node, ast.Name) and node.id in mocks)
        or (isinstance(node, ast.arg) and node.arg in mocks)
        or (isinstance(node, ast.ImportFrom) and node.module == "unittest.mock")
        or (isinstance(node, ast.Import) and node.names[0].name == "unittest.mock")
    ]

    assert found == []


def test_tests_replace_the_environment_alone():
    """Only conftest.py, which closes the network, may replace anything else."""
    replacing = {"setattr", "delattr", "setitem", "delitem"}
    found = [
        f"{file}:{node.lineno}"
        for file, node in nodes(TESTS)
        if isinstance(node, ast.Attribute)
        and node.attr in replacing
        and isinstance(node.value, ast.Name)
        and node.value.id == "monkeypatch"
        and file != "tests/conftest.py"
    ]

    assert found == []


def test_tests_do_not_wait_for_time_to_pass():
    found = [
        f"{file}:{node.lineno}"
        for file, node in nodes(TESTS)
        if isinstance(node, ast.Attribute)
        and node.attr == "sleep"
        and isinstance(node.value, ast.Name)
        and node.value.id in {"time", "asyncio"}
    ]

    assert found == []
