"""Which rules are at work, and with which thresholds: the built-in ones with what a person has set laid over them.

Settings are checked here against the rules that exist; what they mean to a detector is the rule's own business.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Callable, Dict, Iterator, List, Mapping, Sequence, Tuple

from mstui.config import nearest
from mstui.detect.base import Rule, Subject
from mstui.detect.engine import Thresholds, load_rules
from mstui.detect.naming import Objective
from mstui.errors import ConfigError
from mstui.i18n import _, mark
from mstui.model.alerts import Evidence, NotJudged
from mstui.model.rule_settings import RuleSetting

Watches = Callable[[Subject, str], bool]

NO_WORDS: Mapping[str, str] = {}
_OFF = Evidence(mark("switched off in the settings"))
_SWITCH_ON = Evidence(mark("the setting enabled = true"))


@dataclass(frozen=True)
class Rulebook:
    """The rules at work."""

    rules: Tuple[Rule, ...]
    thresholds: Thresholds
    off: Tuple[NotJudged, ...] = ()
    """rules that a person has switched off altogether"""
    settings: Tuple[RuleSetting, ...] = ()
    """what was set, a later one winning over an earlier one"""
    objectives: Mapping[str, Objective] = field(default_factory=dict)
    """by tag, a person's word on what a curve is supposed to do"""

    def value(self, rule: str, parameter: str, tag: str = "") -> float:
        """A threshold as it is for a tag; for tags that nothing was set for when `tag` is empty."""
        known = next(each for each in load_rules() if each.name == rule)
        return {**known.defaults(), **self.thresholds(rule, tag)}[parameter]


def is_off(missing: NotJudged) -> bool:
    """Was the rule not missing anything, but switched off?"""
    return missing.because == _OFF


def all_rules() -> Rulebook:
    """Every rule, with its defaults."""
    return Rulebook(load_rules(), lambda _rule, _tag: {})


class ObjectivesByPattern(Mapping[str, Objective]):
    """A person's word by patterns of tags, asked by tag: the first pattern that fits decides."""

    def __init__(self, patterns: Mapping[str, str]) -> None:
        self._patterns = {pattern: Objective(word) for pattern, word in patterns.items()}

    def __getitem__(self, tag: str) -> Objective:
        for pattern, objective in self._patterns.items():
            if fnmatchcase(tag, pattern):
                return objective
        raise KeyError(tag)

    def __iter__(self) -> Iterator[str]:
        return iter(self._patterns)

    def __len__(self) -> int:
        return len(self._patterns)


def make_rulebook(settings: Sequence[RuleSetting], objectives: Mapping[str, str] = NO_WORDS) -> Rulebook:
    """The rules with these settings. `objectives`: tag pattern to a value of Objective.

    Raises ConfigError naming the file and key of a rule or parameter unknown.
    """
    known = {rule.name: rule for rule in load_rules()}
    for setting in settings:
        _check(setting, known)
    on: List[Rule] = []
    off: List[NotJudged] = []
    for rule in known.values():
        own = [setting for setting in settings if setting.rule == rule.name and setting.enabled is not None]
        if not any(setting.enabled is False for setting in own):
            on.append(rule)
        elif not any(setting.tag and setting.enabled for setting in own) and not _enabled(own, ""):
            off.append(NotJudged(rule.name, _OFF, _SWITCH_ON))
        else:
            on.append(replace(rule, watches=_but(rule.watches, own), histograms=_but(rule.histograms, own)))
    kept = tuple(settings)

    def thresholds(rule: str, tag: str) -> Mapping[str, float]:
        found: Dict[str, float] = {}
        for setting in kept:
            if setting.rule == rule and not setting.tag:
                found.update(setting.values)
        for setting in kept:
            if setting.rule == rule and setting.tag and fnmatchcase(tag, setting.tag):
                found.update(setting.values)
        return found

    return Rulebook(tuple(on), thresholds, tuple(off), kept, ObjectivesByPattern(objectives))


def _check(setting: RuleSetting, known: Mapping[str, Rule]) -> None:
    rule = known.get(setting.rule)
    if rule is None:
        what = _('no rule is named "{name}"').format(name=setting.rule)
        raise ConfigError(what, f"{setting.where}: [rules]", nearest(setting.rule, known))
    names = tuple(parameter.name for parameter in rule.parameters)
    for name in setting.values:
        if name not in names:
            what = _('the rule {rule} has no parameter "{name}"').format(rule=rule.name, name=name)
            raise ConfigError(what, setting.place, nearest(name, (*names, "enabled")))


def _enabled(settings: Sequence[RuleSetting], tag: str) -> bool:
    """What was set for all tags holds, except where something was set for this one."""
    said = True
    for setting in settings:
        if not setting.tag and setting.enabled is not None:
            said = setting.enabled
    for setting in settings:
        if setting.tag and setting.enabled is not None and fnmatchcase(tag, setting.tag):
            said = setting.enabled
    return said


def _but(watches: Watches, settings: Sequence[RuleSetting]) -> Watches:
    """The same, without the tags for which the rule is switched off."""
    own = tuple(settings)

    def watched(subject: Subject, tag: str) -> bool:
        return watches(subject, tag) and _enabled(own, tag)

    return watched
