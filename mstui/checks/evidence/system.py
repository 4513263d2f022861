"""Evidence from processes, files' times and logs."""

from __future__ import annotations

import re
from typing import Dict, Optional, Tuple

import numpy as np

from mstui.checks.evidence_base import UNKNOWN, Family, no, told, yes
from mstui.checks.measures import FIRST_POINTS, step_times
from mstui.checks.view import View
from mstui.detect.robust import median
from mstui.i18n import _
from mstui.knowledge.ranking import Observation
from mstui.model.logs import EventKind
from mstui.model.records import FloatArray
from mstui.model.roles import Role

RESTART_STEPS = 50
LONG_GAPS, LONG_PAUSE_S = 30.0, 600.0
JITTER = 1.5
LEVEL = 1.3
PART = 8
"""An eighth of a run is a part whose median is compared."""
LONG = 2.0
"""Times the median: a long step."""
REGULAR = 0.25
RHYTHM = 3
SLOW = 1.2
SILENT_GAPS = 10.0
EPOCH_EDGE = 2.0
MORE_OFTEN = 0.67
CRASHES = (
    *(EventKind.TRACEBACK, EventKind.EXCEPTION, EventKind.WORKER_EXIT, EventKind.JOB_FAILED),
    *(EventKind.OUT_OF_MEMORY, EventKind.NAN_STOP, EventKind.SCALE_ABORT, EventKind.TASK_FAILED),
)
COLLECTIVE = re.compile(r"EI000[26]|hccl.{0,40}(?:time.?out|timed out)", re.IGNORECASE)
SLOW_READING = re.compile(r"takes more than|getnext|get_next|time.?out|wait(?:ing)? for data|empty|slow", re.IGNORECASE)


def _restart(view: View) -> Observation:
    if view.onset is None or not view.curves:
        return UNKNOWN
    near = [step for step in view.restarts if view.onset - RESTART_STEPS <= step <= view.onset + 1]
    return told(bool(near), _("began again at step {step}") if near else "", step=near[-1] if near else 0)


def _step_two(view: View) -> Observation:
    if view.span is None:
        return yes() if view.has_log else UNKNOWN
    first, last = view.span
    return told(last - first < 1 and last < 2, _("last step {step}"), step=last)


def silence(view: View) -> Optional[Tuple[float, float]]:
    """(seconds since the newest record, usual seconds between records)."""
    busiest = max((each for each in view.curves if each.rank_id == view.rank), key=len, default=None)
    if busiest is None or len(busiest) < 3 or not view.now > 0.0:
        return None
    gaps = np.diff(busiest.walls)
    newest = max(float(each.walls[-1]) for each in view.curves if len(each) and each.rank_id == view.rank)
    return max(0.0, view.now - newest), median(gaps[gaps > 0.0])


def _pause(view: View) -> Observation:
    found = silence(view)
    if found is None:
        return UNKNOWN
    silent, usual = found
    return told(silent > LONG_PAUSE_S and silent > LONG_GAPS * usual, _("silent for {seconds:.0f} s"), seconds=silent)


def _checkpoint(view: View) -> Observation:
    """A log whose last word is that a checkpoint is being saved; files themselves are not watched for growth."""
    last = view.events[-1].event if view.events else None
    if last is None or last.kind is not EventKind.CHECKPOINT or view.span is None:
        return UNKNOWN
    return told(last.step is None or last.step >= view.span[1])


def _evaluating(view: View) -> Observation:
    loss = view.loss
    held = view.one(Role.EVAL_METRIC) or view.one(Role.EVAL_LOSS)
    if loss is None or held is None or len(held) < 2 or not held.gap > 0.0:
        return UNKNOWN
    since = float(loss.steps[-1]) - float(held.steps[-1])
    return told(abs(since - held.gap) <= EPOCH_EDGE * max(loss.gap, 1.0), "", since=since)


def slow_reading(view: View) -> Observation:
    """Does a log complain that data come too slowly?"""
    return _logged(view, lambda kind, text: kind is EventKind.DATA_PIPELINE and SLOW_READING.search(text) is not None)


def _collective(view: View) -> Observation:
    return _logged(
        view,
        lambda kind, text: (
            kind in (EventKind.HCCL_TIMEOUT, EventKind.NODE_TIMEOUT) or COLLECTIVE.search(text) is not None
        ),
    )


def _corruption(view: View) -> Observation:
    found = _logged(view, lambda kind, _text: kind is EventKind.SILENT_CORRUPTION)
    return found if found.value else UNKNOWN


def _memory(view: View) -> Observation:
    found = _logged(view, lambda kind, _text: kind is EventKind.OUT_OF_MEMORY)
    return found if found.value else UNKNOWN


def _skip(view: View) -> Observation:
    return _logged(view, lambda kind, _text: kind is EventKind.SKIPPED_DATA)


def _crash(view: View) -> Observation:
    return _logged(view, lambda kind, _text: kind in CRASHES)


def _logged(view: View, wanted) -> Observation:  # type: ignore[no-untyped-def]
    """Does a log say so? False only where there is a log that might."""
    for each in view.events:
        if wanted(each.event.kind, f"{each.event.code} {each.event.text}"):
            return yes(
                "{text}",
                {"text": each.event.text.strip().splitlines()[0][:120] if each.event.text.strip() else ""},
            )
    return no() if view.has_log else UNKNOWN


