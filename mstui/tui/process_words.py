"""What processes have told in their logs, in words: the header's badge, the pinned line, the reason of a failed rank.

Pure functions over the monitor's facts, which are sorted by how much they explain. It judges nothing itself.
"""

from __future__ import annotations

from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from mstui.i18n import _, clauses, commas, headed, mark
from mstui.model.log_view import ProcessFact, Weight
from mstui.model.logs import EventKind
from mstui.safe_text import safe
from mstui.tui.lines import Row, Span
from mstui.tui.numbers import moment
from mstui.tui.rank_marks import named
from mstui.tui.wrapping import wrap

FATAL_GLYPH, FATAL_ASCII, TROUBLE_GLYPH = "✗", "X", "!"
"""before the words; U+2717 takes one cell in every terminal"""
MOST_TEXT = 2_000
"""characters of one fact that are shown"""
MOST_FACTS = 40
"""facts of a run that are listed; more are counted"""

EVENT_WORDS: Mapping[EventKind, str] = {
    EventKind.NAN_STOP: mark("stopped by NaN"),
    EventKind.OVERFLOW: mark("overflow"),
    EventKind.SCALE_ABORT: mark("loss scale at its end"),
    EventKind.NORM_STREAK: mark("gradient norm too high"),
    EventKind.SKIPPED_DATA: mark("data skipped"),
    EventKind.NAN_WEIGHTS: mark("NaN in weights"),
    EventKind.PROBE_ALERT: mark("msprobe alert"),
    EventKind.SILENT_CORRUPTION: mark("silent corruption"),
    EventKind.OUT_OF_MEMORY: mark("out of memory"),
    EventKind.HCCL_TIMEOUT: mark("HCCL time-out"),
    EventKind.DEVICE_LINK: mark("device link"),
    EventKind.TASK_FAILED: mark("task failed"),
    EventKind.ASCEND_CODE: mark("CANN error"),
    EventKind.WORKER_EXIT: mark("crashed"),
    EventKind.PEER_CLOSED: mark("lost a peer"),
    EventKind.NODE_TIMEOUT: mark("node lost"),
    EventKind.JOB_FAILED: mark("job failed"),
    EventKind.FAULT_TOLERANCE: mark("fault tolerance"),
    EventKind.DATA_PIPELINE: mark("slow data"),
    EventKind.LOG_LOST: mark("log lines lost"),
    EventKind.TRACEBACK: mark("crashed"),
    EventKind.EXCEPTION: mark("exception"),
    EventKind.CHECKPOINT: mark("checkpoint"),
    EventKind.GRAPH_COMPILATION: mark("compilation"),
    EventKind.RANK_MAP: mark("ranks assigned"),
    EventKind.STARTUP: mark("start"),
}
KILLED = mark("killed")
"""a worker whose exit code is a signal's"""


class Badge(NamedTuple):
    """The one most important fact, in as few words as there are."""

    text: str
    look: str


def word_of(fact: ProcessFact) -> str:
    """What happened, in one to four words."""
    if fact.kind is EventKind.WORKER_EXIT and fact.code.startswith("-"):
        return _(KILLED)
    return _(EVENT_WORDS[fact.kind])


def serious(facts: Sequence[ProcessFact]) -> List[ProcessFact]:
    """Facts that a person must know of: what is fatal, then what is wrong, causes before what follows from them."""
    told = [fact for fact in facts if fact.weight is not Weight.NEWS]
    return sorted(told, key=lambda fact: (fact.consequence, fact.weight is not Weight.FATAL))


def fatal(facts: Sequence[ProcessFact]) -> Optional[ProcessFact]:
    """What ended a process first; None when nothing did."""
    return next((fact for fact in serious(facts) if fact.weight is Weight.FATAL), None)


def glyph_of(fact: ProcessFact, *, ascii_only: bool) -> str:
    """The sign before a fact."""
    if fact.weight is Weight.FATAL:
        return FATAL_ASCII if ascii_only else FATAL_GLYPH
    return TROUBLE_GLYPH if fact.weight is Weight.TROUBLE else " "


def look_of(fact: ProcessFact) -> str:
    """How a fact is drawn."""
    return {Weight.FATAL: "critical", Weight.TROUBLE: "warning", Weight.NEWS: "dim"}[fact.weight]


