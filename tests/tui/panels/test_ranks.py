from __future__ import annotations

from dataclasses import replace
from typing import List, Optional, Tuple

import pytest
from rich.cells import cell_len

from mstui.model.ranks import BadValue, BadWave, OddFigure, RankRow, RankTable
from mstui.model.roles import Role
from mstui.model.runs import RunStatus
from mstui.tui.panels.ranks import PANEL, RanksPanel
from mstui.tui.rank_marks import MARKS, ORDERS, headline, marked, rank_list
from mstui.tui.state import ViewState
from tests.tui.fakes import START, FakeHost, FakeMonitor
from tests.tui.log_scene import logs_scene
from tests.tui.rank_scene import rank_table, ranks_scene
from tests.tui.scene import RUN, make_app, scene, screen_rows, screen_text

SIZES = [(80, 24), (120, 40), (200, 60)]
WIDE = 100


def panel_for(monitor: FakeMonitor, view: Optional[ViewState] = None) -> RanksPanel:
    panel = PANEL.build(FakeHost(monitor, view or ViewState(run_key=RUN)))
    assert isinstance(panel, RanksPanel)
    return panel


def rows(panel: RanksPanel, width: int = 80, height: int = 20) -> List[str]:
    return ["".join(text for text, _look in row) for row in panel.body(width, height)]


def title(panel: RanksPanel, width: int = 100) -> str:
    return "".join(text for text, _look in panel.title(width))


def table_of(*changes: RankRow, ranks: int = 8) -> RankTable:
    table = RankTable(RUN, tuple(RankRow(r, RunStatus.LIVE, 100, 0, START, 2.0, 1.0, 2.0) for r in range(ranks)), 100)
    new = {row.rank_id: row for row in changes}
    return replace(table, rows=tuple(new.get(row.rank_id, row) for row in table.rows))


# ---- the most important fact


def test_the_title_names_the_first_bad_rank_its_step_and_who_followed() -> None:
    assert title(panel_for(ranks_scene(8))) == "first bad: rank 3 at step 11560; 0-2 one step later"
    assert title(panel_for(ranks_scene(8)), 31) == "first bad: 3 at 11560"


def test_all_ranks_at_one_step_came_through_the_all_reduce() -> None:
    bad = replace(table_of(), bad=(BadWave(50, tuple(range(8)), ("loss",)),))
    assert headline(bad, WIDE) == (
        "first bad: ranks 0-7 at the same step 50: it came through the all-reduce",
        "critical",
    )
    alone = replace(table_of(ranks=1), bad=(BadWave(50, (0,), ("loss",)),))
    assert headline(alone, WIDE)[0] == "first bad: rank 0 at step 50"


def test_what_stopped_comes_before_what_is_odd_and_what_is_slow() -> None:
    odd = OddFigure(5, Role.GRAD_NORM, "norm", 77.0, 1.5, 40.0)
    slow = RankRow(6, RunStatus.LIVE, 100, 0, START, 2.0, 1.0, 3.0, slower=1.5)
    silent = RankRow(2, RunStatus.STALE, 40, 60, START, 2.0, 1.0, 2.0, stopped=True)
    table = replace(table_of(slow, silent), step_time_median_s=2.0, stragglers=(6,))
    assert headline(table, WIDE)[0] == "slowest: rank 6, 3.0s a step, median 2.0s"
    table = replace(table, odd=(odd, odd._replace(rank_id=1)))
    assert headline(table, WIDE)[0] == "odd: rank 5, gradient norm 77, median 1.5; 1 more"
    table = replace(table, stopped=(2, 3))
    assert headline(table, WIDE)[0] == "ranks 2,3 stopped while others go on, up to 60 steps behind"


def test_of_a_healthy_run_the_steps_are_told() -> None:
    assert headline(table_of(), WIDE) == ("all at step 100", "dim")
    late = RankRow(1, RunStatus.LIVE, 90, 10, START)
    assert headline(table_of(late), WIDE) == ("steps 90 to 100", "dim")
    assert headline(RankTable(RUN, ()), WIDE) == ("", "dim")


def test_lists_of_ranks_are_short_whatever_their_number() -> None:
    assert rank_list([3]) == "3"
    assert rank_list([0, 1]) == "0,1"
    assert rank_list([7, 0, 2, 1, 9]) == "0-2,7,9"
    assert rank_list(range(0, 1024, 2)) == "0,2,4,6,8,10 and 506 more"


# ---- table and grid


def test_few_ranks_are_a_table_the_worst_first() -> None:
    shown = rows(panel_for(ranks_scene(8)))
    assert [line.split()[1].strip("*") for line in shown[1:]] == ["3", "0", "1", "2", "7", "5", "6", "4"]
    assert "NaN" in shown[1]
    assert "bad at 11560: loss" in shown[1]
    for part in ("STALE", "11450", "120", "4m", "others go on"):
        assert part in shown[5]
    assert "9.5" in shown[6]


