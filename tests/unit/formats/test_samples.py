from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, Tuple

import numpy as np

from mstui.formats.base import Decoded, Format
from mstui.model.records import BlobKind
from mstui.registry import collect

FORMATS = collect("mstui.formats.decoders", "FORMAT", Format)


def format_of(name: str, head: bytes) -> Format:
    claiming = [known for known in FORMATS if known.claims_name(name) and known.claims_head(head[:4096])]
    assert len(claiming) == 1, (name, claiming)
    return claiming[0]


def decode(path: Path) -> Tuple[Format, bytes, Decoded]:
    data = path.read_bytes()
    known = format_of(path.name, data)
    return known, data, known.make_decoder(str(path)).decode(data, 0, at_end=True)


def test_every_mindspore_file_gives_what_was_counted_when_it_was_made(samples: Path) -> None:
    expected: Dict[str, Any] = json.loads((samples / "expected.json").read_text())
    assert len(expected) > 15
    for name, wanted in expected.items():
        known, data, got = decode(samples / name)
        assert known.name == "mindspore"
        assert (got.records, got.consumed) == (wanted["events"], wanted["complete_bytes"]), name
        assert got.version == "MindSpore.Event:1"
        assert not got.faults
        assert got.suspect is None
        assert (got.need > 0) == (got.consumed < len(data)), name
        found: Dict[str, Dict[str, int]] = {}
        broken = 0
        for column in got.columns:
            broken += int((~np.isfinite(column.values)).sum())
            for tag in column.tags:
                assert f"scalar:{tag}" not in found, "a tag came twice"
                found[f"scalar:{tag}"] = summary(column.steps)
        for blob in got.blobs:
            if blob.kind is not BlobKind.GRAPH:
                found[f"{blob.kind.value}:{blob.tag}"] = summary(blob.steps)
        images = {tag: figures for tag, figures in wanted["tags"].items() if tag.startswith("image:")}
        assert found == {tag: figures for tag, figures in wanted["tags"].items() if tag not in images}, name
        assert got.skipped_values.get("image", 0) == sum(figures["points"] for figures in images.values()), name
        assert broken == wanted["nonfinite_scalars"], name


def summary(steps: Any) -> Dict[str, int]:
    return {"points": len(steps), "first_step": int(steps[0]), "last_step": int(steps[-1])}


def test_every_lineage_file_is_lineage_and_nothing_else(samples: Path) -> None:
    paths = sorted(samples.rglob("*_lineage"))
    assert len(paths) > 10
    kinds = set()
    for path in paths:
        known, data, got = decode(path)
        assert known.name == "mindspore-lineage"
        assert (got.consumed, got.faults, got.columns) == (len(data), (), ())
        assert got.records == len(got.blobs) > 0
        kinds |= {blob.kind for blob in got.blobs}
    assert kinds == {
        BlobKind.TRAIN_LINEAGE,
        BlobKind.EVALUATION_LINEAGE,
        BlobKind.DATASET_GRAPH,
        BlobKind.CUSTOM_LINEAGE,
    }


def test_a_torn_file_says_how_much_its_last_record_needs(samples: Path) -> None:
    (path,) = (samples / "torn_writer_killed").iterdir()
    _, data, got = decode(path)
    assert got.consumed == 31544
    assert got.need > len(data) - got.consumed


def test_edge_cases_of_mindspores_own_writer(samples: Path) -> None:
    (path,) = (samples / "edge_types").iterdir()
    _, _, got = decode(path)
    columns = {tag: (c.steps.tolist(), c.values[k].tolist()) for c in got.columns for k, tag in enumerate(c.tags)}
    assert columns["neg"][0] == [-5]
    assert len(columns["dup"][1]) == 2, "two values with one tag in one event are both kept"
    assert any(not tag.isascii() for tag in columns)
    assert all(c.values.dtype == np.float32 for c in got.columns)
