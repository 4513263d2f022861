"""Every file: its state in a word, how much of it is read, what could not be read and what to do about it."""

from __future__ import annotations

import os
from typing import Counter, Hashable, List, Mapping, Sequence, Tuple

from mstui.i18n import _, mark, ngettext
from mstui.model.faults import FaultKind
from mstui.model.runs import FileState, FileStatus
from mstui.safe_text import fit, safe
from mstui.tui.actions import bindings
from mstui.tui.lines import Row
from mstui.tui.listing import ListPanel
from mstui.tui.numbers import data_size
from mstui.tui.panel import Host, PanelSpec
from mstui.tui.unread_logs import EXAMPLE, groups_hint, remedy, sentence
from mstui.tui.wrapping import wrap

STATE_WORDS: Mapping[FileState, Tuple[str, str]] = {
    FileState.QUEUED: (mark("queued"), "dim"),
    FileState.READING: (mark("reading"), "info"),
    FileState.CURRENT: (mark("current"), "ok"),
    FileState.WAITING: (mark("waiting"), "ok"),
    FileState.SUSPECT: (mark("suspect"), "warning"),
    FileState.EMPTY: (mark("empty"), "dim"),
    FileState.CLOSED: (mark("closed"), "text"),
    FileState.TORN: (mark("torn"), "warning"),
    FileState.DENIED: (mark("denied"), "critical"),
    FileState.VANISHED: (mark("vanished"), "warning"),
    FileState.NOT_EVENTS: (mark("not events"), "warning"),
    FileState.NOT_RECOGNISED: (mark("not recognised"), "warning"),
    FileState.UNREADABLE: (mark("unreadable"), "critical"),
}
STATE_HELP: Mapping[FileState, str] = {
    FileState.QUEUED: mark("Known, not opened yet."),
    FileState.READING: mark("Its history is being read."),
    FileState.CURRENT: mark("Everything up to its end is read."),
    FileState.WAITING: mark("It ends inside a record: the rest is not written yet."),
    FileState.SUSPECT: mark("The checksum of its last record is wrong; it is read again before it counts as damaged."),
    FileState.EMPTY: mark("It holds nothing yet."),
    FileState.CLOSED: mark("Everything is read, and the training has closed it."),
    FileState.TORN: mark("The training is gone and the file ends inside a record; all before it is read."),
    FileState.DENIED: mark("mstui may not open it."),
    FileState.VANISHED: mark("It was there and is gone; what was read of it stays."),
    FileState.NOT_EVENTS: mark("Its name promises an event file, its first bytes are something else."),
    FileState.NOT_RECOGNISED: mark("Not one line of this text is understood."),
    FileState.UNREADABLE: mark("The operating system reports an error when it is read."),
}
FAULT_WORDS: Mapping[FaultKind, str] = {
    FaultKind.DAMAGED: mark("damaged"),
    FaultKind.MALFORMED: mark("malformed"),
    FaultKind.OVERSIZED: mark("too large"),
    FaultKind.TRUNCATED: mark("truncated"),
    FaultKind.REPLACED: mark("replaced"),
    FaultKind.VANISHED: mark("vanished"),
    FaultKind.DENIED: mark("denied"),
    FaultKind.NOT_EVENTS: mark("not events"),
    FaultKind.UNREADABLE: mark("unreadable"),
}
STATE_WIDTH, SIZE_WIDTH, READ_WIDTH, FAULTS_WIDTH = 14, 9, 6, 9
LEAST_NAME = 8
FAULTS_SHOWN = 8
"""newest faults of the selected file; more than these say the same"""


