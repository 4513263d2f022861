"""Exports hold every point, harm no reader, and never replace a file."""

from __future__ import annotations

import builtins
import csv
import io
import os
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any, List

import numpy as np
import pytest

from mstui.export import NoPicture, curves_png, curves_svg, file_stem, series_csv, write_export
from mstui.model.series import CurveView, Points, Series, SeriesKey, XAxis

NAN, INF = float("nan"), float("inf")
SVG = "{http://www.w3.org/2000/svg}"


def points(steps: List[int], values: List[float]) -> Points:
    return Points(
        np.array(steps, dtype=np.int64), np.array(steps, dtype=np.float64) + 0.5, np.array(values, dtype=np.float32)
    )


def curve(values: List[float], tag: str = "loss") -> CurveView:
    raw = np.array(values, dtype=np.float64)
    finite = np.where(np.isfinite(raw), raw, NAN)
    empty = np.full(len(raw), NAN)
    return CurveView(
        key=SeriesKey("run", 0, tag),
        axis=XAxis.STEP,
        x_range=(0.0, float(len(raw))),
        lo=finite,
        hi=finite,
        first=finite,
        last=finite,
        smooth=finite,
        count=np.ones(len(raw), dtype=np.int64),
        nan=np.isnan(raw),
        pos_inf=np.isposinf(raw),
        neg_inf=np.isneginf(raw),
        old_lo=empty,
        old_hi=empty,
        band_lo=np.zeros(0),
        band_hi=np.zeros(0),
        restarts=(),
        total=len(raw),
        latest=None,
        first_non_finite=None,
    )


def test_csv_holds_every_point_as_it_was_written() -> None:
    series = Series(
        SeriesKey("r/1", 3, "loss"), (points([1, 2], [0.1, NAN]), points([3], [INF])), (points([3], [-INF]),), (3,), 1
    )
    rows = list(csv.reader(io.StringIO(series_csv([series]))))
    assert rows == [
        ["run", "rank_id", "tag", "step", "wall_time", "value", "superseded"],
        ["r/1", "3", "loss", "1", "1.5", "0.1", "0"],
        ["r/1", "3", "loss", "2", "2.5", "nan", "0"],
        ["r/1", "3", "loss", "3", "3.5", "inf", "0"],
        ["r/1", "3", "loss", "3", "3.5", "-inf", "1"],
    ]


def test_csv_values_read_back_exactly() -> None:
    values = np.random.default_rng(0).normal(size=200).astype(np.float32)
    series = Series(SeriesKey("r", 0, "t"), (points(list(range(200)), values.tolist()),), (), (), 1)
    rows = list(csv.DictReader(io.StringIO(series_csv([series]))))
    assert np.array_equal(np.array([row["value"] for row in rows], dtype=np.float32), values)


@pytest.mark.parametrize("tag", ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)"])
def test_csv_runs_no_formula(tag: str) -> None:
    series = Series(SeriesKey("r", 0, tag), (points([1], [1.0]),), (), (), 1)
    assert list(csv.reader(io.StringIO(series_csv([series]))))[1][2] == "'" + tag


def texts(svg: str) -> List[str]:
    return ["".join(element.itertext()) for element in ET.fromstring(svg).iter(f"{SVG}text")]


def test_svg_is_well_formed_whatever_the_names() -> None:
    svg = curves_svg([curve([1, 2], '<script>"&\x1b\u202e')], title="</svg>&<", x_label="<step>", colours=['"><x'])
    root = ET.fromstring(svg)
    assert {element.tag for element in root.iter()} == {f"{SVG}{n}" for n in ("svg", "title", "text", "path", "g")}
    assert 'run #0 <script>"&<1b><202e>' in texts(svg)


def test_svg_marks_what_is_not_finite_and_breaks_the_line_there() -> None:
    svg = curves_svg([curve([1, 2, NAN, 3, INF, 4, -INF])], title="t", x_label="step")
    assert [t for t in texts(svg) if t in ("N", "+", "-")] == ["N", "+", "-"]
    lines = [p for p in ET.fromstring(svg).iter(f"{SVG}path") if p.get("stroke-width") == "1.6"]
    assert len(lines) == 3


def test_svg_draws_a_lone_point() -> None:
    assert "h0.1" in curves_svg([curve([5.0])], title="t", x_label="step")


HARD = {
    "nothing": [],
    "all NaN": [NAN, NAN],
    "constant": [2.0, 2.0],
    "subnormal": [1e-310, 2e-310],
    "whole range of floats": [-1.7e308, 1.7e308],
}


@pytest.mark.parametrize("values", HARD.values(), ids=HARD.keys())
def test_hard_values_stay_inside_the_picture(values: List[float]) -> None:
    svg = curves_svg([curve(values)], title="t", x_label="step", width=300, height=200)
    for path in ET.fromstring(svg).iter(f"{SVG}path"):
        assert all(-1 <= float(n) <= 300 for n in re.findall(r"-?\d+\.?\d*", path.get("d", "")))
    assert isinstance(curves_png([curve(values)], title="t", x_label="step", width=300, height=200), bytes)


def test_no_curve_is_an_empty_chart() -> None:
    assert "no finite value" in texts(curves_svg([], title="t", x_label="step"))


def test_curves_keep_their_colours_in_turn() -> None:
    svg = curves_svg([curve([1, 2], str(i)) for i in range(3)], title="t", x_label="s", colours=["red", "blue"])
    assert [g.get("stroke") for g in ET.fromstring(svg).iter(f"{SVG}g")] == ["red", "blue", "red"]


def test_png_is_a_picture_of_the_size_asked_for() -> None:
    from PIL import Image

    raw = curves_png([curve([1, NAN, 3], "损失")], title="损失", x_label="step", width=300, height=200)
    assert isinstance(raw, bytes)
    image = Image.open(io.BytesIO(raw))
    assert image.size == (300, 200)
    assert len(image.getcolors() or ()) > 1


def test_png_without_pillow_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("PIL"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    missing = curves_png([], title="t", x_label="step")
    assert isinstance(missing, NoPicture)
    assert "mstui[png]" in missing.problem


STEMS = {
    "grad_norm/fc1.weight": "grad_norm_fc1.weight",
    "../../etc/passwd": "etc_passwd",
    "损失": "635f_5931",
    "\x1b[31m": "1b_31m",
    "": "mstui",
    "...": "mstui",
}


@pytest.mark.parametrize(("name", "stem"), STEMS.items())
def test_file_names_are_plain(name: str, stem: str) -> None:
    assert file_stem(name) == stem


def test_an_existing_file_is_never_replaced(tmp_path: Path) -> None:
    paths = [write_export(str(tmp_path / "out"), "loss/auto", ".csv", text).path for text in ("a", "b", "c")]
    assert [os.path.basename(path) for path in paths] == ["loss_auto.csv", "loss_auto-2.csv", "loss_auto-3.csv"]
    assert [Path(path).read_text() for path in paths] == ["a", "b", "c"]


def test_a_link_to_nowhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "t.csv").symlink_to(tmp_path / "elsewhere")
    assert write_export(str(tmp_path), "t", ".csv", b"x").path.endswith("t-2.csv")
    assert not (tmp_path / "elsewhere").exists()


def test_a_directory_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = write_export(str(tmp_path / "file"), "t", ".csv", "x")
    assert done.path == ""
    assert "cannot write" in done.problem
