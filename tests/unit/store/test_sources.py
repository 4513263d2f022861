"""A run with a summary and logs: one curve a tag, and every question answered from the right source."""

from __future__ import annotations

import math
from typing import Optional, Sequence

import numpy as np
import pytest

from mstui.model.batch import Batch, FileKey, Part
from mstui.model.records import ScalarColumns, ValueArray
from mstui.model.roles import Role
from mstui.model.runs import RankInfo, RunInfo, RunStatus
from mstui.model.series import Disagreement, Points, SeriesKey, XAxis
from mstui.model.sources import SUMMARY, Source, SourceKind
from mstui.monitor_api import CurveQuery, TagInfo
from mstui.store.axis import Axis
from mstui.store.band import Bands
from mstui.store.cursor import next_non_finite, reading
from mstui.store.curve import curve
from mstui.store.rank_table import RankTables
from mstui.store.run_store import Store

LOG = Source(SourceKind.LOG, "train.log")
LOSS = SeriesKey("run", 0, "loss")
NAN = math.nan


def put(
    store: Store,
    source: Source,
    steps: Sequence[int],
    values: Optional[Sequence[float]] = None,
    *,
    tag: str = "loss",
    rank: int = 0,
    wall: float = 1000.0,
    walls: Optional[Sequence[float]] = None,
    started: int = 1,
    reset: bool = False,
) -> None:
    number = np.asarray(steps, dtype=np.int64)
    row: ValueArray = np.asarray(steps if values is None else values, dtype=np.float64)
    if source is SUMMARY:
        row = row.astype(np.float32)
    own = wall + number if walls is None else np.asarray(walls, dtype=np.float64)
    key = FileKey("run", rank, started, f"{source.name}{started}", source)
    store.apply(Batch(key, Part.HISTORY, (ScalarColumns((tag,), number, own, row[None, :]),), reset=reset))


def flat(stretches: Sequence[Points]) -> dict[int, float]:
    return {int(step): float(value) for part in stretches for step, value in zip(part.steps, part.values)}


def current(store: Store, key: SeriesKey = LOSS) -> dict[int, float]:
    series = store.series(key)
    assert series is not None
    return flat(series.current)


def tag(store: Store, name: str) -> TagInfo:
    return next(info for info in store.tags("run") if info.tag == name)


def test_the_summary_holds_where_both_have_a_step_and_the_log_fills_what_lies_between() -> None:
    store = Store()
    put(store, LOG, [1, 2, 3, 4, 5], [0.5, 0.4, 0.384, 0.3, 0.2])
    put(store, SUMMARY, [1, 3], [0.5, 0.38436])
    series = store.series(LOSS)
    assert series is not None
    assert current(store) == pytest.approx({1: 0.5, 2: 0.4, 3: 0.38436, 4: 0.3, 5: 0.2})
    assert series.sources == (SUMMARY, LOG)
    assert series.disagreement is None
    assert series.total == 5
    assert tag(store, "loss").sources == (SUMMARY, LOG)
    assert tag(store, "loss").points == 5
    assert (tag(store, "loss").last_step, tag(store, "loss").last_value) == (5, 0.2)


def test_what_several_sources_have_added_since_is_merged_from_the_lowest_new_step() -> None:
    for order in ((SUMMARY, LOG), (LOG, SUMMARY)):
        store = Store()
        put(store, SUMMARY, [10, 20])
        put(store, LOG, [10, 20])
        assert len(current(store)) == 2
        for source in order:
            put(store, source, [30, 40] if source is SUMMARY else [22, 25, 33])
        assert list(current(store)) == [10, 20, 22, 25, 30, 33, 40]
        put(store, SUMMARY, [50])
        put(store, LOG, [34, 45])
        assert list(current(store)) == [10, 20, 22, 25, 30, 33, 34, 40, 45, 50]


CONSOLE = Source(SourceKind.LOG, "3:console.log", shared=True)


def test_what_a_terminal_shows_counts_where_nothing_else_has_the_tag() -> None:
    store = Store()
    put(store, CONSOLE, [1, 2], [0.5, 0.4])
    assert current(store) == {1: 0.5, 2: 0.4}
    put(store, LOG, [1, 2], [0.9, 0.8])
    assert current(store) == {1: 0.9, 2: 0.8}
    series = store.series(LOSS)
    assert series is not None
    assert series.disagreement is None
    assert series.sources == (LOG,)


