"""The log: records of the selected run, followed or paged through; search, level filter, jumps. What the keys do.

What is fetched and how it is drawn is in mstui.tui.log_records.
"""

from __future__ import annotations

from typing import Callable, ClassVar, List, NamedTuple, Optional, Sequence, Tuple

from textual.binding import BindingType

from mstui.i18n import _, mark, ngettext
from mstui.model.log_view import LogPage, LogPlace, LogRow
from mstui.model.logs import LogLevel
from mstui.safe_text import safe
from mstui.tui.actions import bindings
from mstui.tui.log_records import LEVEL_WORDS, LogRecords, Scope
from mstui.tui.log_search import Searched
from mstui.tui.messages import ChoiceWanted, PointWanted, RecordWanted
from mstui.tui.numbers import count, moment
from mstui.tui.overlay import Choice
from mstui.tui.panel import Host, PanelSpec
from mstui.tui.process_words import serious, whose, word_of
from mstui.tui.prompt import Prompt, Verdict

SHIFT = 20
"""cells by which long messages are scrolled to the side"""
MOST_SHIFT = 2_000
MOST_LISTED = 500
"""logs offered by name; the list is filtered by typing"""
NEIGHBOURS = 2
"""records asked for at either side of the selection when the next error is looked for"""
_LEVELS = tuple(LEVEL_WORDS)
_ALL, _RANK, _FILE = "all", "rank", "file:"


class Sought(NamedTuple):
    """Records of errors around a place."""

    origin: LogRow
    by: int
    page: LogPage


