"""Patterns that a person gives for logs that no producer knows (`[[log_pattern]]` in the configuration).

The pattern is searched for in the line as it stands, without colours and launcher's prefix. Its named groups say what
is measured: `epoch`, `step`, `steps` (of an epoch), `loss`, `lr`, `scale`, `gnorm`, `ms` and `s` (of a step), `acc`,
`overflow`; any other name is a tag of its own. A group that holds no number gives no value.
"""

from __future__ import annotations

import re
from typing import Dict, Optional, Sequence, Tuple, cast

from mstui.errors import ConfigError
from mstui.formats.logs.matcher import Hit as OwnHit
from mstui.formats.logs.matcher import Matcher, PatternError
from mstui.formats.logs.producer import Hit
from mstui.formats.logs.state import Reading, State
from mstui.formats.logs.values import ARRAY, number
from mstui.i18n import _

TAGS = {
    "loss": "loss",
    "lr": "learning_rate",
    "scale": "loss_scale",
    "gnorm": "grad_norm/global",
    "ms": "step_time_ms",
    "s": "step_time_ms",
    "acc": "eval/accuracy",
    "overflow": "overflow",
}
"""What the known names of groups are called in the curves."""
_PLACES = ("epoch", "step", "steps")
_SECONDS = "s"
_NUMBER = re.compile(ARRAY)
_COUNTER = re.compile(r"\d{1,15}")


class OwnShape:
    """One pattern of a person's own."""

    whole_line = True
    own_record = True
    blind = False

    def __init__(self, name: str, matcher: Matcher) -> None:
        self.name = name
        self._matcher = matcher
        self.words: Tuple[str, ...] = (matcher.literal,)

    @property
    def given_up(self) -> int:
        """Lines for which the pattern was too costly."""
        return self._matcher.given_up

    def find(self, text: str) -> Sequence[Hit]:
        """Every match, from left to right."""
        return self._matcher.find(text)

    def take(self, hit: Hit, state: State) -> Optional[Reading]:
        """Read a match."""
        groups = cast("OwnHit", hit).groups
        values: Dict[str, Optional[float]] = {}
        for name, text in groups.items():
            if name in _PLACES:
                continue
            value = _value(text)
            if value is not None and name == _SECONDS:
                value *= 1000.0
            values[TAGS.get(name, name)] = value
        epoch, step, steps = (_count(groups.get(name)) for name in _PLACES)
        if epoch is not None:
            values["epoch"] = float(epoch)
        if step is None:
            return Reading(state.step_or(epoch), values, moves=False)
        place = step if epoch is None else state.steps.place(epoch, step, steps)
        return Reading(place, values)


def own_pattern(name: str, pattern: str, where: str = "") -> OwnShape:
    """A pattern for `TextLogDecoder(shapes=...)`. `where`: file and key, for the message.

    Raises ConfigError for a pattern that cannot be understood or has no named group with a value.
    """
    remedy = _("name what is measured, as in: step (?P<step>\\d+).*loss (?P<loss>[-+.\\de]+)")
    try:
        matcher = Matcher(pattern)
    except PatternError as error:
        raise ConfigError(_("log pattern {name}: {why}").format(name=name, why=error), where, remedy) from None
    if not set(matcher.names) - set(_PLACES):
        raise ConfigError(_("log pattern {name}: no named group holds a value").format(name=name), where, remedy)
    return OwnShape(name, matcher)


def _count(text: Optional[str]) -> Optional[int]:
    return int(text) if text is not None and _COUNTER.fullmatch(text) else None


def _value(text: str) -> Optional[float]:
    if text in ("True", "False"):
        return float(text == "True")
    return number(text) if _NUMBER.fullmatch(text.strip()) else None
