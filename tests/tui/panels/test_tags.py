from __future__ import annotations

from typing import List, Optional

import numpy as np
import pytest
from rich.cells import cell_len

from mstui.model.histogram import Histogram, HistogramStats
from mstui.model.records import BlobKind
from mstui.model.roles import Role
from mstui.monitor_api import TagInfo
from mstui.tui.kind_words import KIND_WORDS
from mstui.tui.panels.tags import PANEL, ROLE_WORDS, TagsPanel
from mstui.tui.state import ViewState
from tests.tui.fakes import FakeHost, FakeMonitor
from tests.tui.scene import RUN, scene


def panel_for(monitor: FakeMonitor, view: Optional[ViewState] = None) -> TagsPanel:
    panel = PANEL.build(FakeHost(monitor, view or ViewState(run_key=RUN)))
    assert isinstance(panel, TagsPanel)
    return panel


def rows(panel: TagsPanel, width: int = 80, height: int = 12) -> List[str]:
    return ["".join(text for text, _look in row) for row in panel.body(width, height)]


def rich_scene() -> FakeMonitor:
    monitor = scene()
    monitor.put(RUN, "conv1/grad_norm", [1.0], role=Role.PARAMETER, parameter="conv1.weight", statistic="grad_norm")
    stats = HistogramStats(10, 0.0, 0.0, 1.0, 0.5, 4, 0, 0, 0)
    one = np.array([0.0], dtype=np.float64)
    monitor.add_histograms(RUN, "conv1.weight/auto", [Histogram(stats, one, one + 1, np.array([4], dtype=np.int64))])
    monitor.tag_lists[RUN].append(TagInfo("input", BlobKind.IMAGE, Role.OTHER, "", "", 12, 100, None, 0))
    monitor.bump()
    return monitor


def test_every_role_and_kind_that_can_be_listed_has_a_word() -> None:
    assert set(ROLE_WORDS) == set(Role)
    assert BlobKind.HISTOGRAM in KIND_WORDS


def test_a_role_is_named_once_at_the_first_tag_of_its_group() -> None:
    text = "\n".join(rows(panel_for(rich_scene())))
    assert text.count("parameter") == 1
    assert "learning rate" in text


def test_scalars_show_their_newest_value_and_the_others_their_kind() -> None:
    shown = rows(panel_for(rich_scene()))
    assert any("loss " in row and "0.11463" in row for row in shown)
    assert any("conv1.weight/auto" in row and "histogram" in row for row in shown)
    assert any("input" in row and "image" in row and "12" in row for row in shown)


@pytest.mark.parametrize("width", [26, 30, 38, 44, 62, 120])
def test_tags_that_differ_in_the_middle_do_not_look_alike(width: int) -> None:
    monitor = FakeMonitor()
    figures = ("min", "max", "mean", "norm", "nans")
    for figure in figures:
        tag = f"grad_unreduced_{figure}/layers.0.mlp.linear_fc1.weight"
        monitor.put(RUN, tag, [1.0], role=Role.PARAMETER, parameter="layers.0.mlp.linear_fc1.weight", statistic=figure)
    shown = rows(panel_for(monitor), width)[: len(figures)]
    assert len({row[1:].split()[0] for row in shown}) == len(figures)
    assert all(figure in row for figure, row in zip(figures, shown))


@pytest.mark.parametrize("width", [30, 38, 44, 62, 120])
def test_rows_fit(width: int) -> None:
    monitor = rich_scene()
    monitor.put(RUN, "全\x1b" * 100, [float("nan")])
    assert all(cell_len(row) <= width for row in rows(panel_for(monitor), width))


def test_a_scalar_opens_as_the_chart_that_it_is() -> None:
    panel = panel_for(rich_scene(), ViewState(run_key=RUN, view="runs"))
    panel.action_tag_down()
    panel.action_tag_open()
    assert (panel.host.view.view, panel.host.view.chart) == ("curves", 1)
    assert panel.host.view.tag_filter == ""


def test_a_statistic_of_a_parameter_opens_its_row_of_the_map() -> None:
    panel = panel_for(rich_scene())
    panel.select(("conv1/grad_norm", None))
    panel.action_tag_open()
    view = panel.host.view
    assert (view.view, view.parameter, view.layer_metric) == ("layers", "conv1.weight", "grad_norm")


def test_a_histogram_opens_over_the_whole_body() -> None:
    panel = panel_for(rich_scene())
    panel.select(("conv1.weight/auto", BlobKind.HISTOGRAM))
    panel.action_tag_open()
    assert (panel.host.view.zoomed, panel.host.view.parameter) == ("histogram", "conv1.weight")


def test_what_is_not_drawn_says_so() -> None:
    monitor = rich_scene()
    panel = panel_for(monitor)
    panel.select(("input", BlobKind.IMAGE))
    panel.action_tag_open()
    assert isinstance(panel.host, FakeHost)
    assert panel.host.said


def test_the_title_counts_what_the_filter_leaves() -> None:
    panel = panel_for(rich_scene(), ViewState(run_key=RUN, tag_filter="loss"))
    assert "".join(text for text, _look in panel.title(40)) == "[2/8] loss"


def test_nothing_to_list_is_said() -> None:
    assert "no tags yet" in rows(panel_for(FakeMonitor()))[0]
    assert "no tag matches" in rows(panel_for(scene(), ViewState(run_key=RUN, tag_filter="zzz")))[0]
    panel = panel_for(FakeMonitor())
    panel.action_tag_open()
    panel.action_tag_role()
