"""Read the tables that `npu-smi info` prints: 910 and 910B, A3 with two chips a card, 310P without HBM.

Columns are found by the words and units of the header, cells by their bars, so that widths may differ between versions.
A row that does not fit its header is counted and left out. It refuses to guess: what is not there is None, and a table
whose header is not known gives no chips. It runs nothing.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from mstui.model.hardware import Chip, ChipProcess, ChipTable, NpuUsages, UsedOf

MAX_LINE = 1000
"""characters of a line that is looked at; the widest table known has 110"""
MAX_CHIPS = 1024
"""chips of one table; the largest machine known has 64"""
MAX_PROCESSES = 4096
"""rows of processes of one table that are kept"""
MAX_KEYS = 256
"""keys of one chip's usages; known drivers have up to 20"""
MAX_TEXT = 64
"""characters kept of a name or a value"""

_NUMBER = r"-?[0-9]{1,12}(?:\.[0-9]{1,6})?"
_VALUE = rf"(?:{_NUMBER}|N/?A|-+)"
_PAIR = rf"({_VALUE})\s*/\s*({_VALUE})"
_WHOLE = re.compile(r"[0-9]{1,12}")
_SEPARATOR = re.compile(r"[+|][-=+|]+[+|]")
_NOTHING_RUNS = re.compile(r"No running processes found in NPU\s+([0-9]{1,12})", re.IGNORECASE)
_VERSION = re.compile(r"npu-smi\s.*?Version:\s*(\S+)", re.IGNORECASE)


class _Columns(NamedTuple):
    """One header row of the table of chips."""

    cells: int
    ids: Tuple[str, ...]
    """words of the first cell"""
    names: Tuple[str, ...]
    """words of the last cell in lower case, units included: the same word with another unit is another column"""
    pattern: re.Pattern[str]
    """of a row's last cell: a group for each single value, two for each `used / total`"""

    @staticmethod
    def of(cells: Sequence[str]) -> _Columns:
        """From the cells of a header row."""
        names = tuple(cells[-1].lower().split())
        parts = [_PAIR if "usage(" in name else f"({_VALUE})" for name in names]
        return _Columns(len(cells), tuple(cells[0].split()), names, re.compile(r"\s+".join(parts)))

    def values(self, cell: str) -> Optional[Mapping[str, Tuple[str, ...]]]:
        """Texts of a row's last cell by column; None when it does not fit."""
        found = self.pattern.fullmatch(cell)
        if found is None:
            return None
        groups = iter(found.groups())
        return {name: tuple(next(groups) for _ in range(2 if "usage(" in name else 1)) for name in self.names}


class _Reader:
    """Takes the lines of one answer, in order."""

    def __init__(self) -> None:
        self.version = ""
        self.not_understood = 0
        self.chips: Dict[Tuple[int, int], Chip] = {}
        self.processes: List[Tuple[Tuple[int, int], ChipProcess]] = []
        self.idle: List[int] = []
        """cards on which nothing runs"""
        self._first: Optional[_Columns] = None
        self._second: Optional[_Columns] = None
        self._pending: Optional[Chip] = None
        """the first row of a chip, until its second comes"""
        self._in_processes = False

    def line(self, text: str) -> None:
        """One line of the answer, without its end."""
        text = text.strip()
        if not text or _SEPARATOR.fullmatch(text):
            self.drop_pending()
        elif len(text) > MAX_LINE or not self._row(text):
            self.not_understood += 1

    def drop_pending(self) -> None:
        """A first row whose second does not come tells of no chip."""
        self.not_understood += self._pending is not None
        self._pending = None

    def _row(self, text: str) -> bool:
        if len(text) < 2 or text[0] != "|" or text[-1] != "|":  # a row that is cut off has no closing bar
            return False
        cells = [cell.strip() for cell in text[1:-1].split("|")]
        return self._note(cells) if len(cells) == 1 else self._header(cells) or self._data(cells)

    def _note(self, cells: Sequence[str]) -> bool:
        version, idle = _VERSION.match(cells[0]), _NOTHING_RUNS.match(cells[0])
        if version is not None:
            self.version = version.group(1)[:MAX_TEXT]
        if idle is not None and self._in_processes:
            self.idle.append(int(idle.group(1)))
            return True
        return version is not None

    def _header(self, cells: Sequence[str]) -> bool:
        words = cells[0].lower().split()
        second = cells[1].lower()
        if words == ["npu", "chip"] and second == "process id":
            self._in_processes = True
        elif words == ["npu", "name"] and second == "health":
            self._first, self._second, self._in_processes = _Columns.of(cells), None, False
        elif words[:1] == ["chip"] and second == "bus-id" and len(words) <= 2 and self._first is not None:
            self._second = _Columns.of(cells)
        else:
            return False
        return True

    def _data(self, cells: Sequence[str]) -> bool:
        if self._in_processes:
            return self._process(cells)
        if self._first is None or self._second is None:
            return False
        if self._pending is None:
            self._pending = _first_row(self._first, cells)
            return self._pending is not None
        chip = _second_row(self._second, cells, self._pending)
        if chip is None or (chip.npu, chip.chip) in self.chips or len(self.chips) >= MAX_CHIPS:
            self.drop_pending()
            return False
        self.chips[chip.npu, chip.chip] = chip
        self._pending = None
        return True

    def _process(self, cells: Sequence[str]) -> bool:
        ids = cells[0].split()
        whole = [_whole(text) for text in (*ids, cells[1])]
        if len(cells) < 4 or len(ids) != 2 or len(self.processes) >= MAX_PROCESSES:
            return False
        if not re.fullmatch(_VALUE, cells[-1]):
            return False
        npu, chip, pid = whole
        if npu is None or chip is None or pid is None:
            return False
        name = "|".join(cells[2:-1])[:MAX_TEXT]  # a process may have bars in its name
        self.processes.append(((npu, chip), ChipProcess(pid, name, _whole(cells[-1]))))
        return True

    def table(self) -> ChipTable:
        """What the lines told."""
        found: Dict[Tuple[int, int], List[ChipProcess]] = {key: [] for key in self.chips if key[0] in self.idle}
        strays = 0
        for key, process in self.processes:
            if key in self.chips:
                found.setdefault(key, []).append(process)
            else:
                strays += 1
        chips = (
            replace(chip, processes=tuple(found[key])) if key in found else chip for key, chip in self.chips.items()
        )
        return ChipTable(tuple(chips), self.version, self.not_understood + strays)


