"""One row above the footer wherever the alert panel is not shown: the worst active alert, else what was judged.

It is always there, so that nothing moves when something is raised.
"""

from __future__ import annotations

from typing import Sequence

from mstui.i18n import _, headed
from mstui.model.alert_view import worst
from mstui.safe_text import ASCII_ELLIPSIS, ELLIPSIS, fit, width
from mstui.tui.alert_words import GRADES, glyph, headline
from mstui.tui.lines import Lines, Row
from mstui.tui.panel import Host
from mstui.tui.selection import selected_run
from mstui.tui.verdict_words import verdict_row


class AlertStrip(Lines):
    """Holds nothing: everything is read from the monitor when it is drawn."""

    def __init__(self, host: Host) -> None:
        super().__init__(id="strip")
        self.host = host

    def draw(self, width_: int, height: int) -> Sequence[Row]:
        """`‼ Loss is NaN at step 120 (rank 1)   3 open`."""
        del height
        host, run_key = self.host, self.host.view.run_key
        if not run_key:
            return ((),)
        alerts = tuple(host.monitor.alerts(run_key))
        gravest, run = worst(alerts), selected_run(host)
        if gravest is None:
            verdict, status = host.monitor.verdict(run_key), None if run is None else run.status
            said = verdict_row(verdict, alerts, max(width_ - 2, 0), ascii_only=host.ascii_only, status=status)
            return (((" ", "text"), *said),)
        grade = GRADES[gravest.severity]
        sign = glyph(gravest.severity, ascii_only=host.ascii_only)
        ranks = run is not None and len(run.ranks) > 1
        lead = headed(f"{sign} {_(grade.word)}", "")
        number = sum(alert.rings for alert in alerts)
        tail = "  " + (_("{n} open").format(n=number) if number > 1 else "")
        room = width_ - 2 - width(lead) - width(tail)
        text = lead + headline(gravest, room, ranks=ranks, ascii_only=host.ascii_only)
        ellipsis = ASCII_ELLIPSIS if host.ascii_only else ELLIPSIS
        shown = fit(text, max(width_ - 2 - width(tail), 0), middle=False, ellipsis=ellipsis)
        return (((" ", "text"), (shown, grade.look), (tail, "strong")),)
