"""What the names of event files and of the folders around files say. Pure: looks at text, never at the disk.

One run, many ranks
    The folders of a file below the root are read from the deepest one upwards for a name like `rank_3` or `device_3`.

    * With such a folder: its number is the rank. The run is what lies above it, followed by what lies below it.
    * Without: the run is the folder itself, and the rank is the `<id>` of MindSpore's file name, which is the rank when
      the training is distributed. TensorBoard's names hold no rank: 0.
    * Folders at the end that only say what is kept there (`summary`, `tensorboard`, `log`, `msrun_log`, `output`, ...)
      do not make a run: `exp/rank_0/summary`, `exp/output/log/rank_1` and `exp/summary` are the run `exp`. They name
      the source, by which several records of one rank are told apart.
    * A folder named after a machine is given apart: only its neighbours tell whether it makes a run (see `arrange`).
    * The name of the root itself gives a rank but never a run: the root is the run ".".

    The host in a file name decides nothing: a training that is scheduled again gets a new host and stays the same run.
    Several writers that share one folder and one id cannot be told apart by name; they are one rank.
"""

from __future__ import annotations

import re
from typing import List, NamedTuple, Optional, Sequence, Tuple

ROOT_RUN = "."
MAX_RANK = 1_000_000
"""a larger number in a name is a date or a hash, not a rank"""
MAX_SECOND = 1 << 40
"""a larger number in a name is not Unix seconds"""

_MINDSPORE = re.compile(
    r"^(?P<prefix>.*)\.out\.events\.summary\.(?P<second>\d{1,19})\.(?:(?P<id>\d{1,10})\.)?(?P<host>.+?)"
    r"(?P<suffix>_MS|_lineage|_explain)?$",
    re.DOTALL,
)
_TENSORBOARD = re.compile(r"tfevents\.(?P<second>\d{1,19})(?:\.(?P<rest>.*))?$", re.DOTALL)
_RANK_FOLDER = re.compile(
    r"^(?:rank|device|npu|gpu|card|worker|process|(?:train|mf|run)_parallel)[_.-]?(?P<rank>\d{1,7})$",
    re.IGNORECASE,
)
_RUN_TREE_FOLDER = re.compile(r"^.{0,200}-rank(?P<rank>\d{1,7})-[0-9a-f]{8}$", re.DOTALL)
"""msprobe: month, day and time, rank, eight digits of chance"""
_KEEPING_FOLDER = re.compile(
    r"^(?:summary|summaries|summary[_-]?(?:dir|log|logs)|tensorboard|tb|events?|logs?|visuali[sz]ation"
    r"|outputs?|msrun_logs?|(?:msrun_)?log_(?:output|dir|path|files?)|worker|device|plog"
    r"|monitor(?:_v2)?_out(?:put)?|grad_probe|anomaly_detected)$",
    re.IGNORECASE,
)
_PLOG_KIND = frozenset({"debug", "run", "security", "operation"})
"""folders of CANN's log tree, which say something only directly above `plog` or `device-N`"""
_HOST_FOLDER = re.compile(r"^(?:(?:node|host|server|machine)[_-]?\d{1,5}|\d{1,3}(?:\.\d{1,3}){3})$", re.IGNORECASE)
_CHECKPOINT_FOLDER = re.compile(
    r"(?:^(?:ckpt|ckpts|checkpoints?|ckpt_dir|kernel_meta|__pycache__|node_modules|site-packages)$"
    r"|\.(?:ckpt|safetensors)$)",
    re.IGNORECASE,
)
_HUGE_FOLDER = re.compile(r"^(?:node_modules|site-packages|\..*)$", re.DOTALL)


class FileName(NamedTuple):
    """What an event file's name says."""

    started: Optional[int]
    """Unix seconds; None when the name holds none"""
    file_id: Optional[int]
    """MindSpore's device or rank id"""
    stream: str
    """files of one stream follow each other: "_MS", "_lineage", "_explain", or "" """


class Place(NamedTuple):
    """To which run and rank a folder belongs."""

    run_key: str
    rank_id: Optional[int]
    """None when no folder says so"""
    kept: str = ""
    """the folders that say neither run nor rank, joined by "/" """
    host: str = ""
    """name of a machine that the run key leaves out"""
    host_key: str = ""
    """the run key with it; the run key itself where there is none"""
    folders: Tuple[str, ...] = ()
    """all of them, from the root downwards"""


def parse_file_name(name: str) -> FileName:
    """Never fails: a name of no known kind says nothing."""
    found = _MINDSPORE.match(name)
    if found:
        number = found.group("id")
        file_id = int(number) if number is not None and int(number) <= MAX_RANK else None
        return FileName(_second(found.group("second")), file_id, found.group("suffix") or "")
    found = _TENSORBOARD.search(name)
    if found:
        return FileName(_second(found.group("second")), None, "")
    return FileName(None, None, "")


def place(folders: Sequence[str], root_name: str) -> Place:
    """Run and rank of the files in a folder, given the folder names from the root (exclusive) downwards."""
    rank = None
    above, below, kept_below = list(folders), [], []
    for index in range(len(folders) - 1, -1, -1):
        rank = rank_of_folder(folders[index])
        if rank is not None:
            above = list(folders[:index])
            below = [name for name in folders[index + 1 :] if not _KEEPING_FOLDER.match(name)]
            kept_below = [name for name in folders[index + 1 :] if _KEEPING_FOLDER.match(name)]
            break
    kept: List[str] = []
    if rank is not None and above:
        numbered = above[-1].isdigit() and "." in folders[len(above)]  # mpirun: 1/rank.0
        if numbered or (above[-1] in _PLOG_KIND and folders[len(above)].lower().startswith("device-")):
            kept.append(above.pop())
    host = with_host = ""
    while above and not below:
        if _KEEPING_FOLDER.match(above[-1]):
            plog = above[-1].lower() == "plog"
            kept.append(above.pop())
            if plog and above and above[-1] in _PLOG_KIND:
                kept.append(above.pop())
        elif not host and _HOST_FOLDER.match(above[-1]):
            host = above[-1]
            with_host = _key(tuple(above))
            above.pop()
        else:
            break
    key = _key((*above, *below))
    return Place(
        key,
        rank if rank is not None else rank_of_folder(root_name),
        "/".join((*reversed(kept), *kept_below)),
        host,
        with_host if host else key,
        tuple(folders),
    )


def rank_of_folder(name: str) -> Optional[int]:
    """The rank that a folder's name gives."""
    found = _RANK_FOLDER.match(name) or _RUN_TREE_FOLDER.match(name)
    return int(found.group("rank")) if found and int(found.group("rank")) <= MAX_RANK else None


def is_skipped_folder(name: str) -> bool:
    """Folders that hold no event files but may hold a great deal else: checkpoints, caches, whatever is hidden."""
    return name.startswith(".") or _CHECKPOINT_FOLDER.search(name) is not None


def may_be_huge(name: str) -> bool:
    """Is a skipped folder of a kind that holds whole trees? Then a recursive watch above it is out of the question."""
    return _HUGE_FOLDER.match(name) is not None


def _second(digits: str) -> Optional[int]:
    value = int(digits)
    return value if value <= MAX_SECOND else None


def _key(names: Tuple[str, ...]) -> str:
    return "/".join(names) if names else ROOT_RUN