def _ended(view: View) -> Observation:
    if view.process.running is None:
        return UNKNOWN
    code = view.process.exit_code
    return told(not view.process.running, "" if code is None else _("exit code {code}"), code=code or 0)


def _times(view: View, rank_id: Optional[int] = None) -> Optional[FloatArray]:
    found = step_times(view, rank_id)
    return found if len(found) >= FIRST_POINTS else None


def _parts(times: FloatArray) -> FloatArray:
    """Medians of the parts of a run."""
    width = max(4, len(times) // PART)
    return np.array([median(times[at : at + width]) for at in range(0, len(times) - width + 1, width)])


def _jitter(view: View) -> Observation:
    times = _times(view)
    if times is None:
        return UNKNOWN
    # Where the run became slow, the slow part is what jitters or not.
    parts = _parts(times)
    last = times[-max(FIRST_POINTS, len(times) // 3) :]
    spread = max(
        float(np.percentile(last, 95)) / max(median(last), 1e-12),
        float(np.percentile(times, 95)) / max(median(times), 1e-12),
    )
    return told(
        spread > JITTER, _("95th percentile {spread:.3g} times the median step time"), spread=spread, parts=len(parts)
    )


def _level(view: View) -> Observation:
    times = _times(view)
    if times is None:
        return UNKNOWN
    parts = _parts(times)
    if len(parts) < 2:
        return UNKNOWN
    times_slower = float(parts[-1]) / max(float(parts.min()), 1e-12)
    return told(times_slower > LEVEL, _("a step takes {times:.3g} times the best part's"), times=times_slower)


def _periodic(view: View) -> Observation:
    times = _times(view)
    if times is None:
        return UNKNOWN
    long = np.flatnonzero(times > LONG * median(times))
    if len(long) <= RHYTHM:
        return no()
    distances = np.diff(long).astype(float)
    mean = float(distances.mean())
    return told(mean > 1.5 and float(distances.std()) <= REGULAR * mean, _("every {steps:.0f} records"), steps=mean)


def _by_rank(view: View) -> Dict[int, float]:
    found = {rank: _times(view, rank) for rank in view.ranks}
    return {rank: median(times[-len(times) // 4 :]) for rank, times in found.items() if times is not None}


def _one_slow(view: View) -> Observation:
    usual = _by_rank(view)
    if len(usual) < 2:
        return UNKNOWN
    # Against the others alone: of two ranks the slow one is half of the median.
    slow = []
    for rank, seconds in usual.items():
        others = np.array([each for other, each in usual.items() if other != rank])
        if seconds > SLOW * median(others):
            slow.append(rank)
    return told(
        len(slow) == 1, _("rank {rank} is slower than the others") if slow else "", rank=slow[0] if slow else -1
    )


def _one_silent(view: View) -> Observation:
    if len(view.ranks) < 2:
        return UNKNOWN
    ends: Dict[int, float] = {}
    for each in view.curves:
        if len(each):
            ends[each.rank_id] = max(ends.get(each.rank_id, 0.0), float(each.walls[-1]))
    usual = silence(view)
    if usual is None or len(ends) < 2:
        return UNKNOWN
    newest = max(ends.values())
    silent = [rank for rank, end in ends.items() if newest - end > SILENT_GAPS * usual[1]]
    return told(
        len(silent) == 1, _("rank {rank} fell silent first") if silent else "", rank=silent[0] if silent else -1
    )


def _all_slower(view: View) -> Observation:
    if len(view.ranks) < 2:
        return UNKNOWN
    grown = []
    for rank in view.ranks:
        times = _times(view, rank)
        if times is None:
            return UNKNOWN
        parts = _parts(times)
        grown.append(float(parts[-1]) / max(float(parts.min()), 1e-12))
    return told(min(grown) > LEVEL and max(grown) < SLOW * min(grown), _("{times:.3g} times slower"), times=min(grown))


def _recording(view: View) -> Observation:
    loss = view.loss
    if loss is None or len(loss) < 2 * FIRST_POINTS:
        return UNKNOWN
    gaps = np.diff(loss.steps).astype(float)
    half = len(gaps) // 2
    early, late = median(gaps[:half]), median(gaps[half:])
    start = int(loss.steps[0]) + (int(loss.steps[-1]) - int(loss.steps[0])) // 3
    fresh = [
        each
        for each in view.curves
        if each.rank_id == view.rank
        and len(each)
        and each.role not in (Role.EVAL_METRIC, Role.EVAL_LOSS)
        and int(each.steps[0]) > start
    ]
    return told(late < MORE_OFTEN * early or len(fresh) > len(view.curves) // 4, "", early=early, late=late)


FAMILY = Family(
    "system",
    {
        "restart-before": _restart, "before-step-two": _step_two, "checkpoint-growing": _checkpoint,
        "evaluating": _evaluating, "pause-long": _pause, "data-wait-logged": slow_reading, "step-time-jitter": _jitter,
        "step-time-level": _level, "step-time-periodic": _periodic, "one-rank-slow": _one_slow,
        "one-rank-silent": _one_silent, "all-ranks-slower": _all_slower, "collective-code": _collective,
        "corruption-code": _corruption, "memory-code": _memory, "crash-logged": _crash, "process-ended": _ended,
        "skip-logged": _skip, "recording-changed": _recording,
    },
)  # fmt: skip
