"""A run at one moment, as evidence and probes look at it: curves, histograms, facts, events and what was detected.

Frozen, and lazy: a curve's arrays, a histogram or a graph are read when the first one asks for them, in the caller's
thread, so a view belongs in a worker. It judges nothing, and it never raises because something is missing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Callable, Dict, FrozenSet, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from mstui.checks.curves import Curve
from mstui.checks.declared import Declared
from mstui.checks.graph import Node, nodes
from mstui.detect.base import Process
from mstui.formats import payloads
from mstui.model.alerts import Incident, Severity, Symptom, Verdict
from mstui.model.histogram import Histogram
from mstui.model.logs import LogEvent
from mstui.model.records import BlobKind
from mstui.model.roles import Role
from mstui.model.runs import Fact
from mstui.model.series import SeriesKey
from mstui.store.run_store import Store

Histograms = Callable[[SeriesKey, Sequence[int]], Sequence[Optional[Histogram]]]
"""the histograms at these places among those of a tag; None for one that can no longer be read"""
Payload = Callable[[SeriesKey, BlobKind], Optional[bytes]]
"""the newest payload of a kind; None without any, or when it can no longer be read"""
HISTOGRAMS_READ = 64
"""Tags whose histograms one view decodes at most: a look at evidence must not read a training of 1000 layers whole."""
ENDS_READ, BETWEEN_READ = 4, 8
"""Of one tag: so many histograms at either end, where weights start and stand now, and so many between them."""
TRENDS = frozenset(
    (
        *(Symptom.LOSS_FLAT, Symptom.LOSS_SLOW, Symptom.LOSS_OSCILLATE, Symptom.LOSS_DIVERGE, Symptom.PLATEAU),
        *(Symptom.METRIC_LOW, Symptom.METRIC_CHANCE, Symptom.OVERFIT, Symptom.UNDERFIT),
    )
)
"""Symptoms seen over a stretch: the step that they name is where the stretch begins, not where it went wrong."""


class Told(NamedTuple):
    """One fact from a log."""

    rank_id: int
    event: LogEvent


class HistogramTag(NamedTuple):
    """A tag that has histograms."""

    rank_id: int
    tag: str
    parameter: str
    statistic: str
    number: int
    """of histograms"""


def _no_histograms(_key: SeriesKey, _places: Sequence[int]) -> Sequence[Optional[Histogram]]:
    return ()


def _places(number: int) -> Sequence[int]:
    """Which of so many histograms are read."""
    if number <= 2 * ENDS_READ + BETWEEN_READ:
        return range(number)
    between = np.linspace(ENDS_READ, number - ENDS_READ - 1, BETWEEN_READ).astype(int).tolist()
    return (*range(ENDS_READ), *between, *range(number - ENDS_READ, number))


def _no_payload(_key: SeriesKey, _kind: BlobKind) -> Optional[bytes]:
    return None


@dataclass(frozen=True)
class View:
    """One run at one moment, and the incident that it is looked at for."""

    run_key: str
    curves: Tuple[Curve, ...] = ()
    """by rank, in the order of first appearance"""
    histogram_tags: Tuple[HistogramTag, ...] = ()
    facts: Mapping[str, Fact] = field(default_factory=dict)
    """lineage, declared facts and facts from logs"""
    said: Mapping[str, float] = field(default_factory=dict)
    """what a person has entered, by the ids of mstui.model.checks.FACTS"""
    events: Tuple[Told, ...] = ()
    has_log: bool = False
    """a text log of the run was read, so that what it does not say means something"""
    incident: Optional[Incident] = None
    verdict: Optional[Verdict] = None
    """which rules could judge"""
    process: Process = field(default_factory=Process)
    now: float = 0.0
    """Unix seconds"""
    read_histograms: Histograms = _no_histograms
    read_payload: Payload = _no_payload

    def about(self, incident: Optional[Incident]) -> View:
        """The same run, looked at for an incident."""
        return replace(self, incident=incident)

    # ---- where one looks

    @cached_property
    def onset(self) -> Optional[int]:
        """Step at which the incident began; None without an incident."""
        if self.incident is None:
            return None
        loud = [each for each in self.incident.happenings if each.severity >= Severity.WATCH]
        sharp = [each for each in loud if each.symptom not in TRENDS]
        return min(each.step for each in sharp or loud or self.incident.happenings)

    @cached_property
    def ranks(self) -> Tuple[int, ...]:
        """Ranks that have recorded anything, rising."""
        return tuple(sorted({each.rank_id for each in self.curves} | {each.rank_id for each in self.histogram_tags}))

    @cached_property
    def rank(self) -> int:
        """The rank that is looked at: the incident's, else the lowest."""
        if self.incident is not None and self.incident.head.scope.rank_id in self.ranks:
            return self.incident.head.scope.rank_id
        return self.ranks[0] if self.ranks else 0

    @cached_property
    def layers(self) -> Tuple[str, ...]:
        """Parameters and layers that the incident names, in the order in which they were seen."""
        if self.incident is None:
            return ()
        scopes = [scope for each in self.incident.happenings for scope in (each.scope, *each.others)]
        return tuple(dict.fromkeys(scope.layer for scope in scopes if scope.layer))

    # ---- curves

    @cached_property
    def _by_role(self) -> Dict[Tuple[int, Role], List[Curve]]:
        found: Dict[Tuple[int, Role], List[Curve]] = {}
        for each in self.curves:
            found.setdefault((each.rank_id, each.role), []).append(each)
        return found

    @cached_property
    def _by_statistic(self) -> Dict[Tuple[int, str], List[Curve]]:
        found: Dict[Tuple[int, str], List[Curve]] = {}
        for each in self.curves:
            if each.role is Role.PARAMETER:
                found.setdefault((each.rank_id, each.statistic), []).append(each)
        return found

    def of_role(self, role: Role, held_out: Optional[bool] = None, rank_id: Optional[int] = None) -> Tuple[Curve, ...]:
        """Curves of a role on one rank (the one looked at where none is named)."""
        found = self._by_role.get((self.rank if rank_id is None else rank_id, role), [])
        return tuple(each for each in found if held_out is None or each.held_out is held_out)

    def one(self, role: Role, held_out: Optional[bool] = None, rank_id: Optional[int] = None) -> Optional[Curve]:
        """The curve of a role with most points."""
        return max(self.of_role(role, held_out, rank_id), key=len, default=None)

    def of_statistic(self, *names: str, rank_id: Optional[int] = None) -> Tuple[Curve, ...]:
        """One statistic of all parameters or layers, under any of its names, in the order of the network."""
        rank = self.rank if rank_id is None else rank_id
        return tuple(each for name in names for each in self._by_statistic.get((rank, name), []))

    @cached_property
    def loss(self) -> Optional[Curve]:
        """The training loss."""
        return self.one(Role.LOSS) or self.one(Role.PARTIAL_LOSS)

    @cached_property
    def learning_rate(self) -> Optional[Curve]:
        """The learning rate."""
        return self.one(Role.LEARNING_RATE)

    @cached_property
    def span(self) -> Optional[Tuple[int, int]]:
        """First and last step of the rank that is looked at; None without any record."""
        ends = [
            (int(each.steps[0]), int(each.steps[-1])) for each in self.curves if each.rank_id == self.rank and len(each)
        ]
        return (min(first for first, _ in ends), max(last for _, last in ends)) if ends else None

    @cached_property
    def restarts(self) -> Tuple[int, ...]:
        """Steps at which the training began again, of any rank."""
        return tuple(sorted({step for each in self.curves for step in each.restarts}))

    # ---- what was declared

    @cached_property
    def declared(self) -> Declared:
        """Facts by what they mean."""
        return Declared(self.facts, self.said)

    # ---- what lies in files

    def histograms(self, statistic: str, rank_id: Optional[int] = None) -> Mapping[str, Tuple[Histogram, ...]]:
        """Histograms by parameter, in the order of their steps: of many parameters and of many records a part."""
        rank = self.rank if rank_id is None else rank_id
        known = self._histograms.get((rank, statistic))
        if known is None:
            tags = [each for each in self.histogram_tags if each.rank_id == rank and each.statistic == statistic]
            known = {}
            for each in tags[:HISTOGRAMS_READ]:
                read = self.read_histograms(SeriesKey(self.run_key, rank, each.tag), _places(each.number))
                known[each.parameter] = tuple(one for one in read if one is not None)
            self._histograms[rank, statistic] = known
        return known

    @cached_property
    def _histograms(self) -> Dict[Tuple[int, str], Dict[str, Tuple[Histogram, ...]]]:
        return {}

    @cached_property
    def pipeline(self) -> Tuple[payloads.DatasetOperation, ...]:
        """Operations of the data set graph, from the network's end to the source; empty without one."""
        data = self.read_payload(SeriesKey(self.run_key, self.rank, ""), BlobKind.DATASET_GRAPH)
        try:
            return payloads.dataset_operations(data) if data else ()
        except payloads.PayloadError:
            return ()

    @cached_property
    def graph(self) -> Tuple[Node, ...]:
        """Nodes of the network graph, in its order; empty without one."""
        data = self.read_payload(SeriesKey(self.run_key, self.rank, ""), BlobKind.GRAPH)
        return nodes(data) if data else ()

    @cached_property
    def graph_parameters(self) -> Tuple[str, ...]:
        """Parameters and inputs that the network graph names, in its order; empty without one."""
        data = self.read_payload(SeriesKey(self.run_key, self.rank, ""), BlobKind.GRAPH)
        try:
            return payloads.graph_parameters(data) if data else ()
        except payloads.PayloadError:
            return ()

    @cached_property
    def parameters(self) -> Tuple[str, ...]:
        """Every parameter that is known by name, in the order of the network where that is told."""
        names = [
            each.parameter for each in self.curves if each.statistic.startswith(("weight", "grad", "update", "param"))
        ]
        names += [each.parameter for each in self.histogram_tags if each.statistic in ("weight", "gradient")]
        return tuple(dict.fromkeys((*(each.name for each in self.declared.parameters), *names)))

    # ---- two of the commonest questions

    @cached_property
    def steps_per_epoch(self) -> Optional[float]:
        """Declared, or told by the epochs in the record; None where neither tells."""
        told = self.declared.steps_per_epoch
        if told is not None:
            return told
        epochs = self.one(Role.EPOCH)
        if epochs is None or len(epochs.good) < 2:
            return None
        steps, values = epochs.good_steps, epochs.good
        turns = np.flatnonzero(np.floor(values[1:]) > np.floor(values[:-1])) + 1
        if len(turns) < 2:
            return None
        return float(np.median(np.diff(steps[turns])))

    @cached_property
    def moving_words(self) -> FrozenSet[str]:
        """Lower-case words of every parameter's name: what the network is made of, as far as names tell."""
        return frozenset(part for name in self.parameters for part in name.lower().replace("_", ".").split("."))


