"""Whatever a file claims to hold, the store answers: extreme steps, times and values, and not one warning."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mstui.model.batch import Batch, FileKey, Part
from mstui.model.records import ScalarColumns
from mstui.model.series import SeriesKey, XAxis
from mstui.monitor_api import CurveQuery
from mstui.store.cursor import points_around, reading, reading_at
from mstui.store.curve import curve
from mstui.store.layer_map import layer_map
from mstui.store.run_store import Store

LEAST, MOST = -(2**63), 2**63 - 1
STEPS = st.one_of(st.integers(LEAST, MOST), st.sampled_from([LEAST, MOST, 0, 1, 2**53 + 1, -1]))
POINTS = st.lists(st.tuples(STEPS, st.floats(), st.floats()), min_size=1, max_size=12)
RANGES = st.one_of(st.none(), st.tuples(st.floats(), st.floats()))


@given(POINTS, st.sampled_from(list(XAxis)), RANGES, st.integers(-1, 20), st.floats(-1, 2), st.floats())
def test_every_question_has_an_answer(
    points: list[tuple[int, float, float]],
    axis: XAxis,
    x_range: tuple[float, float] | None,
    columns: int,
    smoothing: float,
    x: float,
) -> None:
    store = Store()
    steps = np.asarray([step for step, _, _ in points], dtype=np.int64)
    walls = np.asarray([wall for _, wall, _ in points])
    values = np.asarray([[value for _, _, value in points]] * 2)
    for number in range(2):
        file = FileKey("run", number, 1, "f")
        tags = ("loss", "grad_norm/p")
        store.apply(Batch(file, Part.HISTORY, (ScalarColumns(tags, steps, walls, values),)))
    key = SeriesKey("run", 0, "loss")
    seen = curve(store, CurveQuery(key, columns, axis, x_range, smoothing, band=True), 2.5)
    assert seen is not None
    assert len(seen.lo) == max(columns, 1)
    assert seen.x_range[0] < seen.x_range[1]
    assert reading(store, key, axis, x, smoothing, 2.5) is not None
    assert reading_at(store, key, axis, 0, smoothing, 2.5) is not None
    assert points_around(store, key, int(steps[0]), 3) is not None
    found = layer_map(store, "run", 0, "grad_norm", columns, lambda _tag, _indices: ())
    assert found is not None
    assert {info.points for info in store.tags("run")} == {len(points)}
    store.step_gap("run")
    store.record_interval("run")
