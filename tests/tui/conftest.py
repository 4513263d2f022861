from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def outside_of_the_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test exports goes to a directory of its own."""
    monkeypatch.chdir(tmp_path)
