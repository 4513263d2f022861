"""What stands before the message of a log record: level, time stamp, process, source; MindSpore, CANN, Python loggers.

Time stamps have no zone: they are taken as local time of the machine that reads. Source line numbers change with every
release; nothing here depends on them.
"""

from __future__ import annotations

import re
import time
from typing import AnyStr, Dict, List, NamedTuple, Optional, Tuple, Union

from mstui.model.logs import LogLevel

_TS = r"\d{4}-\d\d-\d\d[ -]\d\d:\d\d:\d\d"
_LEVEL = r"DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL|EXCEPTION|EVENT|TRACE|V\d{1,6}"

_GLOG = re.compile(
    rf"\[(?P<level>{_LEVEL})\] [A-Z][A-Z0-9_]{{0,40}}\((?P<pid>\d{{1,10}})(?P<mark>[,:])[^)]{{0,200}}\):"
    rf"(?P<ts>{_TS})\.(?P<ms>\d{{0,3}})\.(?P<us>\d{{0,3}}) "
    r"(?:\[status:\w{1,20}\] )?(?:\[(?P<src>[^\]]{1,400})\] ?)?(?:[\w:~<>]{1,200}\] )?"
)
"""MindSpore's C++ (`pid,thread,process`), its Python (`pid:thread,process`) and CANN (`pid,process`)."""
_BRACKET_LEVEL = re.compile(
    rf"\[(?P<level>{_LEVEL})\] (?P<ts>{_TS})(?:,(?P<ms>\d{{3}}))? "
    r"(?:\[(?P<src>[^\]]{1,400})\] \w{1,120}: ?|\(PID:(?P<pid>\d{1,10}), Device:-?\d{1,6}, RankID:"
    r"(?P<rank>-?\d{1,9})\) )"
)
"""MindFormers' files, torch_npu."""
_BRACKET_STAMP = re.compile(
    rf" ?\[(?P<ts>{_TS})(?:[.,](?P<ms>\d{{3}}))?\] ?"
    rf"(?:(?:[\w.]{{1,120}} )?(?P<level>{_LEVEL})(?: - |: )|\[(?P<level2>{_LEVEL})\] )?"
)
"""MindCV, MindOCR, MindOne, ModelZoo's trainers; Megatron prints the stamp alone."""
_STAMP = re.compile(
    rf"(?P<ts>{_TS})(?:[,.](?P<ms>\d{{3}})(?P<us>\d{{3}})?)?"
    rf"(?: - [^\[\s]{{0,400}}(?:\[(?P<src>[^\]]{{1,400}})\])? ?-? ?(?P<level>{_LEVEL}) - "
    rf"| \[(?P<level2>{_LEVEL})\] |:(?P<level3>{_LEVEL}):"
    rf"| \((?P<pid>\d{{1,10}})\)(?: \[rank (?P<rank>\d{{1,9}})\])? \[(?P<level4>{_LEVEL})\] "
    r"| (?P<level5>[a-z]{4,8}) (?P<pid2>\d{1,10}) \[TTP (?P<src2>[^\]]{1,200})\] )"
)
"""MindFormers' standard output, MindYOLO, ModelZoo's YOLOs, msprobe, MindIO."""
_GE_PID = re.compile(rf"\[(?P<level>PID): (?P<pid>\d{{1,10}})\] (?P<ts>{_TS})\.(?P<ms>\d{{3}})\.(?P<us>\d{{3}}) ")
_HF = re.compile(rf"\[(?P<level>{_LEVEL})\|(?P<src>[\w.]{{1,120}}:\d{{1,7}})\] (?P<ts>{_TS}),(?P<ms>\d{{3}}) >> ")
_RICH = re.compile(rf"(?:\[(?P<ts>{_TS})\]| {{21}}) (?P<level>{_LEVEL}) +(?=\S)")
_RICH_SOURCE = re.compile(r"[\w.]{1,120}\.py:\d{1,7}")
"""The rich handler at 80 columns; it leaves out a time that it has just printed, and ends a line with its source."""
_RICH_GAP = "  "
RICH_INDENT = " " * 20
"""What the following lines of a record begin with when rich wrapped it."""


