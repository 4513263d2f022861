from __future__ import annotations

from pathlib import Path
from typing import List, Set

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mstui.hardware.npu_smi import parse_info, parse_usages
from mstui.model.hardware import Chip, ChipProcess, UsedOf

SAMPLES = Path(__file__).parents[2] / "data" / "npu_smi"
CARDS_910B = (SAMPLES / "info_910B_8cards.txt").read_text("utf-8")
TWO_CHIPS_A3 = (SAMPLES / "info_A3_two_chips_per_npu.txt").read_text("utf-8")
WITHOUT_HBM_310P = (SAMPLES / "info_310P3.txt").read_text("utf-8")
FAMILIES = [CARDS_910B, TWO_CHIPS_A3, WITHOUT_HBM_310P]


def chip_910b(npu: int, health: str, bus: str, power: object, temp: float, load: float, hbm: int) -> Chip:
    return Chip(
        npu,
        0,
        "910B",
        health,
        bus,
        power_w=power if isinstance(power, float) else None,
        temperature_c=temp,
        ai_core_percent=load,
        memory_mb=UsedOf(1197, 13553),
        hbm_mb=UsedOf(hbm, 32768),
    )


def test_910b_cards_with_health_power_that_is_missing_and_a_process() -> None:
    table = parse_info(CARDS_910B)
    assert table.version == "24.1.0"
    assert table.not_understood == 0
    bare = [Chip(**{**vars(chip), "processes": None}) for chip in table.chips]
    assert bare == [
        chip_910b(0, "OK", "0000:C1:00.0", 70.0, 34, 0, 1365),
        chip_910b(1, "OK", "0000:81:00.0", 266.9, 54, 96, 31411),
        chip_910b(2, "Warning", "0000:01:00.0", None, 88, 3, 4),
        chip_910b(3, "Alarm", "0000:82:00.0", None, 41, 0, 0),
    ]
    assert [chip.processes for chip in table.chips] == [
        (),
        (ChipProcess(812331, "python", 31022),),
        None,
        None,
    ], "nothing runs on 0, and of 2 and 3 nothing is said"


def test_a3_has_two_chips_a_card_with_power_on_the_first_only() -> None:
    table = parse_info(TWO_CHIPS_A3)
    first, second = table.chips
    assert table.version == "25.5.1"
    assert table.not_understood == 0
    assert (first.label, first.name, first.device_label, first.device) == ("0/0", "Ascend910", "Phy-ID", 0)
    assert (second.label, second.name, second.device_label, second.device) == ("0/1", "Ascend910", "Phy-ID", 1)
    assert (first.power_w, second.power_w) == (170.7, None)
    assert (first.temperature_c, second.temperature_c) == (49, 51)
    assert (first.ai_core_percent, second.ai_core_percent) == (7, 7)
    assert (first.own_memory_mb, second.own_memory_mb) == (UsedOf(61609, 65536), UsedOf(61625, 65536))
    assert first.memory_mb == UsedOf(0, 0)
    assert (first.bus_id, second.bus_id) == ("0000:9D:00.0", "0000:9F:00.0")


def test_310p_has_no_hbm_and_its_memory_stands_for_it() -> None:
    table = parse_info(WITHOUT_HBM_310P)
    [chip] = table.chips
    assert table.version == "25.3.rc1"
    assert table.not_understood == 0
    assert (chip.npu, chip.chip, chip.name, chip.health) == (6, 0, "310P3", "OK")
    assert (chip.device_label, chip.device, chip.bus_id) == ("Device", 0, "0000:84:00.0")
    assert (chip.power_w, chip.temperature_c, chip.ai_core_percent) == (None, 50, 0)
    assert chip.hbm_mb is None
    assert chip.own_memory_mb == UsedOf(1839, 21525)
    assert chip.processes is None


def test_usages_are_an_open_dictionary() -> None:
    usages = parse_usages(0, (SAMPLES / "usages.txt").read_text("utf-8"))
    assert usages.not_understood == 0
    [chip] = usages.chips
    assert len(chip) == 16
    assert chip["NPU ID"] == "0"
    assert chip["HBM Capacity(MB)"] == "65536"
    assert chip["HBM Bandwidth Usage Rate(%)"] == "31"
    assert chip["NPU Utilization(%)"] == "54"
    assert usages.of_chip(0) is chip
    assert usages.of_chip(1) == {}


def test_usages_of_two_chips_are_kept_apart_and_unknown_lines_are_counted() -> None:
    usages = parse_usages(
        3, "\tNew Key(x) : NA\n\tChip ID : 0\nno colon\n\n\tNew Key(x) : 7\n\tChip ID : 1\n: 5\nkey :\n"
    )
    assert usages.chips == ({"New Key(x)": "NA", "Chip ID": "0"}, {"New Key(x)": "7", "Chip ID": "1"})
    assert usages.not_understood == 3


