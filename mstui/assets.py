"""Where themes/ and sample_runs/ are: inside the installed package, or beside it in a checkout. Nobody else knows."""

from __future__ import annotations

import os
from typing import Tuple

THEMES = "themes"
SAMPLE_RUNS = "sample_runs"

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


def asset_dir(name: str) -> str:
    """Absolute path of a directory that comes with mstui. It does not promise that the directory exists."""
    installed = os.path.join(_PACKAGE, "_assets", name)
    return installed if os.path.isdir(installed) else os.path.join(os.path.dirname(_PACKAGE), name)


def sample_names() -> Tuple[str, ...]:
    """Names of the bundled sample runs, sorted."""
    root = asset_dir(SAMPLE_RUNS)
    if not os.path.isdir(root):
        return ()
    return tuple(sorted(name for name in os.listdir(root) if os.path.isfile(os.path.join(root, name, "run.toml"))))
