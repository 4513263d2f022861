"""Importing is light, and the core never sees a terminal library."""

from __future__ import annotations

import json
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import List, Set

import pytest

ROOT = Path(__file__).parents[2]
CORE = (
    "model",
    "formats",
    "ingest",
    "store",
    "hardware",
    "monitor",
    "monitor_api",
    "plain",
    "report",
    "replay",
    "export",
    "picture",
    "config",
)
TERMINAL = {"textual", "rich", "plotext"}


ON_REQUEST = {
    "mstui.export",
    "mstui.formats.payloads",
    "mstui.hardware",
    "mstui.model.details",
    "mstui.model.filters",
    "mstui.monitor.details",
    "mstui.picture",
    "mstui.replay",
    "mstui.tui.exporting",
    "watchdog",
}
"""what the first picture does not need"""


def modules_after(statement: str) -> Set[str]:
    """Modules in a fresh interpreter after a statement."""
    code = f"{statement}\nimport sys, json\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def loaded_by(statement: str) -> Set[str]:
    """Top-level packages in a fresh interpreter after a statement."""
    return {name.split(".")[0] for name in modules_after(statement)}


def modules_of(name: str) -> List[str]:
    path = ROOT / "mstui" / name
    found = [f"mstui.{name}"]
    if path.is_dir():
        found += [info.name for info in pkgutil.walk_packages([str(path)], f"mstui.{name}.")]
    return found


@pytest.mark.parametrize("name", CORE)
def test_the_core_loads_no_terminal_library(name: str) -> None:
    loaded = loaded_by("import " + ", ".join(modules_of(name)))
    assert not loaded & TERMINAL
    assert "mindspore" not in loaded


def test_the_command_line_loads_nothing_heavy_before_a_command_runs() -> None:
    loaded = loaded_by("import mstui.cli, mstui.cli.commands; mstui.cli.commands.build()")
    assert not loaded & {*TERMINAL, "numpy", "watchdog", "google", "platformdirs"}


def test_the_leaves_load_only_the_standard_library() -> None:
    loaded = loaded_by("import mstui.i18n, mstui.safe_text, mstui.assets, mstui.config, mstui.errors")
    assert not loaded & {*TERMINAL, "numpy", "click", "platformdirs", "gettext"}


def test_judging_once_needs_no_terminal_library() -> None:
    assert not loaded_by("import mstui.cli.checking, mstui.cli.alerting, mstui.cli.ruling, mstui.report") & TERMINAL


def test_watching_in_plain_lines_needs_no_terminal_library() -> None:
    assert not loaded_by("import mstui.cli.watching, mstui.plain") & TERMINAL


def test_the_screen_starts_without_what_only_a_request_needs() -> None:
    start = "import mstui.cli.watching, mstui.tui.app as app; app.collect(app.PANELS_PACKAGE, 'PANEL', app.PanelSpec)"
    loaded = modules_after(start)
    assert "mstui.tui.panels.layers" in loaded
    assert not loaded & ON_REQUEST
