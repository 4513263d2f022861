"""`plot` finds a tag by name, role or part of a name, and says what there is otherwise."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from mstui.assets import SAMPLE_RUNS, asset_dir
from mstui.cli.plotting import plot
from mstui.errors import StartError


def draw(capsys: pytest.CaptureFixture[str], tag: str, path: str = "loss_nan", **options: Any) -> str:
    defaults = {"run": None, "rank": None, "width": 60, "height": 10, "log": False, "ascii_only": False}
    assert plot(path, tag, **{**defaults, **options}) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("wanted", "title"),
    [("loss", "loss"), ("grad-norm", "grad_norm/global"), ("accuracy", "eval/accuracy"), ("fc1.weight/auto", "fc1.")],
    ids=["name", "role", "part of a name", "histogram"],
)
def test_finds_the_tag(capsys: pytest.CaptureFixture[str], wanted: str, title: str) -> None:
    assert title in draw(capsys, wanted).split("\n")[0]


def test_says_where_the_loss_stops_being_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert "NaN: 12 points, from 345 to 400" in draw(capsys, "loss")


def test_ascii_and_log(capsys: pytest.CaptureFixture[str]) -> None:
    assert draw(capsys, "loss", log=True, ascii_only=True).isascii()


def test_a_histogram_shows_the_newest_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert "fc1.weight/auto at step 600" in draw(capsys, "fc1.weight/auto", path="healthy")


ABSENT = {
    "several tags": ("grad_norm", {}, '7 tags contain "grad_norm"', "grad_norm/global"),
    "no tag": ("lss", {}, 'no tag "lss"', 'Did you mean "loss"?'),
    "no rank": ("loss", {"rank": 3}, "no rank 3", "Ranks: 0"),
    "no run": ("loss", {"run": "x"}, "no run x", "Known names: ."),
}


@pytest.mark.parametrize(("tag", "options", "what", "remedy"), ABSENT.values(), ids=ABSENT.keys())
def test_says_what_there_is(capsys: pytest.CaptureFixture[str], tag: str, options: Any, what: str, remedy: str) -> None:
    with pytest.raises(StartError) as caught:
        draw(capsys, tag, **options)
    assert caught.value.what == what
    assert remedy in caught.value.remedy


def test_a_directory_without_runs_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(StartError, match="no runs here"):
        draw(capsys, "loss", path=str(tmp_path))


def test_a_run_without_values_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "events.out.events.summary.1760000000.0.x_MS").write_bytes(b"")
    with pytest.raises(StartError, match="no scalar and no histogram") as caught:
        draw(capsys, "loss", path=str(tmp_path))
    assert "key 6" in caught.value.remedy


def test_a_single_file_is_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    folder = os.path.join(asset_dir(SAMPLE_RUNS), "healthy")
    name = next(name for name in os.listdir(folder) if name.endswith("_MS"))
    assert "loss" in draw(capsys, "loss", path=os.path.join(folder, name))
