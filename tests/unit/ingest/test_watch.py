"""Changes are noticed by events where they work and by the clock where they do not; nothing is missed either way."""

from __future__ import annotations

import errno
import os
import shutil
import threading
import time
from pathlib import Path
from typing import Any, Callable, Iterator, List, Set

import pytest

from mstui.ingest.filesystems import Mounts
from mstui.ingest.watch import MOST_WATCHES, Watcher, WatchMode

LOCAL = Mounts((("/", "ext4"),))
NAME = "events.out.events.summary.1796033791.0.host_MS"
PATIENCE_S = 20.0
"""until a test gives up waiting; a pass takes milliseconds"""


class Clock:
    """A monotonic clock that the test moves."""

    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Callable[..., Watcher]]:
    """Make watchers that are stopped at the end."""
    made: List[Watcher] = []

    def make(root: object = tmp_path, **options: Any) -> Watcher:
        options.setdefault("mounts", lambda: LOCAL)
        watcher = Watcher(str(root), **options)
        made.append(watcher)
        watcher.start()
        return watcher

    yield make
    for watcher in made:
        watcher.stop()


def until(watcher: Watcher, path: Path) -> None:
    """Wait until this path is hinted at."""
    give_up = time.monotonic() + PATIENCE_S
    seen: Set[str] = set()
    while str(path) not in seen:
        assert time.monotonic() < give_up, seen
        seen |= watcher.wait(1.0)


def test_an_append_is_noticed_by_events(tmp_path: Path, watch: Callable[..., Watcher]) -> None:
    path = tmp_path / NAME
    path.write_bytes(b"1")
    watcher = watch()
    assert (watcher.mode, watcher.reason) == ("events", "")
    watcher.wait(0.0)
    with path.open("ab") as out:
        out.write(b"2")
    until(watcher, path)


def test_a_writer_that_closes_its_file_is_noticed(tmp_path: Path, watch: Callable[..., Watcher]) -> None:
    path = tmp_path / NAME
    path.write_bytes(b"1")
    watcher = watch()
    watcher.wait(0.0)
    path.chmod(0o400)
    until(watcher, path)


def test_reading_a_file_is_no_event(tmp_path: Path, watch: Callable[..., Watcher]) -> None:
    path, other = tmp_path / NAME, tmp_path / "other"
    path.write_bytes(b"1")
    watcher = watch()
    watcher.follow([str(tmp_path)], whole_tree=True)
    watcher.wait(0.0)
    for _ in range(5):
        path.read_bytes()
        os.listdir(tmp_path)
    other.write_bytes(b"now")
    seen: Set[str] = set()
    while str(other) not in seen:
        seen |= watcher.wait(1.0)
    assert str(path) not in seen


def test_a_watched_tree_tells_of_files_in_folders_made_later(tmp_path: Path, watch: Callable[..., Watcher]) -> None:
    watcher = watch()
    watcher.follow([], whole_tree=True)
    path = tmp_path / "a" / "b" / NAME
    path.parent.mkdir(parents=True)
    path.write_bytes(b"1")
    until(watcher, path)


@pytest.mark.parametrize("kind", ["nfs4", "fuse.sshfs", "overlay"])
def test_a_file_system_without_trustworthy_events_is_polled(watch: Callable[..., Watcher], kind: str) -> None:
    watcher = watch(mounts=lambda: Mounts((("/", kind),)))
    assert (watcher.mode, watcher.reason, watcher.heartbeat_s) == ("poll", kind, 1.0)


def test_polling_can_be_asked_for(watch: Callable[..., Watcher]) -> None:
    watcher = watch(mode=WatchMode.POLL)
    assert (watcher.mode, watcher.reason) == ("poll", "--poll")


def test_events_can_be_asked_for_where_they_are_not_trusted(watch: Callable[..., Watcher]) -> None:
    watcher = watch(mode=WatchMode.EVENTS, mounts=lambda: Mounts((("/", "nfs"),)))
    assert watcher.mode == "events"