class _Form:
    """A pattern, and where in its groups the parts of a header are."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.match = pattern.match
        self.wrapped = pattern is _RICH
        index = {name: number - 1 for name, number in pattern.groupindex.items()}
        self.levels = [at for name, at in index.items() if name.startswith("level")]
        self.pids = [at for name, at in index.items() if name.startswith("pid")]
        self.sources = [at for name, at in index.items() if name.startswith("src")]
        self.stamp = index["ts"]
        self.milli = index.get("ms")
        self.micro = index.get("us")
        self.mark = index.get("mark")
        self.rank = index.get("rank")


_GLOG_FORM, _BRACKET_STAMP_FORM, _RICH_FORM, _STAMP_FORM = map(_Form, (_GLOG, _BRACKET_STAMP, _RICH, _STAMP))
_BRACKETED = (_GLOG_FORM, _Form(_BRACKET_LEVEL), _RICH_FORM, _BRACKET_STAMP_FORM, _Form(_GE_PID), _Form(_HF))
_STAMPED, _INDENTED, _AFTER_BLANK = (_STAMP_FORM,), (_RICH_FORM,), (_BRACKET_STAMP_FORM,)

_LEVELS = {
    "DEBUG": LogLevel.DEBUG, "TRACE": LogLevel.DEBUG, "INFO": LogLevel.INFO, "EVENT": LogLevel.INFO,
    "WARNING": LogLevel.WARNING, "WARN": LogLevel.WARNING, "ERROR": LogLevel.ERROR, "EXCEPTION": LogLevel.ERROR,
    "PID": LogLevel.ERROR, "CRITICAL": LogLevel.CRITICAL, "FATAL": LogLevel.CRITICAL,
}  # fmt: skip
_MINUTES_KEPT = 4096
MINUTE = 16
"""Characters of a stamp up to its minute."""
LAST_SECOND = 60
"""A leap second."""


class Header(NamedTuple):
    """What was said before the message."""

    level: LogLevel
    wall_time: Optional[float]
    """Unix seconds; None when there is no stamp or an impossible one"""
    message: str
    pid: str
    source: str
    rank: Optional[int]
    wrapped: bool
    """rich wrote it: indented lines behind it are part of the message"""

    @property
    def quiet(self) -> bool:
        """A level at which nobody reports trouble."""
        return self.level in (LogLevel.DEBUG, LogLevel.INFO)


class Places(NamedTuple):
    """Where the parts of a time stamp stand; the same in every header whose digits only differ."""

    minute: slice
    second: slice
    milli: Optional[slice]
    micro: Optional[slice]
    packed: bool
    """see `part_of_second`"""


class Stamps:
    """Local time stamps to Unix seconds. Remembers minutes: to ask the system for each costs more than all else."""

    def __init__(self) -> None:
        self._minutes: Dict[str, Optional[float]] = {}
        self._minute: Union[str, bytes] = ""
        self._minute_wall: Optional[float] = None
        """the minute that `at` has read last, and when it was"""

    def at(self, places: Places, line: Union[str, bytes]) -> Optional[float]:
        """Unix seconds of the stamp at these places of a line; None when there is no such time."""
        at_minute, at_second, milli, micro, packed = places
        minute = line[at_minute]
        if minute != self._minute:
            self._minute = minute
            self._minute_wall = self.minute(minute if isinstance(minute, str) else minute.decode("ascii"))
        second = int(line[at_second])
        if self._minute_wall is None or second > LAST_SECOND:
            return None
        wall = self._minute_wall + second
        if milli is None:
            return wall
        if micro is None:
            return wall + int(line[milli] or "0") / 1e3
        return wall + part_of_second(line[milli], line[micro], packed=packed)  # type: ignore[type-var]

    def seconds(self, stamp: str) -> Optional[float]:
        """Unix seconds of `YYYY-MM-DD HH:MM:SS` (or with a hyphen before the hour); None when there is no such time."""
        minute = self.minute(stamp[:MINUTE])
        second = int(stamp[MINUTE + 1 :])
        return minute + second if minute is not None and second <= LAST_SECOND else None

    def minute(self, stamp: str) -> Optional[float]:
        """Unix seconds of `YYYY-MM-DD HH:MM`."""
        if stamp not in self._minutes:
            if len(self._minutes) >= _MINUTES_KEPT:
                self._minutes.clear()
            self._minutes[stamp] = _minute(stamp)
        return self._minutes[stamp]


def _minute(stamp: str) -> Optional[float]:
    year, month, day = int(stamp[:4]), int(stamp[5:7]), int(stamp[8:10])
    hour, minute = int(stamp[11:13]), int(stamp[14:16])
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60):
        return None
    try:
        return time.mktime((year, month, day, hour, minute, 0, -1, -1, -1))
    except (OverflowError, ValueError):
        return None


def _forms(text: str) -> Tuple[_Form, ...]:
    first = text[:1]
    if first == "[":
        return _BRACKETED
    if first.isdigit():
        return _STAMPED
    if first == " ":
        return _AFTER_BLANK if text[1:2] == "[" else _INDENTED if text.startswith(RICH_INDENT) else ()
    return ()


def places(text: str, shift: int) -> Optional[Places]:
    """Where the time stands in the header that a text begins with, which itself begins at `shift`. Not for rich's."""
    for form in _forms(text):
        found = form.match(text)
        if found is None or form.wrapped:
            continue

        def span(number: Optional[int], found: re.Match[str] = found) -> Optional[slice]:
            if number is None or found.start(number + 1) < 0:
                return None
            return slice(found.start(number + 1) + shift, found.end(number + 1) + shift)

        stamp = span(form.stamp)
        if stamp is None:
            return None
        minute = stamp.start + MINUTE
        packed = form.mark is not None and found.group(form.mark + 1) == ":"
        minute_to_second = slice(stamp.start, minute), slice(minute + 1, stamp.stop)
        return Places(*minute_to_second, span(form.milli), span(form.micro), packed)
    return None


