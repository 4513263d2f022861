"""The spread over ranks is the same whether it was kept, filled in piece by piece, or made at once."""

from __future__ import annotations

import math
from typing import List, Sequence, Tuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mstui.model.batch import Batch, FileKey, Part
from mstui.model.records import ScalarColumns
from mstui.model.series import SeriesKey, XAxis
from mstui.store.axis import Axis
from mstui.store.band import FEW_POINTS, WORK_A_RANK, Bands
from mstui.store.run_store import Store

KEY = SeriesKey("run", 0, "loss")
NAN = math.nan


def put(
    store: Store,
    rank: int,
    steps: Sequence[int],
    values: Sequence[float],
    *,
    file: str = "a",
    walls: Sequence[float] | None = None,
    part: Part = Part.HISTORY,
    reset: bool = False,
) -> None:
    number = np.asarray(steps, dtype=np.int64)
    wall = 1000.0 + number if walls is None else np.asarray(walls, dtype=np.float64)
    columns = ScalarColumns(("loss",), number, wall, np.asarray(values, dtype=np.float64)[None, :])
    store.apply(Batch(FileKey("run", rank, ord(file), file), part, (columns,), reset=reset))


def spread(bands: Bands, low: float = 0, high: float = 8, columns: int = 4, kind: XAxis = XAxis.STEP) -> object:
    axis = Axis(kind)
    found = bands.band(KEY, axis, axis.edges((low, high), columns))
    return None if found is None else [np.round(side, 6).tolist() for side in found]


def at_once(store: Store, **changes: float) -> object:
    return spread(Bands(store, work=math.inf), **changes)  # type: ignore[arg-type]


def same(a: object, b: object) -> bool:
    return bool(
        np.array_equal(np.array(a, dtype=object).astype(float), np.array(b, dtype=object).astype(float), equal_nan=True)
    )


def test_no_other_rank_has_the_tag() -> None:
    store = Store()
    put(store, 0, [1], [1.0])
    assert spread(Bands(store)) is None


def test_points_that_come_later_widen_what_was_kept() -> None:
    store = Store()
    bands = Bands(store)
    put(store, 1, [0, 1], [1.0, 2.0])
    put(store, 2, [0, 1], [3.0, NAN])
    assert spread(bands, columns=1) == [[1.0], [3.0]]
    put(store, 1, [2], [9.0])
    put(store, 2, [2, 100], [-1.0, 500.0])
    assert spread(bands, columns=1) == [[-1.0], [9.0]]
    put(store, 3, [0], [20.0])
    assert spread(bands, columns=1) == [[-1.0], [20.0]]


def test_what_was_given_out_does_not_change() -> None:
    store = Store()
    bands = Bands(store)
    put(store, 1, [0], [1.0])
    axis = Axis(XAxis.STEP)
    edges = axis.edges((0, 8), 1)
    first = bands.band(KEY, axis, edges)
    put(store, 1, [1], [9.0])
    bands.band(KEY, axis, edges)
    assert first is not None
    assert first[1].tolist() == [1.0]


def test_what_a_restart_overwrites_leaves_the_band() -> None:
    store = Store()
    bands = Bands(store)
    put(store, 1, [0, 1, 2, 3], [1.0, 1.0, 50.0, 60.0])
    put(store, 2, [0, 1, 2, 3], [2.0, 2.0, 2.0, 2.0])
    assert spread(bands, columns=1) == [[1.0], [60.0]]
    put(store, 1, [2], [1.5])
    assert spread(bands, columns=1) == [[1.0], [2.0]]
    put(store, 1, [3, 4], [7.0, 1.0])
    assert spread(bands, columns=1) == [[1.0], [7.0]]


def test_a_file_that_begins_anew_takes_its_points_out() -> None:
    store = Store()
    bands = Bands(store)
    put(store, 1, [0, 1], [1.0, 50.0])
    assert spread(bands, columns=1) == [[1.0], [50.0]]
    put(store, 1, [0, 1, 2], [1.0, 2.0, 3.0], reset=True)
    assert spread(bands, columns=1) == [[1.0], [3.0]]


def test_a_run_that_is_read_again_is_not_mixed_with_what_it_was() -> None:
    store = Store()
    bands = Bands(store)
    put(store, 1, [0, 1], [1.0, 50.0])
    spread(bands)
    store.drop("run")
    put(store, 1, [0, 1, 2], [1.0, 2.0, 3.0])
    assert spread(bands, columns=1) == [[1.0], [3.0]]


def test_many_ranks_are_filled_in_over_several_calls() -> None:
    store = Store()
    for rank in range(1, 9):
        steps = range(FEW_POINTS + 1)
        put(store, rank, steps, [float(rank)] * len(steps))
    bands = Bands(store, work=2 * WORK_A_RANK)
    seen: List[object] = []
    for _call in range(8):
        bands.unfinished = False
        seen.append(spread(bands, columns=1))
        if not bands.unfinished:
            break
    assert seen[0] == [[1.0], [2.0]]
    assert seen[-1] == [[1.0], [8.0]]
    assert 3 <= len(seen) < 8


def test_on_a_time_axis_a_clock_that_goes_back_is_no_place() -> None:
    store = Store()
    bands = Bands(store)
    put(store, 1, [0, 1], [1.0, 2.0], walls=[10.0, 11.0])
    put(store, 2, [0, 1], [5.0, 6.0], walls=[10.0, 3.0])
    for _turn in range(2):
        assert same(
            spread(bands, 0, 20, 4, XAxis.WALL),
            [[NAN, NAN, 1.0, NAN], [NAN, NAN, 6.0, NAN]],
        )
        put(store, 2, [2], [5.5], walls=[NAN])
        put(store, 1, [2], [1.5], walls=[12.0])


Write = Tuple[int, int, List[float], bool, bool]
writes = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.integers(0, 9),
        st.lists(st.sampled_from([1.0, 2.0, -3.0, NAN, math.inf]), min_size=1, max_size=4),
        st.booleans(),
        st.booleans(),
    ),
    max_size=12,
)


@given(writes)
def test_a_band_that_was_kept_is_the_one_that_is_made_at_once(history: List[Write]) -> None:
    store = Store()
    bands = Bands(store)
    for rank, first, values, second_file, reset in history:
        steps = range(first, first + len(values))
        put(store, rank, steps, values, file="b" if second_file else "a", reset=reset and first == 0)
        kept, fresh = spread(bands, 0, 14), at_once(store, low=0, high=14)
        assert (kept is None) == (fresh is None)
        assert kept is None or same(kept, fresh)


def test_a_tail_that_is_read_before_its_history_joins_the_band() -> None:
    store = Store()
    bands = Bands(store)
    put(store, 1, [6, 7], [6.0, 7.0], part=Part.TAIL)
    assert spread(bands, columns=1) == [[6.0], [7.0]]
    put(store, 1, [0, 1], [0.0, 1.0])
    assert spread(bands, columns=1) == [[0.0], [7.0]]
    put(store, 1, [8], [9.0], part=Part.TAIL)
    put(store, 1, [2], [-5.0])
    assert spread(bands, columns=1) == [[-5.0], [9.0]]
