"""The ranks of the selected run: a table where they fit, else a grid of marks, the worst first in both.

It shows what the monitor's table of ranks says. Which rank is at fault is not its business.
"""

from __future__ import annotations

from collections import Counter
from typing import ClassVar, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from textual.binding import BindingType

from mstui.i18n import _, commas, mark
from mstui.model.log_view import ProcessFact
from mstui.model.ranks import RankRow, RankTable
from mstui.safe_text import ASCII_ELLIPSIS, ELLIPSIS, fit, pad, safe, width
from mstui.tui.actions import bindings
from mstui.tui.alert_marks import named_ranks
from mstui.tui.filtering import problem
from mstui.tui.lines import Row, Span
from mstui.tui.numbers import age, count, duration, number
from mstui.tui.panel import Host, Panel, PanelSpec
from mstui.tui.process_words import failure, reasons
from mstui.tui.rank_marks import MARKS, ORDERS, Marked, filtered, headline, marked, note, state_of
from mstui.tui.selection import selected_run

TABLE_FROM_WIDTH = 30
"""columns below which even a few ranks are a grid"""
HEADING = 1
"""rows that a table spends on the names of its columns"""
LEAST_GRID = 4
"""body rows from which a grid spends some on its legend and on the selected rank"""
NAME_WIDTH, STATE_WIDTH, STEP_WIDTH, BEHIND_WIDTH, AGE_WIDTH, FIGURE_WIDTH, TIME_WIDTH = 5, 12, 8, 6, 5, 7, 7
LEAST_NOTE = 16
"""columns that are left for words before a column is given up for them"""


class _Column(NamedTuple):
    title: str
    """msgid"""
    width: int
    given_up: int
    """the higher, the sooner it goes where there is no room; 0 stays"""


_COLUMNS: Tuple[_Column, ...] = (
    _Column(mark("rank"), NAME_WIDTH, 0),
    _Column(mark("state"), STATE_WIDTH, 1),
    _Column(mark("step"), STEP_WIDTH, 0),
    _Column(mark("behind"), BEHIND_WIDTH, 2),
    _Column(mark("age"), AGE_WIDTH, 5),
    _Column(mark("loss"), FIGURE_WIDTH, 3),
    _Column(mark("norm"), FIGURE_WIDTH, 4),
    _Column(mark("s/step"), TIME_WIDTH, 6),
)