def badge(facts: Sequence[ProcessFact], *, ascii_only: bool) -> Optional[Badge]:
    """`✗ crashed rank 1`; None while there is nothing but news."""
    told = serious(facts)
    if not told:
        return None
    first = told[0]
    word = word_of(first)
    alike = [fact for fact in told if word_of(fact) == word and fact.consequence == first.consequence]
    ranks = sorted({fact.rank_id for fact in alike if fact.rank_id is not None})
    text = f"{glyph_of(first, ascii_only=ascii_only)} {word}"
    return Badge(f"{text} {named(ranks)}" if ranks else text, look_of(first))


def fact_text(fact: ProcessFact, *, ascii_only: bool) -> str:
    """The record's own words, or what they mean where it has none."""
    return safe(fact.text or fact.meaning, MOST_TEXT, ascii_only=ascii_only) or word_of(fact)


def whose(fact: ProcessFact) -> str:
    """`rank 1`; empty when nobody can tell."""
    return "" if fact.rank_id is None else named((fact.rank_id,))


def pinned_row(facts: Sequence[ProcessFact], at: int, key: str, *, ascii_only: bool) -> Row:
    """The fact with this place among the serious ones, in one row: whose, what, how often, how many more."""
    told = serious(facts)
    fact = told[at % len(told)]
    spans: List[Span] = [(f"{glyph_of(fact, ascii_only=ascii_only)} ", look_of(fact))]
    spans.append((f"{key} {at % len(told) + 1}/{len(told)} ", "key"))
    about = " ".join(part for part in (whose(fact), word_of(fact)) if part)
    spans.append((headed(about, ""), look_of(fact)))
    if fact.count > 1:
        spans.append((f"x{fact.count} ", "dim"))
    spans.append((fact_text(fact, ascii_only=ascii_only), "text"))
    return tuple(spans)


def reasons(facts: Sequence[ProcessFact], *, ascii_only: bool) -> Dict[int, str]:
    """By rank, what ended it."""
    found: Dict[int, str] = {}
    for fact in serious(facts):
        if fact.weight is Weight.FATAL and fact.rank_id is not None:
            found.setdefault(fact.rank_id, headed(word_of(fact), fact_text(fact, ascii_only=ascii_only)))
    return found


def failure(facts: Sequence[ProcessFact], *, ascii_only: bool) -> str:
    """`rank 1 crashed: ValueError ...; 2 more`; empty when no process has failed."""
    first = fatal(facts)
    if first is None:
        return ""
    text = " ".join(part for part in (whose(first), word_of(first)) if part)
    text = headed(text, fact_text(first, ascii_only=ascii_only))
    others = {fact.rank_id for fact in facts if fact.weight is Weight.FATAL and not fact.consequence} - {first.rank_id}
    return text if not others else clauses([text, _("{n} more").format(n=len(others))])


def fact_lines(facts: Sequence[ProcessFact], cells: int, *, ascii_only: bool) -> List[Row]:
    """Every fact with when, whose and what it means, causes first, for the window about the run."""
    ordered = [*serious(facts), *(fact for fact in facts if fact.weight is Weight.NEWS)]
    rows: List[Row] = []
    for fact in ordered[:MOST_FACTS]:
        rows.append(_head(fact, ascii_only))
        for text, look in ((fact_text(fact, ascii_only=ascii_only), "text"), (_meaning(fact, ascii_only), "dim")):
            rows += [((f"    {line}", look),) for line in wrap(text, max(cells - 4, 1))]
    left = len(ordered) - MOST_FACTS
    if left > 0:
        rows.append(((_("{n} more").format(n=left), "dim"),))
    return rows


def _head(fact: ProcessFact, ascii_only: bool) -> Row:
    code = safe(fact.code, ascii_only=ascii_only)
    parts = [whose(fact), word_of(fact), _("(code {code})").format(code=code) if code else ""]
    when = [moment(fact.wall_time)] if fact.wall_time is not None else []
    when += [_("step {step}").format(step=fact.step)] if fact.step is not None else []
    when += [f"x{fact.count}"] if fact.count > 1 else []
    when += [_("follows from another")] if fact.consequence else []
    head = " ".join(part for part in parts if part)
    return (
        (f"{glyph_of(fact, ascii_only=ascii_only)} {head}", look_of(fact)),
        ("  " + commas(when) if when else "", "dim"),
    )


def _meaning(fact: ProcessFact, ascii_only: bool) -> str:
    return safe(fact.meaning, MOST_TEXT, ascii_only=ascii_only) if fact.text else ""


def ranks_of(facts: Sequence[ProcessFact]) -> Tuple[int, ...]:
    """Ranks that something fatal is known of."""
    return tuple(sorted({fact.rank_id for fact in facts if fact.weight is Weight.FATAL and fact.rank_id is not None}))
