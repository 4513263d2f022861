"""Consoles in which a launcher names the rank of every line, from the file to the table of ranks."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Dict, List, Tuple

import pytest

from mstui.ingest.limits import ReadLimits
from mstui.model.runs import RankInfo, RunInfo, RunStatus
from mstui.model.series import SeriesKey
from mstui.store.rank_table import RankTables
from mstui.store.run_store import Store
from tests.unit.ingest.logs import LogFollower

ODD = Path(__file__).resolve().parents[2] / "data" / "logs" / "odd"
SMALL = ReadLimits(block=512, text_block=512, record=4096, tail_first_above=1024, tail=512, prime=128, tail_most=4096)


def stored(follower: LogFollower) -> Store:
    store = Store()
    for batch in follower.batches:
        store.apply(batch)
    return store


def losses(store: Store, tag: str = "loss") -> Dict[int, List[Tuple[int, float]]]:
    found = {}
    for rank in store.ranks("."):
        series = store.series(SeriesKey(".", rank, tag))
        if series is not None:
            found[rank] = [
                (int(step), float(value))
                for points in series.current
                for step, value in zip(points.steps, points.values)
            ]
    return found


def table_losses(store: Store) -> Dict[int, float]:
    ranks = tuple(RankInfo(rank, None, 0.0, RunStatus.LIVE, 1, 1, 1) for rank in store.ranks("."))
    run = RunInfo(".", ".", bool(ranks), RunStatus.LIVE, ranks, None, 0.0, None, None, 1, 1, 1, 0)
    rows = RankTables(store).table(run).rows
    return {row.rank_id: row.loss for row in rows if row.loss is not None}


def test_mpirun_with_tagged_output_shows_the_loss_of_each_rank(tmp_path: Path) -> None:
    shutil.copy(ODD / "mpirun_tag_output.log", tmp_path / "mpirun.log")
    store = stored(LogFollower(tmp_path).look())
    assert table_losses(store) == {0: 2.3051, 1: 2.3102}
    (log,) = store.logs(".")
    assert log.records > 0


def test_mpirun_with_a_file_for_each_rank_shows_the_loss_of_each_rank(tmp_path: Path) -> None:
    shutil.copytree(ODD / "mpirun_output_filename", tmp_path / "mpirun")
    assert sorted(table_losses(stored(LogFollower(tmp_path / "mpirun").look()))) == [0, 1]


SHAPES = (
    "epoch: {epoch} step: {step}, loss is {loss:.4f}",
    " [2026-05-06 10:00:00] iteration {k:8d}/ 200 | consumed samples: {k:12d} | lm loss: {loss:.6E} | grad norm: 1.5 |",
)
"""steps of an epoch, and of the whole training"""


@pytest.mark.parametrize(("shape", "tag"), list(zip(SHAPES, ("loss", "lm_loss"))))
def test_a_long_console_read_from_its_end_while_it_grows_gives_every_rank_what_reading_it_through_gives(
    tmp_path: Path, shape: str, tag: str
) -> None:
    rng = random.Random(1)
    data = "".join(
        f"[1,{rank}]<stdout>:{shape.format(epoch=k // 10 + 1, step=k % 10 + 1, k=k + 1, loss=rng.uniform(1, 9))}\n"
        for k in range(60)
        for rank in rng.sample(range(4), 4)
    ).encode()
    path = tmp_path / "mpirun.log"
    path.write_bytes(data)
    whole = losses(stored(LogFollower(tmp_path).look()), tag)
    assert sorted(whole) == [0, 1, 2, 3]
    assert all([step for step, _ in points] == list(range(1, 61)) for points in whole.values())
    for cut in rng.sample(range(2000, len(data)), 6):
        path.write_bytes(data[:cut])
        follower = LogFollower(tmp_path, limits=SMALL).look()
        with path.open("ab") as out:
            out.write(data[cut:])
        assert losses(stored(follower.look()), tag) == whole
