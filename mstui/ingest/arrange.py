"""Gives every file its run, rank and source where the name alone is not enough: by what lies beside it. Pure.

* Logs whose names say that they belong to the training around them (worker_3.log, info.log, console.log, ...) are of
  their folder's run. Others are too while there is one of them, or where ranks write into the same folder; several are
  a run each.
* A number at the end of a log's name is its rank if msrun's scheduler.log lies beside it, or if the names count from 0.
* A log that names no rank is of the only rank that the run's event files name, otherwise of rank 0.
* Folders of several machines are one run when no two of them hold the same rank, and a run each when they do.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from typing import Dict, Iterable, List, NamedTuple, Optional, Set, Tuple

from mstui.ingest.log_names import CONSOLE, COUNTED, LogName, exactness_of, parse_log_name
from mstui.ingest.names import Place, parse_file_name
from mstui.model.batch import FileKey
from mstui.model.sources import Source, SourceKind


class DiscoveredFile(NamedTuple):
    """One file by name."""

    key: FileKey
    stream: str
    """files of one stream follow each other: see names.FileName; for a log its family"""
    size: int
    modified: float
    """mtime, Unix seconds"""
    identity: Tuple[int, int] = (-1, -1)
    """st_dev, st_ino"""
    log: Optional[LogName] = None
    """what its name says, if it is a text log"""
    where: Place = Place("", None)
    """what its folder says"""

    @property
    def path(self) -> str:
        """Where it lies."""
        return self.key.path


def describe(path: str, name: str, where: Place, info: os.stat_result, kind: SourceKind) -> DiscoveredFile:
    """A file by its name, its folder and its stat."""
    log = parse_log_name(name) if kind is SourceKind.LOG else None
    said = parse_file_name(name)
    named = log.rank if log is not None else None
    rank = next((each for each in (named, where.rank_id, said.file_id) if each is not None), 0)
    started = log.started if log is not None else said.started
    key = FileKey(
        where.run_key,
        rank,
        started if started is not None else int(info.st_mtime),
        path,
        _source_of(kind, where, name, log),
    )
    return DiscoveredFile(
        key, said.stream if log is None else log.family, info.st_size, info.st_mtime, identity_of(info), log, where
    )


def identity_of(info: os.stat_result) -> Tuple[int, int]:
    """What the file system knows a content by; used again once the content is removed."""
    return info.st_dev, info.st_ino


def renewed(known: DiscoveredFile, info: os.stat_result) -> DiscoveredFile:
    """The file as stat says now; the same object when nothing has changed."""
    if known.size == info.st_size and known.modified == info.st_mtime and known.identity == identity_of(info):
        return known
    return known._replace(size=info.st_size, modified=info.st_mtime, identity=identity_of(info))


def _source_of(kind: SourceKind, where: Place, name: str, log: Optional[LogName]) -> Source:
    """The record of the training that a file is part of."""
    if log is not None:
        return _log_source(log.exactness, where, log.family)
    if kind is SourceKind.SUMMARY:
        return Source(kind, where.kept)
    family = re.sub(r"\d+(?:-\d+)?", "N", name)
    return Source(kind, f"{where.kept}/{family}" if where.kept else family)


Homes = Dict[Tuple[str, str], str]
"""by folder and family, the run that a log of no known name was given"""


def arrange(files: Iterable[DiscoveredFile], homes: Homes) -> List[DiscoveredFile]:
    """The files with their final keys, in no particular order. Event files of no machine's folder stay as they are.

    homes: what was decided before holds on, though other logs have come up since.
    """
    out: List[DiscoveredFile] = []
    logs: Dict[str, List[DiscoveredFile]] = defaultdict(list)
    hosts: Dict[str, Dict[str, Set[Optional[int]]]] = defaultdict(lambda: defaultdict(set))
    ranks: Dict[str, Set[int]] = defaultdict(set)
    for file in files:
        if file.log is not None:
            logs[os.path.dirname(file.path)].append(file)
        else:
            out.append(file)
            if file.key.source.kind is SourceKind.SUMMARY:
                ranks[file.key.run_key].add(file.key.rank_id)
    by_folder = [each for group in logs.values() for each in _placed(group, homes)]
    if any(file.where.host for file in out) or any(file.where.host for file in by_folder):
        for file in out:
            hosts[file.where.run_key][file.where.host].add(file.key.rank_id)
        for file in by_folder:
            hosts[file.where.run_key][file.where.host].add(_named_rank(file))
        out = [_with_host(file, hosts) for file in out]
        by_folder = [_with_host(file, hosts) for file in by_folder]
    for file in by_folder:
        only = ranks.get(file.key.run_key, ())
        if _named_rank(file) is None and len(only) == 1 and (rank := next(iter(only))) != file.key.rank_id:
            file = file._replace(key=_keyed(file.key, rank_id=rank))
        out.append(file)
    return out


def homes_of(files: Iterable[DiscoveredFile]) -> Homes:
    """What has been decided by what lay beside a log."""
    return {
        (os.path.dirname(file.path), file.log.family): file.key.run_key
        for file in files
        if file.log is not None and not file.log.known and file.where.rank_id is None
    }


def _placed(group: List[DiscoveredFile], homes: Homes) -> List[DiscoveredFile]:
    """Logs of one folder."""
    names = {file: file.log for file in group if file.log is not None}
    scheduled = any(log.family.lower() == "scheduler.log" for log in names.values())
    numbers: Dict[str, Set[int]] = defaultdict(set)
    for log in names.values():
        if log.loose_rank is not None:
            numbers[log.loose_family].add(log.loose_rank)
    settled = [_ranked(file, log, numbers, scheduled=scheduled) for file, log in names.items()]
    where = settled[0].where
    others = {file.log.family for file in settled if file.log is not None and not file.log.known}
    if not others or where.rank_id is not None:
        return settled
    ranks = {file.log.rank for file in settled if file.log is not None and file.log.known} - {None}
    alone = len(others) == 1 or len(ranks) > 1
    folder = os.path.dirname(settled[0].path)
    out = []
    for file in settled:
        if file.log is not None and not file.log.known:
            own = file.key.run_key if alone else "/".join((*where.folders, file.log.family))
            run_key = homes.get((folder, file.log.family), own)
            file = file if run_key == file.key.run_key else file._replace(key=_keyed(file.key, run_key=run_key))
        out.append(file)
    return out


def _ranked(file: DiscoveredFile, log: LogName, numbers: Dict[str, Set[int]], *, scheduled: bool) -> DiscoveredFile:
    """The file with a rank that only its neighbours make one."""
    if log.known or log.loose_rank is None:
        return file
    stem = log.loose_family.rsplit("N", 1)[0]
    counted = stem.lower() in COUNTED and (0 in numbers[log.loose_family] or log.loose_rank == file.where.rank_id)
    if not counted and not (scheduled and stem.endswith("_")):
        return file
    family = log.loose_family
    ranked = log._replace(family=family, rank=log.loose_rank, known=True, exactness=exactness_of(family))
    rank = log.loose_rank
    source = _log_source(ranked.exactness, file.where, family)
    return file._replace(key=_keyed(file.key, rank_id=rank, source=source), stream=family, log=ranked)


def _log_source(exactness: int, where: Place, family: str) -> Source:
    name = f"{where.kept}/{family}" if where.kept else family
    return Source(SourceKind.LOG, f"{exactness}:{name}", shared=exactness == CONSOLE)


def _named_rank(file: DiscoveredFile) -> Optional[int]:
    """The rank that the path names."""
    if file.log is None:
        return file.key.rank_id
    return file.log.rank if file.log.rank is not None else file.where.rank_id


def _with_host(file: DiscoveredFile, hosts: Dict[str, Dict[str, Set[Optional[int]]]]) -> DiscoveredFile:
    """The run of a machine's folder."""
    if not file.where.host or file.key.run_key != file.where.run_key:
        return file
    ranks = [found - {None} for host, found in hosts[file.where.run_key].items() if host]
    if len(ranks) > 1 and all(ranks) and sum(map(len, ranks)) == len(set().union(*ranks)):
        if file.log is None or _named_rank(file) is not None:
            return file
        # two machines' launchers: two records, though neither names a rank
        kept = f"{file.where.host}/{file.where.kept}" if file.where.kept else file.where.host
        source = _log_source(file.log.exactness, file.where._replace(kept=kept), file.log.family)
        return file._replace(key=_keyed(file.key, source=source))
    return file._replace(key=_keyed(file.key, run_key=file.where.host_key))


def _keyed(
    key: FileKey, run_key: Optional[str] = None, rank_id: Optional[int] = None, source: Optional[Source] = None
) -> FileKey:
    return FileKey(
        key.run_key if run_key is None else run_key,
        key.rank_id if rank_id is None else rank_id,
        key.started,
        key.path,
        key.source if source is None else source,
    )
