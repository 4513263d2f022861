"""Which rank went bad first, which is odd, slow or silent: figures made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Dict, Mapping, Optional, Sequence

import numpy as np
import pytest

from mstui.model.batch import Batch, FileKey, Part
from mstui.model.ranks import BadValue, BadWave, RankRow, RankTable
from mstui.model.records import ScalarColumns
from mstui.model.roles import Role
from mstui.model.runs import RankInfo, RunInfo, RunStatus
from mstui.store.rank_table import RankTables
from mstui.store.run_store import Store

NAN, INF = float("nan"), float("inf")
RUN = "run"


def put(
    store: Store, rank: int, tags: Mapping[str, Sequence[float]], *, first: int = 1, pace: float = 2.0, file: str = "a"
) -> None:
    """One batch of a rank: a record a step."""
    values = np.array(list(tags.values()), dtype=np.float64)
    steps = np.arange(first, first + values.shape[1])
    columns = ScalarColumns(tuple(tags), steps, 1000.0 + steps * pace, values)
    store.apply(Batch(FileKey(RUN, rank, ord(file), file), Part.HISTORY, (columns,)))


def info(store: Store, ranks: Sequence[int], states: Optional[Dict[int, RunStatus]] = None) -> RunInfo:
    """The run as the monitor lists it."""
    known = states or {}
    listed = tuple(
        RankInfo(rank, store.last_step(RUN, rank), 5000.0, known.get(rank, RunStatus.LIVE), 1, 10, 10) for rank in ranks
    )
    return RunInfo(
        RUN,
        "/run",
        loaded=True,
        status=RunStatus.LIVE,
        ranks=listed,
        last_step=store.last_step(RUN),
        last_data=5000.0,
        step_gap=1,
        record_interval_s=2.0,
        file_count=len(ranks),
        bytes_total=10,
        bytes_read=10,
        fault_count=0,
    )


def table(store: Store, ranks: Sequence[int], states: Optional[Dict[int, RunStatus]] = None) -> RankTable:
    return RankTables(store).table(info(store, ranks, states))


def row(found: RankTable, rank: int) -> RankRow:
    return next(each for each in found.rows if each.rank_id == rank)


def healthy(ranks: int = 8, steps: int = 10) -> Store:
    store = Store()
    for rank in range(ranks):
        put(store, rank, {"loss": [2.0 + 0.01 * rank] * steps, "grad_norm": [1.0 + 0.02 * rank] * steps})
    return store


def test_a_healthy_run_has_figures_and_nothing_to_say() -> None:
    found = table(healthy(), range(8))
    assert (found.bad, found.odd, found.stragglers, found.stopped) == ((), (), (), ())
    assert found.front_step == 10
    assert found.loss_median == pytest.approx(2.035)
    assert found.step_time_median_s == pytest.approx(2.0)
    assert row(found, 3)[:6] == (3, RunStatus.LIVE, 10, 0, 5000.0, 2.03)
    assert row(found, 3)[6:8] == pytest.approx((1.06, 2.0))


def test_the_first_bad_rank_is_named_with_its_step_and_those_that_followed() -> None:
    store = Store()
    for rank in range(4):
        at = 5 if rank == 3 else 6
        put(store, rank, {"loss": [1.0] * (at - 1) + [NAN] * (10 - at)})
    found = table(store, range(4))
    assert found.bad == (BadWave(5, (3,), ("loss",)), BadWave(6, (0, 1, 2), ("loss",)))
    assert row(found, 3).bad == BadValue("loss", 5)


def test_the_earliest_of_several_tags_counts_infinities_too() -> None:
    store = Store()
    put(store, 0, {"loss": [1.0, 1.0, NAN], "grad_norm": [1.0, INF, NAN], "layer/weird": [NAN, NAN, NAN]})
    assert table(store, [0]).bad == (BadWave(2, (0,), ("grad_norm",)),)


def test_ranks_that_went_bad_at_one_step_are_one_wave() -> None:
    store = Store()
    for rank in range(8):
        put(store, rank, {"loss": [1.0, NAN, NAN]})
    assert table(store, range(8)).bad == (BadWave(2, tuple(range(8)), ("loss",)),)


def test_a_loss_that_is_never_a_number_on_some_stages_is_not_recorded_there() -> None:
    store = Store()
    for rank in range(4):
        put(store, rank, {"loss": [NAN] * 5 if rank < 3 else [1.0] * 5, "grad_norm": [1.0] * 5})
    tables = RankTables(store)
    assert tables.table(info(store, range(4))).bad == ()
    for rank in range(4):
        put(store, rank, {"loss": [NAN], "grad_norm": [1.0]}, first=6)
    assert tables.table(info(store, range(4))).bad[0] == BadWave(1, (0, 1, 2), ("loss",)), "no rank has it any more"


def test_a_run_that_is_never_a_number_anywhere_went_bad_at_its_first_step() -> None:
    store = Store()
    for rank in range(3):
        put(store, rank, {"loss": [NAN] * 4})
    assert table(store, range(3)).bad == (BadWave(1, (0, 1, 2), ("loss",)),)


def test_what_a_restart_overwrote_is_forgotten() -> None:
    store = healthy(2, 10)
    put(store, 1, {"loss": [NAN] * 3, "grad_norm": [1.0] * 3}, first=11)
    tables = RankTables(store)
    assert tables.table(info(store, range(2))).bad == (BadWave(11, (1,), ("loss",)),)
    put(store, 1, {"loss": [1.0] * 5, "grad_norm": [1.0] * 5}, first=9, file="b")
    assert tables.table(info(store, range(2))).bad == ()
    put(store, 1, {"loss": [1.0], "grad_norm": [1.0]}, first=14, file="b")
    assert tables.table(info(store, range(2))).bad == ()
    put(store, 1, {"loss": [1.0, INF, NAN], "grad_norm": [1.0, 1.0, NAN]}, first=15, file="b")
    assert tables.table(info(store, range(2))).bad == (BadWave(16, (1,), ("loss",)),)
    put(store, 1, {"loss": [NAN], "grad_norm": [NAN]}, first=18, file="b")
    assert tables.table(info(store, range(2))).bad == (BadWave(16, (1,), ("loss",)),)


def test_after_a_restart_only_new_points_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    store = healthy(1)
    put(store, 0, {"loss": [NAN], "grad_norm": [1.0]}, first=11)
    put(store, 0, {"loss": [1.0] * 3, "grad_norm": [1.0] * 3}, first=9)
    tables = RankTables(store)
    tables.table(info(store, [0]))
    put(store, 0, {"loss": [1.0], "grad_norm": [1.0]}, first=12)
    monkeypatch.setattr(Store, "composed", None)
    assert tables.table(info(store, [0])).bad == ()


def test_the_odd_rank_is_named_with_its_value_and_the_median() -> None:
    store = healthy()
    put(store, 5, {"loss": [9.5], "grad_norm": [1.1]}, first=11)
    found = table(store, range(8))
    (odd,) = found.odd
    assert (odd.rank_id, odd.role, odd.tag, odd.value) == (5, Role.LOSS, "loss", 9.5)
    assert odd.median == pytest.approx(2.035, abs=0.01)
    assert odd.score > 100
    assert row(found, 5).odd == (odd,)


def test_among_equal_ranks_a_rounding_is_not_odd_but_a_hundredth_is() -> None:
    store = Store()
    for rank, value in enumerate([2.0, 2.0, 2.0, 2.0, 2.0000002, 2.03]):
        put(store, rank, {"loss": [value]})
    assert [each.rank_id for each in table(store, range(6)).odd] == [5]


@pytest.mark.parametrize("absent", [0.0, None])
def test_stages_of_a_pipeline_without_a_loss_are_no_odd_ranks(absent: Optional[float]) -> None:
    store = Store()
    for rank in range(12):
        last_stage = rank >= 8
        loss = {"loss": [2.0 + 0.001 * rank]} if last_stage else {} if absent is None else {"loss": [absent]}
        put(store, rank, {**loss, "grad_norm": [1.0]})
    found = table(store, range(12))
    assert found.odd == ()
    assert found.loss_median == pytest.approx(2.0095)


def test_two_ranks_are_too_few_to_call_one_odd_or_slow() -> None:
    store = Store()
    put(store, 0, {"loss": [1.0] * 5})
    put(store, 1, {"loss": [9.0] * 5}, pace=9.0)
    found = table(store, range(2))
    assert (found.odd, found.stragglers) == ((), ())


def test_a_straggler_is_named_with_how_many_times_slower_it_is() -> None:
    store = Store()
    for rank in range(6):
        put(store, rank, {"loss": [1.0] * 40}, pace=3.0 if rank == 4 else 2.0)
    found = table(store, range(6))
    assert found.stragglers == (4,)
    assert row(found, 4).slower == pytest.approx(1.5)
    assert row(found, 3).slower is None


def test_records_that_were_stamped_in_bursts_give_the_mean_step_time() -> None:
    store = Store()
    walls = 1000.0 + np.repeat(np.arange(8), 4) * 8.0 + np.tile(np.arange(4), 8) * 1e-4
    columns = ScalarColumns(("loss",), np.arange(32), walls, np.ones((1, 32)))
    store.apply(Batch(FileKey(RUN, 0, 1, "a"), Part.HISTORY, (columns,)))
    assert row(table(store, [0]), 0).step_time_s == pytest.approx(56 / 31, rel=1e-3)


def test_a_clock_that_goes_back_is_no_step_time() -> None:
    store = Store()
    columns = ScalarColumns(("loss",), np.arange(4), np.array([10.0, 8.0, NAN, INF]), np.ones((1, 4)))
    store.apply(Batch(FileKey(RUN, 0, 1, "a"), Part.HISTORY, (columns,)))
    assert row(table(store, [0]), 0).step_time_s is None


def test_ranks_that_stopped_while_others_go_on_are_listed_the_farthest_behind_first() -> None:
    store = healthy(4)
    put(store, 0, {"loss": [2.0] * 5, "grad_norm": [1.0] * 5}, first=11)
    put(store, 1, {"loss": [2.0] * 2, "grad_norm": [1.0] * 2}, first=11)
    states = {1: RunStatus.STALE, 2: RunStatus.STOPPED}
    found = table(store, range(4), states)
    assert found.stopped == (2, 1)
    assert [each.behind for each in found.rows] == [0, 3, 5, 5]
    failed = table(store, range(4), {1: RunStatus.FAILED, 2: RunStatus.STALE})
    assert failed.stopped == (2, 1)
    everyone = dict.fromkeys(range(4), RunStatus.STALE)
    assert table(store, range(4), everyone).stopped == (), "nobody goes on"


def test_one_rank_and_no_rank_and_a_rank_without_data() -> None:
    store = healthy(1)
    alone = table(store, [0])
    assert (len(alone.rows), alone.odd, alone.stragglers) == (1, (), ())
    silent = table(store, [0, 1], {1: RunStatus.PENDING})
    assert row(silent, 1)[:4] == (1, RunStatus.PENDING, None, None)
    none = table(Store(), [])
    assert (none.rows, none.front_step, none.loss_tag) == ((), None, "")


def test_mindspores_remainder_at_the_end_is_not_the_newest_value() -> None:
    store = healthy(1)
    put(store, 0, {"loss": [77.0], "grad_norm": [1.0]}, first=0, file="a")
    assert row(table(store, [0]), 0).loss != 77.0


def test_only_ranks_with_new_records_are_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    store = healthy(50)
    tables = RankTables(store)
    tables.table(info(store, range(50)))
    looked = []
    plain = RankTables._bad_of

    def noted(self: RankTables, *args: object) -> object:
        looked.append(args[1])
        return plain(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(RankTables, "_bad_of", noted)
    put(store, 7, {"loss": [1.0], "grad_norm": [1.0]}, first=11)
    assert row(tables.table(info(store, range(50))), 7).loss == 1.0
    assert looked == [7]


def test_a_role_that_a_person_sets_counts_at_once() -> None:
    store = Store()
    put(store, 0, {"mine": [1.0, NAN]})
    tables = RankTables(store)
    assert tables.table(info(store, [0])).loss_tag == ""
    store.roles.set("mine", Role.LOSS)
    found = tables.table(info(store, [0]))
    assert (found.loss_tag, found.bad) == ("mine", (BadWave(2, (0,), ("mine",)),))


def test_a_file_that_begins_anew_is_judged_by_what_it_holds_now() -> None:
    store = Store()
    put(store, 0, {"loss": [NAN] * 6})
    put(store, 1, {"loss": [1.0] * 6})
    tables = RankTables(store)
    assert tables.table(info(store, range(2))).bad == ()
    columns = ScalarColumns(("loss",), np.arange(2), np.arange(2) + 1.0, np.array([[1.0, NAN]]))
    store.apply(Batch(FileKey(RUN, 0, ord("a"), "a"), Part.HISTORY, (columns,), reset=True))
    assert tables.table(replace(info(store, range(2)), key=RUN)).bad == (BadWave(1, (0,), ("loss",)),)
