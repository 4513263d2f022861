"""A command that cannot begin says what, where and what to do."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from mstui.cli.startup import check_path, check_terminal, common_root, recorded_path
from mstui.errors import StartError


class Terminal(io.StringIO):
    name = "<stdin>"

    def isatty(self) -> bool:
        return True


def test_a_directory_and_a_file_are_fine(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("")
    assert check_path(str(tmp_path)) == str(tmp_path)
    assert check_path(os.path.relpath(tmp_path / "f")) == str(tmp_path / "f")


def is_log(name: str) -> bool:
    return name.endswith(".log")


def test_several_paths_have_a_root_in_common_and_one_alone_is_its_own() -> None:
    assert common_root(["/a/run/summary", "/a/run/log/train.log"], is_log) == (
        "/a/run", ("/a/run/summary", "/a/run/log/train.log")
    )  # fmt: skip
    assert common_root(["/a/train.log"], is_log) == ("/a/train.log", ())
    assert common_root(["/a/summary", "/a/summary"], is_log) == ("/a/summary", ())


def test_a_path_inside_another_one_is_part_of_it(tmp_path: Path) -> None:
    assert common_root(["/ab", "/ab/c"], is_log) == ("/ab", ())
    assert common_root(["/ab/c", "/ab"], is_log) == ("/ab", ())
    assert common_root(["/x/ab/c", "/x/a"], is_log) == ("/x", ("/x/ab/c", "/x/a"))
    (tmp_path / "train.log").write_text("")
    assert common_root([str(tmp_path), str(tmp_path / "train.log")], is_log) == (str(tmp_path), ())


def test_a_file_that_no_format_claims_is_read_because_it_is_named(tmp_path: Path) -> None:
    odd = tmp_path / "out/metrics"
    odd.parent.mkdir()
    odd.write_text("")
    assert common_root([str(tmp_path), str(odd)], is_log) == (str(tmp_path), (str(tmp_path), str(odd)))


def test_a_misspelt_path_gets_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "summary").mkdir()
    with pytest.raises(StartError) as caught:
        check_path(str(tmp_path / "sumary" / "deeper"))
    assert caught.value.what == "no such file or directory"
    assert caught.value.where == str(tmp_path / "sumary" / "deeper")
    assert caught.value.remedy == f"Did you mean {tmp_path / 'summary'}?"


def test_without_a_neighbour_the_nearest_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(StartError) as caught:
        check_path(str(tmp_path / "zzz"))
    assert caught.value.remedy == f"The nearest directory that exists is {tmp_path}."


def test_below_a_file_there_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("")
    with pytest.raises(StartError, match="no such file"):
        check_path(str(tmp_path / "f" / "x"))


def test_something_else_is_refused() -> None:
    with pytest.raises(StartError, match="neither a directory nor a file"):
        check_path(os.devnull)


def test_a_name_that_no_file_can_have_is_refused() -> None:
    with pytest.raises(StartError, match="embedded null"):
        check_path("a\0b")


def test_a_denied_directory_names_owner_mode_and_what_to_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(StartError) as caught:
        check_path(str(closed))
    assert "permission denied" in caught.value.what
    assert "mode 0700" in caught.value.remedy
    assert "chmod" in caught.value.remedy


def test_paths_in_errors_are_harmless() -> None:
    with pytest.raises(StartError) as caught:
        check_path("/no\x1b[2J/such")
    assert "\x1b" not in str(caught.value)


def test_a_sample_goes_by_its_name_unless_a_path_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert recorded_path("healthy").endswith("sample_runs/healthy")
    (tmp_path / "healthy").mkdir()
    assert recorded_path("healthy") == str(tmp_path / "healthy")
    with pytest.raises(StartError, match="no such file"):
        recorded_path("unhealthy-by-far")


def test_the_screen_needs_a_terminal_and_says_what_else_there_is() -> None:
    check_terminal({"TERM": "xterm"}, Terminal(), Terminal())
    no_terminal = io.TextIOWrapper(io.BytesIO())
    no_terminal.buffer.name = "<stdout>"
    with pytest.raises(StartError, match="stdout is not a terminal") as caught:
        check_terminal({"TERM": "xterm"}, Terminal(), no_terminal)
    assert "--plain" in caught.value.remedy


@pytest.mark.parametrize("term", ["", "dumb"])
def test_a_terminal_without_cursor_is_refused(term: str) -> None:
    with pytest.raises(StartError, match=f'TERM is "{term}"'):
        check_terminal({"TERM": term}, Terminal())