class FilesPanel(ListPanel[FileStatus]):
    """Worst state first, as the monitor sorts them."""

    BINDINGS = bindings("files")  # type: ignore[assignment]
    TITLE = mark("files")

    def __init__(self, host: Host, panel_id: str) -> None:
        super().__init__(host, panel_id)
        self._listed: Sequence[FileStatus] = ()
        self._listed_for = -1

    def items(self) -> Sequence[FileStatus]:
        """Every file under the watched path."""
        revision = self.host.monitor.revision
        if revision != self._listed_for:
            self._listed_for = revision
            self._listed = self.host.monitor.files()
        return self._listed

    def key_of(self, item: FileStatus) -> Hashable:
        """Its path."""
        return item.path

    def empty(self) -> str:
        """Why nothing is listed."""
        return _("no event file found yet")

    def title(self, width: int) -> Row:
        """How many, what was skipped in all of them, and how much of them is damaged."""
        del width
        items = self.items()
        skipped: Counter[str] = Counter()
        for item in items:
            skipped.update(item.skipped_values)
        lost = sum(item.skipped_bytes for item in items)
        parts = [self.position(items)] if items else []
        parts += [
            _("{n} {kind} counted, not kept").format(n=n, kind=_(safe(kind))) for kind, n in sorted(skipped.items())
        ]
        row: List[Tuple[str, str]] = [(", ".join(parts), "dim")] if parts else []
        if lost:
            row.append((("  " if row else "") + _("{size} lost to damage").format(size=data_size(lost)), "warning"))
        return tuple(row)

    def item_row(self, item: FileStatus, width: int) -> Row:
        """State, size, share read, name, faults."""
        word, look = STATE_WORDS[item.state]
        share = f"{min(100 * item.consumed // item.size, 100)}%" if item.size else "-"
        faults = ""
        if item.fault_count:
            faults = ngettext("{n} fault", "{n} faults", item.fault_count).format(n=item.fault_count)
        fixed = STATE_WIDTH + 1 + SIZE_WIDTH + 1 + READ_WIDTH + 1 + 1 + FAULTS_WIDTH
        name = self.padded(self._shown_path(item.path), max(width - fixed, LEAST_NAME))
        return (
            (self.padded(_(word), STATE_WIDTH), look),
            (f" {data_size(item.size):>{SIZE_WIDTH}} {share:>{READ_WIDTH}} ", "dim"),
            (name, "text"),
            (" " + fit(faults, FAULTS_WIDTH, middle=False), "warning"),
        )

    def _shown_path(self, path: str) -> str:
        root = self.host.monitor.root.rstrip(os.sep) + os.sep
        short = path.removeprefix(root)
        return safe(short, ascii_only=self.host.ascii_only)

    def detail(self, item: FileStatus, width: int) -> Tuple[Row, ...]:
        """What the state means, what to do, and the newest faults."""
        ascii_only = self.host.ascii_only
        dash = "-" if ascii_only else "─"
        rows: List[Row] = [((dash * width, "rule"),)]
        text = _(STATE_HELP[item.state])
        if item.detail and item.state is not FileState.NOT_RECOGNISED:
            text += " " + safe(item.detail, ascii_only=ascii_only)
        rows += [((f" {line}", "text"),) for line in wrap(text, width - 2)]
        if item.state is FileState.NOT_RECOGNISED:
            said = (sentence(item, ascii_only=ascii_only), remedy(self.host.config_path, ascii_only=ascii_only))
            rows += [((f" {line}", "text"),) for line in wrap(" ".join(said), width - 2)]
            rows += [((f"   {line}", "strong"),) for line in EXAMPLE]
            rows += [((f" {line}", "dim"),) for line in wrap(groups_hint(), width - 2)]
        for fault in item.faults[-FAULTS_SHOWN:][::-1]:
            where = ""
            if fault.length:  # a file that is gone or begun anew has lost nothing at a place
                where = " " + _("at byte {offset}, {length} bytes skipped").format(
                    offset=fault.offset, length=fault.length
                )
            kind = _(FAULT_WORDS[fault.kind])
            rest = f"{where}: {safe(fault.detail, ascii_only=ascii_only)}"
            rows.append(((" " + kind, "warning"), (fit(rest, max(width - 2 - len(kind), 0), middle=False), "text")))
        return tuple(rows)

    # --- actions

    def action_file_up(self) -> None:
        """The file above."""
        self.move(-1)

    def action_file_down(self) -> None:
        """The file below."""
        self.move(1)

    def action_file_page_down(self) -> None:
        """A page down."""
        self.page(1)

    def action_file_page_up(self) -> None:
        """A page up."""
        self.page(-1)


PANEL = PanelSpec(
    "files",
    mark("files"),
    mark(
        "Every event file under the watched path, those with trouble first: its state, its size, how much of it is "
        "read and how many faults it has. Below the list: what the state of the selected file means, what can be "
        "done about it, and at which byte what could not be read. Images and other values that mstui has no use for "
        "are counted in the title."
    ),
    lambda host: FilesPanel(host, "files"),
)
