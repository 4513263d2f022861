"""The records that the log panel shows: which files, which level, where in them; fetched in a worker, drawn as rows.

It asks the monitor for pages and keeps one. Keys are the panel's (mstui.tui.panels.log).
"""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from textual.timer import Timer

from mstui.i18n import _, mark
from mstui.model.batch import FileKey
from mstui.model.log_view import LogFile, LogPage, LogPlace, LogQuery, LogRow, ProcessFact
from mstui.model.logs import LogLevel
from mstui.model.series import SeriesKey
from mstui.safe_text import fit, safe
from mstui.safe_text import width as cell_width
from mstui.tui.fetching import Fetching
from mstui.tui.fetching_panel import FetchingPanel
from mstui.tui.lines import Row, Span
from mstui.tui.listing import LIST_EVERY_S
from mstui.tui.log_notices import notice_rows
from mstui.tui.log_rows import HIT_MARK, STEP_MARK, RowStyle, record_rows, style_for
from mstui.tui.log_search import LogSearch
from mstui.tui.log_window import NOTHING, LogWindow, Request
from mstui.tui.messages import Fetched
from mstui.tui.numbers import count
from mstui.tui.panel import Host, joined
from mstui.tui.patience import Patience
from mstui.tui.selection import selected_run
from mstui.tui.unread_logs import UnreadLogs
from mstui.tui.wrapping import paragraph_rows

ALL_UP_TO = 16
"""ranks up to which all of them are shown together at first; beyond, the selected one"""
PATIENCE_S = 8.0
"""seconds that the newest records wait for room on the link at most: twice as long as a chart"""
CATCH_UP_S = 1.0
LEVEL_WORDS = {
    LogLevel.UNKNOWN: mark("all levels"),
    LogLevel.INFO: mark("info+"),
    LogLevel.WARNING: mark("warning+"),
    LogLevel.ERROR: mark("error+"),
}
"""what the level filter leaves, in the order in which its key goes round"""


class Scope(NamedTuple):
    """Whose records: of one file, else of the selected rank, else of all ranks."""

    all_ranks: bool = True
    file: Optional[FileKey] = None


class Taken(NamedTuple):
    """A page as a worker has read it."""

    request: Request
    revision: int
    patient: bool
    """nobody asked for it: it may wait for the link"""
    page: LogPage


class Listed(NamedTuple):
    """The logs of a run as they were at a look."""

    run_key: str = ""
    revision: int = -1
    at: float = float("-inf")
    files: Tuple[LogFile, ...] = ()


