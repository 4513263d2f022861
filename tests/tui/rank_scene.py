"""A training on many ranks as the screen's tests show it: one went bad first, some followed, one is odd, one slow."""

from __future__ import annotations

from dataclasses import replace
from typing import List

from mstui.model.ranks import BadValue, BadWave, OddFigure, RankRow, RankTable
from mstui.model.roles import Role
from mstui.model.runs import RankInfo, RunStatus
from tests.tui.fakes import START, FakeMonitor
from tests.tui.scene import RUN, scene

STEP = 11570
NEWEST = START + 2000


def rank_table(ranks: int) -> RankTable:
    """Rank 3 bad at 11560, ranks 0 to 2 one step later, rank 5 odd, 6 slow, 7 stopped. Fewer ranks: what is left."""
    rows: List[RankRow] = []
    for rank in range(ranks):
        row = RankRow(rank, RunStatus.LIVE, STEP, 0, NEWEST, 2.03125, 1.5, 2.0)
        if rank <= 3:
            bad = BadValue("loss", 11560 if rank == 3 else 11561)
            row = row._replace(loss=float("nan"), bad=bad)
        elif rank == 5:
            row = row._replace(loss=9.5, odd=(OddFigure(5, Role.LOSS, "loss", 9.5, 2.03125, 40.0),))
        elif rank == 6:
            row = row._replace(step_time_s=3.0, slower=1.5)
        elif rank == 7:
            row = row._replace(
                status=RunStatus.STALE, last_step=11450, behind=120, last_data=NEWEST - 240, stopped=True
            )
        rows.append(row)
    waves = (BadWave(11560, (3,), ("loss",)), BadWave(11561, (0, 1, 2), ("loss",))) if ranks > 3 else ()
    odd = tuple(each for row in rows for each in row.odd)
    stragglers = tuple(row.rank_id for row in rows if row.slower is not None)
    stopped = tuple(row.rank_id for row in rows if row.stopped)
    return RankTable(RUN, tuple(rows), STEP, "loss", "grad_norm", 2.03125, 1.5, 2.0, waves, odd, stragglers, stopped)


def ranks_scene(ranks: int) -> FakeMonitor:
    """The usual scene with so many ranks in its newest run."""
    monitor = scene()
    table = rank_table(ranks)
    infos = tuple(RankInfo(row.rank_id, row.last_step, row.last_data, row.status, 1, 10, 10) for row in table.rows)
    monitor.run_list[0] = replace(monitor.run_list[0], ranks=infos, last_step=STEP)
    monitor.rank_tables[RUN] = table
    monitor.bump()
    return monitor
