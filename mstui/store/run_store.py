"""Everything read so far of every loaded run: files, ranks and tags joined into series.

One thread applies batches; any number of threads ask. An answer is a consistent view of what was published when it was
asked for and stays valid for as long as it is held. The store opens no file, has no clock and draws nothing.
"""

from __future__ import annotations

from typing import Dict, List, Mapping, Optional, Tuple

from mstui.model.batch import Batch, FileKey, Part
from mstui.model.records import BlobKind, FloatArray, IntArray
from mstui.model.series import Series, SeriesKey
from mstui.model.sources import SourceKind
from mstui.monitor_api import TagInfo
from mstui.store.blob_index import BlobPlaces, BlobState, join_places
from mstui.store.blocks import Blocks
from mstui.store.columns import GroupState
from mstui.store.composed import Composed
from mstui.store.log_index import LogIndex
from mstui.store.parts import FileParts, Piece, Rank, Run, TagName
from mstui.store.recorded import (
    Recorded,
    Stretch,
    freshest,
    newest_files,
    newest_states,
    newest_stretch,
    reach,
    recorded,
)
from mstui.store.rhythm import record_interval, step_gap
from mstui.store.roles import Roles
from mstui.store.series_cache import MOST_CACHED, Names, SeriesCache
from mstui.store.tag_list import TagLists

__all__ = ["BlobPlaces", "Store"]


