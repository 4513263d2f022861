"""Chips as npu-smi tells of them. None always means "the command did not say", never zero."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Mapping, Optional, Tuple


@dataclass(frozen=True)
class ChipProcess:
    """A process that holds memory of a chip."""

    pid: int
    name: str
    """as npu-smi prints it: of the process itself, so hostile"""
    memory_mb: Optional[int]


@dataclass(frozen=True)
class UsedOf:
    """How much of something is used."""

    used: int
    total: int


@dataclass(frozen=True)
class Chip:
    """One chip: two rows of the table of `npu-smi info`."""

    npu: int
    """number of the card"""
    chip: int
    """number of the chip on its card; A3 has two"""
    name: str
    health: str
    """OK, Warning, Alarm, Critical, UNKNOWN, or what the command says"""
    bus_id: str
    device: Optional[int] = None
    """number of the device over all cards, where the table has one"""
    device_label: str = ""
    """what the table calls it: "Phy-ID" or "Device"; empty when it has no such column"""
    power_w: Optional[float] = None
    """of the card; A3 tells it with the first chip only"""
    temperature_c: Optional[float] = None
    ai_core_percent: Optional[float] = None
    memory_mb: Optional[UsedOf] = None
    hbm_mb: Optional[UsedOf] = None
    """None where the table has no such column (310P)"""
    processes: Optional[Tuple[ChipProcess, ...]] = None
    """None when the command says nothing of this chip's processes, empty when it says that there are none"""

    @property
    def label(self) -> str:
        """`npu/chip`, which names a chip in one word."""
        return f"{self.npu}/{self.chip}"

    @property
    def has_hbm(self) -> bool:
        """Its own memory is HBM; a total of zero means that there is none."""
        return self.hbm_mb is not None and self.hbm_mb.total > 0

    @property
    def own_memory_mb(self) -> Optional[UsedOf]:
        """The memory that a training fills: HBM where there is any, else the other one."""
        return self.hbm_mb if self.has_hbm else self.memory_mb


@dataclass(frozen=True)
class ChipTable:
    """One answer of `npu-smi info`."""

    chips: Tuple[Chip, ...]
    """in the order of the answer"""
    version: str
    """of npu-smi; empty when it does not say"""
    not_understood: int
    """lines of the answer that could not be read, and so are not in the chips"""


@dataclass(frozen=True)
class NpuUsages:
    """One answer of `npu-smi info -t usages` about one card. Which keys there are depends on card and driver."""

    npu: int
    chips: Tuple[Mapping[str, str], ...]
    """key to value, both as printed; one mapping a chip, of which the first also holds the card's own keys"""
    not_understood: int = 0
    trouble: str = ""
    """why there is no answer; empty when there is one"""

    def of_chip(self, chip: int) -> Mapping[str, str]:
        """What is said of one chip; empty when nothing is."""
        return next((found for found in self.chips if found.get("Chip ID") == str(chip)), {})


class HardwareState(Enum):
    """What is known of the chips."""

    ABSENT = "absent"
    """there is no npu-smi here"""
    WAITING = "waiting"
    """no answer yet"""
    OK = "ok"
    STALE = "stale"
    """the table is an older one: newer questions got no answer, or none was asked lately"""
    FAILED = "failed"
    """no answer was ever of use"""


@dataclass(frozen=True)
class Hardware:
    """The chips of this machine as far as they are known."""

    state: HardwareState
    table: Optional[ChipTable] = None
    """None unless the state is OK or STALE"""
    answered: float = 0.0
    """Unix seconds of the answer that `table` is of"""
    reason: str = ""
    """why the state is ABSENT, STALE or FAILED, in words"""
    usages: Optional[NpuUsages] = None
    """of the card that was asked for"""