def test_many_ranks_are_a_grid_with_its_legend_and_the_selected_rank() -> None:
    shown = rows(panel_for(ranks_scene(1024)), 80, 20)
    assert shown[0].startswith("Xxxx~os***")
    assert "".join(shown[:18]).count("*") == 1017
    assert "X first bad 1" in shown[18]
    assert "* LIVE 1017" in shown[18]
    assert shown[19].startswith("X  rank 3") or shown[19].startswith("X rank 3")


@pytest.mark.parametrize("ranks", [1, 2, 8, 100, 1024])
@pytest.mark.parametrize(("width", "height"), [(1, 1), (10, 3), (31, 12), (38, 5), (80, 3), (80, 21), (112, 28)])
def test_it_fits_anywhere_and_hostile_tags_are_harmless(ranks: int, width: int, height: int) -> None:
    monitor = ranks_scene(ranks)
    table = monitor.rank_tables[RUN]
    hostile = table.rows[0]._replace(bad=BadValue("\x1b[31m全\u202e" * 40, 7))
    monitor.rank_tables[RUN] = replace(table, rows=(hostile, *table.rows[1:]))
    shown = rows(panel_for(monitor), width, height)
    assert len(shown) <= height
    for line in shown:
        assert "\x1b" not in line
        assert "\u202e" not in line
        assert cell_len(line) <= max(width, 1) or height < 3 or width < 20


def test_a_grid_that_does_not_fit_scrolls_to_the_selection() -> None:
    panel = panel_for(ranks_scene(1024))
    assert rows(panel, 30, 8)[0].startswith("Xxxx")
    panel.action_rank_bottom()
    shown = rows(panel, 30, 8)
    assert "rank 1023" in shown[-1]
    assert not shown[0].startswith("X")
    panel.action_rank_top()
    assert rows(panel, 30, 8)[0].startswith("Xxxx")


def test_meaning_is_never_by_colour_alone() -> None:
    assert len({mark.glyph for mark in MARKS}) == len(MARKS)
    assert all(mark.glyph.isascii() and len(mark.glyph) == 1 for mark in MARKS)


# ---- moving, sorting, filtering


def test_moving_and_opening_select_the_rank() -> None:
    panel = panel_for(ranks_scene(8))
    rows(panel)
    panel.action_rank_down()
    panel.action_rank_open()
    assert panel.host.view.rank_id == 0
    panel.action_rank_bottom()
    panel.action_rank_open()
    assert panel.host.view.rank_id == 4
    panel.action_rank_down()
    panel.action_rank_up()
    panel.action_rank_open()
    assert panel.host.view.rank_id == 6


def test_in_a_grid_up_and_down_go_by_rows() -> None:
    panel = panel_for(ranks_scene(1024))
    rows(panel, 80, 20)
    panel.action_rank_down()
    panel.action_rank_right()
    panel.action_rank_open()
    first = panel.host.view.rank_id
    panel.action_rank_up()
    panel.action_rank_open()
    assert panel.host.view.rank_id == 0
    panel.action_rank_page_down()
    panel.action_rank_page_up()
    panel.action_rank_left()
    panel.action_rank_open()
    assert panel.host.view.rank_id == 3
    assert first > 60


def test_the_selection_stays_on_its_rank_when_the_order_changes() -> None:
    panel = panel_for(ranks_scene(8))
    rows(panel)
    panel.action_rank_bottom()
    for _order in ORDERS:
        panel.action_rank_order()
        rows(panel)
        panel.action_rank_open()
        assert panel.host.view.rank_id == 4
    assert panel.ranks()[0].row.rank_id == 3


def test_each_order_puts_its_own_first() -> None:
    panel = panel_for(ranks_scene(8))
    firsts: List[Tuple[str, int]] = []
    for order in ORDERS:
        firsts.append((order.word, panel.ranks()[0].row.rank_id))
        panel.action_rank_order()
    assert firsts == [
        ("worst first", 3),
        ("by rank", 0),
        ("farthest behind first", 7),
        ("highest loss first", 0),
        ("highest norm first", 0),
        ("slowest first", 6),
    ]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("state=stale", [7]),
        ("step<11570", [7]),
        ("behind>100", [7]),
        ("loss>5", [5]),
        ("age>60", [7]),
        ("time>2.5", [6]),
        ("norm>9", []),
        ("rank<2", [0, 1]),
        ("bad", [3, 0, 1, 2]),
        ("bad=11560", [3]),
        ("odd | slow", [5, 6]),
        ("!live", [7]),
        ("rank_4", [4]),
    ],
)
def test_filters_leave_what_they_ask_for(text: str, left: List[int]) -> None:
    panel = panel_for(ranks_scene(8), ViewState(run_key=RUN, rank_filter=text))
    assert [each.row.rank_id for each in panel.ranks()] == left
    assert f"[{len(left)}/8]" in title(panel)


