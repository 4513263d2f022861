from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mstui.config import Settings, override
from mstui.model.series import XAxis
from mstui.tui.state import Scale, ViewState
from mstui.tui.view_memory import from_plain, recall, remember, to_plain

VIEW = ViewState(
    run_key="a",
    overlay=("b", "c"),
    pinned="b",
    colours=("a", "b", "c"),
    tag_filter="损失 !x",
    run_filter="last.loss<2",
    axis=XAxis.WALL,
    smoothing=0.95,
    scales=(("loss", Scale.LOG),),
    x_range=(1.0, 2.5),
    show_superseded=False,
    band=False,
    layer_metric="grad_norm",
    parameter="conv1.weight",
    view="layers",
    zoomed="histogram",
)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def test_everything_but_the_selected_run_comes_back() -> None:
    stored = json.loads(json.dumps(to_plain(VIEW)))
    assert from_plain(stored, ViewState(run_key="a")) == VIEW


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(to_plain(VIEW), JSON)))
def test_whatever_a_stored_view_holds_a_view_comes_out(plain: Any) -> None:
    view = from_plain(plain, ViewState())
    assert isinstance(view.axis, XAxis)
    assert 0 <= view.smoothing <= 0.99
    assert view.view in ("curves", "layers", "runs", "files")
    assert view.x_range is None or view.x_range[0] < view.x_range[1]
    assert all(isinstance(key, str) for key in (*view.overlay, *view.colours))
    json.dumps(to_plain(view))


def test_an_option_wins_over_the_view_of_last_time(tmp_path: Path) -> None:
    settings = Settings(state_dir=str(tmp_path))
    assert remember(settings, "/runs", VIEW) is None
    assert recall(settings, "/runs").tag_filter == VIEW.tag_filter
    assert recall(Settings(state_dir=str(tmp_path), filter="acc"), "/runs").tag_filter == "acc"


def test_somebody_new_gets_what_is_set() -> None:
    view = recall(Settings(smoothing=0.3, x_axis="epoch"), "/nowhere")
    assert (view.smoothing, view.axis) == (0.3, XAxis.EPOCH)


def test_without_a_state_directory_nothing_is_stored() -> None:
    assert remember(Settings(), "/runs", VIEW) is None


@pytest.mark.parametrize("content", ["", "[]", "{", '{"view": 3}', "null"])
def test_a_broken_file_is_as_good_as_none(tmp_path: Path, content: str) -> None:
    settings = Settings(state_dir=str(tmp_path))
    remember(settings, "/runs", VIEW)
    [path] = list(tmp_path.rglob("*.json"))
    path.write_text(content, encoding="utf-8")
    assert recall(settings, "/runs") == ViewState()


def test_what_the_command_line_gives_wins_over_the_view_of_last_time(tmp_path: Path) -> None:
    stored = ViewState(tag_filter="acc", smoothing=0.9, axis=XAxis.WALL, x_range=(1.0, 2.0))
    before = Settings(state_dir=str(tmp_path))
    assert remember(before, "/runs", stored) is None
    view = recall(before, "/runs")
    assert (view.tag_filter, view.smoothing, view.axis, view.x_range) == ("acc", 0.9, XAxis.WALL, (1.0, 2.0))
    view = recall(override(before, smoothing=0.0, x_axis="step", filter=""), "/runs")
    assert (view.tag_filter, view.smoothing, view.axis, view.x_range) == ("", 0.0, XAxis.STEP, None)
    assert recall(override(before, x_axis="wall"), "/runs").x_range == (1.0, 2.0)
