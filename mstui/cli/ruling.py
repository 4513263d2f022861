"""Runs `rules`: what each rule looks for, what it needs, its thresholds as they are now, and how it may err."""

from __future__ import annotations

import textwrap
from typing import Any, Dict, List, Mapping, Optional

import click

from mstui.cli.checking import print_json, rows
from mstui.cli.settings import read_settings
from mstui.config import nearest
from mstui.detect.base import Parameter, Rule
from mstui.detect.engine import load_rules
from mstui.errors import StartError
from mstui.i18n import _, headed
from mstui.model.rule_settings import RuleSetting
from mstui.monitor.rulebook import Rulebook, make_rulebook

SCHEMA = 1
LINE = 100
"""Characters of a line of explanation"""


def rules(name: Optional[str], config: Optional[str], *, as_data: bool) -> int:
    """Print one rule or all of them. Raises StartError for a name that no rule has, ConfigError for wrong settings."""
    settings = read_settings(None, config, {})
    book = make_rulebook(settings.rules)
    known = load_rules()
    if name is not None and all(rule.name != name for rule in known):
        raise StartError(_('no rule is named "{name}"').format(name=name), "", nearest(name, [r.name for r in known]))
    shown = [rule for rule in known if name in (None, rule.name)]
    if as_data:
        print_json({"schema": SCHEMA, "rules": [_json(rule, book) for rule in shown]})
    else:
        click.echo("\n\n".join("\n".join(_lines(rule, book)) for rule in shown))
    return 0


def _is_off(rule: Rule, book: Rulebook) -> bool:
    return any(each.rule == rule.name for each in book.off)


def _for_tags(rule: Rule, book: Rulebook) -> List[RuleSetting]:
    return [each for each in book.settings if each.rule == rule.name and each.tag]


def _json(rule: Rule, book: Rulebook) -> Dict[str, Any]:
    return {
        "rule": rule.name,
        "title": _(rule.title),
        "symptoms": [symptom.value for symptom in rule.symptoms],
        "needs": _(rule.needs),
        "enabled": not _is_off(rule, book),
        "parameters": [_parameter_json(rule, parameter, book) for parameter in rule.parameters],
        "tags": [
            {"tag": each.tag, "enabled": each.enabled, "values": dict(each.values), "where": each.where}
            for each in _for_tags(rule, book)
        ],
        "false_alarms": [_(each) for each in rule.false_alarms],
    }


def _parameter_json(rule: Rule, parameter: Parameter, book: Rulebook) -> Mapping[str, Any]:
    return {
        "name": parameter.name,
        "default": parameter.default,
        "value": book.value(rule.name, parameter.name),
        "unit": _(parameter.unit),
        "reason": _(parameter.reason),
        "source": _(parameter.source),
        "where": _where(rule, parameter.name, book),
    }


def _where(rule: Rule, parameter: str, book: Rulebook) -> Optional[str]:
    """The file that set it for all tags; None for a default."""
    for each in reversed(book.settings):
        if each.rule == rule.name and not each.tag and parameter in each.values:
            return each.where
    return None


def _lines(rule: Rule, book: Rulebook) -> List[str]:
    state = " " + _("(switched off in the settings)") if _is_off(rule, book) else ""
    lines = [headed(rule.name, _(rule.title)) + state]
    lines.append("  " + _("finds: {names}").format(names=", ".join(symptom.value for symptom in rule.symptoms)))
    lines.append("  " + _("needs: {needs}").format(needs=_(rule.needs)))
    cells = []
    for parameter in rule.parameters:
        value = book.value(rule.name, parameter.name)
        where = _where(rule, parameter.name, book)
        changed = _("default {value:g}; set in {where}").format(value=parameter.default, where=where) if where else ""
        cells.append((f"  {parameter.name}", f"{value:g}", _(parameter.unit), changed))
    for row, parameter in zip(rows(cells) if cells else [], rule.parameters):
        lines.append(row)
        why = _("{reason} [{source}]").format(reason=_(parameter.reason), source=_(parameter.source))
        lines += textwrap.wrap(why, LINE, initial_indent="      ", subsequent_indent="      ")
    for each in _for_tags(rule, book):
        said = [f"{name} = {value:g}" for name, value in each.values.items()]
        if each.enabled is not None:
            said.append("enabled = " + ("true" if each.enabled else "false"))
        words = _("for tags {tag}: {settings} (set in {where})")
        lines.append("  " + words.format(tag=each.tag, settings=", ".join(said), where=each.where))
    lines += ["  " + _("may err on: {what}").format(what=_(each)) for each in rule.false_alarms]
    return lines
