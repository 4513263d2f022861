"""Everything known of one run, for a window: its state with the reason, ranks, rhythm, files, facts, what is missing.

Pure: what the monitor holds in, rows out. It judges nothing that the monitor has not judged.
"""

from __future__ import annotations

from typing import Counter, FrozenSet, List, NamedTuple, Optional, Sequence, Tuple

from mstui.i18n import _, commas, enumerated, mark, ngettext
from mstui.model.log_view import ProcessFact
from mstui.model.roles import Role
from mstui.model.runs import FileState, FileStatus, RunInfo, RunStatus
from mstui.model.series import SeriesKey, XAxis
from mstui.monitor_api import MonitorApi, TagInfo
from mstui.safe_text import pad, safe, width
from mstui.tui.header import run_name
from mstui.tui.lines import Row
from mstui.tui.liveness import of_listed
from mstui.tui.numbers import age, data_size, duration, moment
from mstui.tui.payload_text import fact_rows
from mstui.tui.process_words import fact_lines, failure
from mstui.tui.source_words import disagreements
from mstui.tui.wrapping import wrap

LONGEST_PATH = 4096
"""characters; Linux allows no longer one"""
CANNOT_READ = frozenset(
    [FileState.DENIED, FileState.NOT_EVENTS, FileState.NOT_RECOGNISED, FileState.UNREADABLE, FileState.VANISHED]
)
PLANNED_STEPS = "planned_steps"


class _Wanted(NamedTuple):
    """A fact that MindSpore itself writes into train_lineage only."""

    word: str
    """msgid"""
    names: FrozenSet[str]
    """under which it, a recorder or the training script tells it"""
    role: Optional[Role] = None
    """of a tag that tells it too"""


_FROM_TRAIN_LINEAGE = (
    _Wanted(mark("optimizer"), frozenset(("optimizer", "optim", "optimizer_name"))),
    _Wanted(
        mark("learning rate"),
        frozenset(("learning_rate", "lr", "base_lr", "init_lr", "initial_lr", "max_lr")),
        Role.LEARNING_RATE,
    ),
    _Wanted(mark("planned steps"), frozenset((PLANNED_STEPS,))),
)
_LABEL_SHARE = 3


class Times(NamedTuple):
    """Wall times of the first and the last record, Unix seconds."""

    first: float
    last: float


