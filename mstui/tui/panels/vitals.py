"""Vitals: what a person looks at first, by role, never by alphabet. It states facts and judges nothing."""

from __future__ import annotations

import math
import re
from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from mstui.i18n import _, mark, ngettext
from mstui.model.roles import Role
from mstui.model.series import SeriesKey
from mstui.monitor_api import TagInfo
from mstui.safe_text import ASCII_ELLIPSIS, ELLIPSIS, fit, pad, safe, width
from mstui.tui.actions import bindings
from mstui.tui.lines import Row, Span
from mstui.tui.numbers import duration, number
from mstui.tui.panel import Panel, PanelSpec
from mstui.tui.short_names import endings, short_names
from mstui.tui.source_words import sources_text
from mstui.tui.trend import LOOK_BACK, Trend, relative_change, seconds_per_step, trend

SHOWN: Mapping[Role, int] = {
    Role.LOSS: 1,
    Role.EVAL_METRIC: 3,
    Role.EVAL_LOSS: 1,
    Role.GRAD_NORM: 1,
    Role.UPDATE_RATIO: 1,
    Role.LOSS_SCALE: 1,
    Role.OVERFLOW: 1,
    Role.LEARNING_RATE: 1,
    Role.STEP_TIME: 1,
    Role.THROUGHPUT: 1,
}
"""roles in the order in which they are shown, and how many tags of each"""
NOISY = frozenset([Role.LOSS, Role.GRAD_NORM, Role.UPDATE_RATIO, Role.STEP_TIME, Role.THROUGHPUT])
"""roles whose single values say little: a median stands beside the newest value, and medians are compared"""
SHORT: Mapping[Role, str] = {
    Role.LOSS: mark("loss"),
    Role.GRAD_NORM: mark("grad"),
    Role.LEARNING_RATE: mark("lr"),
    Role.LOSS_SCALE: mark("scale"),
    Role.STEP_TIME: mark("step"),
}
"""names in the one-line form; a role that is not here shows the end of its tag"""
WORDS: Mapping[str, str] = {"steady": mark("steady"), "up": mark("up"), "down": mark("down")}
VALUE_WIDTH = 9
SHORT_VALUE_WIDTH = 7
STATE_WIDTH = 9
WITH_EARLIER = 50
"""columns from which there is one more for what a figure was earlier"""
ROOMY = 62
"""columns from which values are shown with all their digits"""
LEAST_NAME = 6
LINE_GAP = "  "
"""between two figures of the one-line form"""
COMMON_PREFIX = "train/"
_LONG_WORD, LONG_WORD_SHORT = re.compile(r"accuracy", re.IGNORECASE), "acc"
"""what the one-line form shortens first, as the field does, before it cuts names"""
_TIME_UNIT = re.compile(
    r"(?:.*[_ /(-])?(?P<unit>ms|us|s|sec|seconds)(?:\)|(?:[_ -]per[_ -]|/)(?:step|iteration|iter|batch))?",
    re.IGNORECASE,
)
"""names of step times that tell their unit: step_time_ms, ms_per_step, s/step, elapsed time per iteration (ms)"""
_UNITS: Mapping[str, str] = {"ms": "ms", "us": "us", "s": "s", "sec": "s", "seconds": "s"}


class Figure(NamedTuple):
    """One row of the table."""

    role: Role
    name: str
    """safe"""
    trend: Trend
    derived: bool = False
    """computed by mstui from the times of writing, not recorded by the training"""
    source: str = ""
    """where its values come from, where that is not the summary alone"""
    differs: bool = False
    """two sources tell different values"""

    @property
    def unit(self) -> str:
        """Unit of a recorded step time, as its tag tells it; empty for one that does not, and for other figures."""
        found = _TIME_UNIT.fullmatch(self.name) if self.role is Role.STEP_TIME and not self.derived else None
        return _UNITS[found["unit"].lower()] if found is not None else ""

    @property
    def short(self) -> str:
        """Its name in the one-line form; empty where only its tag says what it is: a time without a unit is none."""
        if self.role is Role.STEP_TIME and not (self.derived or self.unit):
            return ""
        word = SHORT.get(self.role)
        return _(word) if word else ""

    def value(self, value: float, cells: int) -> str:
        """A value as the table shows it; a step time as a duration or with its unit, others as numbers."""
        if self.role is Role.STEP_TIME and self.derived:
            return fit("~" + duration(value), cells, middle=False) if math.isfinite(value) else "-"
        unit = self.unit if math.isfinite(value) else ""
        return number(value, cells - len(unit)) + unit

    def median(self, cells: int) -> str:
        """What the newest points have in common, of a figure whose single values are noise; else empty."""
        if self.role not in NOISY or self.derived or not math.isfinite(self.trend.newest):
            return ""
        return self.value(self.trend.now, cells)


