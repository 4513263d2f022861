"""Tables give the same wherever the bytes are cut, and no bytes break them."""

from __future__ import annotations

from pathlib import Path
from typing import List

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mstui.formats.logs.anomalies import AnomalyDecoder
from mstui.formats.tables.csv_decoder import Dialect, TableDecoder, claims_head
from mstui.formats.tables.grad_probe import DIALECT as GRAD_PROBE
from mstui.formats.tables.mindspore_dump import DIALECT as DUMP
from mstui.formats.tables.msprobe import V1, V2
from tests.unit.formats.logs.reading import SAMPLES
from tests.unit.formats.tables.reading import read

FILES = sorted(SAMPLES.rglob("*.csv"))
HEADS = (b"vpp_stage,name,step,norm,nans", b"vpp_stage,name,step,norm", b'"name",step,vpp_stage,max', b"a,b")
V1_NAME = "grad_reduced_0-9.csv"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SAMPLES)))
def test_a_sample_gives_the_same_however_it_is_cut(path: Path) -> None:
    data = path.read_bytes()
    for sizes in ([1], [7], [40, 3], [200]):
        assert repr(read(str(path), data, sizes)) == repr(read(str(path), data))


lines = st.one_of(
    st.sampled_from(HEADS),
    st.tuples(st.sampled_from(["0", "1", "", "x"]), st.sampled_from(["a", '"b,c"', "", '"']), st.integers(0, 5))
    .flatmap(lambda row: st.sampled_from(["1.5", "nan", "", "inf", "1.5,0", "nan,0"]).map(lambda v: (*row, v)))
    .map(lambda row: ",".join(map(str, row)).encode()),
    st.binary(max_size=30),
)
ends = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b""])
tables = st.tuples(
    st.sampled_from(HEADS[:3]), st.lists(st.tuples(lines, ends).map(b"".join), max_size=20).map(b"".join)
).map(b"\n".join)


@given(data=tables, sizes=st.lists(st.integers(1, 60), min_size=1, max_size=5))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_rows_give_the_same_however_they_are_cut(data: bytes, sizes: List[int]) -> None:
    assert repr(read(V1_NAME, data, sizes)) == repr(read(V1_NAME, data))


@given(data=st.one_of(st.binary(min_size=1, max_size=300), tables), dialect=st.sampled_from([V1, V2, GRAD_PROBE, DUMP]))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_bytes_break_a_table(data: bytes, dialect: Dialect) -> None:
    claims_head(dialect, data)
    part = TableDecoder("/a/5/statistic.csv", dialect).decode(data, 0, at_end=True)
    assert part.consumed == data.rfind(b"\n") + 1
    for fault in part.faults:
        assert 0 <= fault.offset < fault.offset + fault.length <= part.consumed


@given(data=st.binary(max_size=200), cut=st.integers(0, 500))
@settings(max_examples=200, deadline=None)
def test_no_bytes_break_anomalies(data: bytes, cut: int) -> None:
    real = (SAMPLES / "msprobe/monitor_output/anomaly_detected/rank0/anomaly.json").read_bytes()
    mixed = real[:cut] + data + real[cut:]
    part = AnomalyDecoder("a").decode(mixed, 0, at_end=True)
    assert 0 <= part.consumed <= len(mixed)
    assert all(mixed[event.offset : event.offset + 1] == b'"' for event in part.log_events)
