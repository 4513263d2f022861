"""Makes docs/screenshot.svg: the screen of `mstui watch` on the sample run whose loss becomes NaN.

    python scripts/screenshot.py

Run it in a checkout after a change that shows; the picture is what a newcomer sees first in the README.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from mstui.config import Settings  # noqa: E402  # the checkout may not be installed
from mstui.journal import Journal  # noqa: E402
from mstui.monitor import Monitor  # noqa: E402
from mstui.tui.app import MstuiApp  # noqa: E402

RUN, SIZE, THEME = "loss_nan", (120, 40), "dark"
FONT_FACE = re.compile(r"@font-face \{.*?\}", re.DOTALL)
"""Rich asks another host for its font; a picture in a README must not."""
SETTLE_S = 1.5
"""Seconds until the maps, which workers fetch, are on the screen."""


async def take(state_dir: str) -> str:
    """The screen as SVG."""
    settings = Settings(state_dir=state_dir, theme=THEME, ascii=False, low_bandwidth=False)
    app = MstuiApp(Monitor(str(ROOT / "sample_runs" / RUN), journal=Journal(state_dir)), settings)
    app.title = f"mstui watch {RUN}"
    async with app.run_test(size=SIZE) as pilot:
        await asyncio.sleep(SETTLE_S)
        await pilot.pause()
        return app.export_screenshot()


def main() -> None:
    """Write the picture."""
    with tempfile.TemporaryDirectory() as state_dir:
        picture = asyncio.run(take(state_dir))
    picture = FONT_FACE.sub("", picture)
    target = ROOT / "docs" / "screenshot.svg"
    target.parent.mkdir(exist_ok=True)
    target.write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
