"""What a person has set for the rules: thresholds and switches, for all tags or for some.

It knows the form of such a table and no rule: mstui.monitor.rulebook compares names with the rules that exist.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Dict, List, Mapping, Optional, Tuple

from mstui.errors import ConfigError
from mstui.i18n import _

ENABLED, TAGS = "enabled", "tags"
"""Keys of a rule's table that are no thresholds"""


@dataclass(frozen=True)
class RuleSetting:
    """What was set for one rule, in one table of one file."""

    rule: str
    tag: str = ""
    """shell wildcards for a tag's name; empty: every tag"""
    values: Mapping[str, float] = field(default_factory=dict)
    """thresholds by name"""
    enabled: Optional[bool] = None
    """None: nothing was said"""
    where: str = ""
    """the file, for messages"""

    @property
    def place(self) -> str:
        """File and table, for messages."""
        table = f'[rules."{self.rule}"]' if not self.tag else f'[rules."{self.rule}".tags."{self.tag}"]'
        return f"{self.where}: {table}"


def parse_rules(tables: Mapping[str, Mapping[str, Any]], where: str) -> Tuple[RuleSetting, ...]:
    """The tables of one file by rule. Raises ConfigError naming the file, the table and the key."""
    found: List[RuleSetting] = []
    for rule, table in tables.items():
        own = RuleSetting(rule, where=where)
        found.append(_parse(own, {key: value for key, value in table.items() if key != TAGS}))
        tags = table.get(TAGS, {})
        if not isinstance(tags, dict) or not all(isinstance(each, dict) for each in tags.values()):
            raise _wrong(own, TAGS, tags, f'[rules."{rule}".tags."val/*"]')
        found += [_parse(replace(own, tag=tag), each) for tag, each in tags.items()]
    return tuple(found)


def _parse(empty: RuleSetting, table: Mapping[str, Any]) -> RuleSetting:
    values: Dict[str, float] = {}
    enabled: Optional[bool] = None
    for key, value in table.items():
        if key == ENABLED:
            if not isinstance(value, bool):
                raise _wrong(empty, key, value, _("true or false"))
            enabled = value
        elif isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
            values[key] = float(value)
        else:
            raise _wrong(empty, key, value, _("a number"))
    return replace(empty, values=values, enabled=enabled)


def _wrong(setting: RuleSetting, key: str, value: object, expected: str) -> ConfigError:
    what = _('key "{key}" cannot be {value!r}').format(key=key, value=value)
    return ConfigError(what, setting.place, _("Expected: {expected}").format(expected=expected))
