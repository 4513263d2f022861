"""What the recorder writes, read by MindInsight's own readers and by ours: both find the same.

MindInsight ended with 2.3.1 and Python 3.9, so it gets an environment of its own; without it these tests are skipped:

    python3.9 -m venv /tmp/mi39 && /tmp/mi39/bin/pip install mindinsight==2.3.1
    MSTUI_MINDINSIGHT_PYTHON=/tmp/mi39/bin/python python -m pytest tests/live/test_mindinsight.py

No further pins are needed: it asks itself for the protobuf that it can work with. It needs no server and no MindSpore.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Set, Tuple

import numpy as np
import pytest

from mstui.formats import payloads
from mstui.formats.base import Decoded
from mstui.formats.decoders import mindspore_lineage, mindspore_summary
from mstui.model.records import BlobKind
from mstui.record.writer import Writer
from tests.live.recorder_reading import facts

PYTHON = os.environ.get("MSTUI_MINDINSIGHT_PYTHON", "")
SCRIPT = Path(__file__).with_name("mindinsight_values.py")
SAMPLES = Path(__file__).parents[2] / "sample_runs"
SAMPLE_FOLDERS = tuple(sorted(str(path.parent.relative_to(SAMPLES)) for path in SAMPLES.rglob("*_MS")))
EDGES = "edges"
"""a folder of values that are hard to write"""
ALTERED = "altered"
"""a sample of which one value is another"""
ALTERED_SAMPLE, ALTERED_TAG, ALTERED_BY = "frozen_layer", "loss", 0.25
LONGEST_S = 240.0
HISTOGRAM_SIZES = (0, 1, 5, 10, 11, 880, 881, 5000)
"""around each of MindSpore's own limits of how many buckets there are"""
NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
"""how protobuf's JSON, which MindInsight's lineage goes through, writes a float"""

needs_mindinsight = pytest.mark.skipif(
    not PYTHON,
    reason="set MSTUI_MINDINSIGHT_PYTHON to a Python 3.9 with `pip install mindinsight==2.3.1`",
)


def write_edges(folder: Path) -> None:
    """What the recorder's writer makes of values that no sample has."""
    ticks = iter(range(1000, 2000))
    writer = Writer(folder, 0, lambda: float(next(ticks)))
    writer.custom(
        {"negative": -3, "large": 1 << 40, "text": "线性 \x1b[31m", "empty": "", "nan": math.nan, "half": 0.5}
    )
    for step, loss in enumerate([0.1, math.nan, math.inf, -math.inf, -0.0, 1e-42, 1e300, 3.4028235e38]):
        writer.summary(step, [("loss", loss), ("损失/a b", -loss)])
    writer.summary(1 << 40, [("loss", 0.5)])
    random = np.random.default_rng(0)
    for step, size in enumerate(HISTOGRAM_SIZES):
        writer.summary(step, [], [("weight/w", random.normal(size=size).astype(np.float32))])
    holes = np.array([1, 2, np.nan, np.inf, -np.inf], np.float32)
    writer.summary(
        1, [], [("weight/holes", holes), ("weight/nan", holes[2:3]), ("weight/same", np.ones(9, np.float32))]
    )
    writer.evaluated({"accuracy": 0.75, "loss": math.nan})
    writer.trained({"optimizer": "Momentum", "learning_rate": 0.1, "epochs": 2, "loss": math.nan, "network": "网络"})
    writer.close()
    assert not writer.failure
    assert not writer.dropped


def write_altered(folder: Path) -> None:
    """A sample whose last loss is another; MindInsight looks at no checksum."""
    shutil.copytree(SAMPLES / ALTERED_SAMPLE, folder)
    (path,) = folder.glob("*_MS")
    content = path.read_bytes()
    value = read_by_mstui(folder)["scalars"][ALTERED_TAG][-1][2]
    at = content.rindex(struct.pack("<f", value))
    path.chmod(0o644)
    path.write_bytes(content[:at] + struct.pack("<f", value + ALTERED_BY) + content[at + 4 :])


