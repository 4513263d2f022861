from __future__ import annotations

import random
from typing import List, Sequence, Tuple

import pyte
from textual.app import App, ComposeResult
from textual.screen import Screen

from mstui.tui.compositor import use_spans
from mstui.tui.lines import Lines, Row
from mstui.tui.overlay import TextOverlay

WIDTH, HEIGHT = 60, 6
CHARS = "ab⠁⣿ 损失─"


class Noise(Lines):
    """Rows that a test sets; two of them side by side make rows of two chops."""

    DEFAULT_CSS = "Noise { width: 30; height: 6; }"

    def __init__(self, name: str) -> None:
        super().__init__(id=name)
        self.content: Tuple[Row, ...] = ()

    def draw(self, width: int, height: int) -> Sequence[Row]:
        return self.content[:height]


class TwoPanels(App[None]):
    CSS = "Screen { layout: horizontal; }"

    def __init__(self) -> None:
        super().__init__()
        self.sent: List[int] = []
        """bytes of each partial update"""

    def get_default_screen(self) -> Screen[object]:
        screen: Screen[object] = Screen(id="_default")
        use_spans(screen, self.sent.append)
        return screen

    def compose(self) -> ComposeResult:
        yield Noise("left")
        yield Noise("right")


def random_row(rng: random.Random) -> Row:
    return tuple(
        ("".join(rng.choice(CHARS) for _ in range(rng.randint(0, 6))), rng.choice(("text", "dim"))) for _ in range(6)
    )


def changed(row: Row, rng: random.Random) -> Row:
    """The row with one character replaced by one of the same width: what a chart's redraw looks like."""
    spans = [list(span) for span in row]
    filled = [span for span in spans if span[0]]
    if filled:
        span = rng.choice(filled)
        at = rng.randrange(len(span[0]))
        pool = "损失" if span[0][at] in "损失" else "ab⠁⣿ ─"
        span[0] = span[0][:at] + rng.choice(pool) + span[0][at + 1 :]
    return tuple((text, look) for text, look in spans)


def terminal() -> Tuple[pyte.Screen, pyte.Stream]:
    screen = pyte.Screen(WIDTH, HEIGHT)
    return screen, pyte.Stream(screen)


async def test_a_terminal_that_got_only_spans_shows_what_a_whole_repaint_shows() -> None:
    rng = random.Random(3)
    app = TwoPanels()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        await pilot.pause()
        panels = [app.query_one("#left", Noise), app.query_one("#right", Noise)]
        for panel in panels:
            panel.content = tuple(random_row(rng) for _ in range(HEIGHT))
            panel.repaint_all()
        await pilot.pause()
        compositor = app.screen._compositor
        spans, stream = terminal()
        stream.feed(compositor.render_full_update().render_segments(app.console).replace("\n", "\r\n"))
        for _ in range(60):
            for panel in panels:
                panel.content = tuple(changed(row, rng) if rng.random() < 0.4 else row for row in panel.content)
                panel.redraw()
            compositor.update_widgets(set(panels))
            update = compositor.render_partial_update()
            if update is not None:
                stream.feed(update.render_segments(app.console))
            whole, other = terminal()
            other.feed(compositor.render_full_update().render_segments(app.console).replace("\n", "\r\n"))
            assert spans.display == whole.display


async def test_a_span_at_the_right_edge_does_not_repaint_the_row() -> None:
    app = TwoPanels()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        await pilot.pause()
        panel = app.query_one("#right", Noise)
        panel.content = ((("⣿" * 29 + "⠁", "text"),),)
        panel.repaint_all()
        await pilot.pause()
        panel.content = ((("⣿" * 30, "text"),),)
        panel.redraw()
        compositor = app.screen._compositor
        compositor.update_widgets({panel})
        update = compositor.render_partial_update()
        assert update is not None
        written = update.render_segments(app.console)
        assert written.count("⣿") == 1
        assert "\x1b[1;60H" in written
        assert compositor.render_partial_update() is None
        written = update.render_segments(app.console)
        assert app.sent[-1] == len(written.encode())


class OverPanels(TwoPanels):
    """A window over both."""

    CSS = "Screen { layout: horizontal; layers: below above; } Overlay { layer: above; width: 60; height: 3; }"

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield TextOverlay("", lambda width: [((("损失" * width)[:width], "text"),)], lambda: None)


async def test_what_changes_below_a_window_is_painted_when_the_window_goes() -> None:
    app = OverPanels()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        await pilot.pause()
        left = app.query_one("#left", Noise)
        app.sent.clear()
        left.content = ((("below", "text"),), (), (), (), (("beside", "text"),))
        left.redraw()
        await pilot.pause()
        rows = ["".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips()]
        assert not any("below" in row for row in rows)
        assert "beside" in rows[4]
        assert sum(app.sent) < 40, "one row, not two"
        app.query_one(TextOverlay).display = False
        await pilot.pause()
        rows = ["".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips()]
        assert "below" in rows[0]


async def test_a_window_is_not_cut_where_panels_end_below_it() -> None:
    app = OverPanels()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        await pilot.pause()
        rows = ["".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips()]
        over = app.query_one(TextOverlay)
        assert rows[1] == "".join(text for text, _look in over.rows[1])
