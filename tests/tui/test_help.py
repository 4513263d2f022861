from __future__ import annotations

import pytest

from mstui.registry import collect
from mstui.safe_text import width
from mstui.tui.actions import ACTIONS
from mstui.tui.app import PANELS_PACKAGE
from mstui.tui.help import help_rows
from mstui.tui.keymap import effective_keys
from mstui.tui.panel import PanelSpec

SPECS = collect(PANELS_PACKAGE, "PANEL", PanelSpec)


def lines(spec: PanelSpec | None, cells: int, **changes: tuple[str, ...]) -> list[str]:
    keys = effective_keys({name.replace("_", "-"): value for name, value in changes.items()})
    return ["".join(text for text, _look in row) for row in help_rows(spec, keys, cells)]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.id)
@pytest.mark.parametrize("cells", [36, 76, 96])
def test_help_fits_its_width_and_begins_with_the_panel(spec: PanelSpec, cells: int) -> None:
    shown = lines(spec, cells)
    assert shown[0] == spec.title
    assert all(width(line) <= cells for line in shown)


def test_help_holds_every_action_with_its_keys() -> None:
    text = "\n".join(lines(None, 200))
    for action in ACTIONS:
        assert action.tooltip in text


def test_help_shows_the_keys_that_were_bound() -> None:
    assert any(line.startswith("Z ") and "runs" in line for line in lines(None, 100, view_runs=("Z",)))


def test_help_without_a_panel_begins_with_the_groups() -> None:
    assert lines(None, 80)[0] == "General"
