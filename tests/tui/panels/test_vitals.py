"""The vitals on a host without a screen: rows are asked for directly."""

from __future__ import annotations

from dataclasses import replace
from typing import Dict, List, Tuple

import pytest
from rich.cells import cell_len

from mstui.model.roles import Role
from mstui.model.series import Disagreement, SeriesKey
from mstui.model.sources import SUMMARY, Source, SourceKind
from mstui.tui.lines import Row
from mstui.tui.panels.vitals import PANEL, Vitals
from mstui.tui.state import ViewState
from tests.tui.fakes import FakeHost, FakeMonitor
from tests.tui.scene import RUN, scene


def rows(monitor: FakeMonitor, width: int = 40, height: int = 12, *, compact: bool = False) -> List[str]:
    return ["".join(text for text, _look in row) for row in raw(monitor, width, height, compact=compact)]


def raw(monitor: FakeMonitor, width: int, height: int, *, compact: bool = False) -> List[Row]:
    panel = PANEL.build(FakeHost(monitor))
    assert isinstance(panel, Vitals)
    panel.compact = compact
    return list(panel.body(width, height))


def test_rows_are_by_role_and_not_by_alphabet() -> None:
    monitor = FakeMonitor()
    for tag, role in (
        ("a_lr", Role.LEARNING_RATE),
        ("aa", Role.OTHER),
        ("b_scale", Role.LOSS_SCALE),
        ("c_norm", Role.GRAD_NORM),
        ("z/loss", Role.LOSS),
    ):
        monitor.put("r", tag, [1.0, 2.0], role=role)
    names = [row.split()[0] for row in rows(monitor)]
    assert names == ["z/loss", "c_norm", "b_scale", "a_lr", "step"]


def test_now_earlier_and_the_trend_are_facts() -> None:
    loss = rows(scene())[0]
    assert loss.split() == ["loss", "0.10424", "0.20544", "down", "49%"]


@pytest.mark.parametrize(
    ("value", "word"), [(float("nan"), "! NaN"), (float("inf"), "! +Inf"), (float("-inf"), "! -Inf")]
)
def test_what_is_not_finite_is_said_in_words_and_not_by_colour_alone(value: float, word: str) -> None:
    monitor = FakeMonitor()
    monitor.put("r", "loss", [1.0] * 30 + [value], role=Role.LOSS)
    row = raw(monitor, 40, 5)[0]
    assert "".join(text for text, _look in row).rstrip().endswith(word)
    assert "critical" in [look for _text, look in row]


def test_a_step_time_that_is_not_recorded_is_computed_and_marked() -> None:
    assert any("step time" in row and "~2.0s" in row for row in rows(scene()))


def test_a_step_time_that_is_recorded_is_shown_as_it_is() -> None:
    monitor = scene()
    monitor.put(RUN, "step_time", [212.0] * 10, role=Role.STEP_TIME)
    [row] = [row for row in rows(monitor) if "step" in row]
    assert "212" in row
    assert "~" not in row


def test_some_metrics_are_shown_and_not_all_of_a_hundred() -> None:
    monitor = FakeMonitor()
    for i in range(100):
        monitor.put("r", f"acc{i}", [1.0], role=Role.EVAL_METRIC)
    assert len([row for row in rows(monitor, height=50) if "acc" in row]) == 3


def test_a_tag_without_points_of_the_selected_rank_is_left_out() -> None:
    monitor = FakeMonitor()
    monitor.put("r", "loss", [1.0], role=Role.LOSS, rank_id=1)
    panel = PANEL.build(FakeHost(monitor, ViewState(run_key="r", rank_id=0)))
    assert "no scalars yet" in str(panel.body(40, 5))


def test_no_run_and_no_scalars_are_said() -> None:
    assert "no run yet" in rows(FakeMonitor())[0]
    monitor = FakeMonitor()
    monitor.add_run("r")
    assert "no scalars yet" in rows(monitor)[0]


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("height", [1, 3, 12])
def test_nothing_is_wider_or_higher_than_its_place(compact: bool, height: int) -> None:
    monitor = scene()
    monitor.put(RUN, "全" * 50 + "/\x1b[31m" + "准确率" * 9, [1e300, -1e300], role=Role.EVAL_METRIC)
    for width in (38, 40, 57, 80, 120):
        shown = rows(monitor, width, height, compact=compact)
        assert len(shown) <= height
        assert all(cell_len(row) <= width for row in shown), (width, shown)
        assert "\x1b" not in "".join(shown)


def test_one_row_holds_what_fits_and_cuts_no_figure() -> None:
    assert rows(scene(), 80, 1, compact=True)[0].split("  ")[0] == " loss 0.11463"
    assert rows(scene(), 20, 1, compact=True)[0].strip() == "loss 0.11463"


def test_a_long_tag_keeps_its_leaf() -> None:
    assert any(row.startswith(" grad_norm ") for row in rows(scene()))
    assert any(row.startswith(" train/grad_norm ") for row in rows(scene(), 56))


LOG = Source(SourceKind.LOG, "worker")
DIFFER = Disagreement(400, 12, 300, 2.5, 2.25, SUMMARY, LOG)


def sourced(monitor: FakeMonitor, sources: Dict[str, Tuple[Source, ...]]) -> FakeMonitor:
    monitor.tag_lists[RUN] = [replace(tag, sources=sources.get(tag.tag, ())) for tag in monitor.tag_lists[RUN]]
    return monitor


def test_where_a_value_comes_from_is_told_where_it_is_not_the_summary_alone() -> None:
    monitor = sourced(scene(), {"loss": (SUMMARY, LOG), "lr": (LOG,), "loss_scale": (SUMMARY,)})
    text = "\n".join(rows(monitor, 60))
    assert "loss [summary+logs] " in text
    assert "lr [logs] " in text
    assert "loss_scale [" not in text


def test_where_all_values_come_from_logs_the_title_tells_once() -> None:
    monitor = sourced(scene(), {tag.tag: (LOG,) for tag in scene().tag_lists[RUN]})
    panel = PANEL.build(FakeHost(monitor))
    text = str(panel.body(60, 12))
    assert "[logs]" not in text
    assert "[logs]" in str(panel.title(60))


def test_sources_that_disagree_are_said_in_place_of_the_trend_but_not_of_a_nan() -> None:
    monitor = scene()
    monitor.disagreements[SeriesKey(RUN, 0, "loss")] = DIFFER
    assert "! differs" in rows(monitor)[0]
    monitor.append(RUN, "loss", float("nan"))
    assert "! NaN" in rows(monitor)[0]
