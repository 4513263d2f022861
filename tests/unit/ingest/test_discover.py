"""Runs and files are found without opening one, whatever the tree looks like."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any, Callable, Dict, List, Set

import pytest

from mstui.ingest.discover import ScanLimits
from mstui.ingest.filesystems import Mounts
from mstui.model.faults import FaultKind
from mstui.model.runs import FileState

NAME = "events.out.events.summary.1796033791.{}.host_MS"


def put(folder: Path, name: str = NAME.format(0), data: bytes = b"x") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)
    return folder / name


def listing(follower: Any) -> Dict[str, List[int]]:
    """Ranks of every run."""
    return {run.key: [file.key.rank_id for file in run.files] for run in follower.ingestor.runs()}


@pytest.fixture
def lister(follow: Callable[..., Any]) -> Callable[..., Any]:
    """A follower that loads nothing."""
    return lambda root, **options: follow(root, load=False, **options).look()


def test_a_summary_directory_is_the_run_dot(tmp_path: Path, lister: Callable[..., Any]) -> None:
    put(tmp_path)
    put(tmp_path, NAME.format(0).replace("_MS", "_lineage"))
    assert listing(lister(tmp_path)) == {".": [0, 0]}


def test_a_parent_of_many_runs_lists_them_all_in_order(tmp_path: Path, lister: Callable[..., Any]) -> None:
    for run in ("b", "a/x", "a/y"):
        put(tmp_path / run)
    assert list(listing(lister(tmp_path))) == ["a/x", "a/y", "b"]


def test_rank_folders_are_one_run_with_many_ranks(tmp_path: Path, lister: Callable[..., Any]) -> None:
    for rank in range(3):
        put(tmp_path / "exp" / f"rank_{rank}" / "summary", NAME.format(0))
    assert listing(lister(tmp_path)) == {"exp": [0, 1, 2]}


def test_ranks_in_one_folder_are_told_by_the_id_in_the_name(tmp_path: Path, lister: Callable[..., Any]) -> None:
    for rank in (1, 0):
        put(tmp_path, NAME.format(rank))
    assert listing(lister(tmp_path)) == {".": [0, 1]}


def test_one_file_is_the_run_dot_whatever_its_name(tmp_path: Path, lister: Callable[..., Any]) -> None:
    path = put(tmp_path / "rank_4", "anything.bin")
    found = lister(path).ingestor.runs()
    assert [(run.key, run.path, run.files[0].key.rank_id) for run in found] == [(".", str(path), 4)]


def test_a_path_that_does_not_exist_yet_is_found_later(tmp_path: Path, lister: Callable[..., Any]) -> None:
    follower = lister(tmp_path / "later")
    assert listing(follower) == {}
    put(tmp_path / "later")
    assert listing(follower.look()) == {".": [0]}


def test_thousands_of_runs_are_listed_without_opening_a_file(
    tmp_path: Path, lister: Callable[..., Any], disk: Any
) -> None:
    for number in range(2000):
        put(tmp_path / f"run_{number:04}")
    follower = lister(tmp_path, disk=disk)
    assert len(follower.ingestor.runs()) == 2000
    assert disk.opened == []


def test_folders_that_did_not_change_are_not_read_again(tmp_path: Path, lister: Callable[..., Any], disk: Any) -> None:
    for number in range(20):
        put(tmp_path / f"run_{number}")
    follower = lister(tmp_path, disk=disk)
    follower.look(7.0)
    disk.listed.clear()
    follower.look(7.0)
    assert disk.listed == []
    put(tmp_path / "run_7", NAME.format(1))
    assert listing(follower.look(7.0))["run_7"] == [0, 1]
    assert disk.listed == [str(tmp_path / "run_7")]


def test_sizes_of_unloaded_files_are_looked_at_again_now_and_then(tmp_path: Path, lister: Callable[..., Any]) -> None:
    path = put(tmp_path)
    follower = lister(tmp_path)
    path.write_bytes(b"longer")
    follower.look(40.0)
    assert follower.ingestor.runs()[0].size == 6


def test_symlink_loops_end(tmp_path: Path, lister: Callable[..., Any]) -> None:
    put(tmp_path / "a")
    (tmp_path / "a" / "loop").symlink_to(tmp_path / "a")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "a" / "root").symlink_to("/")
    (tmp_path / "b").symlink_to(tmp_path / "c")
    (tmp_path / "c").symlink_to(tmp_path / "b")
    assert listing(lister(tmp_path)) == {"a": [0]}


def test_a_symlink_named_latest_does_not_take_the_name_of_the_run(tmp_path: Path, lister: Callable[..., Any]) -> None:
    put(tmp_path / "zz_run")
    (tmp_path / "latest").symlink_to(tmp_path / "zz_run")
    assert list(listing(lister(tmp_path))) == ["zz_run"]


def test_a_symlink_to_another_place_is_followed(tmp_path: Path, lister: Callable[..., Any]) -> None:
    put(tmp_path / "elsewhere" / "run")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "mine").symlink_to(tmp_path / "elsewhere")
    assert list(listing(lister(tmp_path / "root"))) == ["mine/run"]


def test_a_symlinked_file_beside_its_target_counts_once(tmp_path: Path, lister: Callable[..., Any]) -> None:
    path = put(tmp_path)
    (tmp_path / NAME.format(5)).symlink_to(path)
    assert listing(lister(tmp_path)) == {".": [0]}


def test_checkpoint_and_hidden_folders_are_not_entered(tmp_path: Path, lister: Callable[..., Any], disk: Any) -> None:
    for name in ("ckpt_dir", ".git", "net.ckpt", "run"):
        put(tmp_path / name)
    assert listing(lister(tmp_path, disk=disk)) == {"run": [0]}
    assert set(disk.listed) == {str(tmp_path), str(tmp_path / "run")}


def test_trees_made_up_by_the_kernel_are_not_walked(tmp_path: Path, lister: Callable[..., Any], disk: Any) -> None:
    put(tmp_path / "run")
    device = os.stat(tmp_path).st_dev
    follower = lister(tmp_path, disk=disk, mounts=lambda: Mounts((), frozenset({device})))
    assert listing(follower) == {}
    assert disk.listed == []


def test_a_scan_stops_when_its_time_is_up_and_goes_on_later(
    tmp_path: Path, follow: Callable[..., Any], disk: Any
) -> None:
    for number in range(50):
        put(tmp_path / f"run_{number:02}")
    ticks = iter(range(1_000_000))
    follower = follow(tmp_path, load=False, disk=disk, monotonic=lambda: next(ticks) * 0.01)
    first = follower.ingestor.scan(follower.now, 0.1)
    assert not first.complete
    assert 0 < len(disk.listed) < 20
    while not follower.ingestor.scan(follower.now, 0.1).complete:
        pass
    assert len(follower.ingestor.runs()) == 50


@pytest.mark.parametrize(
    ("limits", "word"),
    [
        (ScanLimits(folders=5), "5 folders"),
        (ScanLimits(files=5), "5 event files"),
        (ScanLimits(entries_per_folder=5), "first 5 entries"),
        (ScanLimits(depth=1), "1 levels"),
    ],
)
def test_a_cap_that_is_reached_is_said(
    tmp_path: Path, lister: Callable[..., Any], limits: ScanLimits, word: str
) -> None:
    for number in range(10):
        put(tmp_path / f"run_{number}" / "deep")
    assert word in lister(tmp_path, scan_limits=limits).ingestor.scan_progress.note


def test_a_whole_listing_has_no_note(tmp_path: Path, lister: Callable[..., Any]) -> None:
    put(tmp_path)
    assert lister(tmp_path).ingestor.scan_progress.note == ""


def test_a_folder_that_cannot_be_entered_is_said_with_owner_and_remedy(
    tmp_path: Path, lister: Callable[..., Any], disk: Any
) -> None:
    put(tmp_path / "exp" / "rank_0")
    put(tmp_path / "exp" / "rank_1")
    barred = tmp_path / "exp" / "rank_1"
    barred.chmod(0o700)
    disk.list_errors[str(barred)] = PermissionError(errno.EACCES, "Permission denied")
    follower = lister(tmp_path, disk=disk)
    assert listing(follower) == {"exp": [0]}
    status = follower.status(barred)
    assert (status.state, status.run_key, status.rank_id) == (FileState.DENIED, "exp", 1)
    assert status.faults[0].kind is FaultKind.DENIED
    assert "0700" in status.detail
    assert "chmod -R" in status.detail
    assert str(barred) in status.detail


def test_a_folder_that_opens_up_is_listed(tmp_path: Path, lister: Callable[..., Any], disk: Any) -> None:
    put(tmp_path / "exp")
    disk.list_errors[str(tmp_path / "exp")] = PermissionError(errno.EACCES, "Permission denied")
    follower = lister(tmp_path, disk=disk)
    disk.list_errors.clear()
    assert listing(follower.look(10.0)) == {"exp": [0]}
    assert [status.state for status in follower.ingestor.files()] == [FileState.QUEUED]


def test_runs_that_disappear_are_no_longer_listed(tmp_path: Path, lister: Callable[..., Any]) -> None:
    gone = put(tmp_path / "a" / "deep")
    put(tmp_path / "b")
    follower = lister(tmp_path)
    gone.unlink()
    gone.parent.rmdir()
    gone.parent.parent.rmdir()
    assert list(listing(follower.look(10.0))) == ["b"]


def test_a_name_that_belongs_to_a_fifo_or_a_folder_is_no_event_file(tmp_path: Path, lister: Callable[..., Any]) -> None:
    os.mkfifo(tmp_path / NAME.format(0))
    (tmp_path / NAME.format(1)).mkdir()
    assert listing(lister(tmp_path)) == {}


def test_nothing_is_held_open_between_two_parts_of_a_scan(
    tmp_path: Path, follow: Callable[..., Any], held: Callable[[Path], Set[str]]
) -> None:
    for number in range(20):
        put(tmp_path / f"run_{number}")
    follower = follow(tmp_path, load=False)
    follower.ingestor.scan(follower.now, 0.0)
    assert held(tmp_path) == set()


def test_only_a_small_tree_without_hidden_trees_may_be_watched_whole(
    tmp_path: Path, lister: Callable[..., Any]
) -> None:
    put(tmp_path / "run" / "ckpt_dir")
    assert lister(tmp_path).ingestor.watchable
    put(tmp_path / ".conda" / "lib")
    assert not lister(tmp_path).ingestor.watchable