def test_a_followed_folder_on_another_file_system_turns_to_polling(
    tmp_path: Path, watch: Callable[..., Watcher]
) -> None:
    mounts = Mounts((("/", "ext4"), (str(tmp_path / "remote"), "nfs")))
    watcher = watch(mounts=lambda: mounts)
    watcher.follow([str(tmp_path / "local")], whole_tree=False)
    assert watcher.mode == "events"
    watcher.follow([str(tmp_path / "remote" / "run")], whole_tree=False)
    assert (watcher.mode, watcher.reason) == ("poll", "nfs")


class BrokenObserver:
    """watchdog's observer on a machine that is short of something."""

    def __init__(self, number: int, when: str) -> None:
        self.number, self.when = number, when
        self.emitters: set[Any] = set()

    def _fail(self, when: str) -> None:
        if when == self.when:
            raise OSError(self.number, os.strerror(self.number))

    def start(self) -> None:
        self._fail("start")

    def schedule(self, *_: Any, **__: Any) -> object:
        self._fail("schedule")
        return object()

    def is_alive(self) -> bool:
        return False

    def stop(self) -> None:
        """Nothing runs."""


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE])
@pytest.mark.parametrize("when", ["start", "schedule"])
def test_an_inotify_limit_turns_to_polling(watch: Callable[..., Watcher], number: int, when: str) -> None:
    watcher = watch(make_observer=lambda: BrokenObserver(number, when))
    assert (watcher.mode, watcher.reason) == ("poll", "inotify limit reached")
    assert watcher.wait(0.0) == set()


def test_a_real_shortage_of_inotify_watches_turns_to_polling(
    watch: Callable[..., Watcher], monkeypatch: pytest.MonkeyPatch
) -> None:
    from watchdog.observers.inotify import InotifyEmitter

    def refuse(_: Any) -> None:
        raise OSError(errno.ENOSPC, "inotify watch limit reached")

    monkeypatch.setattr(InotifyEmitter, "on_thread_start", refuse)
    assert watch().reason == "inotify limit reached"


def test_a_missing_watchdog_turns_to_polling(watch: Callable[..., Watcher]) -> None:
    def missing() -> Any:
        raise ImportError("No module named 'watchdog'")

    watcher = watch(make_observer=missing)
    assert (watcher.mode, watcher.reason) == ("poll", "ImportError: No module named 'watchdog'")


def test_a_dead_event_thread_is_noticed_at_the_next_heartbeat(watch: Callable[..., Watcher]) -> None:
    clock = Clock()
    watcher = watch(monotonic=clock)
    assert watcher.beat()
    for emitter in watcher._observer.emitters:
        emitter.stop()
        emitter.join()
    clock.time += 5.0
    assert watcher.beat()
    assert (watcher.mode, watcher.reason) == ("poll", "the event thread died")


def test_a_dead_observer_is_noticed_at_the_next_heartbeat(watch: Callable[..., Watcher]) -> None:
    clock = Clock()
    watcher = watch(monotonic=clock)
    watcher._observer.stop()
    watcher._observer.join()
    assert watcher.beat()
    assert (watcher.mode, watcher.reason) == ("poll", "the event thread died")


def test_a_handler_that_meets_nonsense_does_not_end_the_observer(tmp_path: Path, watch: Callable[..., Watcher]) -> None:
    watcher = watch()
    watcher._handler.on_any_event(object())
    path = tmp_path / NAME
    path.write_bytes(b"1")
    until(watcher, path)


def test_a_flood_of_events_turns_to_polling(watch: Callable[..., Watcher]) -> None:
    clock = Clock()
    watcher = watch(monotonic=clock)
    for _ in range(2_500):
        watcher._notice(("x",))
    assert watcher.wait(0.0) >= {"x"}
    assert watcher.mode == "events"
    clock.time += 4.5
    watcher.wait(0.0)
    assert (watcher.mode, watcher.reason) == ("poll", "more than 500 events a second")


