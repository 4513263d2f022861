"""What one action is. The table is in mstui.tui.actions."""

from __future__ import annotations

from typing import NamedTuple, Tuple

APP = "app"
"""scope of the actions that apply whatever has the focus"""


class Action(NamedTuple):
    """One thing a person can do."""

    id: str
    keys: Tuple[str, ...]
    """Textual key names"""
    label: str
    """msgid, one or two words, for the footer"""
    tooltip: str
    """msgid, a sentence, for help and the command palette"""
    scope: str
    """APP or the id of the panel that must have the focus"""
    group: str
    """msgid of the heading in help"""
    footer: bool = False
    """shown in the footer when there is room"""
    beside: Tuple[str, ...] = ()
    """ids of the actions whose keys share its entry in the footer"""

    @property
    def method(self) -> str:
        """Textual's action name: `action_<method>` on the screen or the panel."""
        return self.id.replace("-", "_")