class LogRecords(FetchingPanel):
    """Holds a page of records around the selection, or the newest ones."""

    TITLE = mark("logs")

    def __init__(self, host: Host, panel_id: str) -> None:
        super().__init__(host, panel_id)
        self.window = LogWindow()
        self.search = LogSearch(self, host.budget.now)
        self.least = LogLevel.UNKNOWN
        self.shift = 0
        self.wrap = False
        self.fact = 0
        """place of the pinned fact among the serious ones"""
        self._scope: Optional[Scope] = None
        self._files = Listed()
        self._of: Tuple[str, int] = ("", 0)
        """run and rank that the rest belongs to"""
        self._seeking = Fetching(self, "seek")
        self._unread = UnreadLogs(host)
        self._patience = Patience(host.budget, PATIENCE_S)
        self._later: Optional[Timer] = None
        self._asked_at = float("-inf")
        self._revision = -1
        self._must_show: Optional[LogPlace] = None
        """a record that was jumped to: the level filter gives way to it"""
        self._homing = False

    # ---- what is asked for

    def files(self) -> Sequence[LogFile]:
        """Text logs of the selected run; a thousand of them are not asked for again at every look."""
        key, revision = self.host.view.run_key, self.host.monitor.revision
        now = self.host.budget.now()
        old = self._files
        if key != old.run_key or (revision != old.revision and (not old.files or now - old.at >= LIST_EVERY_S)):
            self._files = Listed(key, revision, now, tuple(self.host.monitor.log_files(key)) if key else ())
        return self._files.files

    def facts(self) -> Sequence[ProcessFact]:
        """What the run's processes have told."""
        key = self.host.view.run_key
        return self.host.monitor.process_facts(key) if key else ()

    def scope(self) -> Scope:
        """Whose records are shown."""
        if self._scope is not None:
            return self._scope
        run = selected_run(self.host)
        return Scope(all_ranks=run is None or len(run.ranks) <= ALL_UP_TO)

    def set_scope(self, scope: Scope) -> None:
        """Show other records, the newest of them."""
        self._scope = scope
        self.window.follow()
        self._again()

    def log_query(self, least: Optional[LogLevel] = None) -> LogQuery:
        """Which records, for the monitor."""
        view, scope = self.host.view, self.scope()
        rank = None if scope.all_ranks or scope.file is not None else view.rank_id
        return LogQuery(view.run_key, rank, scope.file, self.least if least is None else least)

    def show_place(self, place: LogPlace) -> None:
        """Select a record, whatever has to change for it to show."""
        scope = self.scope()
        inside = place.file == scope.file or (
            scope.file is None and (scope.all_ranks or place.file.rank_id == self.host.view.rank_id)
        )
        if not inside:
            several = len({file.key.rank_id for file in self.files()}) > 1
            self._scope = Scope(file=place.file) if several and place.file.rank_id < 0 else Scope(all_ranks=True)
        self._must_show = place
        self.window.go(place)
        self._again()

    def _again(self) -> None:
        self._look()
        self.redraw()

    # ---- fetching

    def _settle(self) -> None:
        """Another run has other logs; another rank begins at its end where only one rank is shown."""
        view = self.host.view
        if self._of == (view.run_key, view.rank_id):
            return
        other_run = self._of[0] != view.run_key
        self._of = (view.run_key, view.rank_id)
        if other_run:
            self._scope, self.fact, self.shift = None, 0, 0
            self.search.clear()
        if other_run or not self.scope().all_ranks:
            self.window.follow()

    def _look(self) -> None:
        self._settle()
        if not self.display or not self.files():
            if self.window.loaded is not None and not self.files():
                self.window.page, self.window.loaded = NOTHING, None
            return
        request, revision = self.window.request(self.log_query()), self.host.monitor.revision
        if request != self.window.loaded:
            self._ask(request, revision, patient=False)
        elif revision != self._revision:
            wait = self._asked_at + LIST_EVERY_S - self.host.budget.now()
            if wait <= 0:
                self._ask(request, revision, patient=True)
            elif self._later is None:
                self._later = self.set_timer(wait, self._look_later)

    def _look_later(self) -> None:
        self._later = None
        self._look()
        if self._patience.holding and self.display:
            self._draw_patiently()

    def _ask(self, request: Request, revision: int, *, patient: bool) -> None:
        monitor = self.host.monitor
        self._asked_at = self.host.budget.now()

        def call() -> Taken:
            page = monitor.fetch_log(request.query, request.around, request.before, request.after)
            return Taken(request, revision, patient, page)

        self._fetching.ask((request, revision), call)

    def data_changed(self) -> None:
        """New records are read at the pace of a list, and drawn when the link has room for them."""
        self._look()
        if not self.window.rows:
            self.redraw()

    def on_fetched(self, message: Fetched) -> None:
        """Keep what a worker has read."""
        answer = self._fetching.take(message)
        if answer is not None and isinstance(answer.value, Taken):
            self._taken(answer.value)
            self._look()
            if answer.value.patient:
                self._draw_patiently()
            else:
                self.redraw()
            return
        answer = self._seeking.take(message)
        if answer is not None:
            self.sought(answer.value)

    def grown(self) -> bool:
        """There are more records than those that were searched."""
        return False

    def sought(self, value: object) -> None:
        """A worker has looked for another record."""

    def _taken(self, value: object) -> None:
        assert isinstance(value, Taken)
        if value.request.query != self.log_query():
            return
        self.window.take(value.request, value.page)
        self._revision = value.revision
        wanted, self._must_show = self._must_show, None
        if wanted is not None and self.window.index_of(wanted) is None and self.least > LogLevel.UNKNOWN:
            self.least = LogLevel.UNKNOWN
            self.host.say(_("the level filter is off: it hid this record"))
            self.window.go(wanted)
        if self._homing and value.page.rows:
            self._homing = not value.page.at_start
            self.window.go(value.page.rows[0].place)

    def go_home(self) -> None:
        """Select the oldest record."""
        files = self.files()
        if not files:
            return
        scope, rank = self.scope(), self.host.view.rank_id
        mine = [each for each in files if scope.all_ranks or each.key == scope.file or each.key.rank_id == rank]
        first = min((each.key for each in mine), key=lambda key: key.started, default=files[0].key)
        self._homing = True
        self.window.go(LogPlace(scope.file or first, 0))
        self.window.loaded = None
        self._again()

    def _draw_patiently(self) -> None:
        with self._patience:
            self.redraw()
        if self._patience.holding and self._later is None:
            self._later = self.set_timer(CATCH_UP_S, self._look_later)

    # ---- drawing

    def wants_room(self) -> bool:
        """A run without logs needs none."""
        return bool(self.files())

    def scope_name(self) -> str:
        """Whose records are shown, in words."""
        scope = self.scope()
        if scope.file is not None:
            return safe(self.path_of(scope.file).rpartition("/")[2], ascii_only=self.host.ascii_only)
        if not scope.all_ranks:
            return _("rank {rank}").format(rank=self.host.view.rank_id)
        several = len({file.key.rank_id for file in self.files()}) > 1
        return _("all ranks") if several else ""

    def path_of(self, key: FileKey) -> str:
        """Where a log lies now."""
        return next((file.path for file in self.files() if file.key == key), key.path)

    def title(self, width: int) -> Row:
        """Whose records, follow or not, what is searched for and filtered, how many."""
        if not self.window.rows and not self.search.text and not self.least:
            return ()
        window, page = self.window, self.window.page
        parts: List[Span] = [(self.scope_name(), "info")] if self.scope_name() else []
        if window.following:
            parts.append((_("following"), "ok"))
        else:
            parts.append((_("paused, {key} follows").format(key="G"), "warning"))
        if self.search.text:
            text = safe(self.search.text, ascii_only=self.host.ascii_only)
            row = window.current()
            says = safe(self.search.says(row.place if row is not None else None), ascii_only=self.host.ascii_only)
            says += "+" if self.grown() and not self.search.running and not self.search.problem else ""
            found = bool(self.search.hits.count) or self.search.running
            parts.append((f"/{fit(text, 20, middle=False)}: {says}", "match" if found else "warning"))
        if self.least:
            parts.append((_(LEVEL_WORDS[self.least]), "info"))
        if window.rows:
            at = page.behind + window.at() + 1
            total = max(page.total, at)
            parts.append((count(total) if window.following else f"{at}/{count(total)}", "dim"))
        return joined(parts, width - cell_width(_(self.TITLE)) - len("-  -"))

    def body(self, width: int, height: int) -> Tuple[Row, ...]:
        """The pinned fact, a log that is not understood, the records."""
        ascii_only, note = self.host.ascii_only, self.window.page.note
        rows = notice_rows(self.facts(), self.fact, self._unread.files(), note, width, height, ascii_only=ascii_only)
        if not self.window.rows:
            return (*rows, *paragraph_rows([(self._why_empty(), "dim")], width, max(height - len(rows), 0)))
        rows += self._record_rows(width, height - len(rows))
        [shown] = self._patience.choose([("log", tuple(rows))], width, self.host.budget.now())
        return shown

    def _why_empty(self) -> str:
        if not self.host.view.run_key:
            return _("no run is chosen")
        if not self.files():
            return _(
                "This run has no text log. mstui reads logs too: give them beside the summary, as in "
                "mstui watch ./summary ./train.log"
            )
        if self.window.loaded is None or self._fetching.busy:
            return _("reading ...")
        if self.least:
            return _("No record of this level.")
        return _("The log holds nothing yet.")

    def _record_rows(self, cells: int, height: int) -> List[Row]:
        held, window = self.window.rows, self.window
        style = style_for(
            held,
            max(cells - 1, 1),
            shift=self.shift,
            wrap=self.wrap,
            words=self.search.words,
            ascii_only=self.host.ascii_only,
        )
        made: Dict[LogPlace, int] = {}

        def needs(row: LogRow) -> int:
            if not style.wrap:
                return 1
            if row.place not in made:
                made[row.place] = len(record_rows(row, style))
            return made[row.place]

        first, end = window.visible(max(height, 1), needs)
        step_place = self._step_place()
        rows: List[Row] = []
        for i in range(first, end):
            rows += self._drawn_record(held[i], style, i == window.at(), step_place)
        return rows[: max(height, 0)]

    def _drawn_record(self, row: LogRow, style: RowStyle, selected: bool, step_place: Optional[LogPlace]) -> List[Row]:
        found = STEP_MARK if row.place == step_place else HIT_MARK if self.search.is_hit(row.place) else " "
        drawn: List[Row] = []
        for i, cells in enumerate(record_rows(row, style, found)):
            sign = ">" if selected and not i else " "
            if selected and self.has_focus:
                drawn.append(((sign, "key selected"), *((text, f"{look} selected") for text, look in cells)))
            else:
                drawn.append(((sign, "dim"), *cells))
        return drawn

    def _step_place(self) -> Optional[LogPlace]:
        """The record that tells of the point under the value cursor."""
        view, monitor = self.host.view, self.host.monitor
        if view.cursor is None:
            return None
        key = SeriesKey(view.run_key, view.rank_id, view.cursor.tag)
        reading = monitor.reading_at(key, view.axis, view.cursor.index, view.smoothing)
        return None if reading is None else monitor.log_place(key, reading.step)
