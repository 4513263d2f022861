"""The last row: a short message, or the keys of the focused panel, never one that is cut off."""

from __future__ import annotations

from typing import List, Mapping, Sequence, Tuple

from mstui.i18n import _
from mstui.safe_text import fit, width
from mstui.tui.action import APP, Action
from mstui.tui.actions import MOVES, by_id, footer_actions
from mstui.tui.keymap import key_text
from mstui.tui.lines import Lines, Row, Span

ALWAYS = ("help", "quit")
"""ids of the actions that keep their place when others must go"""

Entry = Tuple[str, str]
"""keys and label"""


class Footer(Lines):
    """Shows what the screen gives it."""

    def __init__(self) -> None:
        super().__init__(id="footer")
        self.message = ""
        """already safe to show; empty for the keys"""
        self.scope = APP
        """id of the focused panel"""
        self.keys: Mapping[str, Sequence[str]] = {}
        """effective keys by action id"""

    def draw(self, width: int, height: int) -> Sequence[Row]:
        """A message or the keys."""
        del height
        room = width - 2
        if self.message:
            return (((" ", "text"), (fit(self.message, room, middle=False), "strong")),)
        return (entries_row(self._entries(), [self._entry(i) for i in ALWAYS], room),)

    def _entry(self, action_id: str) -> Entry:
        action = by_id()[action_id]
        keys = self.keys.get(action_id, action.keys)
        return (key_text(keys[0]) if keys else "", _(action.label))

    def _entries(self) -> List[Entry]:
        entries: List[Entry] = []
        moves: List[str] = []
        for action in footer_actions(self.scope):
            if action.id in ALWAYS:
                continue
            keys = self.keys.get(action.id, action.keys)
            if not keys:
                continue
            if action.label in MOVES:
                moves.append(key_text(keys[0]))
                continue
            entry = (" ".join(key_text(key) for key in self._first_keys(action)), _(action.label))
            if all(entry[1] != label for _keys, label in entries):
                entries.append(entry)
        own = [("".join(sorted(moves)), _("move"))] if moves else []
        return own + entries

    def _first_keys(self, action: Action) -> List[str]:
        """The first key of an action and of those that share its entry."""
        actions = (action, *(by_id()[other] for other in action.beside))
        keys = (self.keys.get(each.id, each.keys) for each in actions)
        return [each[0] for each in keys if each]


def entries_row(entries: Sequence[Entry], always: Sequence[Entry], room: int) -> Row:
    """As many entries as fit, those of `always` before all others but shown around them."""

    def cost(entry: Entry) -> int:
        return width(entry[0]) + 1 + width(entry[1]) + 2

    shown_always: List[Entry] = []
    for entry in always:
        if entry[0] and cost(entry) <= room:
            shown_always.append(entry)
            room -= cost(entry)
    shown: List[Entry] = []
    for entry in entries:
        if cost(entry) > room:
            break
        shown.append(entry)
        room -= cost(entry)
    row: List[Span] = [(" ", "text")]
    for keys, label in [*shown_always[:1], *shown, *shown_always[1:]]:
        row += [(keys, "key"), (f" {label}  ", "dim")]
    return tuple(row)
