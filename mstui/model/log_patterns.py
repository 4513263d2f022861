"""Patterns of a person's own for text logs, as a configuration file gives them: read and checked for form.

What the named groups mean, and what of regular expressions can be used, is told by mstui.formats.logs.own_patterns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, Mapping, Sequence, Tuple

from mstui.errors import ConfigError
from mstui.i18n import _

_PATTERN_KEYS = ("name", "pattern", "files")


@dataclass(frozen=True)
class LogPattern:
    """A pattern of a person's own for text logs, not compiled."""

    name: str
    pattern: str
    files: str = ""
    """shell wildcards for the files that it is for; empty: every text log"""
    where: str = ""
    """file and key, for messages"""


def parse_log_patterns(
    tables: Sequence[Mapping[str, Any]], where: str, nearest: Callable[[str, Iterable[str]], str]
) -> Tuple[LogPattern, ...]:
    """The patterns of one file. `nearest`: the remedy for a misspelt name.

    Raises ConfigError naming the file, the table and the key.
    """
    found: Dict[str, LogPattern] = {}
    for number, table in enumerate(tables, 1):
        place = f"{where}: [[log_pattern]] {number}"
        for key, value in table.items():
            if key not in _PATTERN_KEYS:
                raise ConfigError(_('unknown key "{key}"').format(key=key), place, nearest(key, _PATTERN_KEYS))
            if not isinstance(value, str) or not value:
                what = _('key "{key}" cannot be {value!r}').format(key=key, value=value)
                raise ConfigError(what, place, _("Expected: {expected}").format(expected=_("a text")))
        for key in ("name", "pattern"):
            if key not in table:
                what = _('key "{key}" is missing').format(key=key)
                raise ConfigError(what, place, _("Each pattern has a name and a pattern."))
        name = table["name"]
        if name in found:
            what = _('two patterns are named "{name}"').format(name=name)
            raise ConfigError(what, place, _("Give each pattern a name of its own."))
        found[name] = LogPattern(name, table["pattern"], table.get("files", ""), place)
    return tuple(found.values())