def parse(text: str, stamps: Stamps) -> Optional[Header]:
    """The header that a text begins with; None when it has none."""
    for form in _forms(text):
        found = form.match(text)
        if found is None:
            continue
        if not form.wrapped:
            return _header(form, found.groups(), text[found.end() :], stamps)
        message, gap, source = text[found.end() :].rstrip().rpartition(_RICH_GAP)
        if gap and _RICH_SOURCE.fullmatch(source) is not None:
            return _header(form, found.groups(), message.strip(), stamps)
    return None


def _header(form: _Form, parts: Tuple[Optional[str], ...], message: str, stamps: Stamps) -> Header:
    name = _first(parts, form.levels)
    level = _LEVELS.get(name) if name else LogLevel.UNKNOWN
    if level is None:
        level = _LEVELS.get(name.upper(), LogLevel.DEBUG)
    stamp = parts[form.stamp]
    wall = stamps.seconds(stamp) if stamp is not None else None
    if wall is not None and form.milli is not None:
        micro = parts[form.micro] if form.micro is not None else None
        packed = form.mark is not None and parts[form.mark] == ":"
        wall += part_of_second(parts[form.milli] or "", micro or "", packed=packed)
    rank = parts[form.rank] if form.rank is not None else None
    return Header(
        level,
        wall,
        message,
        _first(parts, form.pids),
        _first(parts, form.sources),
        int(rank) if rank and not rank.startswith("-") else None,
        form.wrapped,
    )


def _first(parts: Tuple[Optional[str], ...], places: List[int]) -> str:
    """The first of the parts that is there; empty when none is."""
    for place in places:
        if parts[place]:
            return parts[place] or ""
    return ""


def part_of_second(milli: AnyStr, micro: AnyStr, *, packed: bool) -> float:
    """Seconds. MindSpore's Python stamps are not padded: all digits are microseconds (`.850.00` is 85 ms)."""
    if packed:
        return int(milli + micro or "0") / 1e6
    return int(milli or "0") / 1e3 + int(micro or "0") / 1e6