def rows_for(tags: Sequence[TagInfo]) -> int:
    """Rows of the whole table, title included; a step time is derived where none is recorded."""
    counts: Dict[Role, int] = {}
    for tag in tags:
        if tag.kind is None and counts.get(tag.role, 0) < SHOWN.get(tag.role, 0):
            counts[tag.role] = counts.get(tag.role, 0) + 1
    counts[Role.STEP_TIME] = 1
    return 1 + sum(counts.values())


class Vitals(Panel):
    """Newest value, median, what it was earlier and trend of every figure of the first page."""

    BINDINGS = bindings("vitals")  # type: ignore[assignment]
    TITLE = mark("vitals")
    _source = ""
    """where all figures come from; empty for the summary, or when they differ"""

    def title(self, width: int) -> Row:
        """What the columns mean, and where all values come from if not from the summary."""
        said = _("now, median, trend")
        if width >= WITH_EARLIER:
            said = _("now, median, {percent} % earlier").format(percent=round(LOOK_BACK * 100))
        return ((f"{said} [{self._source}]" if self._source else said, "dim"),)

    def body(self, width: int, height: int) -> Tuple[Row, ...]:
        """A table; where there is one row only, one line of pairs."""
        figures = self._figures()
        told = {figure.source for figure in figures if not figure.derived}
        self._source = told.pop() if len(told) == 1 else ""
        if not figures:
            return (((" " + fit(self._without(), max(width - 1, 0), middle=False), "dim"),),)
        if self.compact and height <= 1:
            return (self._line(figures, width),)
        if self.compact:
            return self._short_table(figures[:height], width)
        return self._table(figures[:height], width)

    def _without(self) -> str:
        """Why there is no figure. A probe's curves may all be about single parameters."""
        key = self.host.view.run_key
        if not key:
            return _("no run yet")
        curves = [tag for tag in self.host.monitor.tags(key) if tag.kind is None]
        if not curves or any(tag.role in SHOWN for tag in curves):
            return _("no scalars yet")
        n = len(curves)
        return ngettext("{n} curve, no vital figure", "{n} curves, no vital figure", n).format(n=n)

    def _figures(self) -> List[Figure]:
        host = self.host
        key = host.view.run_key
        counts = dict(SHOWN)
        by_role: List[Figure] = []
        loss: Optional[TagInfo] = None
        for tag in host.monitor.tags(key):
            if tag.kind is not None or counts.get(tag.role, 0) <= 0:
                continue
            found = host.monitor.series(SeriesKey(key, host.view.rank_id, tag.tag))
            line = trend(found, exact=tag.role not in NOISY) if found is not None else None
            if line is None:
                continue
            counts[tag.role] -= 1
            loss = loss or (tag if tag.role is Role.LOSS else None)
            differs = found is not None and found.disagreement is not None
            name = safe(tag.tag, ascii_only=host.ascii_only)
            by_role.append(Figure(tag.role, name, line, source=sources_text(tag.sources), differs=differs))
        if counts[Role.STEP_TIME] and by_role:
            derived = self._derived_step_time(loss.tag if loss is not None else None, key)
            by_role += [derived] if derived is not None else []
        order = list(SHOWN)
        return sorted(by_role, key=lambda figure: order.index(figure.role))

    def _derived_step_time(self, tag: Optional[str], run_key: str) -> Optional[Figure]:
        """Seconds a step, from when the loss was written."""
        if tag is None:
            return None
        series = self.host.monitor.series(SeriesKey(run_key, self.host.view.rank_id, tag))
        points = next((part for part in reversed(series.current) if len(part) > 1), None) if series else None
        if points is None:
            return None
        now = seconds_per_step(points, len(points))
        if not math.isfinite(now):
            return None
        earlier = seconds_per_step(points, max(int(len(points) * (1 - LOOK_BACK)), 2))
        return Figure(
            Role.STEP_TIME, _("step time"), Trend(now, now, earlier, relative_change(now, earlier)), derived=True
        )

    def _table(self, figures: Sequence[Figure], cells: int) -> Tuple[Row, ...]:
        value_width = VALUE_WIDTH if cells >= ROOMY else SHORT_VALUE_WIDTH
        values = 3 if cells >= WITH_EARLIER else 2
        name_width = max(cells - 1 - values * (value_width + 1) - 1 - STATE_WIDTH, LEAST_NAME)
        rows: List[Row] = []
        for figure, name in zip(figures, self._names(figures, name_width)):
            state, look = _state(figure)
            row: List[Span] = [
                (" " + name, "text"),
                (" " + figure.value(figure.trend.newest, value_width).rjust(value_width), look or "strong"),
                (" " + figure.median(value_width).rjust(value_width), "text"),
            ]
            if cells >= WITH_EARLIER:
                row.append((" " + figure.value(figure.trend.earlier, value_width).rjust(value_width), "dim"))
            rows.append((*row, (" " + fit(state, STATE_WIDTH, middle=False), look or "dim")))
        return tuple(rows)

    def _short_table(self, figures: Sequence[Figure], cells: int) -> Tuple[Row, ...]:
        name_width = max(cells - 2 - SHORT_VALUE_WIDTH - 1 - STATE_WIDTH, LEAST_NAME)
        rows: List[Row] = []
        for figure, name in zip(figures, self._names(figures, name_width)):
            state, look = _state(figure)
            value = figure.value(figure.trend.newest, SHORT_VALUE_WIDTH).rjust(SHORT_VALUE_WIDTH)
            rows.append(((" " + name, "text"), (" " + value, look or "strong"), (" " + state, look or "dim")))
        return tuple(rows)

    def _line(self, figures: Sequence[Figure], cells: int) -> Row:
        """As many figures as fit, from the first on; ends of tags are shortened before a figure is left out."""
        values = [figure.value(figure.trend.newest, SHORT_VALUE_WIDTH) for figure in figures]
        for shown in range(len(figures), 0, -1):
            names = self._line_names(figures[:shown], cells - 1, values[:shown])
            if names:
                break
        spans: List[Span] = []
        for figure, name, value in zip(figures, names, values):
            gap = LINE_GAP if spans else " "
            spans += [(gap, "text"), (name + " ", "dim"), (value, _state(figure)[1] or "strong")]
        return tuple(spans)

    def _line_names(self, figures: Sequence[Figure], cells: int, values: Sequence[str]) -> Sequence[str]:
        """Names under which these figures fit into one line, as long as can be; none where they do not."""
        shorts = [figure.short for figure in figures]
        named = [figure.name for figure, short in zip(figures, shorts) if not short]
        ends = endings(named, taken=[SHORT[role] for role in SHORT] + shorts)
        free = cells - sum(width(value) + 1 for value in values) - len(LINE_GAP) * (len(figures) - 1)
        free -= sum(width(short) for short in shorts)
        brief = [_LONG_WORD.sub(LONG_WORD_SHORT, end) for end in ends]
        if sum(width(end) for end in ends) > free and len(set(brief)) == len(set(ends)):
            ends = tuple(brief)
        for most in range(max((LEAST_NAME, *(width(end) for end in ends))), LEAST_NAME - 1, -1):
            cut = short_names(ends, most, ellipsis=self._ellipsis)
            if sum(width(end) for end in cut) <= free:
                left = iter(cut)
                return [short or next(left) for short in shorts]
        return ()

    @property
    def _ellipsis(self) -> str:
        return ASCII_ELLIPSIS if self.host.ascii_only else ELLIPSIS

    def _names(self, figures: Sequence[Figure], cells: int) -> List[str]:
        """The tags; one that is too long is shown first without the "train/" that many write before every tag."""
        tags = [figure.name for figure in figures]
        bare = [tag.removeprefix(COMMON_PREFIX) if width(tag) > cells else tag for tag in tags]
        names = list(short_names(bare if len(set(bare)) == len(set(tags)) else tags, cells, ellipsis=self._ellipsis))
        for i, figure in enumerate(figures):
            source = f" [{figure.source}]" if figure.source and not self._source else ""
            if width(names[i]) + width(source) <= cells:
                names[i] += source
        return [pad(name, cells) for name in names]


