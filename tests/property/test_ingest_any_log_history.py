"""Whatever happens to a log between two looks, every line comes out once and in order."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import List, Tuple

from hypothesis import example, given, settings
from hypothesis import strategies as st

from mstui.ingest.limits import ReadLimits
from tests.unit.ingest.logs import LogFollower, line

SMALL = ReadLimits(block=256, text_block=256, record=2048, tail_first_above=600, tail=128, tail_most=4096)
ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.integers(1, 30)),
        st.tuples(st.just("half"), st.integers(1, 20)),
        st.tuples(st.sampled_from(["rename", "copytruncate", "copy"]), st.just(0)),
        st.tuples(st.just("look"), st.sampled_from([0, 0, 1, 10])),
    ),
    min_size=1,
    max_size=25,
)


class Writer:
    """One log and what is done to it. The copy of copytruncate may be looked at before the truncation."""

    def __init__(self, folder: str, dated: bool) -> None:
        self.path = os.path.join(folder, "train.log")
        self.step = 0
        self.pending = b""
        self.rotations = 0
        self.dated = dated
        self.copied = False
        open(self.path, "wb").close()

    def write(self, data: bytes) -> None:
        self.finish()  # what is written between copy and truncation is lost, whoever reads
        with open(self.path, "ab") as out:
            out.write(data)

    def lines(self, count: int) -> None:
        data, self.pending = self.pending, b""
        for _line in range(count):
            self.step += 1
            data += line(self.step)
        self.write(data)

    def half(self, length: int) -> None:
        """Part of a line; the rest comes with the next ones."""
        if self.pending:
            return
        self.step += 1
        whole = line(self.step)
        self.write(whole[:length])
        self.pending = whole[length:]

    def aside(self) -> str:
        """A free name for what is put aside: a date, or 1 after all others have gone one number up."""
        self.rotations += 1
        if self.dated:
            return f"{self.path}-{20260100 + self.rotations}"
        for number in range(self.rotations, 0, -1):
            if os.path.exists(f"{self.path}.{number}"):
                os.replace(f"{self.path}.{number}", f"{self.path}.{number + 1}")
        return f"{self.path}.1"

    def finish(self) -> None:
        """The truncation that follows a copy."""
        if self.copied:
            self.copied = False
            os.truncate(self.path, 0)

    def rotate(self, how: str) -> None:
        if self.pending:
            self.lines(0)  # loggers rotate between two records
        self.finish()
        if how == "rename":
            os.replace(self.path, self.aside())
            open(self.path, "wb").close()
            return
        shutil.copyfile(self.path, self.aside())
        self.copied = True
        if how == "copytruncate":
            self.finish()


@settings(max_examples=150, deadline=None)
@example(  # the copy comes up while half a line is all that was ever seen of the log
    actions=[("half", 1), *[("look", 0)] * 4, ("write", 1), ("copy", 0), ("look", 0)], dated=False
)
@given(actions=ACTIONS, dated=st.booleans())
def test_any_row_of_writes_rotations_and_looks_gives_every_line_once(
    actions: List[Tuple[str, int]], dated: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        writer = Writer(folder, dated)
        follower = LogFollower(folder, limits=SMALL)
        follower.look()
        for action, figure in actions:
            if action == "write":
                writer.lines(figure)
            elif action == "half":
                writer.half(figure)
            elif action == "look":
                follower.now += 1.0
                follower.ingestor.scan(follower.now, 10.0)
                follower.turn(float(figure), everything=True)
            elif action == "copy" and writer.pending:
                continue
            else:
                writer.rotate(action)
        writer.lines(1)
        follower.look()
        follower.look()
        assert follower.steps() == list(range(1, writer.step + 1))
