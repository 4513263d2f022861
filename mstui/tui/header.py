"""The first row: which run, how far, and whether it is alive. What fits least important goes first."""

from __future__ import annotations

import math
from typing import List, Mapping, Optional, Sequence, Tuple

from mstui.i18n import _, commas, mark
from mstui.model.roles import Role
from mstui.model.runs import RunInfo, RunStatus, WatchState
from mstui.safe_text import ASCII_ELLIPSIS, ELLIPSIS, fit, safe, width
from mstui.tui import liveness
from mstui.tui.alert_words import badges, short_badge
from mstui.tui.lines import Lines, Row, Span
from mstui.tui.numbers import NAN, NEG_INF, POS_INF, age, duration
from mstui.tui.numbers import number as number_text
from mstui.tui.panel import Host
from mstui.tui.selection import first_loss, selected_run
from mstui.tui.unread_logs import UnreadLogs

READ_AGE_FROM_S = 15.0
"""from this age on it is said when the files were looked at last; a healthy monitor looks every second"""
_READ_AGE_WORDED_S = 20.0
"""from this age on numbers.age is no younger than READ_AGE_FROM_S"""
MODES: Mapping[str, str] = {"events": mark("events"), "poll": mark("poll")}
"""how the disk is followed, by WatchState.mode"""
LEAST_NAME = 8
"""cells that the run's name keeps while other parts still can go"""
LEAST_SHORT_NAME = 4
"""the same where there is one row for everything"""
LOSS_WIDTH, SHORT_LOSS_WIDTH = 7, 5
ROOMY = 30
"""columns from which the one row shows the loss with all its digits"""

_EPOCH_WIDTH = 6

Part = Tuple[int, Tuple[Span, ...]]
"""how readily a part is given up (0: never), and its spans"""
_NEVER, _ALERT, _TOLD, _STEP, _HISTORY, _FAULTS, _UNREAD, _ETA, _RANK, _EPOCH, _MODE, _NAME = range(12)


