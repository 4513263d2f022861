"""What likely causes an incident, and the guided check that finds out: the monitor's knowledge put before the checks.

Reads payloads and takes tens of milliseconds: `session` and `causes` belong on a worker thread. It keeps nothing that a
person said; that is the journal's.
"""

from __future__ import annotations

from threading import Lock
from typing import Callable, Dict, Mapping, Optional, Sequence, Tuple

from mstui.checks.causes import symptoms_of
from mstui.checks.evidence_base import observe
from mstui.checks.probe_base import probe_all
from mstui.checks.session import Case, Session, session
from mstui.checks.session_notes import read
from mstui.checks.session_screen import SessionWords
from mstui.checks.view import View, gather
from mstui.knowledge.loader import knowledge
from mstui.knowledge.ranking import Observation
from mstui.model.alert_view import Alert, LikelyCause
from mstui.model.checks import ProbeResult
from mstui.model.histogram import Histogram
from mstui.model.journal import Entry
from mstui.model.records import BlobKind
from mstui.model.runs import Fact
from mstui.model.series import SeriesKey
from mstui.monitor.guidance_answers import Standpoint
from mstui.store.run_store import BlobPlaces, Store

VERSION_FACTS = ("custom/mindspore", "custom/mindspore_version", "mindspore_version")
"""where a run's MindSpore version may be declared, the surest first"""


class Guide:
    """Answers for every loaded run. Any thread."""

    def __init__(
        self,
        store: Store,
        histograms: Callable[[BlobPlaces, Sequence[int]], Sequence[Optional[Histogram]]],
        read_range: Callable[[str, int, int], Optional[bytes]],
    ) -> None:
        self._store = store
        self._decode = histograms
        self._read_range = read_range
        self._lock = Lock()
        self._seen: Dict[Tuple[str, str], Tuple[Tuple[int, object], View, Mapping[str, Observation]]] = {}
        """by run and alert: what it was made from, the view, and what was observed"""

    def session(
        self, run_key: str, alert: Optional[Alert], flow: str, entries: Sequence[Entry], standpoint: Standpoint
    ) -> Session:
        """The guided check of an incident, or a flow without one, with these answers."""
        return self._session(run_key, alert, flow, entries, standpoint, probe_all)

    def causes(
        self, run_key: str, alert: Alert, entries: Sequence[Entry], standpoint: Standpoint, language: str
    ) -> Tuple[LikelyCause, ...]:
        """The causes of an incident, the likeliest first, in words. Checks that answer themselves do not move them."""
        at = self._session(run_key, alert, "", entries, standpoint, _nothing_probed)
        return tuple(
            LikelyCause(
                line.id, line.title, float(line.score), line.word, tuple(text for _, text in line.reasons), line.refuted
            )
            for line in SessionWords(at, language).causes()
        )

    def _session(
        self,
        run_key: str,
        alert: Optional[Alert],
        flow: str,
        entries: Sequence[Entry],
        standpoint: Standpoint,
        probed: Callable[[View], Mapping[str, ProbeResult]],
    ) -> Session:
        view, seen = self._look(run_key, alert, standpoint, read(entries).facts)
        symptoms = symptoms_of(alert.incident) if alert is not None and not flow else ()
        return session(knowledge(), Case(symptoms, flow, seen, probed(view), version_of(standpoint.facts)), entries)

    def forget(self, run_key: str) -> None:
        """The run is not loaded any more."""
        with self._lock:
            self._seen = {key: each for key, each in self._seen.items() if key[0] != run_key}

    def _look(
        self, run_key: str, alert: Optional[Alert], standpoint: Standpoint, told: Mapping[str, float]
    ) -> Tuple[View, Mapping[str, Observation]]:
        """The run as it stands, from memory while nothing has changed."""
        key = (run_key, alert.id if alert is not None else "")
        stamp = (self._store.revision, (alert.incident if alert is not None else None, dict(told), standpoint.verdict))
        with self._lock:
            known = self._seen.get(key)
        if known is not None and known[0] == stamp:
            return known[1], known[2]
        view = gather(
            self._store,
            run_key,
            facts=standpoint.facts,
            said=told,
            incident=alert.incident if alert is not None else None,
            verdict=standpoint.verdict,
            process=standpoint.process,
            now=standpoint.now,
            histograms=self._histograms,
            payload=self._payload,
        )
        seen = observe(view)
        with self._lock:
            self._seen[key] = (stamp, view, seen)
        return view, seen

    def _histograms(self, key: SeriesKey, wanted: Sequence[int]) -> Sequence[Optional[Histogram]]:
        places = self._store.blobs(key, BlobKind.HISTOGRAM)
        return () if places is None else self._decode(places, wanted)

    def _payload(self, key: SeriesKey, kind: BlobKind) -> Optional[bytes]:
        places = self._store.blobs(key, kind)
        if places is None or not len(places):
            return None
        path = places.paths[int(places.files[-1])]
        return self._read_range(path, int(places.offsets[-1]), int(places.lengths[-1]))


def version_of(facts: Mapping[str, Fact]) -> str:
    """The run's MindSpore version as text; empty where nothing tells."""
    return next((str(facts[name]) for name in VERSION_FACTS if name in facts), "")


def _nothing_probed(_view: View) -> Mapping[str, ProbeResult]:
    return {}
