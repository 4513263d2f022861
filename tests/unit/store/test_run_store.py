"""The store joins files, parts and ranks into series; restarts make generations."""

from __future__ import annotations

from dataclasses import replace
from typing import Dict, List, Sequence

import numpy as np
import pytest

from mstui.model.batch import Batch, FileKey, Part
from mstui.model.records import BlobKind, BlobRefs, ScalarColumns
from mstui.model.roles import Role
from mstui.model.series import Points, SeriesKey
from mstui.store.generations import MOST_STRETCHES
from mstui.store.run_store import Store

LOSS = SeriesKey("run", 0, "loss")
FIRST = FileKey("run", 0, 100, "a_MS")
SECOND = FileKey("run", 0, 200, "b_MS")


def loss(steps: Sequence[int], values: Sequence[float] | None = None, tag: str = "loss") -> ScalarColumns:
    number = np.asarray(steps, dtype=np.int64)
    row = np.asarray(steps if values is None else values, dtype=np.float32)
    return ScalarColumns((tag,), number, 1000.0 + number, row[None, :])


def hists(steps: Sequence[int], tag: str = "fc.weight/auto") -> BlobRefs:
    number = np.asarray(steps, dtype=np.int64)
    return BlobRefs(BlobKind.HISTOGRAM, tag, number, 1000.0 + number, number * 100, number + 7)


def steps_of(stretches: tuple[Points, ...]) -> list[list[int]]:
    return [points.steps.tolist() for points in stretches]


def test_one_file_is_one_stretch_without_a_copy() -> None:
    store = Store()
    store.apply(Batch(FIRST, Part.HISTORY, (loss([1, 2, 2, 3]),)))
    series = store.series(LOSS)
    assert series is not None
    assert steps_of(series.current) == [[1, 2, 2, 3]]
    assert series.superseded == ()
    assert series.restarts == ()
    assert series.total == 4


def test_a_restart_in_a_later_file_supersedes_what_it_records_again() -> None:
    store = Store()
    store.apply(Batch(SECOND, Part.HISTORY, (loss([30, 40, 50]),)))
    store.apply(Batch(FIRST, Part.HISTORY, (loss([10, 20, 30, 40]),)))
    series = store.series(LOSS)
    assert series is not None
    assert steps_of(series.current) == [[10, 20], [30, 40, 50]]
    assert steps_of(series.superseded) == [[30, 40]]
    assert series.restarts == (30,)


def test_a_second_restart_further_back_supersedes_both_earlier_generations() -> None:
    store = Store()
    store.apply(Batch(FIRST, Part.HISTORY, (loss([1, 2, 3, 4, 3, 4, 5, 2, 3]),)))
    series = store.series(LOSS)
    assert series is not None
    assert steps_of(series.current) == [[1], [2, 3]]
    assert steps_of(series.superseded) == [[2, 3, 4], [3, 4, 5]]
    assert series.restarts == (3, 2)


def test_a_later_file_that_goes_on_or_repeats_the_last_step_is_no_restart() -> None:
    for begin in (3, 4):
        store = Store()
        store.apply(Batch(FIRST, Part.HISTORY, (loss([1, 2, 3]),)))
        store.apply(Batch(SECOND, Part.HISTORY, (loss([begin, begin + 1]),)))
        series = store.series(LOSS)
        assert series is not None
        assert steps_of(series.current) == [[1, 2, 3], [begin, begin + 1]]
        assert series.restarts == ()


def test_the_remainder_that_mindspore_writes_with_step_0_is_no_restart() -> None:
    store = Store()
    store.apply(Batch(FIRST, Part.HISTORY, (loss([1, 2, 3, 0]),)))
    series = store.series(LOSS)
    assert series is not None
    assert steps_of(series.current) == [[1, 2, 3]]
    assert steps_of(series.superseded) == [[0]]
    assert series.restarts == ()
    assert store.last_step("run") == 3


