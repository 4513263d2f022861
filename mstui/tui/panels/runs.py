"""Runs and their ranks, as a tree. Listing thousands costs nothing: a row is built when it is visible."""

from __future__ import annotations

from typing import Hashable, List, NamedTuple, Optional, Sequence, Set, Tuple

from mstui.i18n import _, mark
from mstui.model.runs import RankInfo, RunInfo
from mstui.safe_text import safe
from mstui.tui.actions import bindings
from mstui.tui.filtering import filtered_runs, problem
from mstui.tui.header import run_name, step_text
from mstui.tui.lines import Row
from mstui.tui.listing import ListPanel
from mstui.tui.liveness import of_listed
from mstui.tui.numbers import age, count
from mstui.tui.palette import SERIES_LOOKS
from mstui.tui.panel import Host, PanelSpec

WORDY = 50
"""columns from which the state is a word, and steps are written in full"""
WORD_WIDTH, STEP_WIDTH, SHORT_STEP_WIDTH, AGE_WIDTH = 13, 14, 6, 5
LEAST_NAME = 8
SELECTED, OVERLAID, PINNED, OTHER = "*", "+", "P", " "


class Entry(NamedTuple):
    """One line: a run, or one rank of it."""

    run: RunInfo
    rank: Optional[RankInfo] = None


