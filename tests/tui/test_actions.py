from __future__ import annotations

from typing import Dict, List

import pytest

from mstui.registry import collect
from mstui.tui.action import APP, Action
from mstui.tui.actions import ACTIONS, bindings, by_id, footer_actions, groups
from mstui.tui.app import PANELS_PACKAGE
from mstui.tui.keymap import key_text
from mstui.tui.panel import PanelSpec
from mstui.tui.screen import WatchScreen
from tests.tui.scene import make_app, scene

FORBIDDEN = ("ctrl+a", "ctrl+b", "ctrl+s", "ctrl+q", "ctrl+z", "ctrl+backslash")
"""taken by tmux, screen, flow control and job control"""


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.id)
def test_every_action_has_a_method_where_it_applies(action: Action) -> None:
    if action.scope == APP:
        assert callable(getattr(WatchScreen, f"action_{action.method}", None))
        return
    panels = make_app(scene()).watch_screen.panels
    assert callable(getattr(panels[action.scope], f"action_{action.method}", None))


def test_ids_are_unique() -> None:
    assert len(by_id()) == len(ACTIONS)


def test_no_key_means_two_things_at_once() -> None:
    users: Dict[str, List[Action]] = {}
    for action in ACTIONS:
        for key in action.keys:
            users.setdefault(key, []).append(action)
    for key, actions in users.items():
        scopes = [action.scope for action in actions]
        assert len(set(scopes)) == len(scopes), key
        assert APP not in scopes or len(scopes) == 1, key


def test_keys_are_plain() -> None:
    for action in ACTIONS:
        assert action.keys
        for key in action.keys:
            assert key not in FORBIDDEN
            assert not key.startswith(("alt+", "f1"))
        # ctrl is never the only way
        assert any(not key.startswith("ctrl+") for key in action.keys)


def test_every_panel_has_help_and_every_scope_is_a_panel() -> None:
    specs = {spec.id: spec for spec in collect(PANELS_PACKAGE, "PANEL", PanelSpec)}
    assert {action.scope for action in ACTIONS} <= {*specs, APP}
    assert all(spec.help and spec.title for spec in specs.values())


def test_bindings_carry_the_ids_that_a_key_map_names() -> None:
    assert {binding.id for binding in bindings(APP)} == {action.id for action in ACTIONS if action.scope == APP}


def test_the_groups_hold_every_action_once() -> None:
    listed = [action.id for _name, actions in groups() for action in actions]
    assert sorted(listed) == sorted(by_id())


def test_the_footer_begins_with_what_the_panel_itself_can_do() -> None:
    shown = [action.id for action in footer_actions("runs")]
    assert shown.index("run-open") < shown.index("filter")
    assert "metric" not in shown
    assert "axis" in [action.id for action in footer_actions("curves")]


def test_keys_are_written_as_people_write_them() -> None:
    assert [key_text(key) for key in ("question_mark", "slash", "escape", "G", "left_square_bracket")] == [
        *("?", "/", "esc", "G", "["),
    ]
