"""Which rank a record speaks for: from where its file lies, from what the file says of itself, from its own prefix.

A launcher's console and a scheduler's log belong to no rank; a console that several workers share belongs to none
either, and only its records' own prefixes and process ids tell.
"""

from __future__ import annotations

from typing import Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple

from mstui.model.batch import FileKey
from mstui.model.logs import EventKind, LogEvent

_LAUNCHER_WORDS = "Start worker process"
_REGISTERED = "device"
"""field of the record with which a scheduler registers a worker; the process id of that record is the scheduler's"""
_SCHEDULERS = ("scheduler",)
"""what names of scheduler logs begin with"""


class _Said(NamedTuple):
    """What one file says of ranks."""

    launcher: bool
    scheduler: bool
    own: Tuple[int, ...]
    """ranks that processes writing into this file gave as their own"""
    pids: Mapping[str, int]
    nodes: Mapping[str, int]


class RankMap(NamedTuple):
    """Ranks of one run, as far as its logs tell."""

    files: Mapping[FileKey, Optional[int]]
    pids: Mapping[str, int]
    """of worker processes"""
    nodes: Mapping[str, int]
    """of node numbers, as a scheduler counts them"""
    launchers: frozenset[FileKey]
    """consoles of launchers"""

    def of_file(self, file: FileKey) -> Optional[int]:
        """The rank that a file belongs to; None for a launcher's, a scheduler's or a shared one."""
        return self.files.get(file, file.rank_id)

    def of_event(self, file: FileKey, event: LogEvent) -> Optional[int]:
        """The rank that told an event; None when nobody can tell."""
        return event.rank_id if event.rank_id is not None else self.of_file(file)


def is_launch(event: LogEvent) -> bool:
    """A launcher says that it starts a worker."""
    return event.kind is EventKind.RANK_MAP and event.text.startswith(_LAUNCHER_WORDS)


def rank_map(logs: Iterable[Tuple[FileKey, Iterable[LogEvent]]]) -> RankMap:
    """Put together what the logs of a run say."""
    files: Dict[FileKey, Optional[int]] = {}
    pids: Dict[str, int] = {}
    nodes: Dict[str, int] = {}
    launchers: List[FileKey] = []
    for file, events in logs:
        said = _said(file, events)
        pids.update(said.pids)
        nodes.update(said.nodes)
        if said.launcher:
            launchers.append(file)
        if said.launcher or said.scheduler or len(said.own) > 1:
            files[file] = None
        else:
            files[file] = said.own[0] if said.own else file.rank_id
    return RankMap(files, pids, nodes, frozenset(launchers))


def _said(file: FileKey, events: Iterable[LogEvent]) -> _Said:
    launcher = False
    scheduler = file.path.rpartition("/")[2].startswith(_SCHEDULERS)
    own: Dict[int, None] = {}
    pids: Dict[str, int] = {}
    nodes: Dict[str, int] = {}
    for event in events:
        if event.kind is not EventKind.RANK_MAP or event.rank_id is None:
            continue
        if is_launch(event):
            launcher = True
            continue
        if "node" in event.fields:
            nodes[event.fields["node"]] = event.rank_id
        if _REGISTERED in event.fields:
            scheduler = True
            continue
        own[event.rank_id] = None
        if "pid" in event.fields:
            pids[event.fields["pid"]] = event.rank_id
    return _Said(launcher, scheduler, tuple(own), pids, nodes)
