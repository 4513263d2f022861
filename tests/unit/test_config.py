"""Settings: the nearest file wins, mistakes are named, the watched directory is never asked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mstui import config
from mstui.config import Settings, apply, config_files, load_settings, load_view, override, save_view
from mstui.errors import ConfigError
from mstui.model.log_patterns import LogPattern
from mstui.model.series import XAxis


def write(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_the_nearest_file_wins_key_by_key(tmp_path: Path) -> None:
    write(tmp_path / "config/config.toml", 'theme = "light"\nsmoothing = 0.9\n[roles]\n"a*" = "loss"\n"b" = "other"\n')
    write(tmp_path / "work/.mstui.toml", 'smoothing = 0\n[roles]\n"b" = "grad-norm"\n')
    explicit = write(tmp_path / "mine.toml", "total_steps = 5000\n")
    settings = load_settings(
        str(tmp_path / "run"), cwd=str(tmp_path / "work"), config_dir=str(tmp_path / "config"), explicit=explicit
    )
    assert settings == Settings(theme="light", smoothing=0.0, total_steps=5000, roles={"a*": "loss", "b": "grad-norm"})


def test_nothing_set_gives_the_defaults(tmp_path: Path) -> None:
    assert load_settings(None, cwd=str(tmp_path), config_dir=str(tmp_path)) == Settings()


def test_the_watched_directory_sets_nothing(tmp_path: Path) -> None:
    inside = tmp_path / "summary/deep"
    write(inside / ".mstui.toml", 'theme = "evil"')
    (tmp_path / "link").symlink_to(tmp_path / "summary")
    for watched in (inside, tmp_path / "summary", tmp_path / "link", Path("/")):
        assert config_files(str(watched), str(inside), str(tmp_path / "none"), None) == ()
    assert config_files(str(tmp_path / "other"), str(inside), str(tmp_path / "none"), None) == (
        str(inside / ".mstui.toml"),
    )
    assert config_files(str(tmp_path / "summary/dee"), str(inside), str(tmp_path / "none"), None) != ()


def test_a_file_of_another_user_in_the_working_directory_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / ".mstui.toml", 'theme = "evil"')
    owner = os.stat(tmp_path / ".mstui.toml").st_uid
    if owner == 0:
        os.chown(tmp_path / ".mstui.toml", 12345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert config_files(None, str(tmp_path), str(tmp_path / "none"), None) == ()


def test_one_of_several_watched_paths_is_enough_to_pass_over_what_lies_in_it(tmp_path: Path) -> None:
    local = write(tmp_path / "run/.mstui.toml", 'theme = "evil"')
    none = str(tmp_path / "none")
    assert config_files([str(tmp_path / "a"), str(tmp_path / "run")], str(tmp_path / "run"), none, None) == ()
    assert config_files([str(tmp_path / "run/a"), str(tmp_path / "run/b")], str(tmp_path / "run"), none, None) == (
        local,
    )


def test_log_patterns_are_kept_in_order_and_the_nearest_file_wins_name_by_name(tmp_path: Path) -> None:
    far = write(
        tmp_path / "config/config.toml",
        "[[log_pattern]]\nname = 'a'\npattern = 'old (?P<loss>x)'\n"
        "[[log_pattern]]\nname = 'b'\npattern = 'b (?P<loss>x)'",
    )
    near = write(tmp_path / "mine.toml", "[[log_pattern]]\nname = 'a'\npattern = 'new (?P<loss>x)'\nfiles = '*.txt'")
    settings = load_settings(None, cwd=str(tmp_path), config_dir=str(tmp_path / "config"), explicit=near)
    assert settings.log_pattern == (
        LogPattern("a", "new (?P<loss>x)", "*.txt", f"{near}: [[log_pattern]] 1"),
        LogPattern("b", "b (?P<loss>x)", "", f"{far}: [[log_pattern]] 2"),
    )


WRONG_PATTERNS = {
    "not tables": ('log_pattern = "x"', "log_pattern", "[[log_pattern]]"),
    "one table": ('[log_pattern]\nname = "a"', "log_pattern", "[[log_pattern]]"),
    "no name": ("[[log_pattern]]\npattern = 'x'", "[[log_pattern]] 1", "a name and a pattern"),
    "no pattern": ("[[log_pattern]]\nname = 'x'", "[[log_pattern]] 1", '"pattern" is missing'),
    "misspelt": ("[[log_pattern]]\nnam = 'x'", "[[log_pattern]] 1", 'Did you mean "name"?'),
    "a number": ("[[log_pattern]]\nname = 3\npattern = 'x'", "[[log_pattern]] 1", 'key "name"'),
    "empty wildcards": ("[[log_pattern]]\nname = 'a'\npattern = 'x'\nfiles = ''", "[[log_pattern]] 1", 'key "files"'),
    "twice": ("[[log_pattern]]\nname = 'a'\npattern = 'x'\n" * 2, "[[log_pattern]] 2", 'two patterns are named "a"'),
}


@pytest.mark.parametrize(("text", "place", "said"), WRONG_PATTERNS.values(), ids=WRONG_PATTERNS.keys())
def test_a_mistake_in_a_log_pattern_is_named_with_file_and_table(
    tmp_path: Path, text: str, place: str, said: str
) -> None:
    path = write(tmp_path / "bad.toml", text)
    with pytest.raises(ConfigError) as caught:
        load_settings(None, cwd=str(tmp_path), config_dir=str(tmp_path), explicit=path)
    assert caught.value.where.startswith(path)
    assert place in str(caught.value)
    assert said in str(caught.value)


WRONG = {
    "misspelt key": ("smoothng = 0.5", "smoothng", 'Did you mean "smoothing"?'),
    "unlike anything": ("qqqq = 1", "qqqq", "Known names: ascii, "),
    "text for a number": ('smoothing = "much"', "smoothing", "a number from 0 to 0.99"),
    "out of range": ("smoothing = 1.0", "smoothing", "a number from 0 to 0.99"),
    "truth for a number": ("refresh_hz = true", "refresh_hz", "a number from"),
    "number for a truth": ("mouse = 1", "mouse", "true or false"),
    "number for a text": ("theme = 3", "theme", "a text"),
    "unknown language": ('lang = "fr"', "lang", "one of en, zh_CN"),
    "unknown axis": ('x_axis = "steps"', "x_axis", "one of step, epoch, relative, wall"),
    "no steps": ("total_steps = 0", "total_steps", "a whole number above 0"),
    "unknown role": ('[roles]\nacc = "lossy"', "roles", "acc = one of loss, "),
    "not a table": ("filters = []", "filters", "a table"),
    "key of a number": ("[keys]\nquit = 3", "keys", "quit = a key or a list of keys"),
    "not a number at all": ("smoothing = nan", "smoothing", "a number from 0 to 0.99"),
}


@pytest.mark.parametrize(("text", "key", "remedy"), WRONG.values(), ids=WRONG.keys())
def test_a_mistake_is_named_with_file_and_key(tmp_path: Path, text: str, key: str, remedy: str) -> None:
    path = write(tmp_path / "bad.toml", text)
    with pytest.raises(ConfigError) as caught:
        load_settings(None, cwd=str(tmp_path), config_dir=str(tmp_path / "none"), explicit=path)
    assert caught.value.where == path
    assert f'"{key}"' in caught.value.what
    assert remedy in caught.value.remedy


BROKEN = {"not TOML": b"a = = 1", "not UTF-8": b'theme = "\xff"'}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN.keys())
def test_a_file_that_cannot_be_parsed_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        config.read_toml(str(path))
    assert caught.value.where == str(path)


def test_an_explicit_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        load_settings(None, cwd=str(tmp_path), config_dir=str(tmp_path), explicit=str(tmp_path / "gone.toml"))


def test_keys_may_be_one_or_several_or_none() -> None:
    settings = apply(Settings(), {"keys": {"quit": "q", "pan-left": ["h", "["], "copy": []}}, "x")
    assert settings.keys == {"quit": ("q",), "pan-left": ("h", "["), "copy": ()}


def test_options_override_only_what_they_name() -> None:
    settings = override(Settings(theme="light", mouse=True), theme=None, mouse=False, rank=3)
    assert (settings.theme, settings.mouse, settings.rank) == ("light", False, 3)
    assert settings.given == ("mouse", "rank")


def test_a_saved_filter_goes_by_its_name() -> None:
    saved = Settings(filters={"gradients": "grad | update"})
    assert override(saved, filter="@gradients").filter == "grad | update"
    assert override(saved, filter="loss").filter == "loss"
    with pytest.raises(ConfigError, match='no saved filter "gradient"') as caught:
        override(saved, filter="@gradient")
    assert caught.value.remedy == 'Did you mean "gradients"?'


def test_where_no_filter_is_saved_the_remedy_says_how_to_save_one() -> None:
    with pytest.raises(ConfigError) as caught:
        override(Settings(), filter="@zz")
    assert caught.value.remedy == 'None is saved. Under [filters] in a settings file: zz = "loss | acc".'


def test_knows_every_axis_of_the_charts() -> None:
    assert tuple(axis.value for axis in XAxis) == config.X_AXES


def test_a_view_comes_back(tmp_path: Path) -> None:
    state, root = str(tmp_path / "state"), str(tmp_path / "run")
    assert load_view(state, root) == {}
    assert save_view(state, root, {"tag_filter": "损失", "smoothing": 0.3}) is None
    assert load_view(state, root) == {"tag_filter": "损失", "smoothing": 0.3}
    assert load_view(state, str(tmp_path / "other")) == {}
    assert os.listdir(tmp_path / "state/views") == [os.path.basename(config.view_path(state, root))]


SPOILT = {"cut": '{"a": ', "list": "[1]", "deep": "[" * 200_000, "empty": ""}


@pytest.mark.parametrize("content", SPOILT.values(), ids=SPOILT.keys())
def test_a_spoilt_view_is_no_view(tmp_path: Path, content: str) -> None:
    write(Path(config.view_path(str(tmp_path), "/r")), content)
    assert load_view(str(tmp_path), "/r") == {}


def test_a_view_that_cannot_be_stored_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    problem = save_view(str(tmp_path / "file"), "/r", {})
    assert problem is not None
    assert str(tmp_path / "file") in problem
    assert "not JSON serializable" in str(save_view(str(tmp_path), "/r", {"x": object()}))


def test_directories_follow_xdg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "c"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "s"))
    assert config.user_config_dir() == str(tmp_path / "c/mstui")
    assert config.default_state_dir() == str(tmp_path / "s/mstui")
