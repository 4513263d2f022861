"""Readers on other threads see whole records of the past, whatever the writer is doing."""

from __future__ import annotations

import threading
from typing import List

import numpy as np

from mstui.model.batch import Batch, FileKey, Part
from mstui.model.records import ScalarColumns
from mstui.model.series import SeriesKey
from mstui.monitor_api import CurveQuery
from mstui.store.curve import curve
from mstui.store.run_store import Store

ROUNDS = 1500


def test_views_stay_consistent_while_groups_grow_split_and_restart() -> None:
    store = Store()
    done = threading.Event()
    wrong: List[str] = []
    looks = [0]

    def write() -> None:
        for number in range(ROUNDS):
            step = number if number < ROUNDS // 2 else number - 100
            tags = ("a", "b", "c") if number % 3 else ("c", "a")
            steps = np.array([step], dtype=np.int64)
            values = np.full((len(tags), 1), step, dtype=np.float32)
            columns = ScalarColumns(tags, steps, steps + 1.0, values)
            store.apply(Batch(FileKey("run", 0, 1, "f"), Part.HISTORY, (columns,)))
        done.set()

    def read() -> None:
        while True:
            last = done.is_set()
            for tag in "abc":
                key = SeriesKey("run", 0, tag)
                series = store.series(key)
                if series is not None:
                    looks[0] += 1
                    for part in (*series.current, *series.superseded):
                        if not np.array_equal(part.steps.astype(np.float32), part.values):
                            wrong.append(f"{tag}: values of other steps")
                        if not np.array_equal(part.steps + 1.0, part.wall_times):
                            wrong.append(f"{tag}: wall times of other steps")
                    view = curve(store, CurveQuery(key, 20))
                    if view is None or view.count.sum() < 1:
                        wrong.append(f"{tag}: a point was lost")
            wrong.extend(
                f"{info.tag}: step and value of different records"
                for info in store.tags("run")
                if info.last_step is None or info.last_value != info.last_step
            )
            if last:
                return

    readers = [threading.Thread(target=read) for _ in range(2)]
    for thread in readers:
        thread.start()
    write()
    for thread in readers:
        thread.join()
    assert wrong == []
    assert looks[0] > 0
    series = store.series(SeriesKey("run", 0, "a"))
    assert series is not None
    assert series.total + sum(map(len, series.superseded)) == ROUNDS
