"""The looks that panels may ask for, by meaning. Themes fill them; panels never name a colour.

Meaning is never carried by colour alone: whoever uses `critical` also writes a word or a glyph.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, Mapping, Tuple

from rich.style import Style

SERIES_LOOKS = 8
HEAT_LOOKS = 8

LOOKS: Tuple[str, ...] = (
    "text",  # ordinary text
    "dim",  # secondary text, axes, labels
    "strong",  # what the eye should find first
    "title",  # a panel's name
    "title-focus",  # the same, in the panel that has the focus
    "rule",  # lines between panels
    "ok",
    "info",
    "warning",
    "critical",
    "key",  # a key in the footer or help
    "selected",  # the row under the selection
    "match",  # what a filter matched
    "struck",  # what is ruled out
    "smooth",  # the averaged curve of the first run
    "raw",  # the raw curve under it
    "old",  # points that a restart superseded
    "band",  # spread over ranks
    "marker",  # restart and event marks, cursor line
    *(f"series-{i}" for i in range(SERIES_LOOKS)),
    *(f"heat-{i}" for i in range(HEAT_LOOKS)),
)

_TERMINAL: Dict[str, str] = {
    "text": "",
    "dim": "bright_black",
    "strong": "bold",
    "title": "bold",
    "title-focus": "bold reverse cyan",
    "rule": "bright_black",
    "ok": "green",
    "info": "cyan",
    "warning": "yellow",
    "critical": "bold red",
    "key": "bold cyan",
    "selected": "reverse",
    "match": "underline",
    "struck": "strike",
    "smooth": "cyan",
    "raw": "bright_black",
    "old": "bright_black",
    "band": "blue",
    "marker": "magenta",
    **{
        f"series-{i}": name
        for i, name in enumerate(("cyan", "yellow", "magenta", "green", "red", "blue", "bright_cyan", "bright_yellow"))
    },
    **{
        f"heat-{i}": name
        for i, name in enumerate(("blue", "blue", "cyan", "cyan", "green", "yellow", "bright_yellow", "bright_red"))
    },
}


@dataclass(frozen=True)
class Palette:
    """Styles by look. An unknown look is a bug and raises KeyError."""

    name: str
    styles: Mapping[str, Style] = field(repr=False)

    def style(self, look: str) -> Style:
        """The Rich style of a look; several looks joined with a space are combined, later ones win."""
        found = self.styles.get(look)
        if found is None:
            found = Style.combine([self.styles[part] for part in look.split(" ")])
        return found


TERMINAL_PALETTE = Palette("terminal", {look: Style.parse(_TERMINAL[look] or "none") for look in LOOKS})
"""The terminal's own sixteen colours: readable everywhere, and the fewest bytes over a slow link."""
