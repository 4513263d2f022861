"""The page "Add this to your script" in the person's language: what `mstui record --help` prints and the app offers.

It reads one file of the package and nothing else.
"""

from __future__ import annotations

from pathlib import Path

from mstui.i18n import SOURCE_LANGUAGE, current_language

TWO_LINES = 'from mstui.record import Recorder\nmodel.train(epochs, data, callbacks=[Recorder("summary")])'
"""The shortest of it: what is offered where gradient statistics are missing."""


def page(language: str = "") -> str:
    """The whole page as Markdown; English where there is none in the language."""
    folder = Path(__file__).parent
    wanted = folder / f"page.{language or current_language()}.md"
    found = wanted if wanted.is_file() else folder / f"page.{SOURCE_LANGUAGE}.md"
    return found.read_text("utf-8")
