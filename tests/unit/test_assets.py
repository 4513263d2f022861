"""The bundled directories are found in a checkout and in an installed package."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mstui import assets


def test_a_checkout_has_them_beside_the_package() -> None:
    assert os.path.isdir(assets.asset_dir(assets.SAMPLE_RUNS))


def test_an_installed_package_has_them_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "_assets/themes").mkdir(parents=True)
    monkeypatch.setattr(assets, "_PACKAGE", str(tmp_path))
    assert assets.asset_dir("themes") == str(tmp_path / "_assets/themes")


def test_names_the_sample_runs() -> None:
    names = assets.sample_names()
    assert {"healthy", "loss_nan", "hang"} <= set(names)
    assert list(names) == sorted(names)


def test_no_directory_means_no_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assets, "_PACKAGE", str(tmp_path / "mstui"))
    assert assets.sample_names() == ()
