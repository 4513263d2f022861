"""Themes: TOML files with a dozen colours each, from which every look is derived.

The user's own files win over the bundled ones by name. A file that cannot be used is one message that names the file
and the key; it never stops the program unless it is the very theme that was asked for.
"""

from __future__ import annotations

import os
from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Tuple

from rich.color import Color, ColorParseError
from rich.style import Style

from mstui.assets import THEMES, asset_dir
from mstui.config import nearest, read_toml
from mstui.errors import ConfigError
from mstui.i18n import _
from mstui.safe_text import safe
from mstui.tui.palette import HEAT_LOOKS, LOOKS, SERIES_LOOKS, TERMINAL_PALETTE, Palette

SUFFIX = ".toml"
DEFAULT_THEME = "terminal"

_COLOURS: Tuple[str, ...] = (
    "foreground",  # ordinary text
    "background",  # behind everything; left out: the terminal's own
    "dim",
    "rule",
    "accent",  # focus, averaged curve
    "ok",
    "info",
    "warning",
    "critical",
    "marker",
    "band",  # spread over ranks
)
_LISTS: Mapping[str, int] = {"series": SERIES_LOOKS, "heat": HEAT_LOOKS}
"""lists of colours and how many looks they are spread over"""
_TEXTS = ("description",)
_NEEDED = ("dim", "accent", "ok", "warning", "critical", "series", "heat")


class ThemeFile(NamedTuple):
    """A theme that can be chosen; it is read when it is."""

    name: str
    path: str


def theme_files(user_dir: str = "") -> Tuple[ThemeFile, ...]:
    """Every theme by name: the bundled ones, and those in `user_dir`/themes, which win."""
    found: Dict[str, ThemeFile] = {}
    for folder in (asset_dir(THEMES), os.path.join(user_dir, THEMES) if user_dir else ""):
        try:
            names = os.listdir(folder) if folder else []
        except OSError:  # nobody has to have themes of their own
            continue
        for name in names:
            if name.endswith(SUFFIX):
                stem = name[: -len(SUFFIX)]
                found[stem] = ThemeFile(stem, os.path.join(folder, name))
    return tuple(found[name] for name in sorted(found))


def load_palette(name: str, user_dir: str = "", *, asked_in: str = "") -> Palette:
    """The palette of a theme. Raises ConfigError when there is no such theme or its file cannot be used.

    asked_in: the file or the option that names the theme, for the message; empty where a person chose it on the screen.
    """
    files = {theme.name: theme.path for theme in theme_files(user_dir)}
    path = files.get(name)
    if path is not None:
        return palette_from(name, read_toml(path), path)
    if name == DEFAULT_THEME:
        return TERMINAL_PALETTE
    raise ConfigError(
        _('no theme "{name}"').format(name=safe(name)),
        asked_in or user_dir or asset_dir(THEMES),
        nearest(name, files),
    )


def palette_from(name: str, table: Mapping[str, Any], where: str) -> Palette:
    """Looks derived from a theme's colours. Raises ConfigError naming the file and the key."""
    known = (*_COLOURS, *_LISTS, *_TEXTS)
    for key in table:
        if key not in known:
            raise ConfigError(_('unknown key "{key}"').format(key=safe(key)), where, nearest(key, known))
    for key in _NEEDED:
        if key not in table:
            raise ConfigError(_('the key "{key}" is missing').format(key=key), where)
    colours = {key: _colour(table[key], key, where) for key in _COLOURS if key in table}
    lists = {key: _colours(table[key], key, where) for key in _LISTS}
    return Palette(name, _styles(colours, lists))


def _styles(colours: Mapping[str, str], lists: Mapping[str, Sequence[str]]) -> Dict[str, Style]:
    text = " ".join(
        [colours.get("foreground", ""), *(["on", colours["background"]] if "background" in colours else [])]
    ).strip()
    get = colours.get
    looks: Dict[str, str] = {
        "text": "",
        "dim": colours["dim"],
        "strong": "bold",
        "title": "bold",
        "title-focus": f"bold reverse {colours['accent']}",
        "rule": get("rule", colours["dim"]),
        "ok": colours["ok"],
        "info": get("info", colours["accent"]),
        "warning": colours["warning"],
        "critical": f"bold {colours['critical']}",
        "key": f"bold {colours['accent']}",
        "selected": "reverse",
        "match": "underline",
        "struck": "strike",
        "smooth": colours["accent"],
        "raw": colours["dim"],
        "old": colours["dim"],
        "band": get("band", colours["dim"]),
        "marker": get("marker", colours["warning"]),
    }
    for key, number in _LISTS.items():
        given = lists[key]
        for i in range(number):
            # A short heat scale is stretched over the looks, a short series list repeats.
            index = i * len(given) // number if key == "heat" else i % len(given)
            looks[f"{key}-{i}"] = given[index]
    base = Style.parse(text or "none")
    return {look: base + Style.parse(looks[look] or "none") for look in LOOKS}


def _colour(value: object, key: str, where: str) -> str:
    """A colour name of the terminal's sixteen or 256, or #rrggbb, checked."""
    if isinstance(value, str):
        try:
            Color.parse(value)
        except ColorParseError:
            pass
        else:
            return value
    raise ConfigError(
        _('key "{key}" cannot be {value}').format(key=key, value=safe(repr(value))),
        where,
        _('Expected: "#rrggbb" or the name of a terminal colour such as "bright_blue"'),
    )


def _colours(value: object, key: str, where: str) -> List[str]:
    if not isinstance(value, list) or not value:
        raise ConfigError(_('key "{key}" must be a list of colours').format(key=key), where)
    return [_colour(item, key, where) for item in value]
