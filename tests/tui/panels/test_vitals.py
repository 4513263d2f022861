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


NOISY_LOSS = [2.0] * 190 + [1.0] * 9 + [1.75]
"""a loss whose newest value lies far from the median of the newest ones"""


def test_now_is_the_newest_value_and_the_median_stands_beside_it_under_its_own_name() -> None:
    monitor = FakeMonitor()
    monitor.put("r", "loss", NOISY_LOSS, role=Role.LOSS)
    assert rows(monitor)[0].split() == ["loss", "1.75", "1", "down", "50%"]
    assert titled(monitor, 40) == "now, median, trend"
    assert rows(monitor, 55)[0].split() == ["loss", "1.75", "1", "2", "down", "50%"]
    assert titled(monitor, 55) == "now, median, 10 % earlier"


@pytest.mark.parametrize(
    ("width", "height", "compact"), [(40, 12, False), (55, 12, False), (80, 1, True), (38, 9, True)]
)
def test_the_loss_is_the_same_at_every_size(width: int, height: int, compact: bool) -> None:
    monitor = FakeMonitor()
    monitor.put("r", "loss", NOISY_LOSS, role=Role.LOSS)
    assert rows(monitor, width, height, compact=compact)[0].split()[1] == "1.75"


def test_a_figure_that_is_not_averaged_has_no_median() -> None:
    monitor = FakeMonitor()
    monitor.put("r", "accuracy", [0.5] * 10 + [0.8] * 10, role=Role.EVAL_METRIC)
    assert rows(monitor, 55)[0].split() == ["accuracy", "0.8", "0.8", "steady"]
    assert rows(monitor, 40)[0].split() == ["accuracy", "0.8", "steady"]


def test_a_loss_that_is_no_number_has_no_median_either() -> None:
    monitor = FakeMonitor()
    monitor.put("r", "loss", [1.0] * 30 + [float("nan")], role=Role.LOSS)
    assert rows(monitor)[0].split() == ["loss", "NaN", "!", "NaN"]


def titled(monitor: FakeMonitor, width: int) -> str:
    panel = PANEL.build(FakeHost(monitor))
    panel.body(width, 12)
    return "".join(text for text, _look in panel.title(width))


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


STEP_TIMES = [
    ("step_time_ms", "step 914.25ms", "914.2ms"),
    ("per_step_s", "step 914.25s", "914.25s"),
    ("elapsed time per iteration (ms)", "step 914.25ms", "914.2ms"),
    ("timing/ms_per_step", "step 914.2ms", "914.2ms"),
    ("sec/step", "step 914.25s", "914.25s"),
    ("step_time", "step_time 914.25", "914.25"),
    ("steps_time", "steps_time 914.25", "914.25"),
]


@pytest.mark.parametrize(("tag", "said", "value"), STEP_TIMES)
def test_a_step_time_has_its_unit_or_where_none_is_known_its_name(tag: str, said: str, value: str) -> None:
    monitor = FakeMonitor()
    monitor.put("r", tag, [914.25] * 10, role=Role.STEP_TIME)
    [line] = rows(monitor, 80, 1, compact=True)
    assert line.strip() == said.replace("914.25ms", value)
    assert value in rows(monitor, 40)[0].split()


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


def test_one_row_holds_every_figure_where_there_is_room() -> None:
    said = " loss 0.11463  acc 0.95021  grad 0.70755  scale 65536  lr 1e-5  step ~2.0s"
    assert rows(scene(), 80, 1, compact=True) == [said]


def test_one_row_holds_what_fits_and_cuts_no_figure() -> None:
    assert rows(scene(), 80, 1, compact=True)[0].split("  ")[0] == " loss 0.11463"
    assert rows(scene(), 20, 1, compact=True)[0].strip() == "loss 0.11463"


def evaluated() -> FakeMonitor:
    monitor = FakeMonitor()
    for tag, value, role in (
        ("loss", 1.4696, Role.LOSS),
        ("accuracy/val", 0.25, Role.EVAL_METRIC),
        ("loss/val", 1.9654, Role.EVAL_LOSS),
        ("grad_norm/global", 0.20724, Role.GRAD_NORM),
        ("learning_rate", 0.05, Role.LEARNING_RATE),
        ("step_time_ms", 250.0, Role.STEP_TIME),
    ):
        monitor.put("r", tag, [value, value], role=role)
    return monitor


def test_figures_of_held_out_data_are_told_apart_in_the_one_row() -> None:
    assert rows(evaluated(), 120, 1, compact=True)[0].split("  ")[:4] == [
        " loss 1.4696",
        "accuracy/val 0.25",
        "loss/val 1.9654",
        "grad 0.20724",
    ]


def test_names_are_shortened_before_a_figure_is_left_out_of_the_one_row() -> None:
    line = rows(evaluated(), 80, 1, compact=True)[0]
    assert line.split("  ")[1:3] == ["acc/val 0.25", "loss/val 1.9654"]
    assert line.rstrip().endswith("step 250ms")
    monitor = evaluated()
    monitor.put("r", "throughput_of_all_devices_together", [288.0], role=Role.THROUGHPUT)
    assert rows(monitor, 104, 1, compact=True)[0].rstrip().endswith("step 250ms  throughpu…s_together 288")


def test_a_held_out_loss_is_not_called_the_loss_in_the_one_row() -> None:
    monitor = FakeMonitor()
    monitor.put("r", "loss", [1.0], role=Role.LOSS)
    monitor.put("r", "eval/loss", [2.0], role=Role.EVAL_LOSS)
    assert rows(monitor, 80, 1, compact=True)[0].split() == ["loss", "1", "eval/loss", "2"]


@pytest.mark.parametrize("width", [38, 40, 48, 55, 70])
def test_metrics_that_differ_in_the_middle_of_their_names_do_not_look_alike(width: int) -> None:
    monitor = FakeMonitor()
    for place in (1, 5):
        monitor.put("r", f"validation/Top_{place}_Accuracy_of_the_average", [12.0], role=Role.EVAL_METRIC)
    names = [row.split()[0] for row in rows(monitor, width)]
    assert len(set(names)) == 2


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


def test_curves_that_are_all_about_parameters_are_not_called_none() -> None:
    monitor = FakeMonitor()
    for layer in ("a", "b"):
        monitor.put("r", f"grad_norm/{layer}.weight", [1.0, 2.0], role=Role.PARAMETER)
    assert rows(monitor) == [" 2 curves, no vital figure"]