def _state(figure: Figure) -> Tuple[str, str]:
    """The trend in words, and a look where the value itself needs one."""
    word, amount = figure.trend.word
    if figure.differs and not (word and word not in WORDS):
        return _("! differs"), "warning"
    if word in WORDS:
        return f"{_(WORDS[word])} {amount}".rstrip(), ""
    return (f"! {word}", "critical") if word else ("", "")


PANEL = PanelSpec(
    "vitals",
    mark("vitals"),
    mark(
        "The figures of the first page, found by their role: loss, metrics, gradient norm, learning rate and so on. "
        "Now is the newest value. Of loss, gradient norm, update ratio and times single values are noise, so the "
        "median of the newest 5 % of the points stands beside it; the trend compares it with the same about 10 % of "
        "the run earlier, which a wide table shows, too. Other figures are compared as they are. A NaN or an infinity "
        "is shown as soon as it is the newest value. "
        "A value with ~ is computed from the times of writing, as a median over the newest steps, because the training "
        "does not record it. "
        "[logs] or [summary+logs] after a name or in the title tells where values come from, if not the summary alone; "
        "! differs means that two sources tell different values (i says which). "
        "R in the list of tags says what a tag is when mstui guessed wrong."
    ),
    lambda host: Vitals(host, "vitals"),
)