def run_info_rows(monitor: MonitorApi, run: RunInfo, now: float, cells: int, *, ascii_only: bool = False) -> List[Row]:
    """The whole window, for a width."""
    files = monitor.files(run.key)
    lines: List[Tuple[str, str]] = [
        (_("run"), safe(run_name(run), LONGEST_PATH, ascii_only=ascii_only)),
        (_("path"), safe(run.path, LONGEST_PATH, ascii_only=ascii_only)),
        (_("state"), reason(run, files, now, monitor.process_facts(run.key), ascii_only=ascii_only)),
        *_progress(run, record_times(monitor, run), now),
        *_amount(run, files),
    ]
    column = min(max(width(label) for label, _value in lines), cells // _LABEL_SHARE)
    rows: List[Row] = []
    for label, value in lines:
        for line in wrap(value, max(cells - column - 2, 1)):
            rows.append(((pad(label, column), "dim"), ("  ", "text"), (line, "text")))
            label = ""
    facts = monitor.process_facts(run.key)
    if facts:
        rows += [(), ((_("what processes have told"), "strong"),), *fact_lines(facts, cells, ascii_only=ascii_only)]
    differing = disagreements(monitor, run, ascii_only=ascii_only)
    if differing:
        rows += [(), ((_("sources that disagree"), "strong"),)]
        rows += [((line, "warning"),) for said in differing for line in wrap(said, cells)]
    rows += [(), ((_("ranks"), "strong"),), *_ranks(run, now)]
    rows += [(), ((_("facts"), "strong"),)]
    if run.facts:
        rows += fact_rows(run.facts, cells, ascii_only=ascii_only)
    for sentence in missing(run, monitor.tags(run.key)):
        rows += [((line, "dim"),) for line in wrap(sentence, cells)]
    return rows


def reason(
    run: RunInfo,
    files: Sequence[FileStatus],
    now: float,
    facts: Sequence[ProcessFact] = (),
    *,
    ascii_only: bool = False,
) -> str:
    """The run's state and what it is concluded from."""
    if not run.loaded:
        return _("not read: only its files are listed; enter in the list of runs reads it")
    if run.status is RunStatus.ENDED:
        return _("ended: train_lineage was written")
    if run.status is RunStatus.STOPPED:
        return _("stopped: closed without train_lineage: aborted, or max_file_size reached")
    if run.status is RunStatus.FAILED:
        why = failure(facts, ascii_only=ascii_only) or _("a process ended with an error, as its log tells")
        return _("failed: {why}").format(why=why)
    if run.status is RunStatus.STALE:
        silence = duration_words(now - run.last_data)
        if run.stale_after_s is None:
            return _("stale: nothing new for {silence}").format(silence=silence)
        return _("stale: nothing new for {silence}; this run's own rhythm allows {allowed}").format(
            silence=silence, allowed=duration_words(run.stale_after_s)
        )
    if run.status is RunStatus.UNREADABLE:
        bad = next((file for file in files if file.state in CANNOT_READ), None)
        detail = bad.detail if bad is not None else ""
        text = safe(detail, LONGEST_PATH, ascii_only=ascii_only) or _("see the files (key 6)")
        return _("unreadable: {reason}").format(reason=text)
    if run.status is RunStatus.PENDING:
        return _("no data yet: its files are empty")
    return _("live: data came {age} ago").format(age=age(now - run.last_data))


def duration_words(seconds: float) -> str:
    """A length of time, coarse enough to stand still for a while."""
    return duration(round(seconds)) if seconds < 60 else age(seconds)


def record_times(monitor: MonitorApi, run: RunInfo) -> Optional[Times]:
    """When the scalar with most points was recorded first and last, on the lowest rank that has it."""
    scalars = [tag for tag in monitor.tags(run.key) if tag.kind is None]
    if not scalars:
        return None
    tag: TagInfo = max(scalars, key=lambda tag: (tag.role is Role.LOSS, tag.points))
    for rank in run.ranks:
        key = SeriesKey(run.key, rank.rank_id, tag.tag)
        first = monitor.reading_at(key, XAxis.STEP, 0, 0.0)
        last = monitor.reading_at(key, XAxis.STEP, -1, 0.0)
        if first is not None and last is not None and first.wall_time > 0:  # logs without a clock tell none
            return Times(first.wall_time, last.wall_time)
    return None


def _progress(run: RunInfo, times: Optional[Times], now: float) -> List[Tuple[str, str]]:
    """Steps, epochs, pace and times, as far as they are known."""
    lines: List[Tuple[str, str]] = []
    planned, epochs = run.facts.get(PLANNED_STEPS), run.facts.get("epoch")
    step = "-" if run.last_step is None else str(run.last_step)
    lines.append(
        (_("last step"), step if planned is None else _("{step} of {planned}").format(step=step, planned=planned))
    )
    if isinstance(epochs, int):
        lines.append((_("planned epochs"), str(epochs)))
    if run.seconds_per_step:
        lines.append((_("seconds a step"), duration(run.seconds_per_step)))
    if run.step_gap:
        text = ngettext("a record every step", "a record every {n} steps", run.step_gap).format(n=run.step_gap)
        lines.append((_("records"), text))
    if times is not None:
        lines.append((_("first record"), moment(times.first)))
        lines.append((_("last record"), moment(times.last)))
    if run.last_data:
        lines.append(
            (_("newest data"), _("{time}, {age} ago").format(time=moment(run.last_data), age=age(now - run.last_data)))
        )
    return lines


def _amount(run: RunInfo, files: Sequence[FileStatus]) -> List[Tuple[str, str]]:
    """Files, bytes, and what was counted without being kept."""
    size = data_size(run.bytes_total)
    if run.loaded and run.bytes_read < run.bytes_total:
        size = _("{read} of {size} read").format(read=data_size(run.bytes_read), size=size)
    text = ngettext("{n} file, {size}", "{n} files, {size}", run.file_count).format(n=run.file_count, size=size)
    lines = [(_("files"), text)]
    skipped: Counter[str] = Counter()
    for file in files:
        skipped.update(file.skipped_values)
    if skipped:
        said = [
            _("{n} {kind} counted, not kept").format(n=n, kind=_(safe(kind))) for kind, n in sorted(skipped.items())
        ]
        lines.append((_("skipped"), commas(said)))
    lost = sum(file.skipped_bytes for file in files)
    if run.fault_count:
        text = ngettext("{n} fault", "{n} faults", run.fault_count).format(n=run.fault_count)
        lines.append(
            (_("faults"), commas([text, _("{size} lost to damage").format(size=data_size(lost))]) if lost else text)
        )
    return lines


def _ranks(run: RunInfo, now: float) -> List[Row]:
    """One row a rank: last step, age, state."""
    label = len(str(max((rank.rank_id for rank in run.ranks), default=0)))
    digits = max((len(str(rank.last_step)) for rank in run.ranks if rank.last_step is not None), default=1)
    rows: List[Row] = []
    for rank in run.ranks:
        live = of_listed(run, now, rank)
        name = _("rank {rank}").format(rank=f"{rank.rank_id:>{label}}")
        step = "-" if rank.last_step is None else str(rank.last_step)
        old = age(now - rank.last_data) if rank.last_data else ""
        rows.append(
            (
                (f"{name}  ", "text"),
                (_("step") + f" {step:>{digits}}  ", "text"),
                (f"{old:>5}  ", "dim"),
                (f"{live.glyph} {live.word}", live.look),
            )
        )
    return rows


def missing(run: RunInfo, tags: Sequence[TagInfo] = ()) -> List[str]:
    """What a person will look for in vain, and why."""
    if not run.loaded:
        return []
    told = {name.rpartition("/")[2].lower() for name in run.facts}
    roles = {tag.role for tag in tags}
    absent = [_(want.word) for want in _FROM_TRAIN_LINEAGE if not (want.names & told or want.role in roles)]
    sentences = []
    if absent and run.status is not RunStatus.ENDED:
        text = _("Not known: {what}. MindSpore writes them in train_lineage only, at a normal end of the training.")
        sentences.append(text.format(what=enumerated(absent)))
    if PLANNED_STEPS not in run.facts:
        sentences.append(_("--total-steps N tells mstui the planned steps, for progress and ETA."))
    return sentences
