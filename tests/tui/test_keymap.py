from __future__ import annotations

import pytest

from mstui.errors import ConfigError
from mstui.tui.actions import by_id
from mstui.tui.keymap import effective_keys, textual_keymap


def test_without_changes_every_action_has_its_own_keys() -> None:
    assert effective_keys({}) == {action.id: action.keys for action in by_id().values()}


def test_a_character_and_its_name_are_the_same_key() -> None:
    changes = {"view-runs": ("@", "exclamation_mark"), "help": ("ctrl+g",)}
    keys = effective_keys(changes)
    assert keys["view-runs"] == ("at", "exclamation_mark")
    assert textual_keymap(changes, keys) == {"view-runs": "at,exclamation_mark", "help": "ctrl+g"}


def test_an_empty_list_takes_the_keys_away() -> None:
    assert effective_keys({"mouse": ()})["mouse"] == ()


def test_an_unknown_action_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match="view-run") as caught:
        effective_keys({"view-run": ("a",)})
    assert "view-runs" in caught.value.remedy


def test_an_unknown_key_names_the_nearest_and_the_action() -> None:
    with pytest.raises(ConfigError) as caught:
        effective_keys({"quit": ("pagedwn",)})
    assert "pagedown" in caught.value.remedy
    assert "quit" in caught.value.where


def test_a_key_that_another_action_has_is_refused_by_name() -> None:
    with pytest.raises(ConfigError) as caught:
        effective_keys({"quit": ("x",)})
    assert "axis" in caught.value.what
    assert "quit" in caught.value.what


def test_keys_may_be_swapped() -> None:
    keys = effective_keys({"quit": ("x",), "axis": ("q",)})
    assert (keys["quit"], keys["axis"]) == (("x",), ("q",))


def test_panels_may_share_a_key() -> None:
    keys = effective_keys({"run-up": ("u",), "tag-up": ("u",)})
    assert keys["run-up"] == keys["tag-up"]