def gather(
    store: Store,
    run_key: str,
    *,
    facts: Optional[Mapping[str, Fact]] = None,
    said: Optional[Mapping[str, float]] = None,
    incident: Optional[Incident] = None,
    verdict: Optional[Verdict] = None,
    process: Optional[Process] = None,
    now: float = 0.0,
    histograms: Histograms = _no_histograms,
    payload: Payload = _no_payload,
) -> View:
    """A view of what the store holds of a run now. Points are not copied, payloads are not read."""
    curves: List[Curve] = []
    tags: List[HistogramTag] = []
    names = store.tag_names(run_key)
    for rank_id in store.ranks(run_key):
        for kind, tag in names:
            if kind is None:
                series = store.series(SeriesKey(run_key, rank_id, tag))
                if series is not None and series.total:
                    curves.append(Curve(rank_id, tag, *store.roles.meaning(tag), series=series))
            elif kind is BlobKind.HISTOGRAM:
                lying = store.blobs(SeriesKey(run_key, rank_id, tag), kind)
                if lying is not None:
                    meaning = store.roles.meaning(tag, kind)
                    tags.append(HistogramTag(rank_id, tag, meaning.parameter, meaning.statistic, len(lying)))
    logs = store.logs(run_key)
    told = [
        Told(each.rank_id if each.rank_id is not None else log.key.rank_id, each)
        for log in logs
        for each in log.view().events
    ]
    return View(
        run_key,
        tuple(curves),
        tuple(tags),
        facts or {},
        said or {},
        tuple(told),
        bool(logs),
        incident,
        verdict,
        process or Process(),
        now,
        histograms,
        payload,
    )
