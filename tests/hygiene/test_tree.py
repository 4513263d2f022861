"""Rules about the tree itself that a machine can hold."""

from __future__ import annotations

import ast
import re
import tokenize
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "mstui"
LONGEST_MODULE = 400

WITHOUT_OWN_TEST: Dict[str, str] = {
    "__init__": "holds the version and nothing else",
    "__main__": "two lines; tests/unit/cli/test_commands.py runs it",
    "errors": "three classes without behaviour; every test of an error sees them",
    "registry": "tests/unit/model/test_registry.py",
}
"""Top-level modules whose test is elsewhere, and where"""


def sources(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((ROOT / folder).rglob("*.py"))


def test_no_module_is_too_long() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in sources("mstui")}
    assert {path: n for path, n in lengths.items() if n > LONGEST_MODULE} == {}


def _colour_literals(path: Path) -> Iterator[Tuple[str, int, str]]:
    with path.open("rb") as stream:
        for token in tokenize.tokenize(stream.readline):
            if token.type == tokenize.STRING and re.search(r"#[0-9a-fA-F]{6}\b|\brgba?\(\s*\d", token.string):
                yield path.name, token.start[0], token.string


def test_colours_are_in_themes_only() -> None:
    found = [literal for path in sources("mstui") for literal in _colour_literals(path)]
    found += [
        (path.name, number, line)
        for path in sorted(PACKAGE.rglob("*.tcss"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if re.search(r"#[0-9a-fA-F]{3,8}\b|\brgba?\(", line)
    ]
    assert found == []


def test_every_top_level_module_has_its_test() -> None:
    tests = {path.stem for path in (ROOT / "tests/unit").glob("test_*.py")}
    tests |= {f"test_{path.name}" for path in (ROOT / "tests").glob("*/*") if path.is_dir()}
    tests |= {f"test_{path.name}" for path in (ROOT / "tests").iterdir() if path.is_dir()}
    names = [path.stem for path in sorted(PACKAGE.iterdir()) if path.suffix == ".py" or (path / "__init__.py").exists()]
    missing = [name for name in names if f"test_{name}" not in tests and name not in WITHOUT_OWN_TEST]
    missing.remove("monitor_api")  # a Protocol: mypy tests it where Monitor and FakeMonitor are used as one
    assert missing == []


@pytest.mark.parametrize("word", ["TODO", "FIXME", "XXX"])
def test_nothing_is_left_for_later(word: str) -> None:
    hits = [str(path.relative_to(ROOT)) for path in sources("mstui", "scripts") if word in path.read_text("utf-8")]
    assert hits == []


def _module_level_translations(tree: ast.Module) -> List[int]:
    """Lines on which `_()` or ngettext() runs while the module is imported."""
    found: List[int] = []

    def visit(node: ast.AST) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            for default in node.args.defaults:
                visit(default)
            return
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("_", "ngettext"):
            found.append(node.lineno)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(tree)
    return found


def test_nothing_is_translated_before_the_language_is_known() -> None:
    found = []
    for path in sources("mstui"):
        tree = ast.parse(path.read_text("utf-8"))
        marks_only = any(isinstance(node, ast.FunctionDef) and node.name == "_" for node in tree.body)
        if not marks_only:
            found += [f"{path.relative_to(ROOT)}:{line}" for line in _module_level_translations(tree)]
    assert found == []


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in sources("mstui", "scripts")
        if not ast.get_docstring(ast.parse(path.read_text("utf-8")))
    ]
    assert silent == []


def test_sample_runs_are_small_and_open_and_anonymous() -> None:
    import os
    import platform
    import stat

    runs = [path.parent for path in sorted((ROOT / "sample_runs").glob("*/run.toml"))]
    assert runs
    for run in runs:
        files = sorted(path for path in run.rglob("*") if path.is_file())
        assert sum(path.stat().st_size for path in files) <= 300_000
        for path in files:
            assert stat.S_IMODE(os.stat(path).st_mode) & 0o444 == 0o444
            content = path.read_bytes()
            for secret in (str(ROOT).encode(), b"/home/", b"/root/", b"/tmp/"):
                assert secret not in content, (path.name, secret)
            assert f".{platform.node()}_" not in path.name or platform.node() == "sample"
