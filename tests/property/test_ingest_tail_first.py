"""A log that is read from its end gives the points that reading it through gives, whatever its lines told before."""

from __future__ import annotations

import os
import tempfile
from typing import Dict, List, Optional, Tuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mstui.ingest.limits import ReadLimits
from mstui.model.batch import Part
from mstui.store.run_store import Store
from tests.unit.ingest.logs import LogFollower

FROM_THE_END = ReadLimits(
    block=700, text_block=700, record=4096, tail_first_above=900, tail=600, prime=300, tail_most=9000
)
WHOLE = ReadLimits(tail_first_above=1 << 30)

losses = st.sampled_from(["2.5", "0.125", "0.0", "nan", "1e-05", "-0.5"])
epochs_of = st.tuples(st.integers(1, 9), st.integers(1, 7), st.sampled_from([0, 1, 1, 1]), losses)
"""how many, their steps, the first step, the loss"""
others = st.sampled_from(
    [
        "Train epoch time: 500.000 ms, per step time: 100.000 ms",
        "Train epoch time: 1200.000 ms, per step time: 100.000 ms, avg loss: 0.5",
        "Eval result: epoch 2, metrics: {'acc': 0.5}",
        "epoch: 3 step: 2, loss is 0.5, overflow is True, loss scale is 1024.0",
        "epoch: 3 step: 2, loss is 0.5, overflow is False, loss scale is 1.0",
        "epoch: [2/9] step: [3/5], loss is 4.5",
        "[1,1]<stdout>:epoch: 2 step: 3, loss is 4.5",
        "loss: 0.75",
        "a line of something else that is said at some length, so that places are not always the same",
        "Traceback (most recent call last):",
        "ValueError: nothing",
        "[ERROR] ME(4120:139,MainProcess):2026-05-06-10:00:01.351.000 [a.py:1] epoch: 2 step: 1, loss is 3.0",
    ]
)
logs = st.lists(st.one_of(epochs_of, epochs_of, others), min_size=1, max_size=14)


def text(parts: List[object], begin: int) -> bytes:
    out, epoch = [], begin
    for part in parts:
        if isinstance(part, str):
            out.append(part)
            continue
        assert isinstance(part, tuple)
        number, steps, first, loss = part
        for _ in range(number):
            out += [f"epoch: {epoch} step: {step}, loss is {loss}" for step in range(first, first + steps)]
            epoch += 1
    return "".join(line + "\n" for line in out).encode()


def points(follower: LogFollower) -> Dict[Tuple[int, str], List[Tuple[int, str]]]:
    """Of every rank and tag what its files hold, in the order of the file."""
    store = Store()
    for batch in follower.batches:
        store.apply(batch)
    found: Dict[Tuple[int, str], List[Tuple[int, str]]] = {}
    for rank_id in store.ranks("."):
        rank = store.rank(".", rank_id)
        assert rank is not None
        for file in rank.files:
            assert file.tail is None
            for piece in file.pieces:
                for tag in piece.columns.tags:
                    row = piece.columns.row(tag)
                    assert row is not None
                    pairs = zip(row.steps.tolist(), map(repr, row.values.tolist()))
                    found.setdefault((rank_id, tag), []).extend(pairs)
    return found


def read(path: str, first: bytes, later: Optional[bytes], limits: ReadLimits) -> LogFollower:
    """The later bytes come while the history is being filled in."""
    with open(path, "wb") as out:
        out.write(first)
    follower = LogFollower(os.path.dirname(path), limits=limits)
    follower.ingestor.scan(follower.now, 10.0)
    for run in follower.ingestor.runs():
        follower.ingestor.load(run.key)
    follower.turn(0.0)
    if later:
        with open(path, "ab") as out:
            out.write(later)
    return follower.look()


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(parts=logs, begin=st.sampled_from([0, 1, 1, 1, 5]), cut=st.floats(0.3, 1.0))
def test_reading_from_the_end_gives_the_points_that_reading_through_gives(
    parts: List[object], begin: int, cut: float
) -> None:
    data = text(parts, begin)
    end = int(cut * len(data))
    with tempfile.TemporaryDirectory() as folder:
        whole = points(read(os.path.join(folder, "train.log"), data, None, WHOLE))
    with tempfile.TemporaryDirectory() as folder:
        assert points(read(os.path.join(folder, "train.log"), data[:end], data[end:], FROM_THE_END)) == whole


def test_of_ordinary_logs_the_end_holds() -> None:
    """So that the property above is not about ends that are thrown away."""
    for begin in (0, 1):
        data = text([(60, 5, begin, "2.5")], begin)
        with tempfile.TemporaryDirectory() as folder:
            follower = read(os.path.join(folder, "train.log"), data, None, FROM_THE_END)
        assert any(batch.part is Part.TAIL and batch.columns for batch in follower.batches)
        assert not any(batch.drop_tail for batch in follower.batches)
        assert follower.steps()[-1] == 300 - (begin == 0)