def decoded(folder: Path) -> Iterator[Tuple[bytes, Decoded]]:
    """Each summary file and what our decoder finds in it, all of it."""
    for path in sorted(folder.glob("*_MS")):
        content = path.read_bytes()
        found = mindspore_summary.FORMAT.make_decoder(str(path)).decode(content, 0, at_end=True)
        assert found.consumed == len(content)
        assert not found.faults
        yield content, found


def stored(value: float) -> float:
    """A histogram's edge as MindInsight tells it: zero where nothing finite was recorded."""
    return value if math.isfinite(value) else 0.0


def histogram(payload: bytes, step: int, wall_time: float) -> List[Any]:
    """step, wall_time, min, max, finite elements, [left, width, count]..."""
    read = payloads.histogram(payload, "mindspore", step, wall_time)
    buckets = [list(row) for row in zip(read.lefts.tolist(), read.widths.tolist(), read.counts.tolist())]
    stats = read.stats
    return [step, wall_time, stored(stats.minimum), stored(stats.maximum), stats.count - stats.non_finite, buckets]


def read_by_mstui(folder: Path) -> Dict[str, Dict[str, List[List[Any]]]]:
    """Scalars and histograms by tag in MindInsight's shape; of a step recorded twice the newer record."""
    found: Dict[str, Dict[str, Dict[int, List[Any]]]] = {"scalars": {}, "histograms": {}}
    for content, read in decoded(folder):
        for column in read.columns:
            for tag, values in zip(column.tags, column.values.tolist()):
                rows = zip(column.steps.tolist(), column.wall_times.tolist(), values)
                found["scalars"].setdefault(tag, {}).update({row[0]: list(row) for row in rows})
        for refs in read.blobs:
            assert refs.kind is BlobKind.HISTOGRAM
            known = found["histograms"].setdefault(refs.tag, {})
            places = zip(refs.steps.tolist(), refs.wall_times.tolist(), refs.offsets.tolist(), refs.lengths.tolist())
            for step, wall_time, at, length in places:
                known[step] = histogram(content[at : at + length], step, wall_time)
    return {
        kind: {tag: [rows[step] for step in sorted(rows)] for tag, rows in tags.items()} for kind, tags in found.items()
    }


def lineage_kinds(folder: Path) -> Set[BlobKind]:
    """The kinds of records in the lineage files."""
    return {
        refs.kind
        for path in folder.glob("*_lineage")
        for refs in mindspore_lineage.FORMAT.make_decoder(str(path)).decode(path.read_bytes(), 0, at_end=True).blobs
    }


def operations(node: Mapping[str, Any]) -> List[Mapping[str, Any]]:
    """A data set's pipeline, from the source to the network."""
    return [found for child in node["children"] for found in operations(child)] + [node]


def facts_of(lineage: Mapping[str, Any]) -> Dict[str, Any]:
    """MindInsight's lineage under the names that mstui gives."""
    found = {f"custom/{name}": value for name, value in lineage["custom"].items()}
    shown = lineage["shown"]
    if shown is not None:
        assert shown["user_defined"] == lineage["custom"]
        pipeline = operations(shown["dataset_graph"]) if shown["dataset_graph"] else []
        for node in pipeline:
            if "batch_size" in node:
                found["batch_size"] = node["batch_size"]
        if pipeline:
            found["dataset_operations"] = " > ".join(node["op_type"] for node in pipeline)
        for part in ("hyper_parameters", "train_dataset", "algorithm", "valid_dataset"):
            found.update(shown[part])
        found.update({f"model_{name}": value for name, value in shown["model"].items()})
        found.update({f"metric/{name}": value for name, value in shown["metric"].items()})
    return {name: NOT_FINITE.get(value, value) if isinstance(value, str) else value for name, value in found.items()}


def same(theirs: object, ours: object) -> bool:
    """Equal; NaN is equal to NaN, and a zero's sign counts."""
    if isinstance(theirs, float) and isinstance(ours, float):
        return struct.pack("<d", theirs) == struct.pack("<d", ours) or (math.isnan(theirs) and math.isnan(ours))
    return theirs == ours


