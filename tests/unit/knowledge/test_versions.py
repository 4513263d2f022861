"""Version conditions: what they mean and how they complain."""

from __future__ import annotations

import pytest

from mstui.knowledge.versions import condition, numbers


@pytest.mark.parametrize(
    ("text", "version", "holds"),
    [
        (">=2.0", "2.0", True),
        (">=2.0", "2.0.0rc1", True),
        (">=2.0", "1.10.1", False),
        ("<2.0", "1.10.1", True),
        (">=2.0,<2.4", "2.3.1", True),
        (">=2.0,<2.4", "2.4.0", False),
        (">2.9", "2.10.0", True),
        ("==2", "2.0.0", True),
        ("<=1.9", "1.9.0", True),
        (">=2.0", "unknown", False),
        ("<2.0", "", False),
    ],
)
def test_a_condition_holds_for_the_versions_it_means(text: str, version: str, holds: bool) -> None:
    assert condition(text).holds(version) is holds


def test_a_version_without_numbers_has_none() -> None:
    assert numbers("master") is None
    assert numbers("v2.3") == (2, 3, 0, 0)


@pytest.mark.parametrize("text", ["", "2.0", ">= two", ">=2.0,", "~2.0"])
def test_what_is_no_condition_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="such as"):
        condition(text)
