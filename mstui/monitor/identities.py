"""The names under which the journal knows runs; kept, because finding a folder's real path asks the disk."""

from __future__ import annotations

import os
from typing import Dict, Optional, Tuple

from mstui.ingest.ingestor import DiscoveredRun
from mstui.model.sources import SourceKind
from mstui.monitor.alert_book import identity_of


class Identities:
    """Belongs to the monitor's thread."""

    def __init__(self) -> None:
        self._known: Dict[str, Tuple[Optional[DiscoveredRun], str]] = {}
        """by run key: what it was told by, and the name"""
        self._real_paths: Dict[str, str] = {}

    def of(self, run_key: str, run: Optional[DiscoveredRun], folder: str) -> str:
        """The name of a run as it is listed now. `folder`: where it lies, for a run without a summary."""
        told, identity = self._known.get(run_key, (None, ""))
        if identity and told is run:
            return identity
        files = [file.key for file in run.files if file.key.source.kind is SourceKind.SUMMARY] if run else []
        first = min(files, key=lambda key: key.started, default=None)
        place = folder if first is None else os.path.dirname(first.path)
        real = self._real_paths.get(place)
        if real is None:
            real = self._real_paths[place] = os.path.realpath(place)
        identity = identity_of(real, None if first is None else first.started)
        self._known[run_key] = (run, identity)
        return identity