def differences(theirs: Any, ours: Any, where: str = "") -> List[str]:
    """Every place at which two nested values are not the same."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        found = [f"{where}/{name}: only one has it" for name in sorted(theirs.keys() ^ ours.keys())]
        for name in sorted(theirs.keys() & ours.keys()):
            found += differences(theirs[name], ours[name], f"{where}/{name}")
        return found
    if isinstance(theirs, list) and isinstance(ours, list):
        found = [] if len(theirs) == len(ours) else [f"{where}: {len(theirs)} and {len(ours)}"]
        for index, (left, right) in enumerate(zip(theirs, ours)):
            found += differences(left, right, f"{where}[{index}]")
        return found
    return [] if same(theirs, ours) else [f"{where}: {theirs!r} and {ours!r}"]


class Readings:
    """What MindInsight's process printed of every folder."""

    def __init__(self, folders: Mapping[str, Path], printed: Mapping[str, Any]) -> None:
        self.folders, self._printed = folders, printed

    def of(self, name: str) -> Any:
        return self._printed[str(self.folders[name])]


@pytest.fixture(scope="module")
def readings(tmp_path_factory: pytest.TempPathFactory) -> Readings:
    """All folders by one process."""
    made = tmp_path_factory.mktemp("mindinsight")
    folders = {name: SAMPLES / name for name in SAMPLE_FOLDERS}
    folders.update({EDGES: made / EDGES, ALTERED: made / ALTERED})
    write_edges(folders[EDGES])
    write_altered(folders[ALTERED])
    # MindInsight keeps its logs below HOME
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["HOME"] = str(made)
    command = [PYTHON, str(SCRIPT), *map(str, folders.values())]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONGEST_S, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return Readings(folders, json.loads(done.stdout))


@needs_mindinsight
@pytest.mark.parametrize("name", [*SAMPLE_FOLDERS, EDGES])
def test_both_find_the_same_scalars_and_histograms(readings: Readings, name: str) -> None:
    theirs = readings.of(name)
    ours = read_by_mstui(readings.folders[name])
    assert theirs["whole"]
    assert theirs["plugins"] == ["histogram", "scalar"]
    assert ours["scalars"]
    assert ours["histograms"]
    assert differences({kind: theirs[kind] for kind in ours}, ours) == []


@needs_mindinsight
@pytest.mark.parametrize("name", [*SAMPLE_FOLDERS, EDGES])
def test_both_find_the_same_lineage(readings: Readings, name: str) -> None:
    theirs = facts_of(readings.of(name)["lineage"])
    assert theirs
    assert differences(theirs, dict(facts(readings.folders[name]))) == []


@needs_mindinsight
@pytest.mark.parametrize("name", [*SAMPLE_FOLDERS, EDGES])
def test_mindinsights_lineage_page_wants_more_than_custom_lineage(readings: Readings, name: str) -> None:
    shows = bool(lineage_kinds(readings.folders[name]) - {BlobKind.CUSTOM_LINEAGE})
    assert (readings.of(name)["lineage"]["shown"] is not None) == shows


@needs_mindinsight
def test_a_value_that_one_of_them_reads_otherwise_is_found(readings: Readings) -> None:
    theirs = readings.of(ALTERED)
    ours = read_by_mstui(readings.folders[ALTERED_SAMPLE])
    last = len(ours["scalars"][ALTERED_TAG]) - 1
    before = ours["scalars"][ALTERED_TAG][last][2]
    (found,) = differences({kind: theirs[kind] for kind in ours}, ours)
    assert found == f"/scalars/{ALTERED_TAG}[{last}][2]: {before + ALTERED_BY!r} and {before!r}"


@pytest.mark.parametrize(
    ("theirs", "ours", "found"),
    [
        ([math.nan, math.inf], [math.nan, math.inf], []),
        ([math.nan], [0.0], ["[0]: nan and 0.0"]),
        ([0.0], [-0.0], ["[0]: 0.0 and -0.0"]),
        ({"loss": [1.0]}, {"loss": [1.0, 2.0]}, ["/loss: 1 and 2"]),
        ({"loss": []}, {}, ["/loss: only one has it"]),
        ({"loss": []}, {"loss": {}}, ["/loss: [] and {}"]),
    ],
)
def test_nan_is_nan_and_everything_else_is_a_difference(theirs: Any, ours: Any, found: List[str]) -> None:
    assert differences(theirs, ours) == found
