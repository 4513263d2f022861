"""What an event of a log means to somebody who watches: how heavy it is, and in words. Single events; no causes.

A CANN code is explained by its documentation. An exit code of a killed process is explained by its signal.
"""

from __future__ import annotations

import re
import signal
from typing import Optional

from mstui.formats.logs import codes
from mstui.i18n import SOURCE_LANGUAGE, _, aside, commas, current_language, headed, mark
from mstui.model.log_view import ProcessFact, Weight
from mstui.model.logs import EventKind, LogEvent

_WEIGHTS = {
    EventKind.NAN_STOP: Weight.FATAL,
    EventKind.SCALE_ABORT: Weight.FATAL,
    EventKind.OUT_OF_MEMORY: Weight.FATAL,
    EventKind.HCCL_TIMEOUT: Weight.FATAL,
    EventKind.DEVICE_LINK: Weight.FATAL,
    EventKind.TASK_FAILED: Weight.FATAL,
    EventKind.ASCEND_CODE: Weight.FATAL,
    EventKind.WORKER_EXIT: Weight.FATAL,
    EventKind.NODE_TIMEOUT: Weight.FATAL,
    EventKind.JOB_FAILED: Weight.FATAL,
    EventKind.TRACEBACK: Weight.FATAL,
    EventKind.OVERFLOW: Weight.NEWS,
    EventKind.CHECKPOINT: Weight.NEWS,
    EventKind.GRAPH_COMPILATION: Weight.NEWS,
}
"""every other kind is TROUBLE"""

_WEIGHT_WORDS = {
    Weight.FATAL: mark("FATAL"),
    Weight.TROUBLE: mark("WARNING"),
    Weight.NEWS: mark("NEWS"),
}

_ENDS_PIPELINE = re.compile(r"Exception thrown|subprocess|worker process timeout")
_STOPS = "stop training"
RESUMES = "Resume training"
"""what fault tolerance says when the training goes on"""
_VICTIM = "ttp exit"
_SLOW_DATA = "Bad performance attention"
_STRUCK_OUT = "strikes and out"
RETRY = "retry"
"""field of a scheduler's word that the cluster is not complete yet"""
HALF_SECONDS = 0.5
"""between two tries of a cluster that is not complete"""


def weight_of(event: LogEvent) -> Weight:
    """How much an event matters, taken alone."""
    if event.kind is EventKind.DATA_PIPELINE:
        return Weight.FATAL if _ENDS_PIPELINE.search(event.text) else Weight.TROUBLE
    if event.kind is EventKind.NODE_TIMEOUT and RETRY in event.fields:
        return Weight.TROUBLE
    if event.kind is EventKind.NORM_STREAK and _STOPS in event.text:
        return Weight.FATAL
    if event.kind is EventKind.FAULT_TOLERANCE and RESUMES in event.text:
        return Weight.NEWS
    if event.kind is EventKind.SILENT_CORRUPTION and _STRUCK_OUT in event.text:
        return Weight.FATAL
    return _WEIGHTS.get(event.kind, Weight.TROUBLE)


def killed_by(code: str) -> Optional[int]:
    """The signal that an exit code tells of: negative as Python tells it, or 128 more as a shell does; else None."""
    try:
        number = int(code)
    except ValueError:
        return None
    if number < 0:
        return -number
    return number - 128 if 128 < number < 128 + signal.NSIG else None


def signal_name(number: int) -> str:
    """`SIGKILL`; the number where it has no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def meaning_of(event: LogEvent) -> str:
    """What an event means, in the person's language; empty when its words speak for themselves."""
    known = codes.meaning(event.code)
    if known is not None:
        documented = known.english if current_language() == SOURCE_LANGUAGE else known.chinese or known.english
        if documented:
            return documented
        return _("error of {module}").format(module=known.family) if known.family else ""
    if event.kind is EventKind.WORKER_EXIT:
        return exit_meaning(event.code, silent=True)
    if event.kind is EventKind.NODE_TIMEOUT and RETRY in event.fields:
        minutes = int(event.fields[RETRY]) * HALF_SECONDS / 60
        return _("the cluster is not complete after {n:.0f} minutes: some workers have not joined").format(n=minutes)
    if event.kind is EventKind.OUT_OF_MEMORY:
        return _("host memory (pinned) ran out") if "host" in event.fields else _memory(event)
    if event.kind is EventKind.FAULT_TOLERANCE and _VICTIM not in event.text:
        return ""
    if event.kind is EventKind.DATA_PIPELINE and _SLOW_DATA in event.text:
        return _("the data pipeline is slower than the training: the device waits for data")
    return _(_MEANINGS.get(event.kind, ""))


def _memory(event: LogEvent) -> str:
    size = event.fields.get("size", "")
    if not size.isdigit():
        return _("memory could not be allocated")
    return _("memory could not be allocated; {n:.3g} GiB were asked for").format(n=int(size) / (1 << 30))


def exit_meaning(code: str, *, silent: bool) -> str:
    """What the exit code of a process means. silent: the process has told no reason itself."""
    number = killed_by(code)
    if number is None:
        if not code:
            return _("the process ended with an error")
        return _("the process ended with exit code {code}").format(code=code)
    name = signal_name(number)
    if number == signal.SIGKILL and silent:
        return _(
            "killed by {name} without a word: likely the kernel, because the host ran out of memory; "
            "otherwise somebody or the job system killed it"
        ).format(name=name)
    if number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT):
        return _("the process crashed in native code ({name}): such a crash leaves no traceback").format(name=name)
    return _("killed by {name}").format(name=name)


def fact_line(fact: ProcessFact) -> str:
    """A fact in one line: how heavy it is, about whom and when, its words, what they mean."""
    where = [] if fact.rank_id is None else [_("rank {rank}").format(rank=fact.rank_id)]
    if fact.step is not None:
        where.append(_("step {step}").format(step=fact.step))
    words = _(_WEIGHT_WORDS[fact.weight])
    line = headed(aside(words, commas(where)) if where else words, fact.text)
    if fact.meaning:
        line += f" [{fact.meaning}]"
    return _("{fact}, which follows from another failure").format(fact=line) if fact.consequence else line


_MEANINGS = {
    EventKind.NAN_STOP: mark("the loss was NaN or infinite, and the training stopped itself"),
    EventKind.SCALE_ABORT: mark("the gradients overflowed at every step, whatever the loss scale"),
    EventKind.NORM_STREAK: mark("the norm of the gradients stays above its threshold"),
    EventKind.SKIPPED_DATA: mark("a batch was skipped because the norm of its gradients was too large"),
    EventKind.NAN_WEIGHTS: mark("a parameter holds NaN only: the training is broken from here on"),
    EventKind.SILENT_CORRUPTION: mark("a device may compute wrong results (silent data corruption)"),
    EventKind.HCCL_TIMEOUT: mark("ranks waited too long for each other: one of them is late, hung or dead"),
    EventKind.DEVICE_LINK: mark("the link between two devices failed"),
    EventKind.TASK_FAILED: mark("a task on the device failed"),
    EventKind.DATA_PIPELINE: mark("the data pipeline failed"),
    EventKind.LOG_LOST: mark("log lines could not be written (encoding); the training is not affected"),
    EventKind.PEER_CLOSED: mark("another process closed its connection: it has ended"),
    EventKind.JOB_FAILED: mark("the launcher ended the whole job because a worker ended with an error"),
    EventKind.NODE_TIMEOUT: mark("the scheduler has not heard of a node; it may name one that was killed later"),
    EventKind.FAULT_TOLERANCE: mark("this rank was stopped because another one failed: the cause is in that one's log"),
}