def test_beside_a_summary_the_terminal_fills_steps_unless_another_rank_may_have_printed_there() -> None:
    store = Store()
    put(store, SUMMARY, [2], [0.4])
    put(store, CONSOLE, [1, 2], [0.5, 0.4])
    assert current(store) == pytest.approx({1: 0.5, 2: 0.4})
    put(store, SUMMARY, [2], [0.3], rank=1)
    assert current(store) == pytest.approx({2: 0.4})


def test_a_difference_beyond_rounding_is_told_with_its_first_step() -> None:
    store = Store()
    put(store, LOG, [1, 2, 3, 4], [0.5, 0.391, 0.384, 0.999])
    put(store, SUMMARY, [1, 2, 3, 4], [0.5, 0.38436, 0.38412, 0.3])
    series = store.series(LOSS)
    assert series is not None
    assert series.disagreement == Disagreement(4, 2, 2, float(np.float32(0.38436)), 0.391, SUMMARY, LOG)
    view = curve(store, CurveQuery(LOSS, 10))
    assert view is not None
    assert view.disagreement == series.disagreement
    assert view.sources == (SUMMARY, LOG)


def test_a_log_that_counts_from_zero_disagrees_and_does_not_hide_it() -> None:
    store = Store()
    losses = [2.0, 1.5, 1.1, 0.9, 0.7]
    put(store, LOG, range(5), losses)
    put(store, SUMMARY, range(1, 6), losses)
    series = store.series(LOSS)
    assert series is not None
    assert series.disagreement is not None
    assert series.disagreement.differing == series.disagreement.compared == 4


def test_more_digits_of_a_log_that_come_later_make_earlier_values_differ() -> None:
    store = Store()
    put(store, SUMMARY, [1, 2], [0.52, 0.384])
    put(store, LOG, [1], [0.5])
    before = store.series(LOSS)
    put(store, LOG, [2], [0.384])
    after = store.series(LOSS)
    assert before is not None
    assert after is not None
    assert before.disagreement is None
    assert after.disagreement is not None
    assert after.disagreement.step == 1


def test_one_source_is_views_of_its_own_arrays_whatever_else_the_rank_has() -> None:
    store = Store()
    put(store, LOG, [1, 2, 3], tag="tflops")
    put(store, SUMMARY, [1, 2])
    own = store.rank("run", 0)
    assert own is not None
    state = next(file for file in own.files if file.key.source == LOG).pieces[0].columns.state("tflops")
    series = store.series(SeriesKey("run", 0, "tflops"))
    assert series is not None
    assert state is not None
    assert np.shares_memory(series.current[0].values, state[0].values)
    assert series.sources == (LOG,)


def test_the_log_s_name_is_an_alias_from_the_moment_the_summary_comes() -> None:
    store = Store()
    put(store, LOG, [1, 2, 3])
    assert [info.tag for info in store.tags("run")] == ["loss"]
    put(store, SUMMARY, [2], [2.0], tag="loss/auto")
    assert [info.tag for info in store.tags("run")] == ["loss/auto"]
    assert store.tag_names("run") == ((None, "loss/auto"),)
    merged = SeriesKey("run", 0, "loss/auto")
    assert current(store, merged) == {1: 1.0, 2: 2.0, 3: 3.0}
    assert current(store, LOSS) == current(store, merged)
    put(store, SUMMARY, [3], [7.0], tag="train_loss")
    assert {info.tag for info in store.tags("run")} == {"loss/auto", "train_loss", "loss"}
    assert current(store, merged) == {2: 2.0}
    put(store, SUMMARY, [5], [5.0], tag="loss/auto", reset=True)
    assert [info.tag for info in store.tags("run") if info.points] == ["loss/auto"]


def test_restarts_are_those_of_the_summary_when_it_tells_of_any() -> None:
    store = Store()
    put(store, SUMMARY, [10, 20, 30, 20, 30])
    put(store, LOG, [10, 20, 30, 19, 20, 25, 30], wall=2000.0)
    series = store.series(LOSS)
    assert series is not None
    assert series.restarts == (20,)
    assert current(store) == {10: 10.0, 19: 19.0, 20: 20.0, 25: 25.0, 30: 30.0}
    assert flat(series.superseded) == {20: 20.0, 30: 30.0}


