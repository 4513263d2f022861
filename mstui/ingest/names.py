"""What the names of event files and of the folders around them say. Pure: looks at text, never at the disk.

One run, many ranks
    The folders of a file below the root are read from the deepest one upwards for a name like `rank_3` or `device_3`.

    * With such a folder: its number is the rank. The run is what lies above it, followed by what lies below it without
      the folders that only say what is kept there (`summary`, `tensorboard`, ...). So `exp/rank_0/summary` and
      `exp/rank_1/summary` are ranks 0 and 1 of the run `exp`; `rank_0/lr_3/summary` is rank 0 of the run `lr_3`.
    * Without: the run is the folder itself, and the rank is the `<id>` of MindSpore's file name, which is the rank when
      the training is distributed. TensorBoard's names hold no rank: 0.
    * The name of the root itself gives a rank but never a run: the root is the run ".".

    The host in a file name decides nothing: a training that is scheduled again gets a new host and stays the same run.
    Several writers that share one folder and one id cannot be told apart by name; they are one rank.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Optional, Sequence, Tuple

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
_KEEPING_FOLDER = re.compile(
    r"^(?:summary|summaries|summary[_-]?(?:dir|log|logs)|tensorboard|tb|events?|logs?|visuali[sz]ation)$",
    re.IGNORECASE,
)
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
    for index in range(len(folders) - 1, -1, -1):
        rank = rank_of_folder(folders[index])
        if rank is not None:
            below = tuple(name for name in folders[index + 1 :] if not _KEEPING_FOLDER.match(name))
            return Place(_key(tuple(folders[:index]) + below), rank)
    return Place(_key(tuple(folders)), rank_of_folder(root_name))


def rank_of_folder(name: str) -> Optional[int]:
    """The rank that a folder's name gives."""
    found = _RANK_FOLDER.match(name)
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
