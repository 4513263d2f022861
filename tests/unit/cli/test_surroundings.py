"""What terminal, locale and connection ask for."""

from __future__ import annotations

from typing import Dict, List, Optional

import pytest

from mstui.cli.surroundings import (
    command_language,
    is_remote,
    numeric_environment,
    option_value,
    resolve,
    textual_environment,
    wants_ascii,
)
from mstui.config import Settings

ENCODINGS = {
    "UTF-8": ({}, "utf-8", False),
    "another spelling": ({}, "UTF8", False),
    "ASCII": ({}, "ascii", True),
    "GBK": ({}, "gbk", True),
    "unknown": ({}, None, True),
    "LC_ALL=C although Python says UTF-8": ({"LC_ALL": "C"}, "utf-8", True),
    "LC_ALL=C.UTF-8": ({"LC_ALL": "C.UTF-8"}, "utf-8", False),
}


@pytest.mark.parametrize(("environ", "encoding", "expected"), ENCODINGS.values(), ids=ENCODINGS.keys())
def test_ascii_is_chosen_by_the_output_encoding(
    environ: Dict[str, str], encoding: Optional[str], expected: bool
) -> None:
    assert wants_ascii(environ, encoding) is expected
    assert resolve(Settings(), environ, encoding).ascii is expected


def test_what_the_person_said_is_kept() -> None:
    settings = Settings(ascii=False, low_bandwidth=False)
    assert resolve(settings, {"SSH_CONNECTION": "x"}, "ascii") == settings


def test_ssh_means_low_bandwidth() -> None:
    assert is_remote({"SSH_CONNECTION": "10.0.0.1 22 10.0.0.2 22"})
    assert resolve(Settings(), {"SSH_TTY": "/dev/pts/1"}, "utf-8").low_bandwidth is True
    assert resolve(Settings(), {}, "utf-8").low_bandwidth is False


def test_textual_is_told_before_it_is_imported() -> None:
    near = textual_environment(Settings(low_bandwidth=False), {})
    assert near == {"TEXTUAL_ANIMATIONS": "none", "TEXTUAL_SMOOTH_SCROLL": "0", "ESCDELAY": "25"}
    far = textual_environment(Settings(low_bandwidth=True), {"SSH_CONNECTION": "x", "TEXTUAL_FPS": "15"})
    assert far == {
        "TEXTUAL_ANIMATIONS": "none",
        "TEXTUAL_SMOOTH_SCROLL": "0",
        "ESCDELAY": "100",
        "TEXTUAL_COLOR_SYSTEM": "standard",
    }


def test_numpy_is_told_to_leave_the_cores_to_the_training() -> None:
    assert numeric_environment({}) == {"OPENBLAS_NUM_THREADS": "1"}
    assert numeric_environment({"OPENBLAS_NUM_THREADS": "4"}) == {}


OPTIONS = {
    "separate": (["watch", "--lang", "zh_CN", "x"], "zh_CN"),
    "joined": (["--lang=en", "watch"], "en"),
    "absent": (["watch", "x"], None),
    "without value": (["watch", "--lang"], None),
    "behind the end of options": (["watch", "--", "--lang", "zh_CN"], None),
}


@pytest.mark.parametrize(("arguments", "value"), OPTIONS.values(), ids=OPTIONS.keys())
def test_finds_an_option_before_parsing(arguments: List[str], value: Optional[str]) -> None:
    assert option_value(arguments, "--lang") == value


def test_the_language_is_the_one_asked_for_or_the_one_that_can_be_shown() -> None:
    chinese = {"LANG": "zh_CN.UTF-8"}
    assert command_language([], chinese, "utf-8") == "zh_CN"
    assert command_language([], chinese, "gbk") == "zh_CN"
    assert command_language([], chinese, "ascii") == "en"
    assert command_language(["--lang", "zh_CN"], {}, "ascii") == "zh_CN"
    assert command_language(["--lang", "en"], chinese, "utf-8") == "en"
    assert command_language(["--lang", "xx"], chinese, "no-such-encoding") == "en"
