"""The layers of the product, as import-linter reads them from pyproject.toml."""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def lint_imports(folder):
    program = Path(sys.executable).with_name("lint-imports")
    return subprocess.run(
        [program, "--no-cache"], cwd=folder, capture_output=True, text=True, check=False
    )


def contracts():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return settings["tool"]["importlinter"]["contracts"]


def test_every_import_points_downward_and_vendors_stay_in_their_rooms():
    result = lint_imports(ROOT)

    assert result.returncode == 0, result.stdout + result.stderr


def test_an_upward_import_is_found(tmp_path):
    """The contracts are kept because they hold, not because they see nothing."""
    for file in (ROOT / "prwatch").rglob("*.py"):
        copy = tmp_path / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())
    (tmp_path / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    (tmp_path / "prwatch/domain/wrong.py").write_text("import prwatch.store\n")

    result = lint_imports(tmp_path)

    assert "prwatch.domain.wrong -> prwatch.store" in result.stdout
    assert result.returncode == 1


def test_every_folder_of_the_product_stands_on_a_floor():
    layers = next(each for each in contracts() if each["type"] == "layers")
    named = {room.strip() for floor in layers["layers"] for room in floor.split("|")}
    rooms = {
        path.stem
        for path in (ROOT / "prwatch").iterdir()
        if (path.is_dir() and (path / "__init__.py").exists())
        or (path.suffix == ".py" and not path.stem.startswith("__"))
    }

    assert rooms == named
