"""Which rules could judge, in one line and as a text to read.

A run is never called healthy by rules that were silent because they had nothing to look at.
"""

from __future__ import annotations

from typing import Dict, List, Optional, Sequence

from mstui.i18n import _, aside, commas, enumerated, headed
from mstui.journal.foreign import left_out_text
from mstui.model.alert_view import Alert, JournalHealth
from mstui.model.alerts import NotJudged, Severity, Verdict
from mstui.model.journal import AlertState
from mstui.model.runs import RunStatus
from mstui.safe_text import fit, safe, width
from mstui.tui.lines import Row, Span
from mstui.tui.wrapping import wrap

TEXT_LIMIT = 300
"""characters of one reason"""
INDENT = 4
RECORDABLE = ("act-", "dead-", "grad-", "weight-", "init-", "overflow", "loss-scale")
"""What the names of rules begin with that wait for what mstui.record writes"""
CRASH = "crash"
"""the rule that judges how a training has failed"""
HELD = (AlertState.ACKNOWLEDGED, AlertState.SNOOZED)
"""a person knows of it, but it is still there"""


def failure_waits(verdict: Optional[Verdict], status: Optional[RunStatus]) -> bool:
    """Has the run failed, and that has not been judged yet? For a second or two all the rest has."""
    if status is not RunStatus.FAILED or verdict is None or CRASH in verdict.judged:
        return False
    from mstui.monitor.rulebook import is_off  # the rules, which the monitor has loaded where there is one

    return not any(each.rule == CRASH and is_off(each) for each in verdict.not_judged)


def judged_span(verdict: Optional[Verdict], alerts: Sequence[Alert], *, status: Optional[RunStatus] = None) -> Span:
    """How many rules have judged, and what follows from that for a run with this status."""
    if verdict is None:
        return (_("reading history: nothing is judged yet"), "dim")
    judged = len(verdict.judged)
    text = _("judged {n} of {all} rules").format(n=judged, all=judged + len(verdict.not_judged))
    if failure_waits(verdict, status):
        return (headed(text, _("its failure is not judged yet")), "warning")
    if not judged:
        return (headed(text, _("nothing can be said of this run")), "warning")
    if any(alert.rings for alert in alerts):
        return (text, "text")
    if any(alert.severity >= Severity.WARN and alert.standing.state in HELD for alert in alerts):
        return (headed(text, _("known trouble only")), "text")
    return (headed(text, _("no open trouble")), "ok")


def verdict_row(
    verdict: Optional[Verdict],
    alerts: Sequence[Alert],
    cells: int,
    *,
    ascii_only: bool,
    status: Optional[RunStatus] = None,
) -> Row:
    """`judged 7 of 11 rules; not judged: overfit (no evaluation loss), ...`: as many as fit, the rest counted."""
    said, look = judged_span(verdict, alerts, status=status)
    row: List[Span] = [(fit(said, cells, middle=False), look)]
    if verdict is None or not verdict.not_judged:
        return tuple(row)
    room = max(cells - width(said), 0)
    text = _as_many([short_reason(each, ascii_only=ascii_only) for each in verdict.not_judged], room)
    text = text or _as_many([each.rule for each in verdict.not_judged], room)
    text = text or _("; ") + _("{n} not judged").format(n=len(verdict.not_judged))
    row.append((fit(text, room, middle=False), "dim"))
    return tuple(row)


def _as_many(missing: Sequence[str], room: int) -> str:
    """As many as fit, and how many more there are; empty where not even one fits."""
    for shown in range(len(missing), 0, -1):
        left = len(missing) - shown
        rules = enumerated([*missing[:shown], *([_("{n} more").format(n=left)] if left else [])])
        text = _("; ") + _("not judged: {rules}").format(rules=rules)
        if width(text) <= room:
            return text
    return ""


def short_reason(missing: NotJudged, *, ascii_only: bool) -> str:
    """`overfit (no evaluation loss)`."""
    return aside(missing.rule, safe(missing.because.say(), TEXT_LIMIT, ascii_only=ascii_only))


def journal_text(health: JournalHealth, *, ascii_only: bool) -> str:
    """Why what persons say cannot be kept; empty while it can."""
    if health.ok and not health.lost:
        return ""
    parts = []
    if not health.ok:
        detail = safe(health.detail, TEXT_LIMIT, ascii_only=ascii_only) or _("unknown")
        parts.append(_("acknowledgements cannot be kept: {why}").format(why=detail))
    if health.unsaved:
        parts.append(_("{n} not stored yet").format(n=health.unsaved))
    if health.lost:
        parts.append(_("{n} lost").format(n=health.lost))
    return "! " + commas(parts)


def verdict_rows(
    verdict: Optional[Verdict],
    alerts: Sequence[Alert],
    health: JournalHealth,
    cells: int,
    *,
    ascii_only: bool,
    status: Optional[RunStatus] = None,
) -> List[Row]:
    """Every rule that could not judge, why, and what would let it; then those that have."""
    said, look = judged_span(verdict, alerts, status=status)
    rows: List[Row] = [((line, look),) for line in wrap(said, cells)]
    trouble = journal_text(health, ascii_only=ascii_only)
    rows += [((line, "warning"),) for line in wrap(trouble, cells)]
    rows += [((line, "info"),) for line in wrap(left_out_text(health.foreign), cells)]
    if verdict is None:
        return rows
    titles = _titles()
    if verdict.not_judged:
        if any(each.rule.startswith(RECORDABLE) for each in verdict.not_judged):
            rows += _recorder_rows(cells)
        rows += [(), ((_("Not judged, and what would let each be judged:"), "strong"),)]
    for each in verdict.not_judged:
        rows.append(_named(each.rule, titles))
        because = safe(each.because.say(), TEXT_LIMIT, ascii_only=ascii_only)
        needs = safe(each.needs.say(), TEXT_LIMIT, ascii_only=ascii_only)
        rows += _indented(because, "text", cells)
        rows += _indented(_("needs: {what}").format(what=needs), "info", cells)
    if verdict.judged:
        rows += [(), ((_("Judged:"), "strong"),)]
        rows += [_named(rule, titles) for rule in verdict.judged]
    return rows


def _recorder_rows(cells: int) -> List[Row]:
    """How to get the statistics that several rules wait for."""
    from mstui.record.page import TWO_LINES

    rows: List[Row] = [()]
    rows += [((line, "text"),) for line in wrap(_("Two lines in the script record what most of them need:"), cells)]
    rows += [((f"  {line}", "key"),) for line in TWO_LINES.splitlines()]
    rows.append(((_("more: mstui record --help"), "dim"),))
    return rows


def _named(rule: str, titles: Dict[str, str]) -> Row:
    return ((f"  {rule}", "key"), (f"  {_(titles[rule])}" if rule in titles else "", "dim"))


def _indented(text: str, look: str, cells: int) -> List[Row]:
    return [((" " * INDENT + line, look),) for line in wrap(text, max(cells - INDENT, 1))]


def _titles() -> Dict[str, str]:
    """What each rule is called, by its id."""
    from mstui.detect.engine import load_rules  # thirty modules, which the monitor has loaded where there is one

    return {rule.name: rule.title for rule in load_rules()}
