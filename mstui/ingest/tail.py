"""Reads one file piece by piece, from wherever it stopped, whatever happens to the file in between.

A large file is read from two places: its tail first, the history behind it until both meet. Expected states (nothing
written yet, half a record, replaced, truncated, gone, not allowed) are values of FileState. It refuses to hold the
file open between two calls, to read past the end that the file has, and to call bytes damaged while they may still
change. It decides nothing about order between files: see `ingestor`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Optional, Sequence

from mstui.formats.base import Decoded, Decoder, Format
from mstui.i18n import _
from mstui.ingest.arrange import DiscoveredFile
from mstui.ingest.arrival import Arrival
from mstui.ingest.cursor import Cursor, Piece, advance
from mstui.ingest.disk import Disk, OpenFile
from mstui.ingest.evidence import Look, Seal, look_of, seal
from mstui.ingest.limits import ReadLimits
from mstui.ingest.opening import HEAD_BYTES, choose_format, find_tail
from mstui.ingest.tally import FAULTS_KEPT, FaultLog, Tally
from mstui.ingest.trouble import NEVER, Told, Trouble
from mstui.model.batch import Batch, Part
from mstui.model.faults import FaultKind, ReadFault
from mstui.model.runs import FileState, FileStatus


class TailReader:
    """One file of a loaded run."""

    def __init__(
        self,
        file: DiscoveredFile,
        formats: Sequence[Format],
        disk: Disk,
        limits: ReadLimits,
        *,
        born: bool = False,
    ) -> None:
        """`born`: the file came up while its run was followed."""
        self.key = file.key
        self.path = file.key.path
        self.stream = file.stream
        self.tail_first = False
        """read the end of a large file before its history; taken into account when the file is opened first"""
        self.superseded = False
        """a newer file of the same stream exists, so nobody writes to this one any more"""
        self.live_pending = True
        """there may be something to read at the end of the file"""
        self.wake_at = NEVER
        """Unix seconds from which `look` is worth calling though nothing seems to have changed"""
        self.stirred = True
        """the status may be another than before; whoever has reported it sets this back"""
        self._formats = formats
        self._disk = disk
        self._limits = limits
        self._size = file.size
        self._modified = file.modified
        self._look: Optional[Look] = None
        self._arrival = Arrival(limits.born_most, born=born)
        self._trouble = Trouble(self.path, disk, limits)
        self._racy_until = 0.0
        self._unproven = False
        """the bytes before the cursor are to be compared at the next opening"""
        self._reset_pending = False
        self._unlike = _("the first bytes are not those of an event file")
        self._forget()

    def _forget(self) -> None:
        """Begin again with the file as if it had never been read."""
        self._seal: Optional[Seal] = None
        self._format: Optional[Format] = None
        self._decoder: Optional[Decoder] = None
        self._main = Cursor(0, 0, Tally())
        self._tail: Optional[Cursor] = None
        self._filling = False
        self._closed_since: Optional[float] = None
        self._settled = False

    @property
    def size(self) -> int:
        """Bytes on disk at the last look."""
        return self._size

    @property
    def consumed(self) -> int:
        """Bytes decoded; history and tail together."""
        return self._main.offset + (self._tail.offset - self._tail.start if self._tail else 0)

    @property
    def history_pending(self) -> bool:
        """There are older bytes to be read behind what is shown."""
        return self._filling and self._trouble.state is None

    @property
    def history_left(self) -> int:
        """Bytes of history still to be read."""
        return max((self._tail.start if self._tail else self._size) - self._main.offset, 0) if self._filling else 0

    def look(self, now: float) -> bool:
        """Stat the file. True when reading it now may give something."""
        try:
            look = look_of(self._disk.stat(self.path))
        except OSError as error:
            self._failed(error, now)
            return False
        if self._is_other(look, now):
            return False
        woken = now >= self.wake_at
        racy = self._racy_until and now >= self._racy_until
        if look == self._look and self._trouble.state is None and not woken and not racy:
            return self.live_pending
        self.stirred = True
        if woken:
            self.wake_at = NEVER
        self._unproven = self._unproven or look != self._look or bool(racy) or self._trouble.state is not None
        if racy:
            self._racy_until = 0.0
        if look != self._look or woken or racy or self._trouble.state is FileState.VANISHED:
            self.live_pending = True
        self._accept(look, now)
        return self.live_pending

    def read(self, now: float) -> Optional[Batch]:
        """Read one piece at the live end. `live_pending` says whether there is more."""
        return self._guarded(self._read, now)

    def fill(self, now: float) -> Optional[Batch]:
        """Read one piece of history. `history_pending` says whether there is more."""
        return self._guarded(self._fill, now)

    def read_range(self, offset: int, length: int) -> Optional[bytes]:
        """Bytes of the file as it was read; None when it is no longer the same or cannot be read. Any thread."""
        proof = self._seal
        if proof is None or offset < 0 or length < 0:
            return None
        try:
            with self._disk.open(self.path) as opened:
                if offset + length > opened.stat().st_size or not proof.holds(opened):
                    return None
                data = opened.read_at(offset, length)
        except OSError:
            return None
        return data if len(data) == length else None

    @property
    def state(self) -> FileState:
        """The state's name."""
        if self._trouble.state is not None:
            return self._trouble.state
        if self._look is None:
            return FileState.QUEUED
        if self._size == 0:
            return FileState.EMPTY
        if self._decoder is None:
            return FileState.QUEUED
        if self._filling:
            return FileState.READING
        if self._main.suspect is not None:
            return FileState.SUSPECT
        if self._main.offset < self._size:
            gone = (self._settled or self.superseded) and not self.live_pending
            return FileState.TORN if gone else FileState.WAITING
        return FileState.CLOSED if self._settled else FileState.CURRENT

    def status(self) -> FileStatus:
        """The file as it stands."""
        faults = FaultLog()
        figures = self._figures()
        faults.extend(self._trouble.log)
        faults.extend(figures.faults)
        return FileStatus(
            path=self.path,
            run_key=self.key.run_key,
            rank_id=self.key.rank_id,
            format_name=self._format.name if self._format else "",
            state=self.state,
            size=self._size,
            consumed=self.consumed,
            records=figures.records,
            skipped_bytes=figures.skipped_bytes,
            skipped_values=dict(figures.skipped_values),
            faults=tuple(sorted(faults.kept, key=lambda fault: fault.wall_time))[-FAULTS_KEPT:],
            fault_count=faults.count,
            modified=self._modified,
            detail=self._trouble.detail,
            source=self.key.source,
        )

    def _figures(self) -> Tally:
        """What was counted, history and tail together."""
        figures = Tally()
        figures.join(self._main.tally)
        if self._tail is not None:
            figures.join(self._tail.tally)
        return figures

    def _accept(self, look: Look, now: float) -> None:
        """Take note of a stat that succeeded."""
        if self._trouble.state is FileState.VANISHED:
            self._trouble.clear()
        if not look.regular:
            self._not_readable(_("not a regular file"), now)
        if look.closed and self._closed_since is None:
            self._closed_since = now
        elif not look.closed:
            self._closed_since, self._settled = None, False
        grown = self._look is None or look.size != self._look.size
        self._look = look
        self._size = look.size
        self._modified = look.mtime_ns / 1e9
        if self._closed_since is not None and not self._settled:
            quiet_since = min(self._closed_since, look.changed) if not grown else look.changed
            if now - quiet_since >= self._limits.settle_s:
                self._settled = True
            else:
                self._wake(now + self._limits.settle_s)

    def _wake(self, at: float) -> None:
        self.wake_at = min(self.wake_at, at)

    def _guarded(self, step: Callable[[OpenFile, Look, float], Optional[Batch]], now: float) -> Optional[Batch]:
        """Open the file, make sure that it is the one that was read, do one step, close it."""
        self.stirred = True
        if self._look is not None and not self._look.regular:
            self.live_pending = False
            return self._release(None)
        try:
            with self._disk.open(self.path) as opened:
                look = look_of(opened.stat())
                if look != self._look:
                    self._unproven = self.live_pending = True
                self._accept(look, now)
                self._trouble.clear()
                batch = step(opened, look, now) if self._prove(opened, look, now) else None
                self._trouble.recovered()
        except OSError as error:
            self._failed(error, now)
            batch = None
        except Exception as error:  # noqa: BLE001 - a decoder met bytes that nobody foresaw; the other files go on
            self._stop_at(self._trouble.broken(error, now))
            batch = None
        return self._release(batch)

    def _release(self, batch: Optional[Batch]) -> Optional[Batch]:
        """Put a waiting reset before the data of the new content."""
        if not self._reset_pending:
            return batch
        self._reset_pending = False
        return replace(batch, reset=True) if batch else Batch(self.key, Part.HISTORY, reset=True)

    def _failed(self, error: OSError, now: float) -> None:
        self._stop_at(self._trouble.failed(error, now))

    def _is_other(self, look: Look, now: float) -> bool:  # noqa: ARG002 - for readers to which it means something
        """Has another content taken the name, as far as stat tells. Here only the bytes tell."""
        return False

    def _prove(self, opened: OpenFile, look: Look, now: float) -> bool:
        """Deal with another content than the one that was read. False when this reader has nothing to do with it."""
        proof, unproven = self._seal, self._unproven
        self._unproven = False
        if proof is None or not unproven:
            return True
        live = self._tail or self._main
        same_file = proof.identity == look.identity
        if same_file and look.size < live.offset:
            detail = _("the file shrank from {old} to {new} bytes").format(old=live.offset, new=look.size)
            return self._meet_other(FaultKind.TRUNCATED, look.size, detail, now)
        if look.size < live.offset or not proof.holds(opened):
            detail = _("written anew in place") if same_file else _("another file has taken its name")
            return self._meet_other(FaultKind.REPLACED, 0, detail, now)
        if not same_file:
            self._seal = replace(proof, identity=look.identity)
        return True

    def _meet_other(self, kind: FaultKind, offset: int, detail: str, now: float) -> bool:
        """The name holds another content: begin again with it."""
        self._begin_again(kind, offset, detail, now)
        return True

    def _begin_again(self, kind: FaultKind, offset: int, detail: str, now: float) -> None:
        self._trouble.log.extend(self._main.tally.faults)
        if self._tail is not None:
            self._trouble.log.extend(self._tail.tally.faults)
        self._trouble.log.add(ReadFault(self.path, kind, offset, 0, detail, now))
        self._forget()
        self._arrival.born_again()
        self._reset_pending = True
        if self._look is not None:
            self._accept(self._look, now)

    def _read(self, opened: OpenFile, look: Look, now: float) -> Optional[Batch]:
        self.live_pending = False
        if look.size == 0:
            return None
        begun = self._main.offset > 0 or self._filling
        if not begun and not self._begin(opened, look, now):
            return None
        if self._filling and self._tail is None:
            return None
        self._watch_clock(look, now)
        cursor = self._tail or self._main
        before = cursor.offset
        if look.size <= before or (look.size < cursor.need and cursor.suspect is None):
            return None
        piece = self._advance(opened, cursor, look.size, look, now)
        self._seal = self._sealed(opened, look, cursor, piece)
        self.live_pending = not piece.ended
        return self._batch(piece.decoded, Part.TAIL if self._tail else Part.HISTORY)

    def _fill(self, opened: OpenFile, look: Look, now: float) -> Optional[Batch]:
        if not self._filling:
            return None
        cursor, tail = self._main, self._tail
        end = tail.start if tail else look.size
        piece = self._advance(opened, cursor, end, look, now)
        if tail is None:
            self._seal = self._sealed(opened, look, cursor, piece)
            self._filling = not piece.ended
            return self._batch(piece.decoded, Part.HISTORY)
        if cursor.offset == end:
            return self._join(piece.decoded, tail)
        if not piece.ended:
            return self._batch(piece.decoded, Part.HISTORY)
        self._tail = None
        self._seal = self._sealed(opened, look, cursor, piece)
        return replace(self._batch_of(piece.decoded, Part.HISTORY), drop_tail=True)

    def _sealed(self, opened: OpenFile, look: Look, cursor: Cursor, piece: Piece) -> Seal:  # noqa: ARG002
        return seal(opened, look.identity, cursor.offset)

    def _join(self, decoded: Decoded, tail: Cursor) -> Batch:
        """History has landed on the first record of the tail: one part from now on."""
        self._main.tally.join(tail.tally)
        self._main = replace(tail, start=0, tally=self._main.tally)
        self._tail = None
        self._filling = False
        return replace(self._batch_of(decoded, Part.HISTORY), joined=True)

    def _batch(self, decoded: Decoded, part: Part) -> Optional[Batch]:
        """What a piece gave; None when that is nothing."""
        batch = self._batch_of(decoded, part)
        return batch if batch != Batch(self.key, part) else None

    def _batch_of(self, decoded: Decoded, part: Part) -> Batch:
        return Batch(self.key, part, decoded.columns, decoded.blobs)

    def _begin(self, opened: OpenFile, look: Look, now: float) -> bool:
        """Find the format, and where to begin. False when the first bytes are nothing that can be read."""
        head = opened.read_at(0, min(HEAD_BYTES, look.size))
        chosen = choose_format(self._formats, self.path, head, self.key.source.kind)
        if chosen is None:
            self._not_readable(self._unlike, now)
            return False
        if chosen is not self._format or self._decoder is None:
            self._format = chosen
            self._decoder = chosen.make_decoder(self.path)
        self._start(opened, look, chosen, self._decoder)
        return True

    def _start(self, opened: OpenFile, look: Look, chosen: Format, decoder: Decoder) -> None:
        """Decide where reading begins."""
        self._arrival.begin(decoder, look.size)
        self._seal = seal(opened, look.identity, 0)
        if look.size > self._limits.tail_first_above:
            start = find_tail(opened, look.size, chosen, self._limits) if self.tail_first else 0
            self._filling = True
            if start:
                decoder.decode(opened.read_at(0, min(self._limits.prime, start)), 0, at_end=False)
                self._tail = Cursor(start, start, Tally())

    def _advance(self, opened: OpenFile, cursor: Cursor, end: int, look: Look, now: float) -> Piece:
        assert self._decoder is not None
        live = cursor is self._tail or not self._filling
        stop = self._arrival.tell(cursor.offset, end, look.mtime_ns / 1e9, live=live)
        piece = advance(opened, self._decoder, cursor, stop, look.size, now, self._limits, self.path)
        if cursor.suspect is not None:
            self._wake(now + self._limits.recheck_s)
        if piece.ended and live:
            self._arrival.ended()
        return piece if stop == end else piece._replace(ended=False)

    def _watch_clock(self, look: Look, now: float) -> None:
        """Remember to compare once more: a file that changed just now may change again without a new mtime."""
        if look.mtime_ns / 1e9 > now - self._limits.racy_s and self._racy_until <= now:
            self._racy_until = now + self._limits.racy_s
            self._wake(self._racy_until)

    def _not_readable(self, detail: str, now: float) -> None:
        self._stop_at(self._trouble.name(FileState.NOT_EVENTS, FaultKind.NOT_EVENTS, detail, now))

    def _stop_at(self, told: Told) -> None:
        """Nothing can be read until the file changes or it is time for another try."""
        self.live_pending = False
        self.stirred = self.stirred or told.news
        self._wake(told.again_at)
