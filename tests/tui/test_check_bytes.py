"""What a real terminal is sent while a guided check is open and the run goes on below it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.tui.test_bytes import Writer, sent_since, watch

SECONDS = 12.0
"""two looks at the evidence, and some"""
OPEN_A_SECOND = 150
"""bytes a second at most: the header's step and age, and what of the evidence is new every five seconds"""


@pytest.mark.slow
def test_panels_below_an_open_check_cost_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    writer = Writer(folder)
    writer.write(500)
    with watch(writer, tmp_path) as terminal:
        assert terminal.wait_for("loss/auto", 30), "\n".join(terminal.screen())
        writer.spoil()
        assert terminal.wait_for("Loss is NaN", 30), "\n".join(terminal.screen())
        terminal.send("3")
        terminal.pump(1.0, quiet=0.5)
        terminal.send("g")
        assert terminal.wait_for("question 1 of", 30), "\n".join(terminal.screen())
        terminal.pump(3.0, quiet=1.0)
        mark, begun = len(terminal.chunks), terminal.now()
        while terminal.now() - begun < SECONDS:
            writer.write(5)
            terminal.pump(0.25)
        seconds = terminal.now() - begun
        sent = len(sent_since(terminal, mark))
        assert re.search("question 1 of", "\n".join(terminal.screen())), "the question stays"
        assert 0 < sent <= OPEN_A_SECOND * seconds
        terminal.send("esc")
        assert terminal.wait_for(lambda lines: not re.search("question 1 of", "\n".join(lines)), 20)
        assert terminal.wait_for(rf"step {writer.step}\b", 20), "\n".join(terminal.screen())
