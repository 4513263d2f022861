"""The chips of this machine, where there is `npu-smi`. Nothing is imported or run before somebody looks here.

It shows what the command says and how old that is; it holds no figure of its own and judges nothing.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Hashable, List, Optional, Sequence, Tuple

from mstui.i18n import _, mark, ngettext
from mstui.model.hardware import Chip, Hardware, HardwareState
from mstui.safe_text import safe
from mstui.tui.actions import bindings
from mstui.tui.chip_rows import chip_row, facts, head_row, lagging, widths
from mstui.tui.lines import Row
from mstui.tui.listing import ListPanel
from mstui.tui.messages import Collected
from mstui.tui.numbers import age
from mstui.tui.panel import Host, PanelSpec
from mstui.tui.wrapping import paragraph_rows

if TYPE_CHECKING:
    from mstui.hardware.collector import Collector

NOTHING_YET = Hardware(HardwareState.WAITING)
MAX_DETAIL = 2000
"""characters of one paragraph of the detail: every key that a driver is known to print, several times over"""


class HardwarePanel(ListPanel[Chip]):
    """A row a chip, and all that is said of the selected one where there is room."""

    BINDINGS = bindings("hardware")  # type: ignore[assignment]
    TITLE = mark("hardware")

    def __init__(self, host: Host, panel_id: str) -> None:
        super().__init__(host, panel_id)
        self._collector: Optional[Collector] = None
        self._spare = 0
        """rows that the list leaves for the detail"""

    # --- the collector's life

    def on_show(self) -> None:
        """Somebody looks: ask from now on."""
        if self._collector is None:
            from mstui.hardware.collector import Collector

            self._collector = Collector(os.environ, self._collected, clock=self.host.now)
        self._collector.show()
        self.redraw()

    def on_hide(self) -> None:
        """Nobody looks."""
        if self._collector is not None:
            self._collector.hide()

    def on_unmount(self) -> None:
        """The end: nothing of the command stays behind."""
        if self._collector is not None:
            self._collector.stop()

    def _collected(self) -> None:
        """Called from the collector's thread."""
        if self.is_running:
            self.post_message(Collected())

    def on_collected(self, message: Collected) -> None:
        """Draw what is new."""
        message.stop()
        self.data_changed()

    def known(self) -> Hardware:
        """What is known of the chips now."""
        return self._collector.snapshot() if self._collector is not None else NOTHING_YET

    # --- what is shown

    def wants_room(self) -> bool:
        """Only where chips are known."""
        return self.known().table is not None

    def items(self) -> Sequence[Chip]:
        """The chips, in the order of the command."""
        table = self.known().table
        return table.chips if table is not None else ()

    def key_of(self, item: Chip) -> Hashable:
        """Card and chip."""
        return (item.npu, item.chip)

    def title(self, width: int) -> Row:
        """How old the figures are when that matters, and what all chips together show."""
        del width
        known = self.known()
        if known.table is None:
            return ()
        old = age(self.host.now() - known.answered)
        if known.state is HardwareState.STALE:
            return ((_("STALE {age}: {reason}").format(age=old, reason=known.reason), "warning"),)
        spans: List[Tuple[str, str]] = [(f"{self.position(known.table.chips)} {old}", "dim")]
        missed = known.table.not_understood
        if missed:
            spans.append((" " + _missed(missed), "warning"))
        fact = facts(known.table.chips)
        return (*spans, (" " + fact, "strong")) if fact else tuple(spans)

    def body(self, width: int, height: int) -> Tuple[Row, ...]:
        """Names of the columns, the chips, and what is left for the selected one; without chips, why."""
        known = self.known()
        if known.table is None or not known.table.chips:
            text = known.reason or _("asking npu-smi ...")
            look = "warning" if known.state is HardwareState.FAILED else "dim"
            return paragraph_rows(((text, look),), width, height)
        chips = known.table.chips
        self._spare = max(height - 1 - len(chips), 0)
        head: Row = ((" ", "text"), *head_row(chips, widths(chips, width - 1)))
        return (head, *super().body(width, height - 1))

    def item_row(self, item: Chip, width: int) -> Row:
        """One chip."""
        known = self.known()
        chips = self.items()
        return chip_row(
            item,
            widths(chips, width),
            stale=known.state is HardwareState.STALE,
            idle=item in lagging(chips),
            ascii_only=self.host.ascii_only,
        )

    def empty(self) -> str:
        """The body says it."""
        return ""

    def detail(self, item: Chip, width: int) -> Tuple[Row, ...]:
        """Name, place, processes and usages of the selected chip."""
        if self._collector is not None:
            self._collector.look_at(item.npu if self._spare else None)
        if not self._spare:
            return ()
        ascii_only = self.host.ascii_only
        lines = [self._about(item)]
        for process in item.processes or ():
            memory = "-" if process.memory_mb is None else process.memory_mb
            lines.append(f"pid {process.pid} {process.name} {memory} MB")
        usages = self.known().usages
        if usages is not None and usages.npu == item.npu:
            said = [f"{key} {value}" for key, value in usages.of_chip(item.chip).items()]
            lines += [usages.trouble] if usages.trouble else []
            lines += [", ".join(said)] if said else []
            if usages.not_understood:
                lines.append(_missed(usages.not_understood))
        shown = [(safe(line, MAX_DETAIL, ascii_only=ascii_only), "dim") for line in lines]
        return paragraph_rows(shown, width, self._spare)

    def _about(self, chip: Chip) -> str:
        parts = [chip.label, chip.name, chip.bus_id]
        if chip.device is not None:
            parts.append(f"{chip.device_label} {chip.device}")
        if chip.has_hbm and chip.memory_mb is not None and chip.memory_mb.total:
            parts.append(
                _("other memory {used}/{total} MB").format(used=chip.memory_mb.used, total=chip.memory_mb.total)
            )
        return "  ".join(parts)

    # --- actions

    def action_chip_up(self) -> None:
        """The chip above."""
        self.move(-1)

    def action_chip_down(self) -> None:
        """The chip below."""
        self.move(1)

    def action_chip_page_down(self) -> None:
        """A page down."""
        self.page(1)

    def action_chip_page_up(self) -> None:
        """A page up."""
        self.page(-1)


def _missed(lines: int) -> str:
    return ngettext("{n} line not understood", "{n} lines not understood", lines).format(n=lines)


PANEL = PanelSpec(
    "hardware",
    mark("hardware"),
    mark(
        "The chips of this machine as npu-smi tells of them: health, load of the AI cores, memory, power, temperature "
        "and the processes on each; - is what it does not say. npu-smi is asked every five seconds while this panel "
        "is on the screen, never waited for, and ended when it takes longer than ten. Figures that are no longer of "
        "now are dim, and the title says since when and why. A chip at 0 % beside others near 100 % keeps them "
        "waiting: they spin in a collective operation. All at 0 % while no new step comes is a training that hangs or "
        "waits for data."
    ),
    lambda host: HardwarePanel(host, "hardware"),
)
