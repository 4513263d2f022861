"""What the journal notes about alerts, in words."""

from __future__ import annotations

import pytest

from mstui.monitor.alert_words import subject_line


@pytest.mark.parametrize(
    ("subject", "line"),
    [
        ("loss-nan|train/loss", "Loss is NaN (train/loss)"),
        ("stall|", "No progress"),
        ("grad-explode|a|b\x1b", "Gradients explode (a|b<1b>)"),
        ("of-tomorrow|loss\x1b", "of-tomorrow|loss<1b>"),
        ("", ""),
    ],
)
def test_a_subject_is_told_by_its_title_and_an_unknown_one_as_it_stands(subject: str, line: str) -> None:
    assert subject_line(subject) == line