def test_a_real_restart_from_step_0_is_one_as_soon_as_a_second_record_follows() -> None:
    store = Store()
    store.apply(Batch(FIRST, Part.HISTORY, (loss([1, 2, 3, 0]),)))
    store.apply(Batch(FIRST, Part.HISTORY, (loss([1]),)))
    series = store.series(LOSS)
    assert series is not None
    assert steps_of(series.current) == [[0, 1]]
    assert series.restarts == (0,)


def test_a_file_of_one_record_at_step_0_is_data() -> None:
    store = Store()
    store.apply(Batch(FIRST, Part.HISTORY, (loss([0]),)))
    series = store.series(LOSS)
    assert series is not None
    assert steps_of(series.current) == [[0]]


def test_interleaved_writers_make_one_sorted_stretch_instead_of_thousands() -> None:
    store = Store()
    steps = [step + (5 if step % 2 else 0) for step in range(10 * MOST_STRETCHES)]
    store.apply(Batch(FIRST, Part.HISTORY, (loss(steps),)))
    series = store.series(LOSS)
    assert series is not None
    assert len(series.current) == 1
    assert len(series.superseded) == 1
    assert sorted(series.current[0].steps.tolist() + series.superseded[0].steps.tolist()) == sorted(steps)
    assert bool(np.all(np.diff(series.current[0].steps) >= 0))
    assert bool(np.all(np.diff(series.superseded[0].steps) >= 0))


def test_history_and_tail_are_in_order_whichever_comes_first() -> None:
    store = Store()
    store.apply(Batch(FIRST, Part.TAIL, (loss([5, 6]),)))
    store.apply(Batch(FIRST, Part.HISTORY, (loss([1, 2]),)))
    store.apply(Batch(FIRST, Part.TAIL, (loss([7]),)))
    store.apply(Batch(FIRST, Part.HISTORY, (loss([3, 4]),), joined=True))
    store.apply(Batch(FIRST, Part.HISTORY, (loss([8]),)))
    series = store.series(LOSS)
    assert series is not None
    assert [step for part in series.current for step in part.steps.tolist()] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert series.restarts == ()
    assert store.tags("run")[0].points == 8


def test_a_dropped_tail_is_forgotten_and_read_again_as_history() -> None:
    store = Store()
    store.apply(Batch(FIRST, Part.TAIL, (loss([5, 6]), loss([5], tag="only-in-tail"))))
    store.apply(Batch(FIRST, Part.HISTORY, (loss([1, 2, 5, 6]),), drop_tail=True))
    series = store.series(LOSS)
    assert series is not None
    assert steps_of(series.current) == [[1, 2, 5, 6]]
    assert [info.tag for info in store.tags("run")] == ["loss"]


def test_a_reset_forgets_this_file_and_no_other() -> None:
    store = Store()
    store.apply(Batch(FIRST, Part.HISTORY, (loss([1, 2]),), (hists([1, 2]),)))
    store.apply(Batch(SECOND, Part.HISTORY, (loss([3, 4]),)))
    store.apply(Batch(SECOND, Part.HISTORY, (loss([3]),), reset=True))
    series = store.series(LOSS)
    assert series is not None
    assert steps_of(series.current) == [[1, 2], [3]]
    assert [info.points for info in store.tags("run")] == [3, 2]
    store.apply(Batch(FIRST, Part.HISTORY, reset=True))
    assert store.blobs(SeriesKey("run", 0, "fc.weight/auto"), BlobKind.HISTOGRAM) is None


def test_a_dropped_run_is_gone() -> None:
    store = Store()
    store.apply(Batch(FIRST, Part.HISTORY, (loss([1]),)))
    before = store.revision
    store.drop("run")
    store.drop("never there")
    assert store.series(LOSS) is None
    assert store.tags("run") == []
    assert store.ranks("run") == ()
    assert store.revision == before + 1