class LogPanel(LogRecords):
    """The keys of the log."""

    BINDINGS: ClassVar[List[BindingType]] = [*bindings("log")]

    def __init__(self, host: Host, panel_id: str) -> None:
        super().__init__(host, panel_id)
        self._prompt: Optional[Prompt] = None
        self._arrived = True
        """the search has put the selection on a hit already, or need not any more"""
        self._searched_from: Optional[LogPlace] = None
        """the selection when the search began; None while the end was followed"""
        self._searched_total = 0
        """records that there were then"""

    # ---- moving

    def _move(self, by: int) -> None:
        was = self.window.following
        self._homing = False
        self.window.move(by)
        if was and not self.window.following:
            self.host.say(_("not following any more: G goes to the newest record and follows"))
        self._again()

    def action_log_up(self) -> None:
        """The record above."""
        self._move(-1)

    def action_log_down(self) -> None:
        """The record below."""
        self._move(1)

    def action_log_page_up(self) -> None:
        """A page up."""
        self._move(-self._page_rows())

    def action_log_page_down(self) -> None:
        """A page down."""
        self._move(self._page_rows())

    def _page_rows(self) -> int:
        return max(self.size.height - 2, 1)

    def action_log_top(self) -> None:
        """The oldest record."""
        self.go_home()

    def action_log_follow(self) -> None:
        """The newest record, and stay there."""
        self._homing = False
        self.window.follow()
        self._again()

    def action_log_left(self) -> None:
        """Long messages from farther left."""
        self.shift = max(self.shift - SHIFT, 0)
        self.redraw()

    def action_log_right(self) -> None:
        """Long messages from farther right."""
        self.shift = min(self.shift + SHIFT, MOST_SHIFT)
        self.redraw()

    def action_log_wrap(self) -> None:
        """Wrap long messages, or not."""
        self.wrap, self.shift = not self.wrap, 0
        self.host.say(_("long messages are wrapped") if self.wrap else _("long messages are cut: h l scroll"))
        self.redraw()

    # ---- what is shown

    def action_log_level(self) -> None:
        """Leave out records below the next level."""
        self.least = _LEVELS[(_LEVELS.index(self.least) + 1) % len(_LEVELS)]
        row = self.window.current()
        if not self.window.following and row is not None:
            self.window.anchor = row.place
        self._again()

    def action_log_ranks(self) -> None:
        """All ranks, or the selected one."""
        scope = self.scope()
        self.set_scope(Scope(all_ranks=not scope.all_ranks or scope.file is not None))
        self.host.say(_("log: {whose}").format(whose=self.scope_name() or _("all ranks")))

    def action_log_file(self) -> None:
        """Pick a log."""
        files = self.files()[:MOST_LISTED]
        if not files:
            self.host.say(_("no log to choose"))
            return
        root, ascii_only = self.host.monitor.root.rstrip("/") + "/", self.host.ascii_only
        choices = [Choice(_ALL, _("all ranks"))]
        choices.append(Choice(_RANK, _("the selected rank: {rank}").format(rank=self.host.view.rank_id)))
        for i, file in enumerate(files):
            note = ngettext("{n} record", "{n} records", file.records).format(n=count(file.records))
            choices.append(Choice(f"{_FILE}{i}", safe(file.path.removeprefix(root), ascii_only=ascii_only), note))
        keys = [file.key for file in files]

        def chosen(value: str) -> None:
            if value.startswith(_FILE):
                self.set_scope(Scope(all_ranks=False, file=keys[int(value[len(_FILE) :])]))
            else:
                self.set_scope(Scope(all_ranks=value == _ALL))

        scope = self.scope()
        now = f"{_FILE}{keys.index(scope.file)}" if scope.file in keys else _ALL if scope.all_ranks else _RANK
        self.post_message(ChoiceWanted(_("logs"), choices, chosen, now))

    def action_log_open(self) -> None:
        """The whole record in a window."""
        row = self.window.current()
        if row is not None:
            self.post_message(RecordWanted(row))

    def copy_text(self) -> str:
        """The selected record with its time and rank, in one line; the window has the whole of it."""
        row = self.window.current()
        if row is None:
            return ""
        when = moment(row.wall_time) if row.wall_time is not None else ""
        level = row.level.name if row.level is not LogLevel.UNKNOWN else ""
        parts = (when, level, _("rank {rank}").format(rank=row.rank_id), safe(row.text, len(row.text) + 1))
        return "  ".join(part for part in parts if part)

    # ---- search

    def own_prompt(self, close: Callable[[], None]) -> Prompt:
        """The line to type in that `/` opens here: it searches instead of filtering."""

        def done() -> None:
            self.search.hurry()
            close()

        self._prompt = Prompt(_("search log"), self.search.text, self._try_search, done)
        return self._prompt

    def _try_search(self, text: str) -> Verdict:
        if text == self.search.text and self.search.query == self.log_query():
            return self._verdict()
        self._begin_search(text)
        self._arrived = False
        self.redraw()
        return self._verdict()

    def _begin_search(self, text: str) -> None:
        row = self.window.current()
        self._searched_from = None if row is None or self.window.following else row.place
        self._searched_total = self.window.page.total
        self.search.begin(self.host.monitor, self.log_query(), text)

    def grown(self) -> bool:
        """Records have come, or have been read, since the search began."""
        return bool(self.search.text) and self.window.page.total > self._searched_total

    def _verdict(self) -> Verdict:
        row = self.window.current()
        says = self.search.says(row.place if row is not None else None)
        nothing = bool(self.search.text) and not self.search.running and not self.search.hits.count
        return Verdict(says, bad=bool(self.search.problem) or nothing)

    def on_searched(self, message: Searched) -> None:
        """What the search has found so far. The newest hit is selected where the end was followed, else the next below.

        The search begins at the end: what lies below the selection is known when it has ended.
        """
        if not self.search.take(message.found):
            return
        start = self._searched_from
        if not self._arrived and self.search.hits.places and (start is None or not self.search.running):
            self._arrived = True
            row = self.window.current()
            if start is None and self.window.following:
                self._to(self.search.step(None, 1))
            elif row is not None and row.place == start and not self.search.is_hit(start):
                self._to(self.search.step(start, 1))
        if self._prompt is not None and self._prompt.is_attached:
            self._prompt.judge(self._verdict())
        self.redraw()

    def _to(self, place: Optional[LogPlace]) -> None:
        if place is None:
            return
        self._homing = False
        self.window.go(place)
        self._again()

    def action_log_next_hit(self) -> None:
        """The next hit below."""
        self._step_hit(1)

    def action_log_previous_hit(self) -> None:
        """The hit above."""
        self._step_hit(-1)

    def _step_hit(self, by: int) -> None:
        if not self.search.text:
            self.host.say(_("nothing is searched for: / searches"))
            return
        row = self.window.current()
        here = row.place if row is not None else None
        place = self.search.step(here, by)
        if place is None:
            self.host.say(_("still searching") if self.search.running else _("nothing found"))
            return
        ends = self.search.hits.places[0], self.search.hits.places[-1]
        if here in ends and self.grown() and not self.search.running:
            self._begin_search(self.search.text)
            self.search.hurry()
            self.host.say(_("searching again: there are more records now"))
            self.redraw()
            return
        if here is not None and here == ends[1 if by > 0 else 0] and len(self.search.hits.places) > 1:
            self.host.say(_("on from the first hit") if by > 0 else _("on from the last hit"))
        self._to(place)

    def leave(self) -> bool:
        """Leave the search. False when there was nothing to leave."""
        if not self.search.text:
            return False
        self.search.clear()
        self.redraw()
        return True

    # ---- jumps

    def action_log_next_error(self) -> None:
        """The next error below."""
        self._seek_error(1)

    def action_log_previous_error(self) -> None:
        """The error above."""
        self._seek_error(-1)

    def _seek_error(self, by: int) -> None:
        row = self.window.current()
        if row is None:
            return
        monitor, query = self.host.monitor, self.log_query(LogLevel.ERROR)

        def call() -> Sought:
            return Sought(row, by, monitor.fetch_log(query, row.place, NEIGHBOURS, NEIGHBOURS))

        self._seeking.ask((query, row.place, by), call)

    def sought(self, value: object) -> None:
        """Go to the error that a worker has found."""
        if not isinstance(value, Sought):
            return
        found = _beyond(value.page.rows, value.origin, value.by)
        if found is None:
            self.host.say(_("no error below") if value.by > 0 else _("no error above"))
        else:
            self._to(found.place)

    def action_log_fact(self) -> None:
        """The record of the pinned fact; once more: that of the next one."""
        told = serious(self.facts())
        if not told:
            self.host.say(_("no process has told of any trouble"))
            return
        row = self.window.current()
        pinned = told[self.fact % len(told)]
        if row is not None and row.place == pinned.place and not self.window.following:
            self.fact = (self.fact + 1) % len(told)
            pinned = told[self.fact]
        about = " ".join(part for part in (whose(pinned), word_of(pinned)) if part)
        self.host.say(_("{at} of {n}: {fact}").format(at=self.fact % len(told) + 1, n=len(told), fact=about))
        self._homing = False
        self.show_place(pinned.place)

    def action_log_to_curve(self) -> None:
        """The point on the curve that this record tells of."""
        row = self.window.current()
        step = None
        if row is not None:
            step = row.step if row.step is not None else self.host.monitor.log_step(row.place)
        if row is None or step is None:
            self.host.say(_("no step is told up to this record"))
            return
        self.post_message(PointWanted(row.rank_id, step))


