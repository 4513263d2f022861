"""Ranks in words and signs: one mark for what matters most of each, their order, and the one most important fact.

Pure functions over a RankTable. They repeat what the table says and conclude nothing of their own.
"""

from __future__ import annotations

import math
from typing import Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from mstui.i18n import _, clauses, mark, ngettext
from mstui.model.ranks import OddFigure, RankRow, RankTable
from mstui.model.roles import Role
from mstui.model.runs import RunStatus
from mstui.tui.numbers import duration, number

VALUE_WIDTH = 7
"""characters of a figure in a sentence"""
SENTENCE_WIDTH = 48
"""cells below which a fact is told in few words"""
MOST_NAMED = 6
"""ranges of ranks written out; more are counted"""


class Mark(NamedTuple):
    """What matters most of a rank."""

    glyph: str
    """one ASCII cell"""
    look: str
    word: str
    """msgid"""
    name: str
    """what a filter calls it: `state=stale`"""


FIRST_BAD = Mark("X", "critical", mark("first bad"), "first-bad")
BAD = Mark("x", "critical", mark("bad"), "bad")
FAILED = Mark("F", "critical", mark("FAILED"), "failed")
UNREADABLE = Mark("#", "critical", mark("UNREADABLE"), "unreadable")
STOPPED = Mark("!", "warning", mark("STOPPED"), "stopped")
STALE = Mark("~", "warning", mark("STALE"), "stale")
ODD = Mark("o", "warning", mark("odd"), "odd")
SLOW = Mark("s", "warning", mark("slow"), "slow")
PENDING = Mark("?", "dim", mark("NO DATA"), "pending")
LIVE = Mark("*", "ok", mark("LIVE"), "live")
ENDED = Mark("=", "info", mark("ENDED"), "ended")
MARKS: Tuple[Mark, ...] = (FIRST_BAD, FAILED, BAD, UNREADABLE, STOPPED, STALE, ODD, SLOW, PENDING, LIVE, ENDED)
"""the worst first"""

_SEVERITY: Mapping[Mark, int] = {each: place for place, each in enumerate(MARKS)}
_STATES: Mapping[RunStatus, Mark] = {
    RunStatus.LIVE: LIVE,
    RunStatus.STALE: STALE,
    RunStatus.ENDED: ENDED,
    RunStatus.STOPPED: STOPPED,
    RunStatus.FAILED: FAILED,
    RunStatus.PENDING: PENDING,
    RunStatus.UNREADABLE: UNREADABLE,
}


class Marked(NamedTuple):
    """A rank and its mark."""

    row: RankRow
    mark: Mark


def state_of(status: RunStatus) -> Mark:
    """The mark of a state alone, whatever else is the matter with the rank."""
    return _STATES[status]


def marked(table: RankTable) -> Tuple[Marked, ...]:
    """Every rank with its mark, in the table's order."""
    first = table.bad[0].step if table.bad else None
    return tuple(Marked(row, _mark(row, first)) for row in table.rows)


def _mark(row: RankRow, first_bad: Optional[int]) -> Mark:
    state = _STATES[row.status]
    if row.bad is not None:
        return FIRST_BAD if row.bad.step == first_bad else FAILED if state is FAILED else BAD
    if _SEVERITY[state] < _SEVERITY[ODD]:
        return state
    return ODD if row.odd else SLOW if row.slower is not None else state


# ---- order


Key = Callable[[Marked], Tuple[float, ...]]


def _highest(value: Optional[float]) -> float:
    """Sorts the highest first, what is no number before all, what is not known last."""
    return math.inf if value is None else -math.inf if math.isnan(value) else -value


class Order(NamedTuple):
    """One way to sort ranks."""

    word: str
    """msgid"""
    key: Key


ORDERS: Tuple[Order, ...] = (
    Order(mark("worst first"), lambda each: (_SEVERITY[each.mark], -(each.row.behind or 0), each.row.rank_id)),
    Order(mark("by rank"), lambda each: (each.row.rank_id,)),
    Order(mark("farthest behind first"), lambda each: (_highest(each.row.behind), each.row.rank_id)),
    Order(mark("highest loss first"), lambda each: (_highest(each.row.loss), each.row.rank_id)),
    Order(mark("highest norm first"), lambda each: (_highest(each.row.grad_norm), each.row.rank_id)),
    Order(mark("slowest first"), lambda each: (_highest(each.row.step_time_s), each.row.rank_id)),
)


def filtered(ranks: Sequence[Marked], text: str, now: float) -> List[Marked]:
    """Ranks that a filter leaves."""
    if not text.strip():
        return list(ranks)
    from mstui.model.filters import parse  # most screens start without a filter

    wanted = parse(text)
    return [each for each in ranks if wanted.matches(_name(each), rank_figures(each, now))]


def _name(each: Marked) -> str:
    """What words of a filter are looked for in."""
    words = [f"rank_{each.row.rank_id}", each.mark.name, each.row.status.value]
    return " ".join(words + ["odd"] * bool(each.row.odd) + ["slow"] * (each.row.slower is not None))


