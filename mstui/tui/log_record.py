"""The window that shows one record of a log as a whole, and copies it."""

from __future__ import annotations

from typing import Callable, List, Optional, Sequence, Tuple

from mstui.i18n import _
from mstui.model.log_view import LogRow
from mstui.model.logs import LogLevel
from mstui.monitor_api import MonitorApi
from mstui.safe_text import safe
from mstui.tui.fetching import Fetching
from mstui.tui.lines import Row
from mstui.tui.messages import Fetched
from mstui.tui.numbers import moment
from mstui.tui.overlay import TextOverlay
from mstui.tui.payload_text import LONGEST_LINE
from mstui.tui.wrapping import wrap, wrap_as_written

MOST_CHARACTERS = 200_000
"""of one record: the longest traceback of a graph compiler, and far more than anybody reads"""
LEAST_ROWS = 8
"""rows that the text is given at once, so that the window does not change its size when it comes"""
COPY = "Y"


class RecordWindow(TextOverlay):
    """Reads the record in a worker when it opens."""

    def __init__(
        self,
        monitor: MonitorApi,
        row: LogRow,
        path: str,
        close: Callable[[], None],
        copy: Callable[[str], None],
        *,
        ascii_only: bool = False,
    ) -> None:
        super().__init__("", self._lines, close, ascii_only=ascii_only)
        self._monitor = monitor
        self._row = row
        self._path = path
        self._copy = copy
        self._fetching = Fetching(self)
        self.text: Optional[str] = None
        """None until it is read"""
        self._made: Tuple[int, List[Row]] = (-1, [])
        self.title_text = self._heading()

    def on_mount(self) -> None:
        """Read it."""
        monitor, place = self._monitor, self._row.place
        self._fetching.ask(place, lambda: monitor.fetch_log_text(place, MOST_CHARACTERS))

    def on_fetched(self, message: Fetched) -> None:
        """Show what a worker has read."""
        answer = self._fetching.take(message)
        if answer is None:
            return
        self.text = str(answer.value)
        self._made = (-1, [])
        self.screen.refresh(repaint=False, layout=True)
        self.redraw()

    def wanted(self, columns: int, rows: int) -> Tuple[int, int]:
        """As high as the text, but not lower than a short one."""
        wide, high = super().wanted(columns, rows)
        return wide, min(max(high, LEAST_ROWS), rows)

    def press(self, key: str, character: Optional[str]) -> None:
        """Copy, or what every text can do."""
        if key == COPY:
            self._copy(self.text or "")
        else:
            super().press(key, character)

    def more_hint(self) -> str:
        """How to take it along."""
        return _("Y copies")

    def _heading(self) -> str:
        row = self._row
        level = "" if row.level is LogLevel.UNKNOWN else row.level.name
        when = "" if row.wall_time is None else moment(row.wall_time)
        rank = _("rank {rank}").format(rank=row.rank_id) if row.rank_id >= 0 else ""
        return "  ".join(part for part in (rank, when, level) if part) or _("record")

    def _lines(self, width: int) -> Sequence[Row]:
        if self._made[0] != width:
            self._made = (width, self._rows_for(width))
        return self._made[1]

    def _rows_for(self, width: int) -> List[Row]:
        rows: List[Row] = [((line, "dim"),) for sentence in self._about() for line in wrap(sentence, width)]
        rows.append(())
        if self.text is None:
            return [*rows, ((_("reading ..."), "dim"),)]
        if not self.text:
            said = _("The file has changed or cannot be read any more.")
            return [*rows, *(((line, "warning"),) for line in wrap(said, width))]
        for line in self.text.splitlines():
            shown = safe(line, LONGEST_LINE, ascii_only=self.ascii_only)
            rows += [((piece, "text"),) for piece in wrap_as_written(shown, width)]
        return rows

    def _about(self) -> List[str]:
        """Where it lies and what it is, in sentences."""
        row = self._row
        place = _("{path}, at byte {offset}").format(path=self._path, offset=row.place.offset)
        said = [safe(place, LONGEST_LINE, ascii_only=self.ascii_only)]
        if row.origin:
            said.append(safe(row.origin, LONGEST_LINE, ascii_only=self.ascii_only))
        if row.step is not None:
            said.append(_("It tells of step {step}.").format(step=row.step))
        return said