def test_an_unchanged_series_is_the_same_object() -> None:
    store = Store()
    store.apply(Batch(FIRST, Part.HISTORY, (loss([1]), loss([1], tag="other"))))
    first = store.series(LOSS)
    store.apply(Batch(FIRST, Part.HISTORY, (loss([2], tag="other"),)))
    assert store.series(LOSS) is first
    store.apply(Batch(FIRST, Part.HISTORY, (loss([2]),)))
    second = store.series(LOSS)
    assert second is not None
    assert first is not None
    assert second.revision > first.revision
    assert steps_of(first.current) == [[1]]


def test_tags_come_by_role_and_then_as_first_seen_with_the_newest_value_of_the_lowest_rank() -> None:
    store = Store()
    three = FileKey("run", 3, 100, "c_MS")
    store.apply(Batch(three, Part.HISTORY, (loss([1, 2, 3]),)))
    store.apply(Batch(FIRST, Part.HISTORY, (loss([1], tag="zeta"), loss([1], tag="lr"), loss([1, 2]))))
    infos = store.tags("run")
    assert [(info.tag, info.role) for info in infos] == [
        ("loss", Role.LOSS),
        ("lr", Role.LEARNING_RATE),
        ("zeta", Role.OTHER),
    ]
    assert (infos[0].points, infos[0].last_step, infos[0].last_value) == (3, 2, 2.0)
    assert store.ranks("run") == (0, 3)
    assert store.last_step("run") == 3
    assert store.last_step("run", 0) == 2
    assert store.last_step("run", 7) is None


def test_a_person_s_word_on_a_role_shows_at_once() -> None:
    store = Store()
    store.apply(Batch(FIRST, Part.HISTORY, (loss([1], tag="zeta"),)))
    assert store.tags("run")[0].role is Role.OTHER
    store.roles.set("zeta", Role.LOSS)
    assert store.tags("run")[0].role is Role.LOSS


def test_histograms_of_several_files_are_one_list_without_duplicates_and_superseded_ones() -> None:
    store = Store()
    store.apply(Batch(FIRST, Part.HISTORY, (), (hists([1, 10, 10, 20, 30]),)))
    store.apply(Batch(SECOND, Part.HISTORY, (), (hists([20, 30, 0]),)))
    places = store.blobs(SeriesKey("run", 0, "fc.weight/auto"), BlobKind.HISTOGRAM)
    assert places is not None
    assert places.steps.tolist() == [1, 10, 20, 30]
    assert [places.paths[i] for i in places.files.tolist()] == ["a_MS", "a_MS", "b_MS", "b_MS"]
    assert places.offsets.tolist() == [100, 1000, 2000, 3000]
    assert places.superseded == 4
    info = store.tags("run")[0]
    assert (info.kind, info.role, info.parameter, info.statistic) == (
        BlobKind.HISTOGRAM,
        Role.PARAMETER,
        "fc.weight",
        "weight",
    )
    assert (info.points, info.last_value) == (8, None)


def test_the_rhythm_is_that_of_the_busiest_tags() -> None:
    store = Store()
    steps = [1, *range(10, 300, 10), 290]
    walls = np.cumsum([0.0, *[2.0] * (len(steps) - 1)])
    walls[5] += 100.0
    store.apply(
        Batch(
            FIRST,
            Part.HISTORY,
            (
                ScalarColumns(("loss",), np.asarray(steps), walls, np.zeros((1, len(steps)), dtype=np.float32)),
                loss([100, 200], tag="accuracy"),
            ),
        )
    )
    assert store.step_gap("run") == 10
    assert store.record_interval("run") == pytest.approx(2.0)
    assert store.step_gap("elsewhere") is None
    assert store.record_interval("elsewhere") is None


