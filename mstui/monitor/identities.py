"""The names under which the journal knows runs; kept, because finding a folder's real path asks the disk.

A run's alerts have one name. Answers to a checklist may have others besides: the checklist is there to be gone through
before the training writes anything, and is then filed under the folder.
"""

from __future__ import annotations

import os
from typing import Dict, NamedTuple, Optional, Sequence, Tuple

from mstui.formats.base import Format
from mstui.ingest.ingestor import DiscoveredRun, Ingestor
from mstui.model.sources import SourceKind
from mstui.monitor.alert_book import identity_of

SCAN_S = 0.5
"""Seconds for one part of looking for runs; there are as many parts as it takes"""


class Names(NamedTuple):
    """One run in the journal."""

    identity: str
    """what is noted about it is filed under this one"""
    answers: Tuple[str, ...] = ()
    """other names under which answers to its checklists may have been filed"""


class Named(NamedTuple):
    """What lies at a path that a person names."""

    names: Names
    path: str
    """where it really lies"""
    several: int
    """runs below the path of which none is meant more than another: the names are those of the path; 0: it is clear"""


class Identities:
    """Belongs to one thread."""

    def __init__(self) -> None:
        self._known: Dict[str, Tuple[Optional[DiscoveredRun], str, Names]] = {}
        """by run key: what it was told by, and the names"""
        self._real_paths: Dict[str, str] = {}

    def of(self, run_key: str, runs: Sequence[DiscoveredRun], folder: str, root: str) -> Names:
        """The names of a run as it is listed now.

        `folder`: where it lies. `root`: the path that a person named. What is filed under that is about this run where
        it is the only one of `runs`.
        """
        run = next((each for each in runs if each.key == run_key), None)
        asked = root if len(runs) == 1 else folder
        known = self._known.get(run_key)
        if known is not None and known[0] is run and known[1] == asked:
            return known[2]
        files = [file.key for file in run.files if file.key.source.kind is SourceKind.SUMMARY] if run else []
        first = min(files, key=lambda key: key.started, default=None)
        place = folder if first is None else os.path.dirname(first.path)
        identity = identity_of(self._real(place), None if first is None else first.started)
        others = folder_names([self._real(each) for each in (place, folder, asked)])
        names = Names(identity, tuple(name for name in others if name != identity))
        self._known[run_key] = (run, asked, names)
        return names

    def _real(self, path: str) -> str:
        real = self._real_paths.get(path)
        if real is None:
            real = self._real_paths[path] = os.path.realpath(path)
        return real


def folder_names(real_paths: Sequence[str]) -> Tuple[str, ...]:
    """What the checklists of folders are filed under: a name as of a run, and the path itself in older journals."""
    names = [name for real in real_paths for name in (identity_of(real, None), real)]
    return tuple(dict.fromkeys(name for name in names if _storable(name)))


def _storable(name: str) -> bool:
    """A path with bytes that are no UTF-8 never was in a journal."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def named_at(path: str, formats: Sequence[Format], wanted: Optional[str] = None) -> Named:
    """The run that a person means by a path, known by the names of its files; nothing is read of it.

    `wanted`: key of the run, where it is said. Else it is the one that lies there itself, or the only one below. A path
    at which nothing has been written yet has the names of a folder.
    """
    ingestor = Ingestor(path, formats)
    while not ingestor.scan(0.0, SCAN_S).complete:
        pass
    runs = ingestor.runs()
    meant = [run for run in runs if run.key == wanted] or [run for run in runs if run.path == ingestor.root] or runs
    if len(meant) != 1:
        real = os.path.realpath(path)
        own, *others = folder_names([real])
        return Named(Names(own, tuple(others)), real, len(meant))
    run = meant[0]
    return Named(Identities().of(run.key, runs, run.path, ingestor.root), os.path.realpath(run.path), 0)
