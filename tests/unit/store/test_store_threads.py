"""Readers on other threads see whole records of the past, whatever the writer is doing."""

from __future__ import annotations

import threading
from typing import List

import numpy as np

from mstui.model.batch import Batch, FileKey, Part
from mstui.model.logs import LogRecords, LogSteps
from mstui.model.records import ScalarColumns
from mstui.model.series import SeriesKey
from mstui.model.sources import Source, SourceKind
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


def test_a_merged_curve_and_the_places_of_a_log_stay_consistent_while_both_grow() -> None:
    store = Store()
    done = threading.Event()
    wrong: List[str] = []
    log = FileKey("run", 0, 1, "train.log", Source(SourceKind.LOG, "train.log"))
    key = SeriesKey("run", 0, "loss")

    def write() -> None:
        for number in range(ROUNDS):
            steps = np.array([number], dtype=np.int64)
            columns = ScalarColumns(("loss",), steps, steps + 1.0, np.full((1, 1), float(number)))
            records = LogRecords(steps * 80, np.array([number % 6], dtype=np.uint8))
            told = LogSteps(steps, steps * 80)
            store.apply(Batch(log, Part.HISTORY, (columns,), log_records=records, log_steps=told))
            if number % 10 == 9:
                exact = ScalarColumns(("loss",), steps - 5, steps - 4.0, np.full((1, 1), number - 5, dtype=np.float32))
                store.apply(Batch(FileKey("run", 0, 1, "f"), Part.HISTORY, (exact,)))
        done.set()

    def read() -> None:
        while True:
            last = done.is_set()
            series = store.series(key)
            if series is not None:
                steps = np.concatenate([part.steps for part in series.current])
                values = np.concatenate([part.values for part in series.current])
                if not np.array_equal(steps, np.arange(len(steps))) or not np.array_equal(values, steps):
                    wrong.append("a point was lost, doubled or belongs to another step")
                if series.disagreement is not None:
                    wrong.append("equal values were told to differ")
            index = store.log(log)
            if index is not None:
                view = index.view()
                offsets = view.offsets(0, view.records)
                if not np.array_equal(offsets, np.arange(view.records) * 80):
                    wrong.append("a record's place was lost")
                chosen = view.select(3)
                if len(chosen) != np.count_nonzero(view.levels(0, view.records) >= 3):
                    wrong.append("a record's level was lost")
                if view.place_of_step(view.records - 1) != (view.records - 1) * 80:
                    wrong.append("the place of a step was lost")
            if last:
                return

    readers = [threading.Thread(target=read) for _ in range(2)]
    for thread in readers:
        thread.start()
    write()
    for thread in readers:
        thread.join()
    assert wrong == []
    series = store.series(key)
    assert series is not None
    assert series.total == ROUNDS
