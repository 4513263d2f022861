"""Lists of newest values are drawn at the pace at which they are read; a key draws them at once."""

from __future__ import annotations

from typing import List

import pytest

from mstui.tui.budget import LinkBudget
from mstui.tui.listing import LIST_EVERY_S
from tests.tui.scene import make_app, scene


@pytest.mark.parametrize("name", ["runs", "tags"])
async def test_new_data_draw_a_list_once_in_two_seconds(name: str) -> None:
    app = make_app(scene())
    async with app.run_test(size=(200, 60)) as pilot:
        screen = app.watch_screen
        now = [100.0]
        screen.budget = LinkBudget(lambda: now[0])
        panel = screen.panels[name]
        drawn: List[float] = []
        panel.redraw = lambda: bool(drawn.append(now[0])) or True  # type: ignore[method-assign, func-returns-value]
        for passed in (0.0, 0.1, LIST_EVERY_S - 0.2, LIST_EVERY_S, LIST_EVERY_S + 0.5):
            now[0] = 100.0 + passed
            panel.data_changed()
        assert drawn == [100.0, 100.0 + LIST_EVERY_S]
        screen.change_view(smoothing=0.3)
        assert drawn[-1] == now[0], "what a person did shows at once"
        await pilot.pause()
