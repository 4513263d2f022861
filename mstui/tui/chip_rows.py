"""The table of chips as rows: which columns fit, and what is stated of all chips at once. No widget, no command.

It states facts: a chip that idles beside busy ones, and that all idle. Why they do is not its business.
"""

from __future__ import annotations

from typing import List, Mapping, NamedTuple, Optional, Sequence, Tuple

from mstui.i18n import _
from mstui.model.hardware import Chip
from mstui.safe_text import ASCII_ELLIPSIS, ELLIPSIS, pad, safe, width
from mstui.tui.lines import Row
from mstui.tui.numbers import number

IDLE_PERCENT = 3.0
"""AI-core load up to which a chip waits: one that waits for others in a collective shows nearly 100"""
BUSY_PERCENT = 90.0
"""load from which a chip counts as near 100"""
MAX_NAMED = 3
"""idle chips that are named; beyond, their number says enough"""
UNKNOWN = "-"
BAR, ASCII_BAR = "█", "#"
LEAST_BAR, MOST_BAR = 4, 20
LEAST_PIDS, USUAL_PIDS = 6, 16
"""columns: below the first the pids are left out; beyond the second the bar grows instead"""
HEALTH_WIDTH, PERCENT_WIDTH, POWER_WIDTH, TEMPERATURE_WIDTH = 8, 3, 6, 3
GAP = 1
HEALTH_LOOKS: Mapping[str, str] = {"OK": "ok", "WARNING": "warning", "ALARM": "critical", "CRITICAL": "critical"}


class Widths(NamedTuple):
    """Cells of each column; 0 for one that is left out."""

    name: int
    health: int
    bar: int
    memory: int
    power: int
    temperature: int
    pids: int


def widths(chips: Sequence[Chip], cells: int) -> Widths:
    """Columns of at least one chip; where it is narrow first the bar goes, then pids, power, temperature, health."""
    name = max(*(len(chip.label) for chip in chips), width(_("chip")))
    memory = max(len(_memory(chip)) for chip in chips)
    left = cells - name - GAP - PERCENT_WIDTH - GAP - memory

    def take(wanted: int) -> int:
        nonlocal left
        if left < wanted + GAP:
            return 0
        left -= wanted + GAP
        return wanted

    health, temperature, power = take(HEALTH_WIDTH), take(TEMPERATURE_WIDTH), take(POWER_WIDTH)
    pids = take(LEAST_PIDS)
    bar = take(LEAST_BAR)
    if pids:
        more = min(left, USUAL_PIDS - pids)
        pids, left = pids + more, left - more
    if bar:
        more = min(left, MOST_BAR - bar)
        bar, left = bar + more, left - more
    return Widths(name, health, bar, memory, power, temperature, pids + left if pids else 0)


def head_row(chips: Sequence[Chip], columns: Widths) -> Row:
    """Names of the columns, with their units."""
    memory = "HBM MB" if all(chip.has_hbm for chip in chips) else "MB"
    cells = [
        pad(_("chip"), columns.name, middle=False, ellipsis=ASCII_ELLIPSIS),
        pad(_("health"), columns.health, middle=False, ellipsis=ASCII_ELLIPSIS),
        pad("AI%", PERCENT_WIDTH, middle=False, ellipsis=ASCII_ELLIPSIS),
        " " * columns.bar,
        pad(memory, columns.memory, middle=False, ellipsis=ASCII_ELLIPSIS),
        "W".rjust(columns.power) if columns.power else "",
        "C".rjust(columns.temperature) if columns.temperature else "",
        pad(_("pids"), columns.pids, middle=False, ellipsis=ASCII_ELLIPSIS),
    ]
    return ((" ".join(cell for cell in cells if cell), "dim"),)


def chip_row(chip: Chip, columns: Widths, *, stale: bool, idle: bool, ascii_only: bool) -> Row:
    """One chip. `stale`: an older answer, nothing of it stands out; `idle`: it waits while the others work."""
    health, ellipsis = safe(chip.health, ascii_only=ascii_only), ASCII_ELLIPSIS if ascii_only else ELLIPSIS
    load = chip.ai_core_percent
    percent = UNKNOWN if load is None else number(load, PERCENT_WIDTH)
    filled = round(columns.bar * min(max(load or 0.0, 0.0), 100.0) / 100)
    bar = (ASCII_BAR if ascii_only else BAR) * filled
    spans: List[Tuple[str, str]] = [
        (chip.label.ljust(columns.name), "strong"),
        (pad(health, columns.health, middle=False, ellipsis=ellipsis), HEALTH_LOOKS.get(chip.health.upper(), "text")),
        (percent.rjust(PERCENT_WIDTH), "warning" if idle else "text"),
        (bar.ljust(columns.bar), "info"),
        (_memory(chip).rjust(columns.memory), "text"),
        (_figure(chip.power_w, columns.power), "text"),
        (_figure(chip.temperature_c, columns.temperature), "text"),
        (pad(_pids(chip, columns.pids), columns.pids, middle=False), "dim"),
    ]
    row: List[Tuple[str, str]] = []
    for text, look in spans:
        if text:
            row += [(" ", "text")] if row else []
            row.append((text, "dim" if stale else look))
    return tuple(row)


def facts(chips: Sequence[Chip]) -> str:
    """What all chips together show; empty when it is nothing in particular or when a chip does not tell its load."""
    loads = [(chip, chip.ai_core_percent) for chip in chips if chip.ai_core_percent is not None]
    if not loads or len(loads) < len(chips):
        return ""
    most = max(load for _chip, load in loads)
    if most <= IDLE_PERCENT:
        return (
            _("AI core at 0 % on all chips") if most == 0 else _("AI core at most {n:g} % on all chips").format(n=most)
        )
    idle = lagging(chips)
    if not idle:
        return ""
    least = min(load for chip, load in loads if chip not in idle)
    names = ", ".join(chip.label for chip in idle) if len(idle) <= MAX_NAMED else str(len(idle))
    own = max(load for chip, load in loads if chip in idle)
    return _("AI core of {chips} at {own:g} %, of the others at least {least:g} %").format(
        chips=names, own=own, least=least
    )


def lagging(chips: Sequence[Chip]) -> Tuple[Chip, ...]:
    """Chips that idle while the others, more of them, are near 100; none where it is any other mixture."""
    idle = tuple(chip for chip in chips if chip.ai_core_percent is not None and chip.ai_core_percent <= IDLE_PERCENT)
    busy = [chip for chip in chips if chip.ai_core_percent is not None and chip.ai_core_percent >= BUSY_PERCENT]
    return idle if len(idle) + len(busy) == len(chips) and 0 < len(idle) < len(busy) else ()


def _memory(chip: Chip) -> str:
    memory = chip.own_memory_mb
    return UNKNOWN if memory is None else f"{memory.used}/{memory.total}"


def _figure(value: Optional[float], cells: int) -> str:
    if not cells:
        return ""
    return (UNKNOWN if value is None else number(value, cells)).rjust(cells)


def _pids(chip: Chip, cells: int) -> str:
    """Whole numbers as far as they fit, then how many more. Blank when the command does not say, a dash for none."""
    if chip.processes is None:
        return ""
    pids = [str(process.pid) for process in chip.processes]
    for shown in range(len(pids), 0, -1):
        text = " ".join(pids[:shown] + ([f"+{len(pids) - shown}"] if shown < len(pids) else []))
        if len(text) <= cells:
            return text
    return f"x{len(pids)}" if pids else UNKNOWN
