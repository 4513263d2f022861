"""A writer of real MindSpore bytes, a follower that keeps what an ingestor gives, and a disk that fails on request."""

from __future__ import annotations

import os
import struct
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, ContextManager, Dict, Iterator, List, Optional, Set, Tuple

import google_crc32c
import pytest

from mstui.formats.base import Format
from mstui.ingest.disk import OpenFile, RealDisk
from mstui.ingest.ingestor import Ingestor
from mstui.ingest.limits import ReadLimits
from mstui.model.batch import Batch, Part
from mstui.model.runs import FileStatus
from mstui.registry import collect

FORMATS = collect("mstui.formats.decoders", "FORMAT", Format)
NAME = "events.out.events.summary.1796033791.0.host_MS"


class Events:
    """Bytes as MindSpore writes them."""

    formats = FORMATS
    name = NAME

    @staticmethod
    def frame(payload: bytes) -> bytes:
        def masked(data: bytes) -> bytes:
            crc = int(google_crc32c.value(data))
            return struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)

        length = struct.pack("<Q", len(payload))
        return length + masked(length) + payload + masked(payload)

    @classmethod
    def version(cls) -> bytes:
        text = b"MindSpore.Event:1"
        return cls.frame(b"\x09" + struct.pack("<d", 1.79e9) + b"\x1a" + bytes([len(text)]) + text)

    @classmethod
    def scalar(cls, step: int, value: float = 0.5, tag: str = "loss") -> bytes:
        name = tag.encode()
        inner = b"\x0a" + _varint(len(name)) + name + b"\x1d" + struct.pack("<f", value)
        summary = b"\x0a" + _varint(len(inner)) + inner
        head = b"\x09" + struct.pack("<d", 1.79e9 + step) + b"\x10" + _varint(step)
        return cls.frame(head + b"\x2a" + _varint(len(summary)) + summary)

    @classmethod
    def run(cls, first: int, last: int, tag: str = "loss") -> bytes:
        """Version record and one scalar a step, last included."""
        return cls.version() + b"".join(cls.scalar(step, step / 7, tag) for step in range(first, last + 1))


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


class Keeper:
    """Keeps steps as a store would."""

    def __init__(self) -> None:
        self.parts: Dict[str, Dict[Part, List[int]]] = {}
        self.order: List[Batch] = []

    def add(self, batch: Batch) -> None:
        self.order.append(batch)
        parts = self.parts.setdefault(batch.file.path, {Part.HISTORY: [], Part.TAIL: []})
        if batch.reset:
            parts[Part.HISTORY], parts[Part.TAIL] = [], []
        if batch.drop_tail:
            parts[Part.TAIL] = []
        for columns in batch.columns:
            parts[batch.part].extend(int(step) for step in columns.steps)
        if batch.joined:
            parts[Part.HISTORY], parts[Part.TAIL] = parts[Part.HISTORY] + parts[Part.TAIL], []

    def steps(self, path: object) -> List[int]:
        parts = self.parts.get(str(path), {Part.HISTORY: [], Part.TAIL: []})
        return parts[Part.HISTORY] + parts[Part.TAIL]


class Follower:
    """An ingestor with a clock that the test moves."""

    def __init__(self, root: object, load: bool = True, **options: Any) -> None:
        self.now = time.time()
        self.ingestor = Ingestor(str(root), FORMATS, **options)
        self.keeper = Keeper()
        self.load_all = load

    def look(self, after_s: float = 5.0) -> Follower:
        """Let time pass, scan, and look at everything until nothing is left to do."""
        self.now += after_s
        while not self.ingestor.scan(self.now, 60.0).complete:
            pass
        if self.load_all:
            for run in self.ingestor.runs():
                self.ingestor.load(run.key)
        done, everything = False, True
        while not done:
            turn = self.ingestor.turn(self.now, 60.0, everything=everything)
            everything, done = False, turn.done
            for batch in turn.batches:
                self.keeper.add(batch)
        return self

    def steps(self, path: object) -> List[int]:
        return self.keeper.steps(path)

    def status(self, path: object) -> FileStatus:
        return next(status for status in self.ingestor.files() if status.path == str(path))


class TroubledDisk(RealDisk):
    """The real disk, but these paths fail when opened or looked at; counts what is opened."""

    def __init__(self) -> None:
        self.open_errors: Dict[str, OSError] = {}
        self.stat_errors: Dict[str, OSError] = {}
        self.list_errors: Dict[str, OSError] = {}
        self.opened: List[str] = []
        self.listed: List[str] = []
        self.reads: List[Tuple[str, int, int]] = []
        self.before_read: Optional[Callable[[str], None]] = None

    def stat(self, path: str) -> os.stat_result:
        if path in self.stat_errors:
            raise self.stat_errors[path]
        return super().stat(path)

    def list(self, path: str, limit: int) -> List[os.DirEntry[str]]:
        self.listed.append(path)
        if path in self.list_errors:
            raise self.list_errors[path]
        return super().list(path, limit)

    def open(self, path: str) -> ContextManager[OpenFile]:
        return self._counted(path)

    @contextmanager
    def _counted(self, path: str) -> Iterator[OpenFile]:
        if path in self.open_errors:
            raise self.open_errors[path]
        self.opened.append(path)
        with super().open(path) as opened:
            yield _Recorded(opened.descriptor, self, path)


class _Recorded(OpenFile):
    """Notes every read."""

    def __init__(self, descriptor: int, disk: TroubledDisk, path: str) -> None:
        super().__init__(descriptor)
        object.__setattr__(self, "disk", disk)
        object.__setattr__(self, "path", path)

    def read_at(self, offset: int, length: int) -> bytes:
        disk: TroubledDisk = self.__dict__["disk"]
        data = super().read_at(offset, length)
        disk.reads.append((self.__dict__["path"], offset, length))
        return data


def open_descriptors(below: Path) -> Set[str]:
    """What this process holds open below a folder."""
    held = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue
        if target.startswith(str(below)):
            held.add(target)
    return held


@pytest.fixture
def events() -> Events:
    """Bytes as MindSpore writes them."""
    return Events()


@pytest.fixture
def follow() -> Callable[..., Follower]:
    """Make a follower of a path."""
    return Follower


@pytest.fixture
def disk() -> TroubledDisk:
    """A disk that fails on request."""
    return TroubledDisk()


@pytest.fixture
def held() -> Callable[[Path], Set[str]]:
    """Descriptors held open below a folder."""
    return open_descriptors


@pytest.fixture
def small() -> ReadLimits:
    """Limits so small that a few kilobytes behave as a gigabyte would."""
    return ReadLimits(block=512, record=2048, tail_first_above=1024, tail=256, prime=128, tail_most=4096)
