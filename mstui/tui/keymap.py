"""Which keys an action has: the table's defaults under what the configuration says. Wrong names are a ConfigError."""

from __future__ import annotations

import unicodedata
from types import MappingProxyType
from typing import Dict, List, Mapping, Sequence, Tuple

from textual.keys import Keys

from mstui.config import nearest
from mstui.errors import ConfigError
from mstui.i18n import _
from mstui.safe_text import safe
from mstui.tui.action import APP, Action
from mstui.tui.actions import ACTIONS, by_id

_TABLE = "[keys]"
_MODIFIERS = ("ctrl+", "shift+", "alt+", "super+")
_SHORT_NAMES = {
    "solidus": "slash",
    "reverse_solidus": "backslash",
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "plus_sign": "plus",
    "low_line": "underscore",
}
"""where Textual's name of a character is not its Unicode name"""
_TEXTS = {
    "escape": "esc",
    "backspace": "bksp",
    "pagedown": "pgdn",
    "pageup": "pgup",
}


def _textual_name(character: str) -> str:
    if character.isalnum():
        return character
    name = unicodedata.name(character).lower().replace("-", "_").replace(" ", "_")
    return _SHORT_NAMES.get(name, name)


_CHARACTERS: Mapping[str, str] = {_textual_name(chr(code)): chr(code) for code in range(0x21, 0x7F)}
"""Textual's key names of the printable ASCII characters"""


def key_text(key: str) -> str:
    """A key as a person would write it: `?` for question_mark."""
    return _CHARACTERS.get(key) or _TEXTS.get(key, key)


def effective_keys(
    changes: Mapping[str, Sequence[str]], origins: Mapping[str, str] = MappingProxyType({})
) -> Dict[str, Tuple[str, ...]]:
    """Keys by action id after the configuration's changes.

    origins: the file that says each of them, by `keys.<action id>`.

    Raises ConfigError for an id or a key that does not exist, and for a key that two actions would share.
    """
    known = by_id()
    for action_id in changes:
        if action_id not in known:
            where = _place(action_id, origins)
            raise ConfigError(_('no action "{id}"').format(id=safe(action_id)), where, nearest(action_id, known))
    keys = {action.id: action.keys for action in ACTIONS}
    for action_id, own in changes.items():
        keys[action_id] = tuple(_checked(key, known[action_id], origins) for key in own)
    if changes:
        _refuse_clashes(keys, changes, origins)
    return keys


def textual_keymap(changes: Mapping[str, Sequence[str]], keys: Mapping[str, Sequence[str]]) -> Dict[str, str]:
    """What App.set_keymap takes, for the actions whose keys were changed."""
    return {action_id: ",".join(keys[action_id]) for action_id in changes}


def _place(action_id: str, origins: Mapping[str, str]) -> str:
    """File and table, for messages."""
    file = origins.get(f"keys.{action_id}", "")
    return f"{file}: {_TABLE}" if file else _TABLE


def _checked(key: str, action: Action, origins: Mapping[str, str]) -> str:
    name, prefix = key, ""
    while name.startswith(_MODIFIERS):
        modifier = name[: name.index("+") + 1]
        name, prefix = name[len(modifier) :], prefix + modifier
    if len(name) == 1 and name.isprintable():
        return prefix + _textual_name(name)
    special = {item.value for item in Keys} | set(_CHARACTERS)
    if name in special or prefix + name in special:
        return prefix + name
    where = f"{_place(action.id, origins)} {action.id}"
    raise ConfigError(_('no key "{key}"').format(key=safe(key)), where, nearest(name, special))


def _refuse_clashes(
    keys: Mapping[str, Sequence[str]], changes: Mapping[str, Sequence[str]], origins: Mapping[str, str]
) -> None:
    users: Dict[str, List[Action]] = {}
    for action in ACTIONS:
        for key in keys[action.id]:
            users.setdefault(key, []).append(action)
    for key, actions in users.items():
        for i, one in enumerate(actions):
            for other in actions[i + 1 :]:
                same_place = APP in (one.scope, other.scope) or one.scope == other.scope
                if same_place and (one.id in changes or other.id in changes):
                    what = _('the key "{key}" would mean both {one} and {other}')
                    raise ConfigError(
                        what.format(key=key_text(key), one=one.id, other=other.id),
                        _place(one.id if one.id in changes else other.id, origins),
                        _("Give the other action another key in the same table."),
                    )
