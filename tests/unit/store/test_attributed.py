"""Lines of a console that name their rank: each rank gets its points, and the file stays one log."""

from __future__ import annotations

from dataclasses import replace
from typing import Dict, List, Sequence

import numpy as np

from mstui.model.batch import Batch, FileKey, Part
from mstui.model.logs import LogRecords
from mstui.model.records import ScalarColumns
from mstui.model.runs import RankInfo, RunInfo, RunStatus
from mstui.model.series import SeriesKey
from mstui.model.sources import SUMMARY, Source, SourceKind
from mstui.store.rank_table import RankTables
from mstui.store.run_store import Store

CONSOLE = FileKey("run", 0, 1, "mpirun.log", Source(SourceKind.LOG, "3:mpirun.log", shared=True))
OWN = FileKey("run", 0, 1, "worker_0.log", Source(SourceKind.LOG, "2:worker_N.log"))


def loss(steps: Sequence[int], shift: float = 0.0) -> ScalarColumns:
    number = np.asarray(steps, dtype=np.int64)
    return ScalarColumns(("loss",), number, 1000.0 + number, (number + shift)[None, :].astype(np.float64))


def batch(
    ranks: Dict[int, Sequence[int]],
    part: Part = Part.HISTORY,
    *,
    own: Sequence[int] = (),
    key: FileKey = CONSOLE,
    joined: bool = False,
    drop_tail: bool = False,
) -> Batch:
    """Steps by rank; the value says which rank it is of."""
    return Batch(
        key,
        part,
        (loss(own, 0.25),) if own else (),
        rank_columns={rank: (loss(steps, rank / 10),) for rank, steps in ranks.items()},
        log_records=LogRecords(np.array([0]), np.array([0], dtype=np.uint8)),
        joined=joined,
        drop_tail=drop_tail,
    )


def steps(store: Store, rank: int) -> List[int]:
    series = store.series(SeriesKey("run", rank, "loss"))
    if series is None:
        return []
    for points in series.current:
        assert np.allclose(points.values - points.steps, rank / 10)
    return [int(step) for points in series.current for step in points.steps]


def test_each_rank_that_is_named_gets_its_points_and_the_file_one_index() -> None:
    store = Store()
    store.apply(batch({0: [1, 2], 3: [1, 2, 3]}))
    assert store.ranks("run") == (0, 3)
    assert (steps(store, 0), steps(store, 3)) == ([1, 2], [1, 2, 3])
    assert [log.key for log in store.logs("run")] == [CONSOLE]
    series = store.series(SeriesKey("run", 3, "loss"))
    assert series is not None
    assert series.sources == (Source(SourceKind.LOG, "3:mpirun.log"),)


def test_a_console_that_names_every_rank_makes_no_rank_of_its_own() -> None:
    store = Store()
    store.apply(batch({2: [1], 3: [1]}))
    assert store.ranks("run") == (2, 3)


def test_history_and_tail_join_for_every_rank_also_for_one_that_only_one_of_them_names() -> None:
    store = Store()
    store.apply(batch({1: [7, 8], 2: [8]}, Part.TAIL))
    store.apply(batch({1: [1, 2], 3: [1]}))
    assert [steps(store, rank) for rank in (1, 2, 3)] == [[1, 2, 7, 8], [8], [1]]
    store.apply(batch({1: [3, 4, 5, 6]}, joined=True))
    for rank in (1, 2, 3):
        found = store.rank("run", rank)
        assert found is not None
        assert found.files[0].tail is None
    store.apply(batch({1: [9], 2: [9], 3: [9]}))
    assert [steps(store, rank) for rank in (1, 2, 3)] == [[1, 2, 3, 4, 5, 6, 7, 8, 9], [8, 9], [1, 9]]


def test_a_tail_that_is_dropped_is_dropped_for_every_rank() -> None:
    store = Store()
    store.apply(batch({1: [7, 8], 2: [8]}, Part.TAIL))
    store.apply(batch({1: [1, 2]}, drop_tail=True))
    assert (steps(store, 1), steps(store, 2)) == ([1, 2], [])
    store.apply(batch({1: [3], 2: [3]}))
    assert (steps(store, 1), steps(store, 2)) == ([1, 2, 3], [3])


def test_a_rank_that_is_named_is_not_shared_and_fills_what_its_own_summary_leaves_out() -> None:
    store = Store()
    store.apply(Batch(FileKey("run", 1, 1, "events", SUMMARY), Part.HISTORY, (loss([2], 0.1),)))
    store.apply(Batch(FileKey("run", 0, 1, "events0", SUMMARY), Part.HISTORY, (loss([2]),)))
    store.apply(batch({1: [1, 2, 3]}, own=[1, 2, 3]))
    assert steps(store, 1) == [1, 2, 3]
    assert steps(store, 0) == [2]


def test_what_a_file_tells_with_and_without_the_name_is_no_restart() -> None:
    store = Store()
    for step in (1, 2, 3):
        store.apply(replace(batch({0: [step]}, key=OWN), columns=(loss([step]),)))
    series = store.series(SeriesKey("run", 0, "loss"))
    assert series is not None
    assert steps(store, 0) == [1, 2, 3]
    assert series.restarts == ()


def test_the_table_of_ranks_has_a_row_with_a_loss_for_each() -> None:
    store = Store()
    store.apply(batch({rank: [1, 2] for rank in range(8)}))
    ranks = tuple(RankInfo(rank, 2, 1002.0, RunStatus.LIVE, 1, 1, 1) for rank in store.ranks("run"))
    run = RunInfo("run", "run", bool(ranks), RunStatus.LIVE, ranks, 2, 1002.0, 1, None, 1, 1, 1, 0)
    table = RankTables(store).table(run)
    assert [(row.rank_id, row.loss) for row in table.rows] == [(rank, 2 + rank / 10) for rank in range(8)]


def test_a_run_that_was_dropped_names_no_rank_any_more() -> None:
    store = Store()
    store.apply(batch({0: [1], 3: [1]}))
    store.drop("run")
    store.apply(batch({0: [1]}, joined=True))
    assert store.ranks("run") == (0,)