class RanksPanel(Panel):
    """One line or one mark a rank."""

    TITLE = mark("ranks")
    BINDINGS: ClassVar[List[BindingType]] = [*bindings("ranks")]

    def __init__(self, host: Host, panel_id: str) -> None:
        super().__init__(host, panel_id)
        self._order = 0
        self._selected: Optional[int] = None
        """rank id"""
        self._top = 0
        """first row that shows, of the table or the grid"""
        self._per_row = 1
        """ranks in one row as drawn last"""
        self._room = 1
        """rows of ranks as drawn last"""
        self._ranks: Tuple[Marked, ...] = ()
        self._ranks_for: Tuple[object, ...] = ()
        self._total = 0
        self._reasons_for: Sequence[ProcessFact] = ()
        self._reasons_made: Mapping[int, str] = {}

    # ---- what is shown

    def _table(self) -> Optional[RankTable]:
        run_key = self.host.view.run_key
        return self.host.monitor.rank_table(run_key) if run_key else None

    def _facts(self) -> Sequence[ProcessFact]:
        run_key = self.host.view.run_key
        return self.host.monitor.process_facts(run_key) if run_key else ()

    def _reasons(self) -> Mapping[int, str]:
        """By rank, what ended it."""
        facts = self._facts()
        if self._reasons_for is not facts:
            self._reasons_for = facts
            self._reasons_made = reasons(facts, ascii_only=self.host.ascii_only)
        return self._reasons_made

    def ranks(self) -> Tuple[Marked, ...]:
        """The ranks that the filter leaves, in order; made anew when the table, the filter or the order is another."""
        table, text = self._table(), self.host.view.rank_filter
        wanted = (table, text, self._order)
        if self._ranks_for[1:] != wanted[1:] or self._ranks_for[0] is not table:
            self._ranks_for = wanted
            every = marked(table) if table is not None else ()
            self._total = len(every)
            left = filtered(every, text, self.host.now())
            left.sort(key=ORDERS[self._order].key)
            self._ranks = tuple(left)
        return self._ranks

    def hits(self) -> Tuple[int, int]:
        """Ranks that the filter leaves, of all."""
        return len(self.ranks()), self._total

    def _at(self, ranks: Sequence[Marked]) -> int:
        """Place of the selection; the first one where it is not listed (any more)."""
        return next((i for i, each in enumerate(ranks) if each.row.rank_id == self._selected), 0)

    @property
    def _ellipsis(self) -> str:
        return ASCII_ELLIPSIS if self.host.ascii_only else ELLIPSIS

    # ---- drawing

    def wants_room(self) -> bool:
        """A run of one rank has nothing to compare."""
        run = selected_run(self.host)
        return run is not None and len(run.ranks) > 1

    def title(self, width: int) -> Row:
        """The one most important fact; with a filter, what it leaves."""
        ranks, text = self.ranks(), self.host.view.rank_filter
        trouble = problem(text)
        if trouble:
            return ((safe(trouble, ascii_only=self.host.ascii_only), "critical"),)
        spans: List[Span] = []
        if text.strip():
            shown = safe(text, ascii_only=self.host.ascii_only)
            spans += [(f"[{len(ranks)}/{self._total}] ", "info"), (shown, "match"), (" ", "text")]
        table = self._table()
        if table is not None:
            said, look = headline(table, width, failure(self._facts(), ascii_only=self.host.ascii_only))
            spans.append((said, look))
        if self._order:
            spans.append((" " + _(ORDERS[self._order].word), "dim"))
        return tuple(spans)

    def body(self, width: int, height: int) -> Tuple[Row, ...]:
        """A table where every rank has its row, else a grid."""
        ranks = self.ranks()
        if not ranks:
            return (((" " + fit(self._why_empty(), max(width - 1, 0), middle=False), "dim"),),)
        if width >= TABLE_FROM_WIDTH and len(ranks) + HEADING <= height:
            return self._draw_table(ranks, width, height)
        return self._draw_grid(ranks, width, height)

    def _why_empty(self) -> str:
        if self._total:
            return _("no rank matches the filter")
        return _("no run is chosen") if not self.host.view.run_key else _("no rank is read yet")

    def _draw_table(self, ranks: Sequence[Marked], cells: int, height: int) -> Tuple[Row, ...]:
        columns, words = _fitting_columns(cells - 2)
        self._per_row, self._room, self._top = 1, height - HEADING, 0
        selected = self._at(ranks)
        heading = "  " + " ".join(_aligned(_(column.title), column) for column in columns)
        rows: List[Row] = [((heading, "dim"),)]
        alerted = named_ranks(self.host)
        for i, each in enumerate(ranks):
            row = self._table_row(each, columns, words)
            if i == selected and self.has_focus:
                rows.append(((">", "key selected"), *((text, f"{look} selected") for text, look in row)))
            else:
                lead = alerted.get(each.row.rank_id, (" ", "dim"))
                rows.append(((">", "dim") if i == selected and lead[0] == " " else lead, *row))
        return tuple(rows)

    def _table_row(self, each: Marked, columns: Sequence[_Column], words: int) -> Row:
        row = each.row
        here = row.rank_id == self.host.view.rank_id
        state = state_of(row.status)
        bad_loss = "critical" if row.loss is not None and row.loss - row.loss != 0.0 else "text"
        bad_norm = "critical" if row.grad_norm is not None and row.grad_norm - row.grad_norm != 0.0 else "text"
        texts = {
            "rank": (f"{'*' if here else ''}{row.rank_id}", "strong" if here else "text"),
            "state": (f"{state.glyph} {_(state.word)}", state.look),
            "step": ("-" if row.last_step is None else str(row.last_step), "text"),
            "behind": ("" if not row.behind else count(row.behind), "text"),
            "age": (self._age(row), "dim"),
            "loss": (_figure(row.loss), bad_loss),
            "norm": (_figure(row.grad_norm), bad_norm),
            "s/step": ("-" if row.step_time_s is None else duration(row.step_time_s), "text"),
        }
        spans: List[Span] = [(each.mark.glyph, each.mark.look)]
        for column in columns:
            text, look = texts[column.title]
            spans.append((_aligned(text, column) + " ", look))
        said = safe(note(row, self._reasons().get(row.rank_id, "")), ascii_only=self.host.ascii_only)
        spans.append((fit(said, max(words, 0), middle=False, ellipsis=self._ellipsis), each.mark.look))
        return tuple(spans)

    def _draw_grid(self, ranks: Sequence[Marked], cells: int, height: int) -> Tuple[Row, ...]:
        below: Tuple[Row, ...] = ()
        if height >= LEAST_GRID:
            legend = self._legend(ranks, cells)
            below = (*legend[: max(height - LEAST_GRID + 1, 0)], *self._detail(ranks, cells))
        room = max(height - len(below), 1)
        size = 2 if -(-len(ranks) // max(cells // 2, 1)) <= room else 1
        self._per_row, self._room = max(cells // size, 1), room
        selected = self._at(ranks)
        lines = -(-len(ranks) // self._per_row)
        at = selected // self._per_row
        self._top = max(min(self._top, at, lines - room), at - room + 1, 0)
        rows: List[Row] = []
        for line in range(self._top, min(self._top + room, lines)):
            begin = line * self._per_row
            rows.append(self._grid_row(ranks[begin : begin + self._per_row], selected - begin, size))
        rows += [()] * (room - len(rows))
        return (*rows, *below)

    def _grid_row(self, ranks: Sequence[Marked], selected: int, size: int) -> Row:
        """Marks side by side; neighbours of one look are one span."""
        spans: List[Span] = []
        gap = " " * (size - 1)
        run, run_look = "", ""
        for i, each in enumerate(ranks):
            look = f"{each.mark.look} selected" if i == selected else each.mark.look
            if look != run_look and run:
                spans.append((run, run_look))
                run = ""
            run, run_look = run + each.mark.glyph, look
            if gap:
                if i == selected:
                    spans.append((run, run_look))
                    run, run_look = gap, "text"
                else:
                    run += gap
        if run:
            spans.append((run, run_look))
        return tuple(spans)

    def _legend(self, ranks: Sequence[Marked], cells: int) -> Tuple[Row, ...]:
        """Each mark that is there, its word and number, in as many rows as that takes."""
        numbers = Counter(each.mark for each in ranks)
        rows: List[Row] = []
        row: List[Span] = []
        used = 0
        for each in MARKS:
            if not numbers[each]:
                continue
            text = f" {_(each.word)} {numbers[each]}"
            needed = 2 + 1 + width(text)
            if row and used + needed > cells:
                rows.append(tuple(row))
                row, used = [], 0
            row += [(" ", "text"), (each.glyph, each.look), (text + " ", "dim")]
            used += needed
        return (*rows, tuple(row))

    def _detail(self, ranks: Sequence[Marked], cells: int) -> Tuple[Row, ...]:
        """The selected rank in one row."""
        at = self._at(ranks)
        row = ranks[at].row
        state = state_of(row.status)
        parts = [
            f"{_(state.word)} {self._age(row)}".rstrip(),
            "" if row.last_step is None else _("step {step}").format(step=row.last_step),
            "" if not row.behind else _("{n} behind").format(n=count(row.behind)),
            "" if row.loss is None else _("loss {value}").format(value=_figure(row.loss)),
            note(row, self._reasons().get(row.rank_id, "")),
            "" if row.grad_norm is None else _("norm {value}").format(value=_figure(row.grad_norm)),
            "" if row.step_time_s is None else _("{time} a step").format(time=duration(row.step_time_s)),
        ]
        text = safe(commas(part for part in parts if part), ascii_only=self.host.ascii_only)
        name = _("rank {rank}").format(rank=row.rank_id)
        here = "*" if row.rank_id == self.host.view.rank_id else " "
        room = max(cells - width(name) - 4, 0)
        return (
            (
                (f"{ranks[at].mark.glyph}{here}", ranks[at].mark.look),
                (name + "  ", "strong"),
                (fit(text, room, middle=False, ellipsis=self._ellipsis), "text"),
            ),
        )

    def _age(self, row: RankRow) -> str:
        return age(self.host.now() - row.last_data) if row.last_data else ""

    # ---- actions

    def _move(self, by: int) -> None:
        ranks = self.ranks()
        if not ranks:
            return
        at = min(max(self._at(ranks) + by, 0), len(ranks) - 1)
        self._selected = ranks[at].row.rank_id
        self.redraw()

    def action_rank_left(self) -> None:
        """The rank to the left."""
        self._move(-1)

    def action_rank_right(self) -> None:
        """The rank to the right."""
        self._move(1)

    def action_rank_up(self) -> None:
        """The rank above."""
        self._move(-self._per_row)

    def action_rank_down(self) -> None:
        """The rank below."""
        self._move(self._per_row)

    def action_rank_top(self) -> None:
        """The first rank."""
        self._move(-len(self.ranks()))

    def action_rank_bottom(self) -> None:
        """The last rank."""
        self._move(len(self.ranks()))

    def action_rank_page_up(self) -> None:
        """A page up."""
        self._move(-self._per_row * self._room)

    def action_rank_page_down(self) -> None:
        """A page down."""
        self._move(self._per_row * self._room)

    def action_rank_open(self) -> None:
        """Look at this rank."""
        ranks = self.ranks()
        if ranks:
            self.host.change_view(rank_id=ranks[self._at(ranks)].row.rank_id)

    def action_rank_order(self) -> None:
        """Sort by the next figure."""
        self._order = (self._order + 1) % len(ORDERS)
        self.host.say(_("ranks: {order}").format(order=_(ORDERS[self._order].word)))
        self.redraw()


def _figure(value: Optional[float]) -> str:
    return "-" if value is None else number(value, FIGURE_WIDTH - 1)


def _aligned(text: str, column: _Column) -> str:
    """Words to the left, figures to the right."""
    if column.title == "state":
        return pad(text, column.width)
    shown = fit(text, column.width, middle=False)
    return " " * (column.width - width(shown)) + shown


def _fitting_columns(cells: int) -> Tuple[Tuple[_Column, ...], int]:
    """Columns for which there is room beside the words at the end, and the cells that those get."""
    kept = list(_COLUMNS)

    def left() -> int:
        return cells - sum(column.width + 1 for column in kept)

    while left() < LEAST_NOTE and any(column.given_up for column in kept):
        kept.remove(max(kept, key=lambda column: column.given_up))
    return tuple(kept), left()


PANEL = PanelSpec(
    "ranks",
    mark("ranks"),
    mark(
        "The ranks of the selected run, the worst first: a table where they fit, else a grid with one mark a rank and "
        "what the marks mean below. X went bad (NaN or infinity) first, x later; F failed, as the logs tell; ! stopped "
        "and ~ is stale; o has a loss or gradient norm far from the other ranks, s takes longer for a step. The title "
        "says the most important fact. enter looks at the rank, s sorts by another figure. A filter may hold words "
        "(bad, odd, slow, live, failed) and comparisons of rank, step, behind, loss, norm, time, age and bad, such as "
        "step<1000, loss>5 or state=stale."
    ),
    lambda host: RanksPanel(host, "ranks"),
)
