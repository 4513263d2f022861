"""The rules get each point once, in the order of the steps, and are told when that was not possible."""

from __future__ import annotations

from typing import Dict, List, Optional, Sequence, Tuple

import numpy as np
import pytest

from mstui.model.batch import Batch, FileKey, Part
from mstui.model.histogram import Histogram, HistogramStats
from mstui.model.records import BlobKind, BlobRefs, ScalarColumns
from mstui.model.sources import Source, SourceKind
from mstui.monitor import pieces
from mstui.monitor import supply as module
from mstui.monitor.pieces import Window
from mstui.monitor.supply import Supply
from mstui.store.run_store import BlobPlaces, Store

LOG = Source(SourceKind.LOG, "2:train.log")


def key(rank: int = 0, source: Optional[Source] = None, started: int = 1) -> FileKey:
    name = f"{rank}/{started}" + ("" if source is None else source.name)
    return FileKey("run", rank, started, name, *(() if source is None else (source,)))


def steps_of(piece: pieces.Piece) -> List[int]:
    return [int(step) for part in piece.parts for step in part.steps]


class Run:
    """A store that is written to, and the supply from it."""

    def __init__(self) -> None:
        self.store = Store()
        self.supply = Supply("run", self.store, self._read, lambda *_: True, lambda *_: True)

    def put(self, steps: Sequence[int], tag: str = "loss", *, shift: float = 0.0, **where: object) -> None:
        """Points whose values are their steps."""
        number = np.asarray(steps, dtype=np.int64)
        columns = ScalarColumns((tag,), number, np.zeros(len(number)), (number + shift)[None, :].astype(np.float64))
        self.store.apply(Batch(key(**where), Part.HISTORY, (columns,)))  # type: ignore[arg-type]

    def histograms(self, steps: Sequence[int], tag: str = "fc.weight") -> None:
        number = np.asarray(steps, dtype=np.int64)
        refs = BlobRefs(BlobKind.HISTOGRAM, tag, number, np.zeros(len(number)), number, number)
        self.store.apply(Batch(key(), Part.HISTORY, blobs=(refs,)))

    @staticmethod
    def _read(places: BlobPlaces, indices: Sequence[int]) -> List[Optional[Histogram]]:
        found: List[Optional[Histogram]] = []
        for index in indices:
            stats = HistogramStats(int(places.steps[index]), 0.0, 0.0, 0.0, 0.0, 1, 0, 0, 0)
            empty = np.zeros(0)
            found.append(None if places.steps[index] == 99 else Histogram(stats, empty, empty, np.zeros(0, np.int64)))
        return found

    def windows(self) -> List[Window]:
        return list(self.supply.windows())

    def of_others(self) -> List[List[Tuple[int, str]]]:
        """What is handed over of the ranks that take turns, window by window."""
        return [[(piece.rank_id, piece.tag) for piece in window.pieces] for window in self.supply.others()]

    def given(self) -> Dict[Tuple[int, str], List[int]]:
        """Steps that are handed over now, by rank and tag, in their order."""
        found: Dict[Tuple[int, str], List[int]] = {}
        for window in self.windows():
            for piece in window.pieces:
                found.setdefault((piece.rank_id, piece.tag), []).extend(steps_of(piece))
        return found


def test_each_point_is_handed_over_once() -> None:
    run = Run()
    run.put([1, 2, 3])
    assert run.given() == {(0, "loss"): [1, 2, 3]}
    assert run.given() == {}
    run.put([4])
    run.put([1, 2], "accuracy")
    assert run.given() == {(0, "loss"): [4], (0, "accuracy"): [1, 2]}


def test_a_restart_is_handed_over_from_its_step_on() -> None:
    run = Run()
    run.put([1, 2, 3, 4])
    run.given()
    run.put([3, 4, 5])
    assert run.given() == {(0, "loss"): [3, 4, 5]}
    assert not run.supply.late


def test_attempts_that_nobody_watched_are_handed_over_one_after_the_other() -> None:
    run = Run()
    run.put([1, 2, 3, 4, 5, 6, 3, 4, 5, 4, 5, 6, 7])
    assert run.given() == {(0, "loss"): [1, 2, 3, 4, 5, 6, 3, 4, 5, 4, 5, 6, 7]}


def test_the_remainder_that_is_flushed_at_the_end_is_no_restart() -> None:
    run = Run()
    run.put([1, 2, 3, 4, 2, 3, 4, 0])
    assert run.given() == {(0, "loss"): [1, 2, 3, 4, 2, 3, 4]}


