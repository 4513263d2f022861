"""The text of help: the focused panel first, then every action by group, made from the same table as the keys."""

from __future__ import annotations

from typing import List, Mapping, Optional, Sequence

from mstui.i18n import _, mark
from mstui.safe_text import pad, width
from mstui.tui.action import APP, Action
from mstui.tui.actions import ACTIONS, groups
from mstui.tui.keymap import key_text
from mstui.tui.lines import Row
from mstui.tui.panel import PanelSpec
from mstui.tui.wrapping import wrap

KEYS_WIDTH = 12
SCOPE_WORDS = {"log": mark("logs")}
"""what a panel is called where its id is another word: of the same spelling as the logarithm"""


def keys_text(action: Action, keys: Mapping[str, Sequence[str]]) -> str:
    """Every key of an action, as a person writes them."""
    return " ".join(key_text(key) for key in keys.get(action.id, action.keys))


def help_rows(spec: Optional[PanelSpec], keys: Mapping[str, Sequence[str]], cells: int) -> List[Row]:
    """All of help for a width."""
    rows: List[Row] = []
    if spec is not None:
        rows.append(((_(spec.title), "strong"),))
        rows += [((line, "text"),) for line in wrap(_(spec.help), cells)]
        rows.append(())
        own = [action for action in ACTIONS if action.scope == spec.id]
        rows += [row for action in own for row in _action_rows(action, keys, cells)]
        rows += [()] if own else []
    for group, actions in groups():
        rows.append(((_(group), "strong"),))
        for action in actions:
            rows += _action_rows(action, keys, cells)
        rows.append(())
    hint = _("Shift and drag selects text while the mouse is captured.")
    rows += [((line, "dim"),) for line in wrap(hint, cells)]
    return rows


def _action_rows(action: Action, keys: Mapping[str, Sequence[str]], cells: int) -> List[Row]:
    """Keys, then what they do in as many rows as that takes."""
    shown = keys_text(action, keys)
    names = pad(shown, KEYS_WIDTH) if width(shown) <= KEYS_WIDTH else shown
    place = "" if action.scope == APP else f"  ({_(SCOPE_WORDS.get(action.scope, action.scope))})"
    first, *others = wrap(_(action.tooltip) + place, max(cells - width(names) - 1, 1))
    return [((names, "key"), (" " + first, "text")), *(((" " * (width(names) + 1) + line, "text"),) for line in others)]