def test_restarts_that_only_the_log_tells_of_are_shown_and_take_the_old_summary_back() -> None:
    store = Store()
    put(store, SUMMARY, [10, 20, 30], [1.0, 2.0, 3.0])
    put(store, LOG, [10, 20, 30], [1.0, 2.0, 3.0])
    put(store, LOG, [20, 25], [9.0, 8.0], wall=5000.0, started=2)
    series = store.series(LOSS)
    composed = store.composed(LOSS)
    assert series is not None
    assert composed is not None
    assert series.restarts == (20,)
    assert composed.restart_walls == (5020.0,)
    assert current(store) == {10: 1.0, 20: 9.0, 25: 8.0}
    assert sorted(flat(series.superseded)) == [20, 30]
    assert series.disagreement is None
    assert store.last_step("run") == 25


def test_a_log_without_a_clock_breaks_nothing() -> None:
    store = Store()
    put(store, SUMMARY, [2, 4], [2.0, 4.0])
    put(store, LOG, [1, 2, 3, 4, 5], walls=[0.0, NAN, 0.0, 0.0, 0.0])
    for axis in XAxis:
        view = curve(store, CurveQuery(LOSS, 20, axis))
        assert view is not None
        assert int(view.count.sum()) == 5
        assert reading(store, LOSS, axis, 3.0, 0.0) is not None
    composed = store.composed(LOSS)
    assert composed is not None
    assert all(bool((np.diff(walls) >= 0).all()) for walls in composed.rising_walls)
    assert store.last_step("run") == 4, "the summary's clock tells what is now"
    recent = store.recent("run", 0)
    assert recent is not None
    assert recent[0].tolist() == [2, 4]


def test_the_first_time_of_a_run_is_the_first_that_is_one() -> None:
    store = Store()
    put(store, LOG, [1, 2], walls=[0.0, NAN])
    assert store.first_wall("run") is None
    put(store, LOG, [3, 4, 5], walls=[0.0, 700.0, 800.0])
    assert store.first_wall("run") == 700.0


def test_clocks_that_differ_leave_an_axis_that_does_not_go_back() -> None:
    store = Store()
    put(store, SUMMARY, [1, 3, 5])
    put(store, LOG, [2, 4, 6], wall=500.0)
    composed = store.composed(LOSS)
    assert composed is not None
    every = np.concatenate(composed.rising_walls)
    assert bool((np.diff(every) >= 0).all())


def test_a_bad_value_of_the_log_alone_is_found() -> None:
    store = Store()
    put(store, SUMMARY, [1, 2], [1.0, 2.0])
    put(store, LOG, [1, 2, 3, 4], [1.0, 2.0, NAN, 4.0])
    assert next_non_finite(store, LOSS, -1) == 2
    view = curve(store, CurveQuery(LOSS, 10))
    assert view is not None
    assert view.first_non_finite == 3


def test_a_summary_that_has_ended_leaves_the_rhythm_to_the_log() -> None:
    store = Store()
    put(store, SUMMARY, range(10, 1010, 10))
    put(store, LOG, range(900, 950), wall=50_000.0)
    recent = store.recent("run", 0)
    assert recent is not None
    assert recent[0][-1] == 949
    assert store.last_step("run") == 949


def test_each_source_has_a_rhythm_of_its_own_whatever_the_names_of_its_tags() -> None:
    store = Store()
    put(store, SUMMARY, [10, 20, 30])
    put(store, LOG, range(1, 32), tag="printed", walls=[0.0] * 30 + [1031.0])
    of_summary, of_log = store.recent_by_source("run", 0)
    assert of_summary[0].tolist() == [10, 20, 30]
    assert of_log[0].tolist() == list(range(1, 32))
    assert store.recent_by_source("run", 1) == []


def test_what_a_terminal_shows_of_several_tells_no_ranks_rhythm() -> None:
    store = Store()
    terminal = Source(SourceKind.LOG, "terminal", shared=True)
    put(store, terminal, [1, 1, 2, 2])
    assert len(store.recent_by_source("run", 0)) == 1
    put(store, LOG, [1, 2, 3])
    (own,) = store.recent_by_source("run", 0)
    assert own[0].tolist() == [1, 2, 3]


