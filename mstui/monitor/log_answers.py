"""The part of the façade that answers for text logs. It passes on; `fetch_` calls belong on a worker thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Optional, Sequence

from mstui.model.series import SeriesKey
from mstui.monitor.logs import Logs

if TYPE_CHECKING:
    from mstui.model.log_view import LogFile, LogHits, LogPage, LogPlace, LogQuery, ProcessFact


class LogAnswers:
    """What MonitorApi says of logs."""

    def __init__(self, logs: Logs) -> None:
        self._logs = logs

    def log_files(self, run_key: str) -> Sequence[LogFile]:
        """Text logs of a loaded run, by rank and name."""
        return self._logs.files(run_key)

    def process_facts(self, run_key: str) -> Sequence[ProcessFact]:
        """What the processes of a loaded run have told: what explains most first, then by time."""
        return self._logs.facts(run_key)

    def fetch_log(self, query: LogQuery, around: Optional[LogPlace], before: int, after: int) -> LogPage:
        """Rows from `before` records in front of a place to `after` behind it; around None: the newest record."""
        return self._logs.page(query, around, before, after)

    def fetch_log_text(self, place: LogPlace, most: int) -> str:
        """A whole record, at most so many characters; empty when it can no longer be read."""
        return self._logs.text(place, most)

    def fetch_log_hits(self, query: LogQuery, words: str, tell: Callable[[LogHits], bool]) -> LogHits:
        """Search, newest first. Raises FilterError for a regular expression that cannot be understood."""
        return self._logs.hits(query, words, tell)

    def log_place(self, key: SeriesKey, step: int) -> Optional[LogPlace]:
        """The record that told of a step of this rank, or the last one before it; None without any."""
        return self._logs.place(key, step)

    def log_step(self, place: LogPlace) -> Optional[int]:
        """The step that a record tells of, or the last one told before it in the same file."""
        return self._logs.step(place)