def test_the_run_begins_with_its_first_record_and_a_clock_at_zero_is_no_time() -> None:
    store = Store()
    assert store.first_wall("run") is None
    store.apply(Batch(SECOND, Part.HISTORY, (loss([50]),)))
    store.apply(Batch(FIRST, Part.HISTORY, (loss([5]),)))
    nothing = ScalarColumns(("x",), np.array([0]), np.array([0.0]), np.zeros((1, 1)))
    store.apply(Batch(FIRST, Part.HISTORY, (nothing,)))
    assert store.first_wall("run") == 1005.0


def test_memory_counts_every_point() -> None:
    store = Store()
    store.apply(Batch(FIRST, Part.HISTORY, (loss(list(range(1000))),)))
    figures = store.memory()
    assert figures["points"] == 1000
    assert figures["used"] == 20_000
    assert figures["reserved"] >= figures["used"]


def newest_steps(store: Store, run_key: str = "run", rank_id: int = 0) -> List[int]:
    recent = store.recent(run_key, rank_id)
    return [] if recent is None else recent[0].tolist()


def test_the_rhythm_is_found_without_composing_a_series() -> None:
    store = Store()
    store.apply(Batch(FIRST, Part.HISTORY, (loss([1, 2, 3]), loss([1, 2], tag="lr"), loss([2], tag="eval"))))
    assert newest_steps(store) == [1, 2, 3]
    store.apply(Batch(FIRST, Part.HISTORY, (loss([3, 4, 5], tag="lr"),)))
    assert newest_steps(store) == [1, 2, 3, 4, 5]
    assert len(store._series) == 0, "a run may have a hundred thousand tags, and every redraw asks"


def test_a_restart_leaves_its_own_steps_as_the_newest() -> None:
    store = Store()
    store.apply(Batch(FIRST, Part.HISTORY, (loss([1, 2, 3, 2, 3, 4]),)))
    assert newest_steps(store) == [2, 3, 4]


def test_a_file_that_begins_anew_takes_its_points_out_of_the_rhythm() -> None:
    store = Store()
    store.apply(Batch(FIRST, Part.HISTORY, (loss([1, 2, 3], tag="lr"),)))
    store.apply(Batch(FIRST, Part.HISTORY, (loss([1]),), reset=True))
    assert newest_steps(store) == [1]
    assert newest_steps(store, rank_id=1) == []
    assert newest_steps(store, "other") == []


def points_of(store: Store) -> Dict[str, int]:
    return {info.tag: info.points for info in store.tags("run")}


def both(steps: List[int]) -> ScalarColumns:
    return ScalarColumns(
        ("loss", "lr"), np.asarray(steps), np.asarray(steps, dtype=np.float64), np.zeros((2, len(steps)))
    )


def test_tags_that_come_together_are_counted_as_if_each_came_alone() -> None:
    store = Store()
    store.apply(Batch(FIRST, Part.HISTORY, (both([1, 2]),)))
    store.apply(Batch(FIRST, Part.HISTORY, (both([3]),)))
    assert points_of(store) == {"loss": 3, "lr": 3}
    store.apply(Batch(FIRST, Part.HISTORY, (loss([4, 5]),)))
    assert points_of(store) == {"loss": 5, "lr": 3}
    store.apply(Batch(FIRST, Part.HISTORY, (both([6]), loss([7], tag="eval"))))
    assert points_of(store) == {"loss": 6, "lr": 4, "eval": 1}
    store.apply(Batch(FIRST, Part.HISTORY, (both([1]),), reset=True))
    assert points_of(store) == {"loss": 1, "lr": 1}


def test_of_several_ranks_the_one_with_most_points_counts_however_it_was_written() -> None:
    store = Store()
    other = replace(FIRST, rank_id=1)
    store.apply(Batch(FIRST, Part.HISTORY, (both([1, 2, 3]),)))
    store.apply(Batch(other, Part.HISTORY, (loss([1]), loss([1, 2, 3, 4], tag="lr"))))
    assert points_of(store) == {"loss": 3, "lr": 4}
    store.apply(Batch(other, Part.HISTORY, (), reset=True))
    assert points_of(store) == {"loss": 3, "lr": 3}