def test_a_root_that_is_deleted_and_made_again_is_watched_again(tmp_path: Path, watch: Callable[..., Watcher]) -> None:
    root = tmp_path / "summary"
    root.mkdir()
    clock = Clock()
    watcher = watch(root, monotonic=clock)
    watcher.follow([], whole_tree=True)
    watcher.beat()
    shutil.rmtree(root)
    until(watcher, root)
    clock.time += 6.0
    assert watcher.beat()
    assert watcher.mode == "events"
    root.mkdir()
    clock.time += 6.0
    assert watcher.beat()
    (root / NAME).write_bytes(b"1")
    until(watcher, root / NAME)
    assert watcher.mode == "events"


def test_a_root_that_comes_later_is_watched_when_it_is_there(tmp_path: Path, watch: Callable[..., Watcher]) -> None:
    clock = Clock()
    watcher = watch(tmp_path / "later" / "summary", monotonic=clock)
    (tmp_path / "later" / "summary").mkdir(parents=True)
    clock.time += 6.0
    assert watcher.beat()
    until(watcher, tmp_path / "later" / "summary")
    assert watcher.mode == "events"


def test_one_file_is_watched_through_its_folder(tmp_path: Path, watch: Callable[..., Watcher]) -> None:
    path = tmp_path / NAME
    path.write_bytes(b"1")
    watcher = watch(path)
    with path.open("ab") as out:
        out.write(b"2")
    until(watcher, path)


def test_folders_behind_symlinks_are_watched_too(tmp_path: Path, watch: Callable[..., Watcher]) -> None:
    root, away = tmp_path / "root", tmp_path / "away"
    root.mkdir()
    away.mkdir()
    (root / "link").symlink_to(away)
    watcher = watch(root)
    watcher.follow([str(root), str(root / "link")], whole_tree=True)
    (away / NAME).write_bytes(b"1")
    until(watcher, root / "link" / NAME)


def test_a_folder_that_is_newly_followed_is_looked_at_once(tmp_path: Path, watch: Callable[..., Watcher]) -> None:
    (tmp_path / "run").mkdir()
    watcher = watch()
    watcher.wait(0.0)
    watcher.follow([str(tmp_path / "run")], whole_tree=False)
    until(watcher, tmp_path / "run")


def test_too_many_folders_of_a_large_tree_turn_to_polling(tmp_path: Path, watch: Callable[..., Watcher]) -> None:
    watcher = watch()
    watcher.follow([str(tmp_path / str(number)) for number in range(MOST_WATCHES + 1)], whole_tree=False)
    assert (watcher.mode, watcher.reason) == ("poll", "too many folders for file events")


def test_wake_ends_a_wait_from_another_thread(watch: Callable[..., Watcher]) -> None:
    watcher = watch(mode=WatchMode.POLL, poll_s=1e6)
    watcher.beat()
    threading.Timer(0.05, watcher.wake).start()
    begun = time.monotonic()
    assert watcher.wait(PATIENCE_S) == set()
    assert time.monotonic() - begun < PATIENCE_S


def test_a_heartbeat_comes_once_in_its_time(watch: Callable[..., Watcher]) -> None:
    clock = Clock()
    watcher = watch(monotonic=clock)
    assert [watcher.beat(), watcher.beat()] == [True, False]
    clock.time += 4.9
    assert not watcher.beat()
    clock.time += 0.2
    assert watcher.beat()


def test_a_slow_look_at_everything_is_followed_by_a_longer_pause(watch: Callable[..., Watcher]) -> None:
    clock = Clock()
    watcher = watch(mode=WatchMode.POLL, monotonic=clock)
    for took, pause in ((0.1, 0.9), (1.0, 3.0), (60.0, 5.0)):
        assert watcher.beat()
        clock.time += took
        watcher.wait(0.0)
        clock.time += pause - 0.01
        assert not watcher.beat()
        clock.time += 0.02


