"""Pages of the manual to read in the application: scrolling, links to other entries, and the way back.

It draws what `mstui.knowledge.manual` says; it decides nothing and knows no run but its MindSpore version.
"""

from __future__ import annotations

import re
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from mstui.i18n import _, current_language
from mstui.knowledge.manual import RULE, Manual
from mstui.knowledge.schema import Knowledge
from mstui.safe_text import width
from mstui.tui.check_rows import INDENT, Style
from mstui.tui.lines import Row, Span
from mstui.tui.overlay import DOWN, FRAME_ROWS, MARGIN, MAX_WIDTH, UP, Overlay
from mstui.tui.wrapping import wrap_as_written

NEXT, PREVIOUS = ("tab", "n", "right", "l"), ("shift+tab", "N")
BACK = ("backspace", "left", "h", "ctrl+h")
LEAVE = ("escape", "q")
SURE = re.compile(r"[-.]")
"""an id with one of these is no word of a sentence"""
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*[A-Za-z0-9]")
_BEFORE = re.compile(r"(?:^\s*\d+ |: |, |-> |\(|^\s*)$")
_BEHIND = re.compile(r"(?:[:,)(]|\s*$|  | \()")
"""what stands around an id that is also a word: the number of a list, a colon, a comma, an arrow, the line's ends"""


class Link(NamedTuple):
    """An id on a page."""

    line: int
    start: int
    end: int
    id: str


class Page(NamedTuple):
    """One entry for a width."""

    lines: Tuple[str, ...]
    links: Tuple[Link, ...]


