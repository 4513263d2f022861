from __future__ import annotations

from pathlib import Path
from typing import Any, List

import pytest

from mstui.formats.base import Format
from mstui.model.sources import SourceKind
from mstui.registry import collect

FORMATS = tuple(form for form in collect("mstui.formats.decoders", "FORMAT", Format) if form.kind is SourceKind.SUMMARY)
MS_NAMES = [
    "events.out.events.summary.1796033791.0.vm_MS",
    "events.out.events.summary.1796033791.0.host.with.dots",
    "run.out.events.summary.1796033791.3.vm_mine",
    "x.summary.1796033791.vm_explain",
]
TB_NAMES = ["events.out.tfevents.1700000000.host.1.0", "events.out.tfevents.1700000000.host.1.0.v2"]


def claiming(name: str, head: bytes) -> List[str]:
    return [known.name for known in FORMATS if known.claims_name(name) and known.claims_head(head)]


@pytest.mark.parametrize("name", MS_NAMES + TB_NAMES)
def test_the_first_record_decides_whatever_the_name_promises(wire: Any, name: str) -> None:
    rest = wire.scalars(1, ("a", 1.0))
    assert claiming(name, wire.version("MindSpore.Event:1") + rest) == ["mindspore"]
    assert claiming(name, wire.version("Mindspore.Event:1")) == ["mindspore"]
    assert claiming(name, wire.version("brain.Event:2")) == ["tensorboard"]


def test_exactly_one_format_claims_any_head_of_any_length(samples: Path) -> None:
    (path,) = (samples / "loss_scale").iterdir()
    data = path.read_bytes()
    for size in range(1, 300):
        for name in MS_NAMES + TB_NAMES + ["events.out.events.summary.1796033791.0.vm_lineage"]:
            assert len(claiming(name, data[:size])) == 1, (name, size)


def test_a_damaged_first_record_does_not_hide_the_format(wire: Any) -> None:
    tensorboard = wire.version("brain.Event:2") + wire.record(wire.event(1, 1.0, [wire.scalar("a", 1.0, 0x15)]))
    mindspore = wire.version("MindSpore.Event:1") + wire.scalars(1, ("a", 1.0))
    for at in range(40):
        for data, wanted in ((tensorboard, "tensorboard"), (mindspore, "mindspore")):
            head = bytearray(data)
            head[at] ^= 0xFF
            assert claiming(MS_NAMES[0], bytes(head)) == [wanted]


def test_lineage_goes_by_its_name(samples: Path) -> None:
    for path in samples.rglob("*_lineage"):
        assert claiming(path.name, path.read_bytes()) == ["mindspore-lineage"]


def test_files_that_are_no_event_files_are_claimed_by_none() -> None:
    for head in (b"{}" * 100, b"PK\x03\x04" + bytes(range(200)), b"loss: 1.0\n" * 20, bytes(range(1, 256))):
        for name in MS_NAMES + TB_NAMES:
            assert claiming(name, head) == []
    for name in ("train.log", "summary.csv", "net.ckpt", "events", "a.summary.x"):
        assert not any(known.claims_name(name) for known in FORMATS)


def test_a_file_of_unwritten_blocks_is_still_one() -> None:
    assert claiming(MS_NAMES[0], bytes(4096)) == ["mindspore"]


def test_a_decoder_follows_the_version_it_reads(wire: Any) -> None:
    by_name = next(known for known in FORMATS if known.name == "mindspore")
    data = wire.version("brain.Event:2") + wire.record(wire.event(4, 1.0, [wire.scalar("a", 2.5, 0x15)]))
    got = by_name.make_decoder("f").decode(data, 0, at_end=True)
    assert [(c.tags, c.steps.tolist(), c.values.tolist()) for c in got.columns] == [(("a",), [4], [[2.5]])]


def test_a_damaged_first_record_has_no_say_in_the_dialect(wire: Any) -> None:
    by_name = next(known for known in FORMATS if known.name == "mindspore")
    first = bytearray(wire.version("MindSpore.Event:1"))
    first[21] = 0x32  # the version's key becomes that of a lineage
    data = bytes(first) + wire.scalars(4, ("a", 2.5))
    assert claiming(MS_NAMES[0], data) == ["mindspore"]
    first = bytearray(wire.scalars(1, ("a", 1.0)))
    first[first.index(0x1D)] = 0x15  # the key of MindSpore's scalar becomes that of TensorBoard's
    data = bytes(first) + wire.scalars(4, ("a", 2.5))
    assert claiming(MS_NAMES[0], data) == ["mindspore"]
    got = by_name.make_decoder("f").decode(data, 0, at_end=True)
    assert [(c.tags, c.steps.tolist(), c.values.tolist()) for c in got.columns] == [(("a",), [4], [[2.5]])]