class Store:
    """All loaded runs. `apply` and `drop` belong to one thread, everything else to anyone."""

    def __init__(self, roles: Optional[Roles] = None) -> None:
        self.roles = roles if roles is not None else Roles()
        self._runs: Dict[str, Run] = {}
        self._revision = 0
        self._series = SeriesCache()
        self._blobs: Dict[Tuple[SeriesKey, BlobKind], Tuple[int, Tuple[BlobState, ...], BlobPlaces]] = {}
        self._tags = TagLists(self.roles)
        self.blocks = Blocks()
        """of long rows, for whoever reduces them"""

    @property
    def revision(self) -> int:
        """Rises with every batch that brought or took something."""
        return self._revision

    # ---- writing ----

    def apply(self, batch: Batch) -> None:
        """Take in what one turn of reading gave."""
        key = batch.file
        run = self._runs.get(key.run_key)
        if run is None:
            run = Run()
        if key.source.kind is SourceKind.LOG:
            run.log_to_add_to(key).add(batch)
        self._add_to_rank(run, batch)
        for own in run.attributed(key, batch.rank_columns):
            columns = batch.rank_columns.get(own.rank_id, ())
            if columns or batch.joined or batch.drop_tail or batch.reset:
                self._add_to_rank(
                    run,
                    Batch(own, batch.part, columns, reset=batch.reset, drop_tail=batch.drop_tail, joined=batch.joined),
                )

    def _add_to_rank(self, run: Run, batch: Batch) -> None:
        key = batch.file
        rank = run.ranks.get(key.rank_id)
        is_log = key.source.kind is SourceKind.LOG
        if is_log and not (batch.columns or batch.blobs) and (rank is None or rank.find(key) is None):
            # a log that measures nothing is no record of its rank's training
            self._runs[key.run_key] = run
            self._revision += 1
            return
        if rank is None:
            rank = Rank()
            rank.has_peers = bool(run.ranks)
            if len(run.ranks) == 1:
                next(iter(run.ranks.values())).has_peers = True
        known = rank.find(key)
        file = known if known is not None and not batch.reset else FileParts(key)
        if batch.drop_tail:
            file = FileParts(key, file.history)
        forgot = known is not None and (batch.reset or batch.drop_tail)
        if batch.part is Part.TAIL:
            piece = file.tail if file.tail is not None else Piece()
            file = FileParts(key, file.history, piece)
        else:
            piece = file.history[-1] if file.history else Piece()
            file = FileParts(key, file.history or (piece,), file.tail)
        moved = forgot
        width = piece.columns.width
        for columns in batch.columns:
            moved |= piece.columns.append(columns)
        for refs in batch.blobs:
            piece.blobs.append(refs)
        if batch.joined:
            # The tail stays where it is and goes on growing: joining copies nothing and shows no half-way state.
            file = FileParts(key, file.pieces)
        if known is None or known.history != file.history or known.tail is not file.tail:
            rank.put(file)
        grew = piece.columns.width > width
        if grew:
            run.saw_names(key.source, piece.columns.tags)
        run.ranks[key.rank_id] = rank
        if forgot:
            self._forget(run, rank)
        self._count(run, rank, batch, counted=forgot)
        self._runs[key.run_key] = run
        self._revision += 1
        rank.revision = self._revision
        if forgot or not rank.since or (grew and len(rank.sources) > 1):
            rank.since = self._revision
        if moved:
            self._clear_caches()

    def _forget(self, run: Run, rank: Rank) -> None:
        """Count again what is left after a file lost points. Tags keep their place in the order they were seen in."""
        rank.recount()
        run.forget_names()
        most: Dict[TagName, int] = dict.fromkeys(run.most, 0)
        together: Dict[Tuple[str, ...], int] = {}
        run.first_wall = None
        for each in tuple(run.ranks.values()):
            for name, number in each.points.items():
                most[name] = max(most.get(name, 0), number)
            for tags, number in each.together.items():
                together[tags] = max(together.get(tags, 0), number)
            for file in each.files:
                for piece in file.pieces:
                    for state in piece.columns.states():
                        run.saw_walls(state.wall_times[: state.n])
        left = {(None, tag) for tags in together for tag in tags}
        run.most = {name: number for name, number in most.items() if number or name in left}
        run.together = together

    def _count(self, run: Run, rank: Rank, batch: Batch, *, counted: bool) -> None:
        names: List[Tuple[TagName, int]] = []
        for columns in batch.columns:
            number = len(columns.steps)
            if not number:
                continue
            run.saw_walls(columns.wall_times)
            total = None if counted else rank.count_together(columns.tags, number)
            if total is None:
                names.extend(((None, tag), number) for tag in dict.fromkeys(columns.tags))
            else:
                run.saw_together(columns.tags, total)
        for refs in batch.blobs:
            if len(refs.steps):
                names.append(((refs.kind, refs.tag), len(refs.steps)))
                run.saw_walls(refs.wall_times)
        for name, number in names:
            total = rank.points.get(name, 0) if counted else rank.count(name, number)
            if total > run.most.get(name, 0):
                run.most[name] = total

    def drop(self, run_key: str) -> None:
        """Forget a run's points."""
        if self._runs.pop(run_key, None) is not None:
            self._revision += 1
            self._clear_caches()
            self._series.clear()

    def _clear_caches(self) -> None:
        """Views into arrays that have moved would keep the old ones in memory."""
        self._series.let_go()
        self._blobs = {}
        self._tags.let_go()

    # ---- asking ----

    def rank(self, run_key: str, rank_id: int) -> Optional[Rank]:
        """What a rank has recorded, by file; None for one that has recorded nothing. Not to be changed."""
        run = self._runs.get(run_key)
        return None if run is None else run.ranks.get(rank_id)

    def runs(self) -> Tuple[str, ...]:
        """Keys of the runs that hold anything."""
        return tuple(self._runs)

    def ranks(self, run_key: str) -> Tuple[int, ...]:
        """Ranks of a run, rising; empty for a run that is not loaded."""
        run = self._runs.get(run_key)
        return () if run is None else tuple(sorted(run.ranks))

    def logs(self, run_key: str) -> Tuple[LogIndex, ...]:
        """The text logs of a run, by rank and then in the order of their files."""
        run = self._runs.get(run_key)
        return () if run is None else run.logs

    def log(self, file: FileKey) -> Optional[LogIndex]:
        """One text log; None for one of which nothing has been read."""
        run = self._runs.get(file.run_key)
        return None if run is None else run.log(file)

    def first_wall(self, run_key: str) -> Optional[float]:
        """Wall time of the run's first record among all ranks and files; None without any."""
        run = self._runs.get(run_key)
        return None if run is None else run.first_wall

    def series(self, key: SeriesKey) -> Optional[Series]:
        """Every point of a series; None when there is none."""
        composed = self.composed(key)
        return None if composed is None else composed.series

    def composed(self, key: SeriesKey) -> Optional[Composed]:
        """A series and what belongs to it, from the cache while its points have not changed."""
        revision = self._revision
        known = self._series.known(key, revision)
        if known is not None:
            return known
        run = self._runs.get(key.run_key)
        rank = None if run is None else run.ranks.get(key.rank_id)
        if run is None or rank is None:
            return None
        return self._series.composed(key, rank, self._names(run, key), revision)

    @staticmethod
    def _names(run: Run, key: SeriesKey) -> Names:
        """Under which names a tag stands in summaries, and in tables and logs."""
        if not run.names_version:
            return key.tag, key.tag
        return run.identity.names(key.tag, key.rank_id)

    def recorded(self, key: SeriesKey) -> List[Recorded]:
        """What each source has of a series, the most exact first; all that was recorded, before restarts are seen to.

        Empty for a series that does not exist.
        """
        run = self._runs.get(key.run_key)
        rank = None if run is None else run.ranks.get(key.rank_id)
        return [] if run is None or rank is None else recorded(rank, self._names(run, key))

    def stretches(self, key: SeriesKey) -> List[Stretch]:
        """The same of the most exact source that has the series, piece by piece."""
        records = self.recorded(key)
        return records[0].parts if records else []

    def names_version(self, run_key: str) -> int:
        """Rises when a tag of a run may have come to stand for another one as well."""
        run = self._runs.get(run_key)
        return 0 if run is None else run.names_version

    def blobs(self, key: SeriesKey, kind: BlobKind) -> Optional[BlobPlaces]:
        """Where the payloads of a tag lie; None when there are none."""
        revision, cache = self._revision, self._blobs
        cached = cache.get((key, kind))
        if cached is not None and cached[0] == revision:
            return cached[2]
        rank = self.rank(key.run_key, key.rank_id)
        if rank is None:
            return None
        found: List[Tuple[str, BlobState]] = []
        for file in rank.files:
            for piece in file.pieces:
                state = piece.blobs.state(kind, key.tag)
                if state is not None:
                    found.append((file.key.path, state))
        if not found:
            return None
        states = tuple(state for _, state in found)
        if cached is not None and len(cached[1]) == len(states) and all(a is b for a, b in zip(cached[1], states)):
            places = cached[2]
        else:
            places = join_places(kind, key.tag, found)
        if len(cache) >= MOST_CACHED:
            cache.clear()
        cache[key, kind] = (revision, states, places)
        return places

    def tag_names(self, run_key: str) -> Tuple[TagName, ...]:
        """Every (kind, tag) of a run, in order of first appearance; a curve that has two names once."""
        run = self._runs.get(run_key)
        if run is None:
            return ()
        names = tuple(run.most)
        if not run.names_version or not run.identity:
            return names
        identity = run.identity
        return tuple(name for name in names if name[0] is not None or identity.is_listed(name[1]))

    def tags(self, run_key: str) -> List[TagInfo]:
        """Every tag of a run over all of its ranks, by role and then first appearance.

        Of several that are losses the one that "the loss" means comes first.
        """
        run = self._runs.get(run_key)
        return [] if run is None else self._tags.tags(run_key, run, self._revision)

    def last_step(self, run_key: str, rank_id: Optional[int] = None) -> Optional[int]:
        """Step of the newest scalar record: of one rank, or the highest of all ranks."""
        ranks = self.ranks(run_key) if rank_id is None else (rank_id,)
        steps = [step for step in (self._last_step_of(run_key, each) for each in ranks) if step is not None]
        return max(steps) if steps else None

    def _last_step_of(self, run_key: str, rank_id: int) -> Optional[int]:
        rank = self.rank(run_key, rank_id)
        files = [] if rank is None else newest_files(rank)
        return max(reach(newest_states(file)) for file in files)[1] if files else None

    def _busiest(self, run_key: str) -> Optional[GroupState]:
        """The newest file's group with most records on the lowest rank: its rhythm is the run's.

        Of several sources the one with most records whose times are known.
        """
        for rank_id in self.ranks(run_key):
            rank = self.rank(run_key, rank_id)
            files = [] if rank is None else newest_files(rank)
            if files:
                states = [state for file in files for piece in file.pieces for state in piece.columns.states()]
                return max(states, key=lambda state: (reach((state,))[0] > 0.0, state.n))
        return None

    def recent(self, run_key: str, rank_id: int) -> Optional[Tuple[IntArray, FloatArray]]:
        """Steps and wall times of the newest stretch of the scalar that a rank has recorded most often.

        None without any. Costs the same for any number of tags.
        """
        rank = self.rank(run_key, rank_id)
        tag = None if rank is None else rank.busiest
        latest = None if tag is None else freshest(self.recorded(SeriesKey(run_key, rank_id, tag)))
        return None if latest is None else newest_stretch(latest.parts)

    def recent_by_source(self, run_key: str, rank_id: int) -> List[Tuple[IntArray, FloatArray]]:
        """The same of each source of a rank, the most exact first, whatever scalar that source has recorded most often.

        What several processes may have printed is left out where the rank has a record of its own.
        """
        rank = self.rank(run_key, rank_id)
        files = [] if rank is None else newest_files(rank)
        files = [file for file in files if not file.key.source.shared] or files
        most = (max(states, key=lambda state: state.n) for states in map(newest_states, files) if states)
        return [newest_stretch([(state, 0)]) for state in most]

    def restarts(self, run_key: str) -> int:
        """Times that the training was started again, as the most recorded scalar of its lowest rank tells."""
        for rank_id in self.ranks(run_key):
            rank = self.rank(run_key, rank_id)
            if rank is not None and rank.busiest is not None:
                series = self.series(SeriesKey(run_key, rank_id, rank.busiest))
                return 0 if series is None else len(series.restarts)
        return 0

    def step_gap(self, run_key: str) -> Optional[int]:
        """Steps between records, the most frequent difference of late; None below two records."""
        state = self._busiest(run_key)
        return None if state is None else step_gap(state.steps[: state.n])

    def record_interval(self, run_key: str) -> Optional[float]:
        """Median seconds between the latest records; None below two records."""
        state = self._busiest(run_key)
        return None if state is None else record_interval(state.wall_times[: state.n])

    def memory(self) -> Mapping[str, int]:
        """Points and records of logs held, bytes that they and merged copies take, and address space reserved."""
        points = used = reserved = records = 0
        for run in tuple(self._runs.values()):
            for log in run.logs:
                records += log.records
                used += log.bytes_used
                reserved += log.bytes_used
            for rank in tuple(run.ranks.values()):
                for file in rank.files:
                    for piece in file.pieces:
                        points += piece.columns.points
                        used += piece.columns.bytes_used
                        reserved += piece.columns.bytes_reserved
        merged = self._series.bytes_merged
        used, reserved = used + merged, reserved + merged
        return {"points": points, "used": used, "reserved": reserved, "log_records": records}