class RunsPanel(ListPanel[Entry]):
    """The selected run is drawn with `*`, those drawn with it with `+`, the pinned one with P."""

    BINDINGS = bindings("runs")  # type: ignore[assignment]
    TITLE = mark("runs")

    def __init__(self, host: Host, panel_id: str) -> None:
        super().__init__(host, panel_id)
        self._open: Set[str] = set()
        """runs whose ranks are shown"""
        self._listed: Tuple[Entry, ...] = ()
        self._listed_for: Tuple[object, ...] = ()
        self._hits = (0, 0)
        self._problem = ""

    def items(self) -> Sequence[Entry]:
        """The tree, rebuilt when the data, the filter or a fold has changed."""
        text = self.host.view.run_filter
        wanted = (self.host.monitor.revision, text, frozenset(self._open))
        if wanted != self._listed_for:
            self._listed_for = wanted
            monitor = self.host.monitor
            runs = filtered_runs(monitor, text)
            self._problem = problem(text)
            self._hits = (len(runs), len(monitor.runs()))
            entries: List[Entry] = []
            for run in runs:
                entries.append(Entry(run))
                if run.key in self._open:
                    entries += [Entry(run, rank) for rank in run.ranks]
            self._listed = tuple(entries)
        return self._listed

    def key_of(self, item: Entry) -> Hashable:
        """Run and rank."""
        return (item.run.key, item.rank.rank_id if item.rank is not None else None)

    def empty(self) -> str:
        """Why nothing is listed."""
        return _("no run matches the filter") if self.host.view.run_filter else _("no run yet")

    def title(self, width: int) -> Row:
        """Position, and what the filter leaves."""
        del width
        items = self.items()
        text = safe(self.host.view.run_filter, ascii_only=self.host.ascii_only)
        if self._problem:
            return ((safe(self._problem, ascii_only=self.host.ascii_only), "critical"),)
        if text:
            return ((f"[{self._hits[0]}/{self._hits[1]}] ", "info"), (text, "match"))
        return ((self.position(items), "dim"),)

    def item_row(self, item: Entry, width: int) -> Row:
        """Marks, name, step, state and age."""
        run, rank = item.run, item.rank
        wordy = width >= WORDY
        if rank is not None:
            here = run.key == self.host.view.run_key and rank.rank_id == self.host.view.rank_id
            marks, marks_look = (f"  {SELECTED if here else OTHER}", "text")
            name = _("rank {rank}").format(rank=rank.rank_id)
            last_data = rank.last_data
            step = "" if rank.last_step is None else str(rank.last_step) if wordy else count(rank.last_step)
        else:
            marks, marks_look = self._marks(run)
            name = run_name(run)
            if len(run.ranks) > 1:
                name += f" x{len(run.ranks)}"
            last_data = run.last_data
            step = step_text(run) if wordy else "" if run.last_step is None else count(run.last_step)
        live = of_listed(run, self.host.now(), rank)
        state = self.padded(f"{live.glyph} {live.word}", WORD_WIDTH) if wordy else self.padded(live.glyph, 2)
        old = age(self.host.now() - last_data) if last_data else ""
        tail = f"{step:>{STEP_WIDTH if wordy else SHORT_STEP_WIDTH}} {old:>{AGE_WIDTH}}"
        faults = "!" if rank is None and run.fault_count else " "
        room = max(width - len(marks) - len(tail) - 2 - (WORD_WIDTH if wordy else 2), LEAST_NAME)
        return (
            (marks, marks_look),
            (self.padded(safe(name, ascii_only=self.host.ascii_only), room), "text"),
            (faults, "warning"),
            (" " + state, live.look),
            (tail, "dim"),
        )

    def _marks(self, run: RunInfo) -> Tuple[str, str]:
        view = self.host.view
        if run.key == view.pinned:
            sign = PINNED
        elif run.key == view.run_key:
            sign = SELECTED
        else:
            sign = OVERLAID if run.key in view.overlay else OTHER
        fold = " " if len(run.ranks) < 2 else "-" if run.key in self._open else "+"
        drawn = sign != OTHER
        return f"{sign}{fold} ", f"series-{view.look_of(run.key) % SERIES_LOOKS}" if drawn else "dim"

    def current_run(self) -> Optional[str]:
        """Key of the run under the selection."""
        item = self.current()
        return item.run.key if item is not None else None

    # --- actions

    def action_run_up(self) -> None:
        """The line above."""
        self.move(-1)

    def action_run_down(self) -> None:
        """The line below."""
        self.move(1)

    def action_run_top(self) -> None:
        """The first line."""
        self.to_top()

    def action_run_bottom(self) -> None:
        """The last line."""
        self.to_bottom()

    def action_run_page_down(self) -> None:
        """A page down."""
        self.page(1)

    def action_run_page_up(self) -> None:
        """A page up."""
        self.page(-1)

    def action_run_open(self) -> None:
        """Look at this run or rank."""
        item = self.current()
        if item is None:
            return
        overlay = tuple(key for key in self.host.view.overlay if key != item.run.key)
        if item.rank is None:
            self.host.change_view(run_key=item.run.key, overlay=overlay)
        else:
            self.host.change_view(run_key=item.run.key, rank_id=item.rank.rank_id, overlay=overlay)

    def action_run_overlay(self) -> None:
        """Draw this run with the selected one, or not."""
        item, view = self.current(), self.host.view
        if item is None:
            return
        key = item.run.key
        if key == view.run_key:
            self.host.say(_("this run is the selected one: it is drawn already"))
        elif key in view.overlay:
            pinned = "" if view.pinned == key else view.pinned
            self.host.change_view(overlay=tuple(k for k in view.overlay if k != key), pinned=pinned)
        else:
            self.host.change_view(overlay=(*view.overlay, key))

    def action_run_pin(self) -> None:
        """Keep this run on top of the others, or not."""
        item, view = self.current(), self.host.view
        if item is None:
            return
        key = item.run.key
        if view.pinned == key:
            self.host.change_view(pinned="")
            return
        overlay = view.overlay if key in (*view.overlay, view.run_key) else (*view.overlay, key)
        self.host.change_view(pinned=key, overlay=overlay)

    def action_run_fold(self) -> None:
        """Show or hide the ranks of this run."""
        item = self.current()
        if item is None:
            return
        self._open ^= {item.run.key}
        if item.rank is not None:
            self.select((item.run.key, None))
        self.redraw()


PANEL = PanelSpec(
    "runs",
    mark("runs"),
    mark(
        "Every run under the watched path, the newest data first, with its last step, its state and the age of its "
        "newest data. * marks the selected run, + those drawn with it, P the pinned one; a + after the mark means "
        "that the run has ranks to unfold. A filter may hold words, | for or, ! for not, /regular expressions/ and "
        "comparisons such as last.loss<2, step>1000 or learning_rate>=1e-3."
    ),
    lambda host: RunsPanel(host, "runs"),
)
