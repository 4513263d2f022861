"""Lists and tables are made ahead of those who draw, as often as they are needed and no more."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Callable, List, Tuple

import pytest

from mstui.formats.base import Format
from mstui.ingest.ingestor import DiscoveredRun, Ingestor
from mstui.model.ranks import RankTable
from mstui.model.roles import Role
from mstui.model.runs import RunInfo
from mstui.monitor import listing as described
from mstui.monitor import run_list
from mstui.monitor.listing import Wishes
from mstui.monitor.run_list import AHEAD_EVERY_S, ASKED_LATELY_S, LATE_S, Known, RunList
from mstui.registry import collect
from mstui.store.rank_table import RankTables
from mstui.store.run_store import Store
from tests.unit.monitor.judged_runs import NOW, losses, monitor_of, write_log


class Listing:
    """A list of one run that nobody has loaded, asked for by a screen while another thread makes it."""

    def __init__(self, folder: Path) -> None:
        write_log(folder, losses(1, 5))
        ingestor = Ingestor(str(folder), collect("mstui.formats.decoders", "FORMAT", Format))
        while not ingestor.scan(NOW, 1.0).complete:
            pass
        self._discovered: Tuple[DiscoveredRun, ...] = ingestor.runs()
        self._list = RunList(Store(), Wishes())
        self.revision = 1

    def known(self) -> Known:
        return Known(self.revision, self._discovered, frozenset(), {}, lambda _key: ())

    def ask(self, now: float) -> Tuple[RunInfo, ...]:
        return self._list.runs(self.known(), now, made_ahead=True)

    def change(self, now: float, *, at_once: bool = True) -> bool:
        self.revision += 1
        return self._list.make_ahead(self.known, now, changed=True, at_once=at_once)

    def turn(self, now: float) -> bool:
        return self._list.make_ahead(self.known, now, changed=False, at_once=False)

    def outdate(self) -> None:
        self._list.outdate()


def test_nothing_is_made_ahead_for_nobody(tmp_path: Path) -> None:
    listing = Listing(tmp_path)
    assert not listing.change(NOW)
    first = listing.ask(NOW)
    assert listing.change(NOW + 1.0)
    assert listing.ask(NOW + 1.5) is not first
    assert not listing.change(NOW + 1.5 + ASKED_LATELY_S)


def test_a_question_during_the_turn_counts(tmp_path: Path) -> None:
    listing = Listing(tmp_path)
    first = listing.ask(NOW + 0.1)
    assert listing.change(NOW)
    assert listing.ask(NOW + 0.2) is not first


def test_whoever_asks_takes_what_was_made_until_it_is_late(tmp_path: Path) -> None:
    listing = Listing(tmp_path)
    listing.ask(NOW)
    listing.change(NOW)
    made = listing.ask(NOW)
    listing.revision += 1
    assert listing.ask(NOW + LATE_S - 0.1) is made
    assert listing.ask(NOW + LATE_S) is not made, "the thread that makes them may hang on a disk"


def test_who_has_not_asked_for_long_gets_a_list_of_now(tmp_path: Path) -> None:
    listing = Listing(tmp_path)
    made = listing.ask(NOW)
    listing.revision += 1
    assert listing.ask(NOW + ASKED_LATELY_S) is not made


def test_while_there_is_more_to_read_a_list_waits_for_its_time_and_is_not_forgotten(tmp_path: Path) -> None:
    listing = Listing(tmp_path)
    listing.ask(NOW)
    assert listing.change(NOW)
    assert not listing.change(NOW + AHEAD_EVERY_S / 2, at_once=False)
    assert listing.turn(NOW + AHEAD_EVERY_S)
    assert not listing.turn(NOW + 3 * AHEAD_EVERY_S), "nothing has changed since"


def test_an_outdated_list_is_made_anew_for_whoever_asks_and_with_the_next_turn(tmp_path: Path) -> None:
    listing = Listing(tmp_path)
    made = listing.ask(NOW)
    listing.outdate()
    assert listing.ask(NOW) is not made
    assert listing.turn(NOW + AHEAD_EVERY_S)


def test_while_the_thread_runs_a_redraw_makes_neither_list_nor_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for rank in range(3):
        write_log(tmp_path, losses(1, 20), f"worker_{rank}.log")
    makers: List[str] = []
    describe, table = described.describe_loaded, RankTables.table

    def noted_list(*arguments: object) -> RunInfo:
        makers.append(f"list by {threading.current_thread().name}")
        return describe(*arguments)  # type: ignore[arg-type]

    def noted_table(tables: RankTables, run: RunInfo) -> RankTable:
        makers.append(f"table by {threading.current_thread().name}")
        return table(tables, run)

    monkeypatch.setattr(run_list, "describe_loaded", noted_list)
    monkeypatch.setattr(RankTables, "table", noted_table)
    monitor = monitor_of(tmp_path, [NOW])
    heard = threading.Event()

    def until(what: Callable[[], bool]) -> None:
        for _ in range(200):
            if what():
                return
            heard.wait(0.1)
            heard.clear()
        raise AssertionError(makers)

    def last_steps() -> List[object]:
        found = monitor.rank_table(".")
        return [] if found is None else [row.last_step for row in found.rows]

    monitor.start(lambda _revision: heard.set())
    try:
        until(lambda: last_steps() == [19, 19, 19])
        makers.clear()
        for rank in range(3):
            write_log(tmp_path, losses(20, 30), f"worker_{rank}.log")
        monitor.read_now()
        until(lambda: last_steps() == [29, 29, 29])
        assert set(makers) == {"list by mstui-monitor", "table by mstui-monitor"}
        monitor.set_role("loss", Role.OTHER)
        found = monitor.rank_table(".")
        assert found is not None
        assert not found.loss_tag, "a person's word holds at once"
    finally:
        monitor.stop()
    makers.clear()
    monitor.set_role("loss", Role.LOSS)
    assert monitor.runs()
    assert makers == [f"list by {threading.current_thread().name}"], "nobody makes them ahead any more"