def rank_figures(each: Marked, now: float) -> Callable[[str], Union[float, str, None]]:
    """`rank`, `state`, `step`, `behind`, `loss`, `norm`, `time`, `age` and `bad` (the step of its first NaN)."""

    def lookup(name: str) -> Union[float, str, None]:
        row = each.row
        if name == "state":
            return row.status.value
        figures: Dict[str, Optional[float]] = {
            "rank": row.rank_id,
            "step": row.last_step,
            "behind": row.behind,
            "loss": row.loss,
            "norm": row.grad_norm,
            "grad_norm": row.grad_norm,
            "time": row.step_time_s,
            "age": now - row.last_data if row.last_data else None,
            "bad": None if row.bad is None else row.bad.step,
        }
        value = figures.get(name)
        return None if value is None else float(value)

    return lookup


# ---- sentences


def rank_list(ids: Iterable[int]) -> str:
    """`0-3,7,9`; of many, the first ranges and how many ranks more."""
    ranges: List[Tuple[int, int]] = []
    for rank_id in sorted(ids):
        if ranges and ranges[-1][1] == rank_id - 1:
            ranges[-1] = (ranges[-1][0], rank_id)
        else:
            ranges.append((rank_id, rank_id))
    text = ",".join(str(a) if a == b else f"{a}-{b}" if b > a + 1 else f"{a},{b}" for a, b in ranges[:MOST_NAMED])
    rest = sum(b - a + 1 for a, b in ranges[MOST_NAMED:])
    return text + " " + _("and {n} more").format(n=rest) if rest else text


def named(ids: Sequence[int]) -> str:
    """`rank 3`, `ranks 0-7`."""
    return ngettext("rank {ranks}", "ranks {ranks}", len(ids)).format(ranks=rank_list(ids))


def headline(table: RankTable, cells: int, failed: str = "") -> Tuple[str, str]:
    """The one most important fact of the ranks, in few words where there are few cells, and its look.

    failed: what ended a rank, where one has; safe to show.
    """
    if table.bad:
        if cells >= SENTENCE_WIDTH:
            said = bad_sentence(table)
            return (said if not failed else clauses([said, failed])), "critical"
        wave = table.bad[0]
        text = _("first bad: {ranks} at {step}").format(ranks=rank_list(wave.ranks), step=wave.step)
        return text, "critical"
    if failed:
        return failed, "critical"
    if table.stopped:
        farthest = next(row for row in table.rows if row.rank_id == table.stopped[0])
        behind = farthest.behind or 0
        text = ngettext(
            "{ranks} stopped while others go on, one step behind",
            "{ranks} stopped while others go on, up to {n} steps behind",
            behind,
        )
        return text.format(ranks=named(table.stopped), n=behind), "warning"
    if table.odd:
        more = len({each.rank_id for each in table.odd}) - 1
        text = odd_sentence(table.odd[0])
        return (text if not more else clauses([text, _("{n} more").format(n=more)])), "warning"
    if table.stragglers:
        row = next(row for row in table.rows if row.rank_id == table.stragglers[0])
        text = _("slowest: rank {rank}, {time} a step, median {median}").format(
            rank=row.rank_id,
            time=duration(row.step_time_s or 0.0),
            median=duration(table.step_time_median_s or 0.0),
        )
        more = len(table.stragglers) - 1
        return (text if not more else clauses([text, _("{n} more").format(n=more)])), "warning"
    steps = [row.last_step for row in table.rows if row.last_step is not None]
    if not steps:
        return "", "dim"
    if min(steps) == max(steps):
        return _("all at step {step}").format(step=max(steps)), "dim"
    return _("steps {low} to {high}").format(low=min(steps), high=max(steps)), "dim"


def bad_sentence(table: RankTable) -> str:
    """Which ranks went bad first, at which step, and who followed how much later."""
    first, *later = table.bad
    if len(first.ranks) == len(table.rows) > 1:
        return _("first bad: {ranks} at the same step {step}: it came through the all-reduce").format(
            ranks=named(first.ranks), step=first.step
        )
    text = _("first bad: {ranks} at step {step}").format(ranks=named(first.ranks), step=first.step)
    if not later:
        return text
    gap = later[0].step - first.step
    after = ngettext("{ranks} one step later", "{ranks} {n} steps later", gap)
    return clauses([text, after.format(ranks=rank_list(later[0].ranks), n=gap)])


def odd_sentence(odd: OddFigure) -> str:
    """A figure far from those of the other ranks."""
    text = _("odd: rank {rank}, loss {value}, median {median}")
    if odd.role is Role.GRAD_NORM:
        text = _("odd: rank {rank}, gradient norm {value}, median {median}")
    return text.format(rank=odd.rank_id, value=number(odd.value, VALUE_WIDTH), median=number(odd.median, VALUE_WIDTH))


def note(row: RankRow, failed: str = "") -> str:
    """What is the matter with one rank, shortest first; its bad tag's name is not safe to show as it is.

    failed: what ended it.
    """
    said: List[str] = [failed] if failed else []
    if row.bad is not None:
        said.append(_("bad at {step}: {tag}").format(step=row.bad.step, tag=row.bad.tag))
    if row.stopped:
        said.append(_("others go on"))
    for odd in row.odd:
        text = _("norm, median {median}") if odd.role is Role.GRAD_NORM else _("loss, median {median}")
        said.append(text.format(median=number(odd.median, VALUE_WIDTH)))
    if row.slower is not None:
        said.append(_("{times} times the median").format(times=number(row.slower, 4)))
    return clauses(said)
