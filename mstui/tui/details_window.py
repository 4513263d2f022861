"""The window that shows one payload of a tag, and the recorded steps before and after it."""

from __future__ import annotations

from typing import Callable, List, Optional, Sequence, Tuple

from mstui.i18n import _
from mstui.model.details import PayloadDetails
from mstui.model.records import BlobKind
from mstui.model.series import SeriesKey
from mstui.monitor_api import MonitorApi, TagInfo
from mstui.safe_text import safe
from mstui.tui.fetching import Fetching
from mstui.tui.kind_words import listed_name
from mstui.tui.lines import Row
from mstui.tui.messages import Fetched
from mstui.tui.numbers import moment
from mstui.tui.overlay import TextOverlay
from mstui.tui.payload_text import heading, payload_rows
from mstui.tui.wrapping import wrap

EARLIER, LATER = ("h", "left"), ("l", "right")
LEAST_ROWS = 8
"""rows that the text is given at once, so that short payloads do not change the window's size while they come in"""


class DetailsWindow(TextOverlay):
    """Begins at the newest payload; a step is read when it is asked for, in a worker."""

    def __init__(
        self, monitor: MonitorApi, key: SeriesKey, tag: TagInfo, close: Callable[[], None], *, ascii_only: bool = False
    ) -> None:
        assert tag.kind is not None
        super().__init__("", self._lines, close, ascii_only=ascii_only)
        self._monitor = monitor
        self._key = key
        self._kind: BlobKind = tag.kind
        self._label = safe(listed_name(tag), ascii_only=ascii_only)
        self._steps = monitor.payload_steps(key, tag.kind)
        self._at = max(len(self._steps) - 1, 0)
        self._fetching = Fetching(self)
        self._details: Optional[PayloadDetails] = None
        self._gone = False
        """the newest answer was that there is no such payload any more"""
        self._made: Tuple[int, List[Row]] = (-1, [])
        """rows of what is shown, for one width"""
        self._name_it()

    def on_mount(self) -> None:
        """Read the newest."""
        self._ask()

    def on_fetched(self, message: Fetched) -> None:
        """Show what a worker has read, unless another step has been asked for since."""
        answer = self._fetching.take(message)
        if answer is None or answer.request != self._request():
            return
        self._details = answer.value if isinstance(answer.value, PayloadDetails) else None
        self._gone = self._details is None
        self._show()

    def wanted(self, columns: int, rows: int) -> Tuple[int, int]:
        """As high as the text, but not lower than a short one."""
        wide, high = super().wanted(columns, rows)
        return wide, min(max(high, LEAST_ROWS), rows)

    def press(self, key: str, character: Optional[str]) -> None:
        """Another step, or what every text can do."""
        by = 1 if key in LATER else -1 if key in EARLIER else 0
        if by:
            self._go(by)
        else:
            super().press(key, character)

    def more_hint(self) -> str:
        """How to get to other steps, where there are others."""
        return _("h l step") if len(self._steps) > 1 else ""

    def _request(self) -> Tuple[SeriesKey, int, int]:
        return (self._key, self._at, self._steps[self._at] if self._steps else -1)

    def _go(self, by: int) -> None:
        self._steps = self._monitor.payload_steps(self._key, self._kind)
        at = min(max(self._at + by, 0), max(len(self._steps) - 1, 0))
        if at == self._at:
            return
        self._at, self.top = at, 0
        self._details, self._gone = None, False
        self._show()
        self._ask()

    def _ask(self) -> None:
        monitor, key, kind, at = self._monitor, self._key, self._kind, self._at
        self._fetching.ask(self._request(), lambda: monitor.fetch_details(key, kind, at))

    def _show(self) -> None:
        self._made = (-1, [])
        self._name_it()
        self.screen.refresh(repaint=False, layout=True)
        self.redraw()

    def _name_it(self) -> None:
        when = moment(self._details.wall_time) if self._details is not None else ""
        self.title_text = heading(self._details, self._label, when, self._at, len(self._steps))

    def _lines(self, width: int) -> Sequence[Row]:
        if self._made[0] != width:
            self._made = (width, self._rows_for(width))
        return self._made[1]

    def _rows_for(self, width: int) -> List[Row]:
        if self._details is not None:
            return payload_rows(self._details, width, ascii_only=self.ascii_only)
        text = _("The file has changed or cannot be read any more.") if self._gone else _("reading ...")
        return [((line, "dim"),) for line in wrap(text, width)]
