"""Tables by the names of their columns: any order, growing, begun anew, quoted, damaged."""

from __future__ import annotations

import math
from typing import Optional

import pytest

from mstui.formats.tables.csv_decoder import LONGEST_LINE
from tests.unit.formats.tables.reading import claimed, read

NAME = "grad_reduced_0-99.csv"
HEAD = b"vpp_stage,name,step,norm\n"


def test_columns_are_found_by_name_in_any_order_and_case() -> None:
    got = read(NAME, b"Norm, step ,vpp_stage,NAME\n1.5,7,0,a\n")
    assert got.series == {"grad_norm/a": [(7, 1.5)]}


def test_half_a_last_line_waits() -> None:
    got = read(NAME, HEAD + b"0,a,1,1.5\n0,a,2,2.")
    assert got.series == {"grad_norm/a": [(1, 1.5)]}
    assert got.consumed == len(HEAD) + 10
    assert got.faults == []


def test_a_header_that_comes_again_holds_from_there_on() -> None:
    got = read(NAME, HEAD + b"0,a,1,1.5\n" + HEAD + b"0,a,1,2.5\nvpp_stage,name,step,max,norm\n0,a,2,9,3.5\n")
    assert got.series == {"grad_norm/a": [(1, 1.5), (1, 2.5), (2, 3.5)], "grad_max/a": [(2, 9.0)]}
    assert got.faults == []


def test_names_may_stand_in_quotes() -> None:
    assert read(NAME, HEAD + b'0,"a,""b""",1,1.5\r\n').series == {'grad_norm/a,"b"': [(1, 1.5)]}


def test_line_ends_of_windows_and_a_byte_order_mark_are_no_trouble() -> None:
    assert read(NAME, b"\xef\xbb\xbf" + (HEAD + b"0,a,1,1.5\n").replace(b"\n", b"\r\n")).series == {
        "grad_norm/a": [(1, 1.5)]
    }


@pytest.mark.parametrize(
    "row", [b"0,a,1", b"0,a,1,2,3", b"0,a,x,1.5", b"0,a,-1,1.5", b"0,a,1.5,1.5", b"0,,1,1.5", b"x"]
)
def test_a_row_that_does_not_fit_is_said_and_the_others_are_kept(row: bytes) -> None:
    got = read(NAME, HEAD + row + b"\n0,a,2,2.5\n")
    assert got.series == {"grad_norm/a": [(2, 2.5)]}
    assert got.faults == [("malformed", len(HEAD), len(row) + 1)]
    assert got.skipped == {"row": 1}


def test_a_half_line_with_the_next_header_behind_it_costs_one_row() -> None:
    got = read(NAME, HEAD + b"0,a,1,1.5\n0,a,2," + HEAD + b"0,a,3,2.5\n")
    assert got.series == {"grad_norm/a": [(1, 1.5), (3, 2.5)]}
    assert got.skipped == {"row": 1}


def test_nan_is_a_value_unless_the_row_counts_none() -> None:
    head = b"vpp_stage,name,step,norm,nans\n"
    got = read(NAME, head + b"0,a,1,nan,4\n0,a,2,nan,0\n0,a,3,,1\n0,a,4,inf,0\n")
    assert [step for step, _value in got.series["grad_norm/a"]] == [1, 4]
    assert math.isnan(got.series["grad_norm/a"][0][1])
    assert got.skipped == {"no-value": 2}
    without = read(NAME, HEAD + b"0,a,1,nan\n")
    assert math.isnan(without.series["grad_norm/a"][0][1])


def test_a_later_pipeline_chunk_keeps_its_number() -> None:
    got = read(NAME, HEAD + b"0,layers.0.w,1,1.5\n1,layers.0.w,1,2.5\n")
    assert got.series == {"grad_norm/layers.0.w": [(1, 1.5)], "grad_norm/1:layers.0.w": [(1, 2.5)]}


def test_micro_steps_are_points_of_their_step() -> None:
    data = b"vpp_stage,name,step,micro_step,norm\n0,a,4,0,1.5\n0,a,4,1,2.5\n"
    assert read("actv_0-9.csv", data).series == {"act_norm/a": [(4, 1.5), (4, 2.5)]}


def test_the_second_layout_says_the_kind_in_its_scope() -> None:
    data = (
        b"vpp_stage,step,module_name,scope,norm\r\n0,1,a,forward,1\r\n0,1,a,backward,2\r\n0,1,w,reduced,3\r\n"
        b"0,1,w,exp_avg,4\r\n0,1,w,param_updated,5\r\n0,1,g,comm,6\r\n"
    )
    assert read("module_step1-1.csv", data).series == {
        "act_norm/a": [(1, 1.0)], "actv_grad_norm/a": [(1, 2.0)], "grad_norm/w": [(1, 3.0)],
        "exp_avg_norm/w": [(1, 4.0)], "weight_norm/w": [(1, 5.0)], "comm_norm/g": [(1, 6.0)],
    }  # fmt: skip


def test_a_dump_counts_slots_and_takes_what_is_configured() -> None:
    data = (
        b"Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Avg Value,NaN Count\n"
        b'Add,a-op1,0,0,17,input,1,8,float32,"(2,2)",0.5,3\nAdd,a-op1,0,0,17,output,0,8,float32,"(2,2)",inf,0\n'
    )
    got = read("/d/rank_0/n/0/5/statistic.csv", data)
    assert got.series == {
        "input_mean/a-op1:1": [(5, 0.5)], "input_nan_count/a-op1:1": [(5, 3.0)],
        "output_mean/a-op1": [(5, math.inf)], "output_nan_count/a-op1": [(5, 0.0)],
    }  # fmt: skip
    assert got.walls["input_mean/a-op1:1"] == [1.7e9]  # 17 microseconds are no time


@pytest.mark.parametrize("sizes", [[], [1000], [LONGEST_LINE]])
def test_a_line_without_end_is_left_out_and_does_not_pile_up(sizes: list[int]) -> None:
    long = b"x" * (2 * LONGEST_LINE)
    got = read(NAME, HEAD + long + b"\n0,a,2,2.5\n", sizes)
    assert got.series == {"grad_norm/a": [(2, 2.5)]}
    assert got.faults == [("oversized", len(HEAD), len(long) + 1)]


@pytest.mark.parametrize(
    ("name", "head", "form"),
    [
        (NAME, HEAD, "msprobe-monitor"),
        (NAME, HEAD[:13], "msprobe-monitor"),
        ("moe_router_load_0-4.csv", HEAD, "msprobe-monitor"),
        ("cc_step0-3.csv", b"vpp_stage,step,module_name,scope,norm\r\n", "msprobe-monitor-v2"),
        ("grad_summary_12.csv", b'param_name,"(-inf, -1', "msprobe-grad-probe"),
        ("statistic.csv", b"Op Type,Op Name,Tas", "mindspore-statistic"),
        ("copied.csv", HEAD, "msprobe-monitor"),
        (NAME, b"time,name,step\n1,2,3\n", None),
        ("statistic.csv", b"a,b\n1,2\n", None),
        ("statistic.csv", b"\x89PNG\r\n", None),
        ("results.csv", b"epoch,loss\n", None),
    ],
)
def test_the_header_decides_what_a_table_is(name: str, head: bytes, form: Optional[str]) -> None:
    chosen = claimed(name, head)
    assert (chosen.name if chosen is not None and chosen.name != "text-log" else None) == form