def _beyond(rows: Sequence[LogRow], origin: LogRow, by: int) -> Optional[LogRow]:
    """The row nearest to a record on one side of it; the record itself need not be among them."""
    places = [row.place for row in rows]
    if origin.place in places:
        at = places.index(origin.place) + by
        return rows[at] if 0 <= at < len(rows) else None

    def key(row: LogRow) -> Tuple[float, int]:
        return (row.wall_time if row.wall_time is not None else 0.0, row.place.offset)

    def after(row: LogRow) -> bool:
        if row.place.file == origin.place.file:
            return row.place.offset > origin.place.offset
        return key(row) > key(origin)

    side = [row for row in rows if after(row) == (by > 0)]
    return None if not side else side[0] if by > 0 else side[-1]


PANEL = PanelSpec(
    "log",
    mark("logs"),
    mark(
        "Records of the run's text logs: time, level (D I W E C), rank and message; what all records have before the "
        "message is left out, enter shows it. The newest one is followed until you scroll up; G follows again. The "
        "first line tells what went wrong first: p goes to its record, once more to the next. / searches (words in "
        "any case, or /a regular expression/), n N go to the hits. @ marks the record of the step under the value "
        "cursor; J goes from a record to the curve, and from the curve to its record."
    ),
    lambda host: LogPanel(host, "log"),
)
