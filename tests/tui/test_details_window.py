from __future__ import annotations

from typing import List

from mstui.model.details import PayloadDetails
from mstui.model.records import BlobKind
from mstui.tui.details_window import DetailsWindow
from tests.tui.fakes import START, FakeMonitor
from tests.tui.scene import RUN, make_app, scene, screen_text

STEPS = (10, 20, 30)


def with_text() -> FakeMonitor:
    monitor = scene()
    monitor.add_details(
        RUN,
        [PayloadDetails(BlobKind.TEXT, "notes", step, START + step, 100, texts=(f"said at {step}",)) for step in STEPS],
    )
    lineage = PayloadDetails(BlobKind.TRAIN_LINEAGE, "", 0, START, 90, facts={"optimizer": "Momentum"})
    monitor.add_details(RUN, [lineage], rank_id=3)
    return monitor


async def opened(monitor: FakeMonitor, keys: List[str]) -> str:
    app = make_app(monitor)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        await pilot.press("5", "tab", "end")
        for key in keys:
            await pilot.press(key)
            await app.workers.wait_for_complete()
            await pilot.pause()
        return screen_text(app)


async def test_the_newest_payload_opens_with_its_step_and_time_in_the_title() -> None:
    text = await opened(with_text(), ["k", "enter"])
    assert "said at 30" in text
    assert "notes  step 30  2023-11-1" in text
    assert "3/3" in text


async def test_earlier_and_later_steps_and_the_ends() -> None:
    assert "said at 20" in await opened(with_text(), ["k", "enter", "h"])
    assert "said at 10" in await opened(with_text(), ["k", "enter", "h", "left", "h"])
    assert "said at 30" in await opened(with_text(), ["k", "enter", "h", "l", "right"])


async def test_lineage_has_a_name_and_opens_though_another_rank_wrote_it() -> None:
    text = await opened(with_text(), [])
    assert "training lineage" in text
    text = await opened(with_text(), ["enter"])
    assert "optimizer  Momentum" in text
    assert "h l step" not in text


async def test_what_can_no_longer_be_read_says_so() -> None:
    monitor = with_text()
    monitor.fetch_details = lambda *_asked: None  # type: ignore[method-assign]
    assert "cannot be read any more" in await opened(monitor, ["enter"])


async def test_escape_gives_the_keys_back_to_the_tags() -> None:
    app = make_app(with_text())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        await pilot.press("5", "tab", "end", "enter")
        await pilot.pause()
        assert isinstance(app.watch_screen.overlay, DetailsWindow)
        await pilot.press("escape")
        assert app.watch_screen.overlay is None
        assert app.watch_screen.focused_panel is app.watch_screen.panels["tags"]
