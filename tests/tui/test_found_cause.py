"""What a guided check has found is told in the list of alerts, and from its end the alert can be answered."""

from __future__ import annotations

import pytest

from mstui.i18n import set_language
from mstui.model.journal import Entry, EntryKind
from mstui.tui.ask import AskPrompt
from mstui.tui.found_cause import cause_found
from tests.tui.check_scene import FLAT, check_scene, opened, press
from tests.tui.fakes import START
from tests.tui.scene import RUN, make_app, screen_rows, screen_text


def outcome(kind: str, cause: str = "lr-too-large", at: float = START) -> Entry:
    return Entry(FLAT, EntryKind.OUTCOME, at, "li@node7", kind, cause)


def test_the_last_outcome_counts_and_only_one_that_names_a_cause() -> None:
    set_language("en")
    said = "cause found: Learning rate too large"
    assert cause_found([outcome("accuses"), outcome("found")]) == said
    assert cause_found([outcome("found", "no-shuffle"), outcome("found")]) == said
    assert cause_found([outcome("found"), Entry(FLAT, EntryKind.ANSWER, START, "li", "yes", "st.lr")]) == said
    assert cause_found([outcome("found"), outcome("open")]) == ""
    assert cause_found([outcome("found", "")]) == ""
    assert cause_found([]) == ""
    assert cause_found([outcome("found", "of-a-later\x1b-version")]) == "cause found: of-a-later<1b>-version"


@pytest.mark.parametrize(("key", "label"), [("a", "acknowledge"), ("I", "is intended")])
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_from_a_cause_that_was_found_the_alert_can_be_answered(
    key: str, label: str, size: tuple[int, int]
) -> None:
    monitor = check_scene()
    app = make_app(monitor)
    async with app.run_test(size=size) as pilot:
        await opened(pilot, app)
        assert "I intended" not in screen_text(app), "a question has no such key"
        await press(pilot, app, ("c", "y"))
        assert "a ack  I intended" in screen_text(app)
        await press(pilot, app, (key,))
        assert app.watch_screen.overlay is None
        assert isinstance(app.focused, AskPrompt)
        assert label in screen_rows(app)[-1]
        await press(pilot, app, ("enter",))
        assert monitor.noted[-1][1].incident == FLAT


async def test_the_list_of_alerts_tells_the_cause_that_was_found() -> None:
    monitor = check_scene()
    app = make_app(monitor)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        await press(pilot, app, ("escape",))
        assert "cause found" not in screen_text(app)
        monitor.entries[RUN, FLAT] = [outcome("found")]
        app.watch_screen.panels["alerts"].redraw()
        await pilot.pause()
        assert "cause found: Learning rate too large" in screen_text(app)
