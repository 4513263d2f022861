"""What is installed is what is in the tree: themes, sample runs and catalogues included."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Set

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Set[str]:
    """Names in a wheel built from the tree."""
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = out.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        return set(archive.namelist())


def tree(folder: str) -> Set[str]:
    paths = (path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(ROOT / folder)) for path in paths}


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["themes", "sample_runs"])
def test_the_wheel_holds_the_assets(wheel: Set[str], folder: str) -> None:
    prefix = f"mstui/_assets/{folder}/"
    assert {name[len(prefix) :] for name in wheel if name.startswith(prefix)} == tree(folder)


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_its_catalogues(wheel: Set[str]) -> None:
    assert {f"mstui/{name}" for name in tree("mstui")} <= wheel


@pytest.mark.slow
def test_the_wheel_holds_nothing_else(wheel: Set[str]) -> None:
    assert {name.split("/")[0].split("-")[0] for name in wheel} == {"mstui"}
    stray = {name for name in wheel if name.endswith((".pyc", ".log"))}
    assert {name for name in stray if not name.startswith("mstui/_assets/sample_runs/")} == set()