class Header(Lines):
    """One row. It holds nothing: everything is read from the monitor when it is drawn."""

    def __init__(self, host: Host) -> None:
        super().__init__(id="header")
        self.host = host
        self.compact = False
        """set by the layout where nothing else has room: the loss is shown here too"""
        self._unread = UnreadLogs(host)

    def draw(self, width: int, height: int) -> Sequence[Row]:
        """The parts that fit."""
        del height
        host = self.host
        run = selected_run(host)
        watch = host.monitor.watch_state()
        live = liveness.of_run(run, watch, host.now())
        if self.compact:
            return (self._compact(run, live, width),)
        parts = self._parts(run, watch, live)
        return (_fitted(parts, self._shown_name(run), width - 1, self._ellipsis),)

    @property
    def _ellipsis(self) -> str:
        return ASCII_ELLIPSIS if self.host.ascii_only else ELLIPSIS

    def _shown_name(self, run: Optional[RunInfo]) -> str:
        return safe(self.host.monitor.root if run is None else run_name(run), ascii_only=self.host.ascii_only)

    def _parts(self, run: Optional[RunInfo], watch: WatchState, live: liveness.Liveness) -> List[Part]:
        parts: List[Part] = [(_NAME, (("mstui", "dim"),)), (_NEVER, ())]
        if run is not None:
            if len(run.ranks) > 1:
                text = _("rank {rank}/{ranks}").format(rank=self.host.view.rank_id, ranks=len(run.ranks))
                parts.append((_RANK, ((text, "text"),)))
            step = step_text(run)
            if step:
                parts.append((_STEP, ((_("step") + " ", "dim"), (step, "strong"))))
            epoch = epoch_text(run) or recorded_epoch(self.host, run)
            if epoch:
                parts.append((_EPOCH, ((_("epoch") + " ", "dim"), (epoch, "text"))))
            eta = eta_seconds(run)
            if eta is not None:
                parts.append((_ETA, ((_("ETA") + " ", "dim"), (duration(eta), "text"))))
        parts.append((_NEVER, ((live.text, live.look),)))
        if run is not None:
            monitor, ascii_only = self.host.monitor, self.host.ascii_only
            told = badges(monitor.alerts(run.key), monitor.process_facts(run.key), ascii_only=ascii_only)
            parts += [((_ALERT, _TOLD)[i], ((badge.text, badge.look),)) for i, badge in enumerate(told)]
        if self._unread.files():
            parts.append((_UNREAD, ((_("! log not understood (6)"), "warning"),)))
        mode = _(MODES.get(watch.mode, watch.mode))
        if watch.reason:
            mode = commas([mode, safe(watch.reason, ascii_only=self.host.ascii_only)])
        read_age = self.host.now() - watch.last_read if watch.last_read else 0.0
        if read_age >= READ_AGE_FROM_S:
            old = age(read_age) if read_age >= _READ_AGE_WORDED_S else f"{READ_AGE_FROM_S:.0f}s"
            mode = commas([mode, _("read {age} ago").format(age=old)])
        parts.append((_MODE, ((f"({mode})", "dim"),)))
        if watch.bytes_total > 0 and watch.bytes_read < watch.bytes_total:
            percent = min(100 * watch.bytes_read // watch.bytes_total, 99)
            parts.append((_HISTORY, ((_("history {percent} %").format(percent=percent), "info"),)))
        if run is not None and run.fault_count:
            parts.append((_FAULTS, ((_("! faults {n}").format(n=run.fault_count), "warning"),)))
        return parts

    def _compact(self, run: Optional[RunInfo], live: liveness.Liveness, cells: int) -> Row:
        """`run3 12480/50000 loss NaN * LIVE`: the loss goes last, the name is cut to what is left."""
        state: Span = (f" {live.glyph} {live.word}", live.look)
        room = cells - width(state[0])
        alerts = () if run is None else self.host.monitor.alerts(run.key)
        badge = short_badge(alerts, ascii_only=self.host.ascii_only)
        alarm: Tuple[Span, ...] = () if badge is None else ((f" {badge.text}", badge.look),)
        room -= sum(width(text) for text, _look in alarm)
        middle: List[Span] = []
        loss = first_loss(self.host, run) if run is not None else None
        if loss is not None and loss.last_value is not None:
            value = number_text(loss.last_value, LOSS_WIDTH if cells >= ROOMY else SHORT_LOSS_WIDTH)
            look = "critical" if value in (NAN, POS_INF, NEG_INF) else "text"
            text = " ".join(("", _("loss"), value))
            if width(text) <= room:
                middle.append((text, look))
                room -= width(text)
        step = f" {step_text(run)}" if run is not None and run.last_step is not None else ""
        if step and width(step) + LEAST_SHORT_NAME <= room:
            middle.insert(0, (step, "strong"))
            room -= width(step)
        name = self._shown_name(run)
        if width(name) > room:
            name = name.rpartition("/")[2]
        shown = fit(name, room, middle=False, ellipsis=self._ellipsis) if room >= LEAST_SHORT_NAME else ""
        return ((shown, "strong"), *middle, *alarm, state)


def _fitted(parts: List[Part], name: str, room: int, ellipsis: str = ELLIPSIS) -> Row:
    """One space, then the parts two spaces apart, the second of which is the run's name, cut to what is left."""
    kept = list(parts)
    least = min(width(name), LEAST_NAME)

    def taken() -> int:
        others = [spans for _rank, spans in kept if spans]
        return 1 + sum(2 + sum(width(text) for text, _look in spans) for spans in others)

    while taken() + least > room and any(rank for rank, _spans in kept):
        kept.remove(max(kept, key=lambda part: part[0]))
    name = fit(name, max(room - taken(), 0), ellipsis=ellipsis)
    row: List[Span] = []
    for _rank, spans in kept:
        shown = spans or (((name, "strong"),) if name else ())
        if shown:
            row.append(("  " if row else " ", "text"))
            row.extend(shown)
    return tuple(row)


def run_name(run: RunInfo) -> str:
    """The run's key; for the watched directory itself, the directory's name."""
    if run.key != ".":
        return run.key
    return run.path.rstrip("/").rpartition("/")[2] or run.path


def step_text(run: RunInfo) -> str:
    """`12480/50000`, or what of it is known."""
    if run.last_step is None:
        return ""
    planned = _whole(run, "planned_steps")
    return f"{run.last_step}/{planned}" if planned else str(run.last_step)


def epoch_text(run: RunInfo) -> str:
    """`25/100`: the epoch reached, of those that are planned; empty where the lineage tells too little."""
    planned, epochs = _whole(run, "planned_steps"), _whole(run, "epoch")
    if not planned or not epochs or run.last_step is None:
        return ""
    reached = min(-(-run.last_step * epochs // planned), epochs)
    return f"{max(reached, 1)}/{epochs}"


def recorded_epoch(host: Host, run: RunInfo) -> str:
    """The newest value of a tag that records the epoch, with those planned where that is known; empty without one."""
    tag = next((tag for tag in host.monitor.tags(run.key) if tag.role is Role.EPOCH and tag.kind is None), None)
    if tag is None or tag.last_value is None or not math.isfinite(tag.last_value):
        return ""
    planned = _whole(run, "epoch")
    reached = number_text(tag.last_value, _EPOCH_WIDTH)
    return f"{reached}/{planned}" if planned else reached


def eta_seconds(run: RunInfo) -> Optional[float]:
    """Seconds until the planned steps are done at the run's present pace; None unless live and both are known."""
    planned = _whole(run, "planned_steps")
    if run.status is not RunStatus.LIVE or not planned or run.last_step is None:
        return None
    if not run.seconds_per_step or run.last_step >= planned:
        return None
    return (planned - run.last_step) * run.seconds_per_step


def _whole(run: RunInfo, fact: str) -> int:
    """A fact that is a positive whole number, else 0."""
    value = run.facts.get(fact)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