def parse_info(text: str) -> ChipTable:
    """The chips in an answer of `npu-smi info`, cut off anywhere or whole.

    Processes of chips that are not in the table count as not understood, as does a second mention of a chip.
    """
    reader = _Reader()
    for line in text.split("\n"):
        reader.line(line)
    reader.drop_pending()
    return reader.table()


def parse_usages(npu: int, text: str) -> NpuUsages:
    """The answer of `npu-smi info -t usages -i NPU`: lines of `key : value`, whatever the keys are.

    A key that comes again begins the next chip of the card.
    """
    chips: List[Dict[str, str]] = []
    not_understood = 0
    for line in _filled(text.split("\n")):
        key, colon, value = (part.strip() for part in line[:MAX_LINE].rpartition(":"))
        if not (key and colon and value) or len(line) > MAX_LINE or (chips and len(chips[-1]) >= MAX_KEYS):
            not_understood += 1
            continue
        if not chips or key in chips[-1]:
            if len(chips) >= MAX_CHIPS:
                not_understood += 1
                continue
            chips.append({})
        chips[-1][key[:MAX_TEXT]] = value[:MAX_TEXT]
    return NpuUsages(npu, tuple(chips), not_understood)


def _filled(lines: Iterable[str]) -> Iterable[str]:
    return (line.strip() for line in lines if line.strip())


def _first_row(columns: _Columns, cells: Sequence[str]) -> Optional[Chip]:
    """A chip without what its second row tells."""
    npu, _blank, name = cells[0].partition(" ")
    number, values = _whole(npu), columns.values(cells[-1])
    if len(cells) != columns.cells or number is None or values is None or not name.strip() or not cells[1]:
        return None
    return Chip(
        number,
        0,
        name.strip()[:MAX_TEXT],
        cells[1][:MAX_TEXT],
        "",
        power_w=_single(values, "power(w)"),
        temperature_c=_single(values, "temp(c)"),
    )


def _second_row(columns: _Columns, cells: Sequence[str], first: Chip) -> Optional[Chip]:
    ids, values = cells[0].split(), columns.values(cells[-1])
    if len(cells) != columns.cells or len(ids) != len(columns.ids) or values is None:
        return None
    chip = _whole(ids[0])
    if chip is None:
        return None
    return replace(
        first,
        chip=chip,
        bus_id=cells[1][:MAX_TEXT],
        device=_whole(ids[1]) if len(ids) > 1 else None,
        device_label=columns.ids[1][:MAX_TEXT] if len(ids) > 1 else "",
        ai_core_percent=_single(values, "aicore(%)"),
        memory_mb=_pair(values, "memory-usage(mb)"),
        hbm_mb=_pair(values, "hbm-usage(mb)"),
    )


def _single(values: Mapping[str, Tuple[str, ...]], name: str) -> Optional[float]:
    text = values.get(name, ("",))[0]
    return float(text) if re.fullmatch(_NUMBER, text) else None


def _pair(values: Mapping[str, Tuple[str, ...]], name: str) -> Optional[UsedOf]:
    """None where either half is missing: half a pair says nothing that can be compared."""
    numbers = [_whole(text) for text in values.get(name, ())]
    if len(numbers) != 2 or numbers[0] is None or numbers[1] is None:
        return None
    return UsedOf(numbers[0], numbers[1])


def _whole(text: str) -> Optional[int]:
    return int(text) if _WHOLE.fullmatch(text) else None