def test_a_filter_that_leaves_few_of_many_shows_them_as_a_table() -> None:
    panel = panel_for(ranks_scene(1024), ViewState(run_key=RUN, rank_filter="bad | stale"))
    shown = rows(panel, 80, 20)
    assert "11560" in shown[1]
    assert len([line for line in shown if line.strip()]) == 6


def test_what_there_is_not_is_said() -> None:
    assert "no rank matches" in rows(panel_for(ranks_scene(8), ViewState(run_key=RUN, rank_filter="nothing")))[0]
    assert "no rank is read" in rows(panel_for(scene(), ViewState(run_key="resnet50/run2")))[0]
    assert "no run is chosen" in rows(panel_for(scene(), ViewState()))[0]
    panel = panel_for(scene(), ViewState())
    for action in (panel.action_rank_down, panel.action_rank_open, panel.action_rank_bottom):
        action()


def test_one_rank_alone_takes_no_room_unless_it_is_asked_for() -> None:
    assert not panel_for(ranks_scene(1)).wants_room()
    assert panel_for(ranks_scene(2)).wants_room()
    assert "rank" in rows(panel_for(ranks_scene(1)))[0]


def test_marks_of_a_table_are_made_once_for_many_drawings(monkeypatch: pytest.MonkeyPatch) -> None:
    monitor = ranks_scene(100)
    panel = panel_for(monitor)
    before = panel.ranks()
    assert panel.ranks() is before
    monitor.rank_tables[RUN] = rank_table(100)
    assert panel.ranks() is not before
    assert marked(monitor.rank_tables[RUN])[3].mark.name == "first-bad"


# ---- on the screen


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("ranks", [8, 1024])
async def test_the_view_is_readable_and_its_keys_work(size: Tuple[int, int], ranks: int) -> None:
    app = make_app(ranks_scene(ranks))
    async with app.run_test(size=size) as pilot:
        await pilot.press("7")
        await pilot.pause()
        text = screen_text(app)
        assert "first bad: rank 3 at step 11560; 0-2 one step later" in text
        assert all(cell_len(row) == size[0] for row in screen_rows(app))
        await pilot.press("l" if ranks > 8 else "j", "enter")
        assert app.watch_screen.view.rank_id == 0
        await pilot.press("slash", *"state=stale")
        await pilot.press("enter")
        await pilot.pause()
        text = screen_text(app)
        assert f"[1/{ranks}]" in text
        assert "11450" in text
        await pilot.press("escape")
        assert app.watch_screen.view.rank_filter == ""
        assert app.watch_screen.view.tag_filter == ""


async def test_a_wide_screen_shows_ranks_beside_the_curves_where_there_are_several() -> None:
    for ranks, shown in ((1, False), (8, True)):
        app = make_app(ranks_scene(ranks))
        async with app.run_test(size=(200, 60)) as pilot:
            await pilot.pause()
            assert ("first bad: 3 at 11560" in screen_text(app)) is shown


# ---- what the logs tell


def test_a_failed_rank_has_its_mark_its_state_and_its_reason() -> None:
    panel = panel_for(logs_scene())
    text = "\n".join(rows(panel, 100))
    assert "F FAILED" in text
    assert "crashed: ValueError: bad" in text
    assert title(panel) == "rank 1 crashed: ValueError: bad shard 7"


def test_what_went_bad_first_stays_the_headline_before_a_failure() -> None:
    bad = replace(table_of(), bad=(BadWave(50, (3,), ("loss",)),))
    assert headline(bad, WIDE, "rank 1 crashed: x") == ("first bad: rank 3 at step 50; rank 1 crashed: x", "critical")
    assert headline(bad, 20, "rank 1 crashed: x") == ("first bad: 3 at 50", "critical")
    assert headline(table_of(), WIDE, "rank 1 crashed: x") == ("rank 1 crashed: x", "critical")


def test_the_rank_that_was_bad_first_keeps_its_mark_though_it_failed() -> None:
    failed = RankRow(3, RunStatus.FAILED, 100, 0, START, bad=BadValue("loss", 50))
    later = RankRow(4, RunStatus.FAILED, 100, 0, START, bad=BadValue("loss", 51))
    table = replace(table_of(failed, later), bad=(BadWave(50, (3,), ("loss",)), BadWave(51, (4,), ("loss",))))
    marks = {each.row.rank_id: each.mark.name for each in marked(table)}
    assert (marks[3], marks[4], marks[5]) == ("first-bad", "failed", "live")
