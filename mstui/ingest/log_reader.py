"""Reads one content of a text log, under whatever name it lies.

A log is never begun anew: what is renamed goes on under its new name, and what takes its place is another content with
a key of its own. When the name that it follows holds something else, the reader stops and says so (`displaced`); where
its content lies now is found by `rotation`. It refuses to give the present time to old lines: values whose record has
no time stamp get the file's mtime when they came in while the file was followed, and 0 (unknown) otherwise.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, Optional, Sequence, Tuple

from mstui.formats.base import Decoded, Decoder, Foreseeing, Format
from mstui.i18n import _
from mstui.ingest.arrange import DiscoveredFile
from mstui.ingest.cursor import Cursor, Piece
from mstui.ingest.disk import Disk, OpenFile
from mstui.ingest.evidence import SEAL_BYTES, Look, Seal, resealed, seal
from mstui.ingest.limits import ReadLimits
from mstui.ingest.log_names import LIVE
from mstui.ingest.log_verdict import verdict
from mstui.ingest.opening import find_line, find_tail, foresee
from mstui.ingest.tail import TailReader
from mstui.ingest.tally import FaultLog, Tally
from mstui.model.batch import Batch, FileKey, Part
from mstui.model.faults import FaultKind, ReadFault
from mstui.model.runs import FileState, FileStatus

TAIL_TRIES = 4
"""so many times the first length of a tail is looked through for a line that can be understood by itself"""


class Displaced(NamedTuple):
    """The name no longer leads to the content that was read."""

    kind: FaultKind
    offset: int
    detail: str
    at: float
    """Unix seconds"""
    gone: bool = False
    """nothing at all is there"""


class LogReader(TailReader):
    """One content of a text log of a loaded run."""

    def __init__(
        self,
        file: DiscoveredFile,
        key: FileKey,
        formats: Sequence[Format],
        disk: Disk,
        limits: ReadLimits,
        *,
        born: bool = False,
    ) -> None:
        """`key`: the content's own. `born`: it came up while its run was followed."""
        text_limits = limits._replace(block=min(limits.block, limits.text_block))
        super().__init__(file, formats, disk, text_limits, born=born)
        self.key = key
        self.displaced: Optional[Displaced] = None
        self.age = file.log.age if file.log is not None else LIVE
        self._unlike = _("the first bytes are not text")
        self._listed = file.identity
        self._rows_only = False
        """the tail gives rows and events; its metrics come with the history, for their steps need the lines before"""
        self._foreseeing: Optional[Foreseeing] = None
        """has said with which state the tail is read; asked again when the history has come to it"""
        self._quiet = False

    @property
    def identity(self) -> Tuple[int, int]:
        """st_dev and st_ino of the content."""
        return self._seal.identity if self._seal is not None else self._listed

    @property
    def opened(self) -> bool:
        """Has anything been read, so that others may know the key."""
        return self._seal is not None

    @property
    def proven(self) -> bool:
        """Has a line been read, by which the content can be known again under another name."""
        return self._seal is not None and self._live.offset > 0

    @property
    def complete(self) -> bool:
        """Everything that was there at the last look is read."""
        return not self._filling and self._main.offset >= self._size

    def holds_in(self, path: str) -> bool:
        """Do the bytes that were read lie there, at the same place? Opens the file.

        No, when no line was whole: its beginning is no proof, and nothing is lost by reading it again.
        """
        proof = self._seal
        if proof is None or not self._live.offset:
            return False
        try:
            with self._disk.open(path) as opened:
                return opened.stat().st_size >= max(proof.offset, self._live.offset) and proof.holds(opened)
        except OSError:
            return False

    def begins_like(self, path: str) -> bool:
        """May the file there be becoming a copy: it is shorter, and as far as it goes it begins the same."""
        proof = self._seal
        if proof is None or not self._live.offset:
            return False
        try:
            with self._disk.open(path) as opened:
                size = opened.stat().st_size
                return size < proof.offset and proof.head.startswith(opened.read_at(0, min(size, len(proof.head))))
        except OSError:
            return False

    def move(self, file: DiscoveredFile) -> None:
        """The content lies there now. Nothing of what was read is forgotten."""
        self.path = file.path
        self._trouble.moved(file.path)
        self.age = file.log.age if file.log is not None else LIVE
        if self._seal is not None:
            self._seal = replace(self._seal, identity=file.identity)
        self._listed = file.identity
        self.displaced = None
        self._look = None
        self._unproven = self.live_pending = self.stirred = True

    def inherit(self, before: FaultLog) -> None:
        """Faults of what lay under the name before."""
        self._trouble.log.extend(before)

    def farewell(self) -> FaultLog:
        """What is to be said once the content cannot be found any more."""
        told = self._trouble.log
        told.extend(self._figures().faults)
        if self.displaced is not None:
            why = self.displaced
            told.add(ReadFault(self.path, why.kind, why.offset, 0, why.detail, why.at))
        return told

    def look(self, now: float) -> bool:
        """Stat the file. True when reading it now may give something."""
        pending = super().look(now)
        quiet = now - self._modified >= self._limits.quiet_s
        if quiet is not self._quiet:
            self._quiet = quiet
            self.stirred = True
        if not quiet and self._seal is not None and not self._main.tally.understood:
            self._wake(self._modified + self._limits.quiet_s)
        return pending

    @property
    def state(self) -> FileState:
        """The state's name."""
        state = super().state
        if state in (FileState.CURRENT, FileState.WAITING, FileState.CLOSED, FileState.TORN):
            recognised, _detail = verdict(self._figures(), quiet=self._quiet)
            return state if recognised else FileState.NOT_RECOGNISED
        return state

    def status(self) -> FileStatus:
        """The file as it stands."""
        status = super().status()
        figures = self._figures()
        detail = status.detail or ("" if self._filling else verdict(figures, quiet=self._quiet)[1])
        return replace(status, understood=figures.understood, measured=figures.measured, detail=detail)

    @property
    def _live(self) -> Cursor:
        return self._tail or self._main

    def seek(self) -> None:
        """A file has come up that may be this content, wherever that was thought to be."""
        if self._trouble.state is FileState.VANISHED:
            self._trouble.clear()

    def missing(self, now: float) -> None:
        """The content lies nowhere: its name may come back, as it does on a network file system."""
        self.displaced = None
        super()._failed(FileNotFoundError(), now)

    def _failed(self, error: OSError, now: float) -> None:
        if isinstance(error, FileNotFoundError) and self._trouble.state is not FileState.VANISHED:
            self.live_pending = False
            self.displaced = Displaced(FaultKind.VANISHED, 0, "", now, gone=True)
            return
        super()._failed(error, now)

    def _is_other(self, look: Look, now: float) -> bool:
        if look.identity == self.identity:
            return False
        self._meet_other(FaultKind.REPLACED, 0, _("another file has taken its name"), now)
        return True

    def _prove(self, opened: OpenFile, look: Look, now: float) -> bool:
        return not self._is_other(look, now) and super()._prove(opened, look, now)

    def _meet_other(self, kind: FaultKind, offset: int, detail: str, now: float) -> bool:
        self.live_pending = False
        self.stirred = True
        self.displaced = Displaced(kind, offset, detail, now)
        return False

    def _start(self, opened: OpenFile, look: Look, chosen: Format, decoder: Decoder) -> None:
        """The head is sealed at once: a content must be known again before a line of it is whole."""
        self._arrival.begin(decoder, look.size)
        self._seal = seal(opened, look.identity, min(SEAL_BYTES, look.size))
        if look.size <= self._limits.tail_first_above:
            return
        self._filling = True
        if not self.tail_first:
            return
        few = self._limits._replace(tail_most=TAIL_TRIES * self._limits.tail)
        start = find_tail(opened, look.size, chosen, few)
        if not start and isinstance(decoder, Foreseeing):
            start = foresee(opened, look.size, decoder, few)
            self._foreseeing = decoder if start else None
        self._rows_only = not start
        start = start or find_line(opened, look.size, self._limits)
        if start:
            self._tail = Cursor(start, start, Tally())

    def _sealed(self, opened: OpenFile, look: Look, cursor: Cursor, piece: Piece) -> Seal:
        """By the bytes as they were read: another content may have been written over them since."""
        if self._seal is None:
            return super()._sealed(opened, look, cursor, piece)
        return resealed(self._seal, piece.begin, piece.taken)

    def _join(self, decoded: Decoded, tail: Cursor) -> Batch:
        foreseeing, self._foreseeing = self._foreseeing, None
        if not self._rows_only and (foreseeing is None or foreseeing.was_right()):
            return super()._join(decoded, tail)
        self._tail = None
        self._rows_only = False
        return replace(self._batch_of(decoded, Part.HISTORY), drop_tail=True)

    def _batch_of(self, decoded: Decoded, part: Part) -> Batch:
        batch = super()._batch_of(decoded, part)
        records, steps = decoded.log_records, decoded.log_steps
        rows_only = part is Part.TAIL and self._rows_only
        return replace(
            batch,
            columns=() if rows_only else batch.columns,
            rank_columns={} if rows_only else decoded.rank_columns,
            log_records=records if records is not None and len(records.offsets) else None,
            log_events=decoded.log_events,
            log_steps=steps if steps is not None and len(steps.steps) and not rows_only else None,
            facts={} if rows_only else decoded.facts,
        )
