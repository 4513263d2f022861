"""What the name of a text log says: of which rank, of which kind, and how old among rotated ones. Pure.

A family is what stays the same in a name when the rank, the number of a rotation and the time of a start are taken
out: files of one family, folder and rank follow each other. It refuses to guess what only the neighbours of a file can
tell (see `arrange`): whether `resnet_1.log` is a rank or another training.
"""

from __future__ import annotations

import re
import time
from typing import NamedTuple, Optional, Tuple

from mstui.ingest.names import MAX_RANK

_PID_LOG = re.compile(r"mindspore\.log\.\d{1,10}")
_ROTATED = re.compile(
    r"(?P<base>.*?(?:\.(?:log|out|err|txt)|std(?:out|err)|mindspore\.log\.\d{1,10}))"
    r"(?:\.(?P<number>\d{1,4})"
    r"|[.-](?P<date>\d{4}-?\d\d-?\d\d(?:[T_-]?\d\d[.:-]?\d\d(?:[.:-]?\d\d)?)?(?:-\d{9,10})?))",
    re.DOTALL,
)
_GLOG = re.compile(
    r"mindspore\..{1,200}\.log\.(?P<level>[A-Z]{4,8})\.(?P<stamp>\d{8}-\d{6})\.\d{1,10}(?:\.\d{1,4})?", re.DOTALL
)
_PLOG = re.compile(r"(?P<kind>plog|device)-\d{1,10}_(?P<stamp>\d{14})\d{3}\.log")
_STAMP = re.compile(r"\d{4}-?\d\d-?\d\d(?:[T_-](?:time[_-])?\d\d[_:-]?\d\d(?:[_:-]?\d\d)?)?(?=[^0-9]|$)", re.IGNORECASE)
_RANK = re.compile(
    r"(?:(?<=[^A-Za-z])|^)(?P<word>rank|worker|device|npu|card|process|mindformers)[_.-]?(?P<rank>\d{1,7})(?=[^0-9]|$)",
    re.IGNORECASE,
)
_LOOSE = re.compile(r"(?P<stem>.*?)(?P<rank>\d{1,7})(?P<end>\.(?:log|txt|out|err))", re.DOTALL)
COUNTED = frozenset({"train", "log_"})
"""before a number, these words make it a rank where the numbers begin with 0: train0.log, log_0.txt"""

CLEAN, WHOLE, CONSOLE, SYSTEM = range(1, 5)
"""How exact a log is, the most exact first: written by a logger for one rank; everything that one process prints;
what a terminal shows of several; what the framework or the device says of itself."""
_KNOWN = (
    (re.compile(r"(?:info|mindformers)\.log"), CLEAN),
    (re.compile(r"(?:.*[_.-])?rank[_.-]?N\.log|log_?N?\.txt"), CLEAN),
    (re.compile(r"(?:worker|mindformers|device|npu|card|process)[_.-]?N\.(?:log|out|err|txt)"), WHOLE),
    (re.compile(r"(?:train|training|run|output|log|main|result|pretrain|finetune)\.(?:log|out|txt)"), WHOLE),
    (re.compile(r"nohup\.out|stdout|stdout\.log|console(?:\.log|\.txt)|msrun\.(?:log|out)|slurm\.out"), CONSOLE),
    (re.compile(r"stderr|stderr\.log|error\.log|scheduler(?:_N)?\.log|mindspore\.log(?:\..*)?|plog\.log"), SYSTEM),
)


class LogName(NamedTuple):
    """What one name says."""

    family: str
    rank: Optional[int]
    """None when the name names none"""
    loose_rank: Optional[int]
    """a number that is a rank only if the neighbours say so"""
    loose_family: str
    """the family if it is one"""
    known: bool
    """a name that belongs to the training of its folder, whatever lies beside it"""
    exactness: int
    started: Optional[int]
    """Unix seconds, from a time stamp in the name (local time)"""
    age: Tuple[int, str, int]
    """order of writing among the files of a family: rotated ones by date, then by falling number, the live one last"""

    @property
    def rotated(self) -> bool:
        """Was it put aside by a rotation."""
        return self.age != LIVE


LIVE = (2, "", 0)
"""the age of a file that is not rotated"""


def parse_log_name(name: str) -> LogName:
    """Never fails: a name of no known kind is a family of its own."""
    glog = _GLOG.fullmatch(name)
    if glog is not None:
        family = f"mindspore.log.{glog['level']}"
        return _system(family, _second(glog["stamp"], "%Y%m%d-%H%M%S"), LIVE)
    plog = _PLOG.fullmatch(name)
    if plog is not None:
        return _system("plog.log", _second(plog["stamp"], "%Y%m%d%H%M%S"), LIVE)
    base, age = _rotation(name)
    if _PID_LOG.fullmatch(base):
        return _system("mindspore.log", None, age)
    stemmed = _STAMP.sub("", base)
    if stemmed.lower().startswith("slurm-"):
        stemmed = re.sub(r"slurm-[\d_]+", "slurm", stemmed, flags=re.IGNORECASE)
    rank: Optional[int] = None
    family = stemmed
    found = next(iter(reversed(list(_RANK.finditer(stemmed)))), None)
    if found is not None and int(found["rank"]) <= MAX_RANK:
        rank = int(found["rank"])
        family = f"{stemmed[: found.start('rank')]}N{stemmed[found.end() :]}"
    loose = _LOOSE.fullmatch(stemmed) if rank is None else None
    loose_rank = int(loose["rank"]) if loose is not None and int(loose["rank"]) <= MAX_RANK else None
    loose_family = f"{loose['stem']}N{loose['end']}" if loose is not None else family
    exactness = next((grade for shape, grade in _KNOWN if shape.fullmatch(_bare(family))), None)
    at_end = found is not None and "." in stemmed[found.end() : found.end() + 1]
    known = exactness is not None or (rank is not None and at_end)
    return LogName(
        re.sub(r"[_-]{2,}", "_", family).strip("_- "),
        rank,
        loose_rank,
        loose_family,
        known,
        exactness or WHOLE,
        None,
        age,
    )


def _system(family: str, started: Optional[int], age: Tuple[int, str, int]) -> LogName:
    return LogName(family, None, None, family, known=True, exactness=SYSTEM, started=started, age=age)


def exactness_of(family: str) -> int:
    """How exact a log of this family is."""
    return next((grade for shape, grade in _KNOWN if shape.fullmatch(_bare(family))), WHOLE)


def _bare(family: str) -> str:
    """For comparison: case does not count, except that of the N that stands for the rank."""
    return re.sub(r"[A-Z]", lambda found: found[0] if found[0] == "N" else found[0].lower(), family).strip("_- ")


def _rotation(name: str) -> Tuple[str, Tuple[int, str, int]]:
    if _PID_LOG.fullmatch(name):
        return name, LIVE
    found = _ROTATED.fullmatch(name)
    if found is None:
        return name, LIVE
    if found["number"] is not None:
        return found["base"], (1, "", -int(found["number"]))
    return found["base"], (0, re.sub(r"\D", "", found["date"]), 0)


def _second(stamp: str, form: str) -> Optional[int]:
    try:
        return int(time.mktime(time.strptime(stamp, form)))
    except (ValueError, OverflowError):
        return None
