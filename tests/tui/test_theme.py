from __future__ import annotations

from pathlib import Path

import pytest

from mstui.errors import ConfigError
from mstui.tui.palette import LOOKS, TERMINAL_PALETTE
from mstui.tui.theme import load_palette, palette_from, theme_files

GOOD = {
    "dim": "bright_black",
    "accent": "cyan",
    "ok": "green",
    "warning": "yellow",
    "critical": "red",
    "series": ["cyan", "yellow"],
    "heat": ["blue", "red"],
}
BUNDLED = ("colour-blind", "dark", "high-contrast", "light", "terminal")


def test_the_bundled_themes_are_there() -> None:
    assert tuple(theme.name for theme in theme_files()) == BUNDLED


@pytest.mark.parametrize("name", BUNDLED)
def test_a_bundled_theme_fills_every_look(name: str) -> None:
    palette = load_palette(name)
    assert set(palette.styles) == set(LOOKS)
    assert palette.name == name


def test_the_terminal_theme_sends_no_background_and_only_sixteen_colours() -> None:
    for style in load_palette("terminal").styles.values():
        assert style.bgcolor is None
        assert style.color is None or (style.color.number or 0) < 16


@pytest.mark.parametrize("name", [name for name in BUNDLED if name != "terminal"])
def test_a_theme_with_a_background_puts_it_behind_every_look(name: str) -> None:
    styles = load_palette(name).styles
    assert len({style.bgcolor for style in styles.values()}) == 1
    assert styles["text"].bgcolor is not None


@pytest.mark.parametrize("name", ["high-contrast", "dark", "light", "colour-blind"])
def test_words_can_be_read_on_the_background(name: str) -> None:
    least = 7.0 if name == "high-contrast" else 4.0
    styles = load_palette(name).styles
    for look in ("text", "dim", "ok", "info", "warning", "critical", "key"):
        style = styles[look]
        assert style.color is not None
        assert style.bgcolor is not None
        assert contrast(style.color.get_truecolor(), style.bgcolor.get_truecolor()) >= least, look


def contrast(one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    """WCAG contrast ratio."""

    def luminance(rgb: tuple[int, int, int]) -> float:
        parts = [c / 255 / 12.92 if c / 255 <= 0.03928 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_series_of_the_colour_blind_theme_are_all_different() -> None:
    styles = load_palette("colour-blind").styles
    assert len({styles[f"series-{i}"].color for i in range(8)}) == 8


def test_an_unknown_key_names_the_file_and_the_nearest() -> None:
    with pytest.raises(ConfigError) as caught:
        palette_from("mine", {**GOOD, "warnig": "red"}, "/themes/mine.toml")
    assert caught.value.where == "/themes/mine.toml"
    assert "warning" in caught.value.remedy


@pytest.mark.parametrize("key", ["dim", "series", "heat"])
def test_a_missing_key_is_named(key: str) -> None:
    with pytest.raises(ConfigError, match=key):
        palette_from("mine", {name: value for name, value in GOOD.items() if name != key}, "mine.toml")


@pytest.mark.parametrize("value", ["no such colour", 3, ["red"], "#12345", "[bold]"])
def test_what_is_no_colour_names_file_and_key(value: object) -> None:
    with pytest.raises(ConfigError) as caught:
        palette_from("mine", {**GOOD, "ok": value}, "mine.toml")
    assert caught.value.where == "mine.toml"
    assert '"ok"' in caught.value.what


@pytest.mark.parametrize("value", [[], "red", [1]])
def test_lists_of_colours_are_checked(value: object) -> None:
    with pytest.raises(ConfigError):
        palette_from("mine", {**GOOD, "heat": value}, "mine.toml")


def test_a_theme_of_ones_own_wins_by_name(tmp_path: Path) -> None:
    (tmp_path / "themes").mkdir()
    lines = [f"{key} = {value!r}".replace("'", '"') for key, value in {**GOOD, "background": "#010203"}.items()]
    (tmp_path / "themes" / "dark.toml").write_text("\n".join(lines), encoding="utf-8")
    background = load_palette("dark", str(tmp_path)).styles["text"].bgcolor
    assert background is not None
    assert background.get_truecolor() == (1, 2, 3)


def test_a_broken_theme_is_one_message_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "themes").mkdir()
    path = tmp_path / "themes" / "mine.toml"
    path.write_text("dim = [", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_palette("mine", str(tmp_path))
    assert caught.value.where == str(path)


def test_a_heat_scale_of_two_is_spread_over_all_looks() -> None:
    styles = palette_from("mine", GOOD, "mine.toml").styles
    assert styles["heat-0"].color == styles["heat-3"].color != styles["heat-4"].color


def test_the_default_palette_is_the_terminal_theme_without_reading_its_file() -> None:
    assert load_palette("terminal").styles == TERMINAL_PALETTE.styles