def edited(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


@pytest.mark.parametrize("slash", ["31411/32768", "31411 /32768", "31411   /   32768"])
def test_blanks_about_a_slash_do_not_matter(slash: str) -> None:
    chip = parse_info(edited(CARDS_910B, "31411/ 32768", slash)).chips[1]
    assert chip.hbm_mb == UsedOf(31411, 32768)


@pytest.mark.parametrize("nothing", ["NA", "N/A", "-", "--", "NA   "])
def test_what_the_command_does_not_know_is_none_and_never_zero(nothing: str) -> None:
    chip = parse_info(edited(CARDS_910B, "| 266.9  ", f"| {nothing}")).chips[1]
    assert chip.power_w is None
    chip = parse_info(edited(CARDS_910B, "31411/ 32768", f"{nothing}/ 32768")).chips[1]
    assert chip.hbm_mb is None
    chip = parse_info(edited(CARDS_910B, "| 96  ", f"| {nothing}")).chips[1]
    assert chip.ai_core_percent is None


def test_widths_and_line_ends_do_not_matter() -> None:
    squeezed = "\r\n".join(" ".join(line.split()) for line in CARDS_910B.split("\n"))
    assert parse_info(squeezed) == parse_info(CARDS_910B)


def test_a_column_in_another_unit_is_another_column() -> None:
    chips = parse_info(edited(CARDS_910B, "HBM-Usage(MB)", "HBM-Usage(GB)")).chips
    assert len(chips) == 4
    assert all(chip.hbm_mb is None for chip in chips)


def test_a_column_that_nobody_knows_is_passed_over() -> None:
    text = edited(WITHOUT_HBM_310P, "Temp(C) ", "Fan(%)  Temp(C) ")
    [chip] = parse_info(edited(text, "NA           50", "NA   12   50")).chips
    assert chip.temperature_c == 50


def test_a_row_that_does_not_fit_its_header_is_counted_and_left_out() -> None:
    table = parse_info(edited(CARDS_910B, "96          1197", "96   5   1197"))
    assert [chip.npu for chip in table.chips] == [0, 2, 3]
    assert table.not_understood == 3, "both rows, and a process of a chip that is not there"


def test_without_a_header_there_are_no_chips() -> None:
    rows = "\n".join(line for line in CARDS_910B.split("\n") if "Bus-Id" not in line)
    table = parse_info(rows)
    assert table.chips == ()
    assert table.not_understood == 9


def test_a_chip_that_is_told_twice_counts_once() -> None:
    table = parse_info(TWO_CHIPS_A3 + TWO_CHIPS_A3)
    assert table.chips == parse_info(TWO_CHIPS_A3).chips
    assert table.not_understood == 4


def test_a_process_may_have_bars_and_escapes_in_its_name() -> None:
    chip = parse_info(edited(CARDS_910B, "| python  ", "| a | 5 \x1b[2J")).chips[1]
    assert chip.processes is not None
    [process] = chip.processes
    assert (process.pid, process.memory_mb) == (812331, 31022)
    assert "\x1b" in process.name, "made visible by whoever shows it"


def test_an_error_message_is_no_table() -> None:
    table = parse_info(
        "DrvMngGetConsoleLogLevel failed. (g_conLogLevel=3)\ndcmi module initialize failed. ret is -8005\n"
    )
    assert table.chips == ()
    assert table.not_understood == 2


@pytest.mark.parametrize(
    "text", ["", "\n\n", "|", "||", "|" * 5000, "+", "| npu-smi |", "9" * 5000, "|" + "9" * 900 + "|"]
)
def test_whatever_comes_is_no_exception(text: str) -> None:
    assert parse_info(text).chips == ()


def without_processes(chips: List[Chip]) -> Set[Chip]:
    return {Chip(**{**vars(chip), "processes": None}) for chip in chips}


def nothing_invented(part: str, whole: str) -> None:
    """Everything that is told of a part of an answer is told of the whole one too."""
    full = parse_info(whole)
    found = parse_info(part)
    assert without_processes(list(found.chips)) <= without_processes(list(full.chips))
    known = {chip.label: chip.processes for chip in full.chips}
    for chip in found.chips:
        assert set(chip.processes or ()) <= set(known[chip.label] or ())


@pytest.mark.parametrize("whole", FAMILIES, ids=["910B", "A3", "310P"])
def test_cut_off_anywhere_nothing_is_invented(whole: str) -> None:
    for end in range(len(whole) + 1):
        nothing_invented(whole[:end], whole)


@given(st.sampled_from(FAMILIES), st.data())
def test_any_piece_invents_nothing(whole: str, data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(whole)))
    nothing_invented(whole[begin : data.draw(st.integers(begin, len(whole)))], whole)


@given(st.sampled_from(FAMILIES), st.data())
def test_lost_rows_invent_nothing(whole: str, data: st.DataObject) -> None:
    lines = whole.split("\n")
    lost = data.draw(st.sets(st.integers(0, len(lines) - 1)))
    kept = [line for i, line in enumerate(lines) if i not in lost or line.startswith("+")]
    nothing_invented("\n".join(kept), whole)


@given(st.text())
def test_any_text_is_read_without_an_exception(text: str) -> None:
    assert parse_info(text).not_understood >= 0
    assert parse_usages(0, text).not_understood >= 0


@given(st.sampled_from(FAMILIES), st.data())
def test_any_damage_is_read_without_an_exception(whole: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(whole)))
    parse_info(whole[:at] + data.draw(st.text(max_size=5)) + whole[at + data.draw(st.integers(0, 3)) :])
