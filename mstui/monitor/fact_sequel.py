"""Did a training go on after a failure was told: by steps behind it, never by bytes.

Standard output may be buffered: what a process printed before its traceback can stand behind it in the file. So steps
count only where more bytes lie between than a buffer holds, or more time, or where they arrived later.
"""

from __future__ import annotations

import sys
from typing import Callable, Dict, Mapping, NamedTuple, Optional, Tuple

from mstui.model.batch import FileKey
from mstui.model.logs import EventKind, LogEvent
from mstui.monitor.fact_words import RESUMES
from mstui.monitor.log_ranks import RankMap, is_launch
from mstui.monitor.log_times import LogTimes
from mstui.monitor.process_facts import Draft, Told
from mstui.store.log_index import LogIndexView

BUFFER_BYTES = 8192
"""What Python's standard output holds back at most when it is a file or a pipe."""
LATER_S = 60.0
"""Between the stamp of a failure and that of a step that proves the training goes on."""
ARRIVED_S = 5.0
"""Between the moment at which a failure was read and that at which a new step was."""
NEIGHBOURS = 2
"""Steps that the workers who share a console may be apart"""
_FILE_END = sys.maxsize


class Life(NamedTuple):
    """How the files of a run stand."""

    now: float
    modified: Callable[[FileKey], float]
    """Unix seconds of a log's newest byte; 0.0 when it is not known"""
    new_step_at: Callable[[int], float]
    """when a step of a rank was last seen to arrive; 0.0 when none was since everything was read"""


class Sequels:
    """Answers for one run; remembers when each failure was read first."""

    def __init__(self, times: LogTimes) -> None:
        self._times = times
        self._learned: Dict[Tuple[FileKey, int], float] = {}

    def went_on(self, draft: Draft, views: Mapping[FileKey, LogIndexView], ranks: RankMap, life: Life) -> bool:
        """Has the process that a draft is about, or the run where it is about none, made steps since?"""
        last = {told.file: told for told in sorted(draft.told, key=lambda told: told.event.offset)}
        return all(self._went_on(told, draft.rank, views, ranks, life) for told in last.values())

    def begun_anew(self, draft: Draft, views: Mapping[FileKey, LogIndexView], ranks: RankMap) -> bool:
        """Of a failure that was overcome: was that by another training, so that it is history?

        Nobody caught it where a launcher started again, or where the steps of a rank's own log begin again behind it.
        """
        return all(
            _launched_again(views[told.file], told)
            or (ranks.of_file(told.file) is not None and steps_went_back(told.file, told.event, views))
            for told in draft.told
        )

    def _went_on(
        self,
        told: Told,
        rank: Optional[int],
        views: Mapping[FileKey, LogIndexView],
        ranks: RankMap,
        life: Life,
    ) -> bool:
        learned = self._learned.setdefault((told.file, told.event.offset), life.now)
        if _started_again(views[told.file], told):
            return True
        about = {told.rank if told.rank is not None else rank} - {None}
        if not about:
            about = {each for each in map(ranks.of_file, views) if each is not None}
        return any(
            life.new_step_at(each) > learned + ARRIVED_S or self._made_steps(each, told, views, ranks, life)
            for each in about
            if each is not None
        )

    def _made_steps(
        self, rank: int, told: Told, views: Mapping[FileKey, LogIndexView], ranks: RankMap, life: Life
    ) -> bool:
        for file, view in views.items():
            if ranks.of_file(file) != rank:
                continue
            last = last_step_place(view)
            if last is None:
                continue
            if file == told.file:
                if last >= told.end + BUFFER_BYTES or (last >= told.end and self._is_later(view, last, told.wall)):
                    return True
            elif self._is_later(view, last, told.wall) or self._is_newer(file, rank, told, ranks, life):
                return True
        return False

    def _is_later(self, view: LogIndexView, place: int, wall: Optional[float]) -> bool:
        number = view.index_of(place)
        when = None if number is None or wall is None else self._times.at(view, number)
        return when is not None and wall is not None and when > wall + LATER_S

    def _is_newer(self, file: FileKey, rank: int, told: Told, ranks: RankMap, life: Life) -> bool:
        """A later content of the same log, or a log that grew when the launcher that told of it was silent."""
        if ranks.of_file(told.file) == rank:
            return file.path == told.file.path and file.started > told.file.started
        return life.modified(file) > life.modified(told.file) + LATER_S


def last_step_place(view: LogIndexView) -> Optional[int]:
    """Byte offset of the newest record that tells of a step."""
    step = view.step_at(_FILE_END)
    return None if step is None else view.place_of_step(step)


def _started_again(view: LogIndexView, told: Told) -> bool:
    """Does the same file say later that a launcher started again, or that fault tolerance has got over it?"""
    return _launched_again(view, told) or any(
        event.offset > told.event.offset and event.kind is EventKind.FAULT_TOLERANCE and RESUMES in event.text
        for event in view.events
    )


def _launched_again(view: LogIndexView, told: Told) -> bool:
    return any(event.offset > told.event.offset and is_launch(event) for event in view.events)


def steps_went_back(file: FileKey, event: LogEvent, views: Mapping[FileKey, LogIndexView]) -> bool:
    """Do steps that were told after it, in the same content or in a later one of the same log, begin again?

    A later content whose steps go on is the next part of a log that is rotated.
    """
    view = views[file]
    before = view.step_at(event.offset)
    if before is not None and _lowest(view, event.offset + event.length) < before - NEIGHBOURS:
        return True
    first = _lowest(view, 0)
    return any(
        _lowest(later, 0) <= first < _FILE_END or (before is None and _lowest(later, 0) < _FILE_END)
        for other, later in views.items()
        if other.path == file.path and other.started > file.started
    )


def _lowest(view: LogIndexView, begin: int) -> int:
    """The lowest step that is told from this byte on; _FILE_END without any."""
    return int(view.steps(begin, _FILE_END).steps.min(initial=_FILE_END))