def test_stopping_twice_is_harmless_and_ends_the_threads(watch: Callable[..., Watcher]) -> None:
    watcher = watch()
    observer = watcher._observer
    watcher.stop()
    watcher.stop()
    assert not observer.is_alive()


class Race:
    """A watcher and a follower, driven as the monitor drives them."""

    def __init__(self, root: Path, follower: Any, watcher: Watcher) -> None:
        self.follower, self.watcher = follower, watcher
        self.root = root

    def turn(self) -> None:
        dirty = self.watcher.wait(0.05)
        ingestor, now = self.follower.ingestor, time.time()
        ingestor.scan(now, 0.1)
        for run in ingestor.runs():
            ingestor.load(run.key)
        turn = ingestor.turn(now, 0.25, dirty, everything=self.watcher.beat())
        for batch in turn.batches:
            self.follower.keeper.add(batch)
        self.watcher.follow(ingestor.folders(), whole_tree=ingestor.watchable)

    def until(self, told: Callable[[], bool]) -> None:
        give_up = time.monotonic() + PATIENCE_S
        while not told():
            assert time.monotonic() < give_up
            self.turn()

    def until_steps(self, path: Path, steps: List[int]) -> None:
        self.until(lambda: bool(self.follower.steps(path) == steps))


@pytest.fixture(params=["events", "poll", "poll after a limit"])
def race(
    request: pytest.FixtureRequest, tmp_path: Path, follow: Callable[..., Any], watch: Callable[..., Watcher]
) -> Race:
    """The three ways to notice, with short pauses."""
    pace = {"poll_s": 0.05, "heartbeat_s": 0.5}
    if request.param == "events":
        watcher = watch(**pace)
    elif request.param == "poll":
        watcher = watch(mode=WatchMode.POLL, **pace)
    else:
        watcher = watch(make_observer=lambda: BrokenObserver(errno.EMFILE, "start"), **pace)
    assert watcher.polling == (request.param != "events")
    made = Race(tmp_path, follow(tmp_path), watcher)
    made.turn()
    return made


def test_files_written_at_once_into_new_nested_folders_are_all_read(race: Race, events: Any) -> None:
    paths = [race.root / f"run_{n}" / "rank_0" / "summary" / NAME for n in range(40)]
    for path in paths:
        path.parent.mkdir(parents=True)
        path.write_bytes(events.run(1, 2))
        race.turn()
    race.until(lambda: all(race.follower.steps(path) == [1, 2] for path in paths))
    for path in paths:
        with path.open("ab") as out:
            out.write(events.scalar(3))
    race.until(lambda: all(race.follower.steps(path) == [1, 2, 3] for path in paths))


def test_rotations_by_rename_are_all_read(race: Race, events: Any) -> None:
    path, other = race.root / NAME, race.root / "incoming"
    for turn in range(12):
        other.write_bytes(events.run(turn * 10, turn * 10 + 3))
        other.replace(path)
        race.until_steps(path, list(range(turn * 10, turn * 10 + 4)))


def test_truncations_to_the_same_size_are_all_read(race: Race, events: Any) -> None:
    path = race.root / NAME
    for turn in range(8):
        path.write_bytes(events.run(10 + turn * 10, 13 + turn * 10))
        race.until_steps(path, list(range(10 + turn * 10, 14 + turn * 10)))


def test_a_writer_in_another_thread_loses_nothing(race: Race, events: Any) -> None:
    path = race.root / NAME
    data = events.run(1, 300)

    def write() -> None:
        for start in range(0, len(data), 97):
            with path.open("ab") as out:
                out.write(data[start : start + 97])

    writer = threading.Thread(target=write)
    writer.start()
    race.until(lambda: race.follower.steps(path)[-1:] == [300])
    writer.join()
    assert race.follower.steps(path) == list(range(1, 301))
    assert race.follower.status(path).fault_count == 0