def test_what_comes_for_a_step_that_was_handed_over_is_left_out_and_told() -> None:
    run = Run()
    run.put([10, 20], source=LOG)
    assert run.given() == {(0, "loss"): [10, 20]}
    run.put(list(range(1, 16)))
    run.given()
    assert run.supply.late
    again = Supply("run", run.store, run._read, lambda *_: True, lambda *_: True)
    run.supply = again
    assert run.given() == {(0, "loss"): [*range(1, 16), 20]}
    assert not again.late


def test_a_series_that_begins_behind_the_others_is_told() -> None:
    run = Run()
    run.put([1, 2, 3])
    run.given()
    run.put([2, 3], "accuracy")
    assert run.given() == {(0, "accuracy"): [2, 3]}
    assert run.supply.late


def test_a_rank_that_lags_is_told_apart_from_points_that_are_late() -> None:
    run = Run()
    run.put([1, 2, 3])
    run.given()
    run.put([1, 2], rank=1)
    assert run.given() == {(1, "loss"): [1, 2]}
    assert run.supply.uneven
    assert not run.supply.late


def test_an_evaluation_that_a_log_tells_of_as_well_is_handed_over_once() -> None:
    run = Run()
    for tag in ("accuracy/val", "loss/val"):
        run.put([28, 56, 84], tag)
        run.put([25, 55, 80], tag, source=LOG)
    assert run.given() == {(0, "accuracy/val"): [28, 56, 84], (0, "loss/val"): [28, 56, 84]}
    run.put([140, 168], "accuracy/val", source=LOG)
    assert run.given() == {(0, "accuracy/val"): [140, 168]}, "the summary has ended"


def test_long_histories_come_in_windows_that_all_series_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "WINDOW_POINTS", 10)
    monkeypatch.setattr(pieces, "PIECE_POINTS", 1)
    run = Run()
    run.put(range(1, 41))
    run.put([5, 20, 40], "accuracy")
    run.histograms([1, 30])
    windows = run.windows()
    assert len(windows) > 3
    upto = 0
    for window in windows:
        steps = [step for piece in window.pieces for step in steps_of(piece)]
        steps += [each[3].stats.step for each in window.histograms]
        assert min(steps) > upto
        upto = max(steps)
    assert upto == 40


def test_histograms_are_decoded_once_and_one_that_cannot_be_read_is_passed_over() -> None:
    run = Run()
    run.histograms([1, 99, 100])
    assert [each[3].stats.step for window in run.windows() for each in window.histograms] == [1, 100]
    run.histograms([200])
    assert [each[3].stats.step for window in run.windows() for each in window.histograms] == [200]


def test_of_many_ranks_only_the_first_have_every_parameter_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RANKS_IN_FULL", 1)
    run = Run()
    for rank in range(3):
        for tag in ("loss", "learning_rate", "grad_norm/fc.weight"):
            run.put([1, 2], tag, rank=rank)
    assert set(run.given()) == {(0, "loss"), (0, "learning_rate"), (0, "grad_norm/fc.weight")}
    assert run.supply.behind
    assert run.of_others() == [[(1, "loss"), (2, "loss")]]
    assert not run.supply.behind
    assert not run.given()


def test_ranks_take_turns_and_who_stops_goes_on_with_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RANKS_IN_FULL", 1)
    monkeypatch.setattr(module, "OTHERS_AT_ONCE", 1)
    run = Run()
    turns = []
    for step in range(1, 5):
        for rank in range(4):
            run.put([step], rank=rank)
        assert run.given() == {(0, "loss"): [step]}
        turns.append([piece.rank_id for piece in next(run.supply.others()).pieces])
        assert run.supply.new_ranks == max(3 - step, 0)
    assert turns == [[1], [2], [3], [1]]
    assert not run.supply.late
    assert not run.supply.uneven


def test_a_rank_in_which_a_value_is_no_number_has_its_turn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RANKS_IN_FULL", 1)
    monkeypatch.setattr(module, "FIRST_WITH_BAD_VALUES", 2)
    run = Run()
    for rank in range(900):
        run.put([1, 2], rank=rank)
    run.windows()
    for rank, step in ((700, 4), (300, 5), (800, 3)):
        run.put(list(range(3, step)), rank=rank)
        run.put([step], rank=rank, shift=np.nan)
    assert run.given() == {(700, "loss"): [1, 2, 3, 4], (800, "loss"): [1, 2, 3]}, "where it began first"
    run.put([5, 6], rank=700)
    assert run.given() == {}, "it is known"
    turns = [rank_id for window in run.of_others() for rank_id, _tag in window]
    assert turns[0] == 300, "the next one"
    assert len(turns) == 898


def test_what_no_rule_looks_at_is_not_handed_over() -> None:
    run = Run()
    run.supply = Supply("run", run.store, run._read, lambda _subject, tag: tag == "loss", lambda *_: True)
    run.put([1, 2])
    run.put([1, 2], "throughput")
    assert run.given() == {(0, "loss"): [1, 2]}