def test_of_several_losses_the_best_name_leads() -> None:
    store = Store()
    for name in ("epoch_loss", "grad_norm", "loss"):
        put(store, LOG, [1], tag=name)
    assert [info.tag for info in store.tags("run")] == ["loss", "epoch_loss", "grad_norm"]
    assert tag(store, "epoch_loss").role is Role.LOSS


def info(store: Store, ranks: Sequence[int]) -> RunInfo:
    listed = tuple(RankInfo(rank, store.last_step("run", rank), 5.0, RunStatus.LIVE, 1, 1, 1) for rank in ranks)
    return RunInfo(
        "run",
        "/run",
        loaded=True,
        status=RunStatus.LIVE,
        ranks=listed,
        last_step=None,
        last_data=5.0,
        step_gap=1,
        record_interval_s=1.0,
        file_count=1,
        bytes_total=1,
        bytes_read=1,
        fault_count=0,
    )


def test_ranks_that_have_only_logs_stand_beside_a_rank_with_a_summary() -> None:
    store = Store()
    put(store, SUMMARY, [1, 2, 3], [0.5, 0.4, 0.3], tag="loss/auto")
    for rank in range(6):
        put(store, LOG, [1, 2, 3, 4], [0.5, 0.4, 0.3, 0.25 if rank < 5 else 9.0], rank=rank)
    put(store, LOG, [4, 5], [1.0, NAN], rank=2, tag="grad_norm/global")
    tables = RankTables(store)
    found = tables.table(info(store, range(7)))
    assert found.loss_tag == "loss/auto"
    assert [row.loss for row in found.rows] == [0.25] * 5 + [9.0, None]
    assert [row.rank_id for row in found.rows if row.odd] == [5]
    assert found.rows[1].step_time_s == 1.0
    assert [(wave.step, wave.ranks) for wave in found.bad] == [(5, (2,))]
    put(store, LOG, [5], [NAN], rank=0)
    again = tables.table(info(store, range(7)))
    assert again.rows[0].bad is not None
    assert (again.rows[0].bad.tag, again.rows[0].bad.step) == ("loss/auto", 5)


def test_a_run_of_logs_only_has_a_rank_table() -> None:
    store = Store()
    for rank in range(4):
        put(store, LOG, [1, 2, 3], [0.5, 0.4, 0.3], rank=rank)
    put(store, LOG, [1, 2], [1.0, 2.0], rank=4, tag="grad_norm/global")
    found = RankTables(store).table(info(store, range(5)))
    assert found.loss_tag == "loss"
    assert [row.loss for row in found.rows] == [0.3] * 4 + [None]
    assert found.rows[4].grad_norm == 2.0


def spread(bands: Bands, key: SeriesKey) -> object:
    axis = Axis(XAxis.STEP)
    found = bands.band(key, axis, axis.edges((0.0, 8.0), 4))
    return None if found is None else [side.tolist() for side in found]


def test_the_spread_takes_each_rank_from_its_leading_source_and_begins_anew_when_that_changes() -> None:
    store, key = Store(), SeriesKey("run", 0, "loss/auto")
    put(store, SUMMARY, [1, 3, 5, 7], tag="loss/auto")
    put(store, LOG, [1, 3, 5, 7], [1.0, 5.0, 5.0, 5.0], rank=1)
    bands = Bands(store)
    assert spread(bands, key) == [[1.0, 5.0, 5.0, 5.0]] * 2
    put(store, LOG, [7], [9.0], rank=1)
    assert spread(bands, key) == [[1.0, 5.0, 5.0, 5.0], [1.0, 5.0, 5.0, 9.0]]
    put(store, SUMMARY, [1, 3, 5, 7, 7], [2.0, 2.0, 2.0, 2.0, 3.0], tag="loss/auto", rank=1)
    assert spread(bands, key) == [[2.0, 2.0, 2.0, 2.0], [2.0, 2.0, 2.0, 3.0]]
    assert spread(bands, key) == spread(Bands(store, work=math.inf), key)


def test_merged_copies_are_counted_and_freed() -> None:
    store = Store()
    put(store, LOG, range(1000))
    put(store, SUMMARY, range(0, 1000, 10))
    before = store.memory()["used"]
    series = store.series(LOSS)
    assert series is not None
    assert store.memory()["used"] >= before + 1000 * 24
    store.drop("run")
    assert store.memory()["used"] == 0
