from __future__ import annotations

from typing import Any, List

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from mstui.model.details import PayloadDetails
from mstui.model.histogram import HistogramStats
from mstui.model.records import BlobKind
from mstui.tui.kind_words import READABLE
from mstui.tui.payload_text import MOST_LINES, payload_rows
from mstui.tui.wrapping import wrap_as_written


def text_of(kind: BlobKind, cells: int = 60, *, ascii_only: bool = False, **parts: Any) -> str:
    details = PayloadDetails(kind, "tag", 10, 0.0, 1234, **parts)
    rows = payload_rows(details, cells, ascii_only=ascii_only)
    return "\n".join("".join(text for text, _look in row) for row in rows)


def test_a_text_keeps_its_lines_and_indentation() -> None:
    shown = text_of(BlobKind.TEXT, texts=("model:\n    depth: 18\n\nend",))
    assert "model:\n    depth: 18\n\nend" in shown
    assert "text, 1.2 KiB" in shown


def test_a_hostile_text_is_shown_as_codes() -> None:
    shown = text_of(BlobKind.TEXT, texts=("\x1b[2Jgone\u202e [bold]markup[/]",))
    assert "<1b>[2Jgone<202e> [bold]markup[/]" in shown
    assert "\x1b" not in shown


def test_a_tensor_tells_its_shape_its_figures_and_what_is_not_finite() -> None:
    stats = HistogramStats(10, 0.0, -1.5, 2.5, 0.25, 12, 2, 1, 0)
    shown = text_of(BlobKind.TENSOR, shape=(3, 4), stats=stats, head=(1.0, float("nan"), -1.5))
    for part in ("shape 3 x 4", "12 elements", "min -1.5", "max 2.5", "mean 0.25", "NaN 2", "+Inf 1", "-Inf 0"):
        assert part in shown
    assert "first elements" in shown
    assert "NaN        -1.5" in shown


def test_a_tensor_shown_whole_says_so() -> None:
    assert "all elements" in text_of(BlobKind.TENSOR, shape=(2,), head=(1.0, 2.0))


def test_a_graph_lists_its_parameters_with_their_number() -> None:
    shown = text_of(BlobKind.GRAPH, texts=("conv1.weight", "fc.bias"))
    assert "network graph" in shown
    assert "2 parameters, in the order of the network" in shown
    assert shown.index("1  conv1.weight") < shown.index("2  fc.bias")


def test_a_data_set_graph_keeps_the_depth_of_its_operations() -> None:
    shown = text_of(BlobKind.DATASET_GRAPH, texts=("Batch(batch_size=32)", "  GeneratorDataset()"))
    assert "Batch(batch_size=32)\n  GeneratorDataset()" in shown


def test_facts_are_sorted_and_long_values_stay_in_their_column() -> None:
    facts = {"optimizer": "Momentum", "epoch": 12, "flag": True, "path": "x " * 60, "lr": 0.1}
    lines = text_of(BlobKind.TRAIN_LINEAGE, facts=facts).splitlines()
    assert "training lineage" in lines[0]
    assert [line.split()[0] for line in lines[2:6]] == ["epoch", "flag", "lr", "optimizer"]
    assert "flag       yes" in lines
    assert lines[7].startswith("           x")


def test_what_cannot_be_read_says_why_and_nothing_else() -> None:
    shown = text_of(BlobKind.TENSOR, problem="larger than 64 MiB, not decoded")
    assert shown.splitlines()[1:] == ["larger than 64 MiB, not decoded"]


def test_more_lines_than_anybody_reads_are_counted() -> None:
    lines = text_of(BlobKind.TEXT, texts=("x\n" * (MOST_LINES + 100),)).splitlines()
    assert len(lines) == MOST_LINES + 1
    assert "more lines are not shown" in lines[-1]


@pytest.mark.parametrize("kind", [kind for kind in BlobKind if kind in READABLE])
@given(
    texts=st.lists(st.text(max_size=200), max_size=3),
    facts=st.dictionaries(
        st.text(max_size=60), st.one_of(st.text(max_size=90), st.floats(), st.integers()), max_size=4
    ),
    cells=st.integers(60, 100),
)
def test_no_row_is_wider_than_the_window(kind: BlobKind, texts: List[str], facts: Any, cells: int) -> None:
    shown = text_of(
        kind, cells, texts=tuple(texts), facts=facts if "lineage" in kind.value else None, head=(1e-30,) * 5
    )
    assert all(cell_len(line) <= cells for line in shown.split("\n"))


@given(st.text("ab 全\u0301", max_size=80), st.integers(2, 20))
def test_wrapping_keeps_every_character_that_is_not_a_blank_at_a_break(text: str, cells: int) -> None:
    lines = wrap_as_written(text, cells)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(cell_len(line) <= cells for line in lines)