class _Visit:
    """An entry that is being read."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.top = 0
        self.link = -1
        """position of the selected link; -1: none yet"""


class ManualPages:
    """The entry that is shown and those that led there."""

    def __init__(self, base: Knowledge, word: str = "", version: str = "") -> None:
        """`word`: an id; empty: the list of all."""
        self._base = base
        self._version = version
        self._ids = frozenset((*base.symptoms, *base.causes, *base.steps, *base.flows, *base.topics))
        self._visits = [_Visit(word)]
        self._pages: Dict[Tuple[str, int], Page] = {}
        self._height = 1
        self._columns = MAX_WIDTH

    @property
    def word(self) -> str:
        """The id that is shown; empty for the list of all."""
        return self._visits[-1].word

    def page(self, columns: int) -> Page:
        """The entry for a width."""
        key = (self.word, columns)
        if key not in self._pages:
            manual = Manual(self._base, current_language(), columns, self._version)
            lines = manual.page(self.word) if self.word else manual.listing()
            if not lines:
                lines = (_("The manual has no entry of this name."),)
            lines = tuple(piece for line in lines for piece in _pieces(line, columns))
            self._pages[key] = Page(lines, tuple(self._links(lines)))
        return self._pages[key]

    def press(self, key: str) -> bool:
        """Scroll, follow a link or go back; False for a key that leaves the manual."""
        visit, page = self._visits[-1], self.page(self._columns)
        if key in LEAVE:
            return False
        if key in BACK:
            del self._visits[max(len(self._visits) - 1, 1) :]
        elif key in NEXT or key in PREVIOUS:
            self._select(visit, page, 1 if key in NEXT else -1)
        elif key == "enter":
            if 0 <= visit.link < len(page.links):
                self._visits.append(_Visit(page.links[visit.link].id))
        else:
            last = max(len(page.lines) - self._height, 0)
            by = {
                **dict.fromkeys(DOWN, 1),
                **dict.fromkeys(UP, -1),
                **dict.fromkeys(("pagedown", "space"), self._height),
                "pageup": -self._height,
                "home": -last,
                **dict.fromkeys(("end", "G"), last),
            }.get(key, 0)
            visit.top = min(max(visit.top + by, 0), last)
        return True

    def rows(self, style: Style, height: int) -> List[Row]:
        """The part that is scrolled to."""
        self._height, self._columns = max(height, 1), style.columns
        visit, page = self._visits[-1], self.page(style.columns)
        visit.top = min(visit.top, max(len(page.lines) - height, 0))
        return [self._row(page, at, visit, style) for at in range(visit.top, min(visit.top + height, len(page.lines)))]

    def hint(self) -> str:
        """Where one is, and the keys."""
        visit, page = self._visits[-1], self.page(self._columns)
        total = len(page.lines)
        parts = [f"{visit.top + 1}-{min(visit.top + self._height, total)}/{total}"] if total > self._height else []
        parts += [_("tab link")] if page.links else []
        parts += (
            [_("enter opens {id}").format(id=page.links[visit.link].id)] if 0 <= visit.link < len(page.links) else []
        )
        parts += [_("backspace back")] if len(self._visits) > 1 else []
        return "   ".join([*parts, _("esc closes")])

    def _select(self, visit: _Visit, page: Page, by: int) -> None:
        """The next link, the first one on the screen at the beginning; the page follows."""
        links = page.links
        if not links:
            return
        if visit.link < 0:
            shown = (i for i, link in enumerate(links) if visit.top <= link.line < visit.top + self._height)
            visit.link = next(shown, 0)
        else:
            visit.link = (visit.link + by) % len(links)
        line = links[visit.link].line
        visit.top = max(min(visit.top, line), line - self._height + 1)

    def _links(self, lines: Sequence[str]) -> List[Link]:
        found: List[Link] = []
        for at, line in enumerate(lines):
            for match in _WORD.finditer(line):
                word = match.group()
                if word in self._ids and word != self.word and self._is_link(line, match):
                    found.append(Link(at, match.start(), match.end(), word))
        return found

    def _is_link(self, line: str, match: re.Match[str]) -> bool:
        if SURE.search(match.group()):
            return True
        return bool(_BEFORE.search(line[: match.start()]) and _BEHIND.match(line[match.end() :]))

    def _row(self, page: Page, at: int, visit: _Visit, style: Style) -> Row:
        line = page.lines[at]
        heading = at + 1 < len(page.lines) and set(page.lines[at + 1]) == {RULE}
        base = "strong" if heading or (line and not line.startswith(" ") and line in self._labels()) else "text"
        spans: List[Span] = []
        done = 0
        for i, link in enumerate(page.links):
            if link.line == at:
                spans.append((style.plain(line[done : link.start]), base))
                spans.append((line[link.start : link.end], "key selected" if i == visit.link else "key"))
                done = link.end
        return (*spans, (style.plain(line[done:]), base))

    def _labels(self) -> frozenset[str]:
        return frozenset(pair.text(current_language()) for pair in self._base.labels.values())


def _pieces(line: str, columns: int) -> List[str]:
    """A line that is too long, such as one of code, goes on below, further in than it began."""
    if width(line) <= columns:
        return [line]
    indent = " " * (len(line) - len(line.lstrip(" ")))
    first, *rest = wrap_as_written(line.lstrip(" "), max(columns - len(indent) - len(INDENT), 1))
    return [indent + first, *(indent + INDENT + piece for piece in rest)]


class ManualWindow(Overlay):
    """The manual over whatever is shown."""

    def __init__(self, pages: ManualPages, close: Callable[[], None], *, ascii_only: bool = False) -> None:
        super().__init__(_("manual"), close, ascii_only=ascii_only)
        self.pages = pages

    def wanted(self, columns: int, rows: int) -> Tuple[int, int]:
        """As wide as is good to read; all rows, so that following a link does not change the window."""
        wide = min(columns - 2 * MARGIN if columns > MAX_WIDTH // 2 else columns, MAX_WIDTH)
        return wide, max(rows - 2, FRAME_ROWS + 1)

    def body(self, width: int, height: int) -> Sequence[Row]:
        """The page."""
        rows = self.pages.rows(Style(width, self.ascii_only), height)
        self.title_text = " ".join(part for part in (_("manual"), self.pages.word) if part)
        self.hint = self.pages.hint()
        return rows

    def press(self, key: str, character: Optional[str]) -> None:
        """Read on, or close."""
        del character
        if self.pages.press(key):
            self.redraw()
        else:
            self.close()
