"""What stands in the place of the curves when there is nothing to draw: what is there, and what a person can do.

Paragraphs for a person who has just started a training and sees no curve. It reads no disk: all comes from the monitor.
"""

from __future__ import annotations

from typing import List, Sequence, Tuple

from mstui.i18n import _, mark, ngettext
from mstui.model.runs import FileState, FileStatus, RunInfo, RunStatus
from mstui.model.sources import SourceKind
from mstui.safe_text import safe
from mstui.tui.lines import Row
from mstui.tui.numbers import data_size
from mstui.tui.panel import Host
from mstui.tui.selection import selected_run
from mstui.tui.unread_logs import EXAMPLE, groups_hint, not_recognised, remedy, sentence
from mstui.tui.wrapping import paragraph_rows

LONGEST_PATH = 500
"""characters of a path inside a sentence"""
FIRST_LINES = mark(
    "A log is read line by line as it grows (key 4). The first loss is printed after the first step, which may follow "
    "minutes of compilation."
)
FILES_NAMED = 4
"""files with trouble that are named; the files panel has all of them"""
_COMING = frozenset([FileState.QUEUED, FileState.READING])
_TROUBLED = frozenset([FileState.DENIED, FileState.UNREADABLE, FileState.NOT_EVENTS, FileState.VANISHED])

Paragraph = Tuple[str, str]
"""text and look"""


def nothing_rows(host: Host, width: int, height: int) -> Tuple[Row, ...]:
    """The paragraphs as rows, for a panel of this size."""
    spaced: List[Row] = []
    for paragraph in nothing_to_show(host):
        spaced += [(), *paragraph_rows([paragraph], width, height)]
    return tuple(spaced[:height])


def nothing_to_show(host: Host) -> Sequence[Paragraph]:
    """Why there is no curve."""
    run = selected_run(host)
    if run is None:
        return _no_run(host)
    if any(tag.kind is None for tag in host.monitor.tags(run.key)):
        text = _("No scalar tag matches the filter {filter}; esc takes it away.")
        return [(text.format(filter=_safe(host, host.view.tag_filter)), "text")]
    files = host.monitor.files(run.key)
    if not run.loaded or any(file.state in _COMING for file in files):
        return [(_("reading {run} ...").format(run=_safe(host, run.path)), "dim")]
    unread = not_recognised(files)
    if unread:
        return _not_understood(host, unread)
    troubled = [file for file in files if file.state in _TROUBLED]
    if troubled and len(troubled) == len(files):
        return _cannot_read(host, troubled)
    return [*_no_scalar(host, run, files), *(_cannot_read(host, troubled) if troubled else [])]


def _no_run(host: Host) -> List[Paragraph]:
    watch, root = host.monitor.watch_state(), _safe(host, host.monitor.root)
    runs = host.monitor.runs()
    if not watch.scan_every_s:
        return [(_("looking for event files and logs in {path} ...").format(path=root), "dim")]
    if runs:
        n = len(runs)
        text = ngettext(
            "{n} run in {path}, without any data so far.", "{n} runs in {path}, without any data so far.", n
        )
        return [(text.format(n=n, path=root), "text"), (_rhythm(host), "dim"), *_first_data()]
    said: List[Paragraph] = [
        (_("There is no event file and no text log in {path} or the folders below it.").format(path=root), "text")
    ]
    files = [file for file in host.monitor.files() if file.state in _TROUBLED]
    if files:
        return [*said, *_cannot_read(host, files)]
    if watch.note:
        said.append((safe(watch.note, LONGEST_PATH, ascii_only=host.ascii_only), "warning"))
    said.append((_rhythm(host), "dim"))
    said.append(
        (
            _(
                "MindSpore creates the file when the first value is recorded: SummaryCollector(summary_dir=...) in the "
                "callbacks of model.train, or SummaryRecord. Is summary_dir this path, on this machine?"
            ),
            "text",
        )
    )
    return said


def _no_scalar(host: Host, run: RunInfo, files: Sequence[FileStatus]) -> List[Paragraph]:
    size = data_size(sum(file.size for file in files))
    n = len(files)
    text = ngettext(
        "{n} file with {size}, but no scalar in it yet.", "{n} files with {size}, but no scalar in them yet.", n
    )
    said: List[Paragraph] = [(text.format(n=n, size=size), "text")]
    if files and all(file.source.kind is SourceKind.LOG for file in files):
        return [*said, (_rhythm(host), "dim"), (_(FIRST_LINES), "text")]
    kinds = host.monitor.tags(run.key)
    if kinds:
        said.append((_("What else was recorded is in the list of tags (key 5)."), "dim"))
    if run.status in (RunStatus.ENDED, RunStatus.STOPPED, RunStatus.FAILED):
        said.append(
            (
                _(
                    "The file is closed, so nothing more will come. Closed this early, the training was aborted, or "
                    "max_file_size was reached: MindSpore then closes the file and drops what follows."
                ),
                "text",
            )
        )
        return said
    return [*said, (_rhythm(host), "dim"), *_first_data()]


def _first_data() -> List[Paragraph]:
    return [
        (
            _(
                "This is normal at the beginning: SummaryCollector writes to disk after the first step, and then only "
                "at the end of each epoch. A callback that calls collector._record.flush() after each collected step "
                "shows every value at once."
            ),
            "text",
        )
    ]


def _not_understood(host: Host, files: Sequence[FileStatus]) -> List[Paragraph]:
    """Logs are there, and nothing in them tells mstui a figure."""
    said: List[Paragraph] = [(sentence(file, ascii_only=host.ascii_only), "warning") for file in files[:FILES_NAMED]]
    said.append((remedy(host.config_path, ascii_only=host.ascii_only), "text"))
    said += [(line, "strong") for line in EXAMPLE]
    return [*said, (groups_hint(), "dim"), (_("The log itself: key 4. All files: key 6."), "dim")]


def _cannot_read(host: Host, files: Sequence[FileStatus]) -> List[Paragraph]:
    """Whose the files are and what to ask for, as the monitor has found out."""
    denied = sum(file.state is FileState.DENIED for file in files)
    said: List[Paragraph] = []
    if denied:
        text = ngettext("mstui may not read {n} file.", "mstui may not read {n} files.", denied)
        said.append((text.format(n=denied), "critical"))
    details = list(dict.fromkeys(file.detail or file.path for file in files))[:FILES_NAMED]
    said += [(safe(detail, LONGEST_PATH, ascii_only=host.ascii_only), "text") for detail in details]
    said.append((_("It is tried again by itself, and at once with r. All files: key 6."), "dim"))
    return said


def _rhythm(host: Host) -> str:
    """How soon new data is seen."""
    watch = host.monitor.watch_state()
    every = f"{watch.scan_every_s:.0f}"
    if watch.mode == "events":
        return _("New files are noticed at once; besides, mstui looks every {n} s.").format(n=every)
    return _("mstui looks for new files every {n} s; r looks at once.").format(n=every)


def _safe(host: Host, path: str) -> str:
    return safe(path, LONGEST_PATH, ascii_only=host.ascii_only)
