"""The application: the palette, the keys, the monitor's thread, and where files that a person asks for are written."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, Sequence, Tuple, Union

from textual import events
from textual.app import App
from textual.binding import Binding
from textual.screen import Screen

from mstui.config import CONFIG_NAME, Settings
from mstui.i18n import _
from mstui.monitor_api import MonitorApi
from mstui.registry import collect
from mstui.tui.keymap import effective_keys, textual_keymap
from mstui.tui.messages import Committed
from mstui.tui.overlay import Overlay
from mstui.tui.palette import TERMINAL_PALETTE, Palette
from mstui.tui.panel import PanelSpec
from mstui.tui.prompt import Prompt
from mstui.tui.screen import WatchScreen
from mstui.tui.theme import DEFAULT_THEME, load_palette, theme_files
from mstui.tui.view_memory import recall, remember

if TYPE_CHECKING:
    from mstui.export import Exported

PANELS_PACKAGE = "mstui.tui.panels"
LOW_BANDWIDTH_HZ = 0.5
"""redraws a second on a slow link"""

_MOUSE_ON = "\x1b[?1000h\x1b[?1003h\x1b[?1015h\x1b[?1006h"
_MOUSE_OFF = "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l"
_TITLE = "\x1b]2;{text}\x1b\\"
_KEEP_TITLE, _OLD_TITLE = "\x1b[22;2t", "\x1b[23;2t"
"""most terminals keep a stack of titles; the others ignore this"""


class MstuiApp(App[None], inherit_bindings=False):
    """Everything Textual needs to run; what is on the screen is WatchScreen's.

    Raises ConfigError from the constructor for a theme or key map that cannot be used.
    """

    TITLE = "mstui"
    ENABLE_COMMAND_PALETTE = False  # ours is a Chooser: themed, translated, ASCII where asked, and a few hundred bytes
    BINDINGS = [Binding("ctrl+c", "quit", show=False, priority=True)]  # noqa: RUF012  # Textual's own form

    def __init__(
        self,
        monitor: MonitorApi,
        settings: Settings,
        *,
        clock: Callable[[], float] = time.time,
        config_dir: str = "",
        export_dir: str = "",
        panels: Optional[Sequence[PanelSpec]] = None,
        on_painted: Optional[Callable[[], object]] = None,
    ) -> None:
        """`on_painted` is called once, when the first picture is complete."""
        super().__init__(ansi_color=True)
        self.monitor = monitor
        self.settings = _for_link(settings)
        self._config_dir = config_dir
        self._export_dir = export_dir
        self._mouse = settings.mouse
        self._title_said = ""
        self._unpainted = ExitStack()
        """held from the start until the first picture is complete: Textual would paint two whole ones"""
        if on_painted is not None:
            self._unpainted.callback(on_painted)
        keys = effective_keys(settings.keys)
        self.set_keymap(textual_keymap(settings.keys, keys))
        theme = self.settings.theme
        self.palette: Palette = load_palette(theme, config_dir) if theme else TERMINAL_PALETTE
        self.view_trouble: Optional[str] = None
        """after the end: why the view could not be stored, None when it was"""
        specs = collect(PANELS_PACKAGE, "PANEL", PanelSpec) if panels is None else panels
        view = recall(self.settings, monitor.root)
        self.watch_screen = WatchScreen(monitor, self.settings, view, specs, keys=keys, clock=clock)
        self.watch_screen.config_path = os.path.join(config_dir, CONFIG_NAME)

    def get_default_screen(self) -> Screen[Any]:
        """Ours from the start: pushing it over an empty one would paint twice."""
        return self.watch_screen

    def on_load(self) -> None:
        """Start reading before anything is composed, so that both overlap. Nothing is painted until all is in place."""
        self.monitor.start(self._committed)
        self._unpainted.enter_context(self.batch_update())
        self.watch_screen.first_resumed = self._unpainted.close

    def on_unmount(self) -> None:
        """Stop reading, keep the view."""
        if self._title_said:
            self._tell_terminal(_OLD_TITLE)
        self.monitor.stop()
        self.view_trouble = remember(self.settings, self.monitor.root, self.watch_screen.view)

    def _committed(self, revision: int) -> None:
        """Called from the monitor's thread; what comes before the screen runs is drawn by its first picture."""
        if self.watch_screen.is_running:
            self.watch_screen.post_message(Committed(revision))

    async def on_key(self, event: events.Key) -> None:
        """A key that was on its way when a window or a line to type in opened belongs to that: those let none by."""
        focused = self.focused
        if isinstance(focused, (Overlay, Prompt)):
            event.stop()
            event.prevent_default()
            focused.post_message(events.Key(event.key, event.character))

    # --- themes

    def theme_names(self) -> Tuple[str, ...]:
        """Every theme that can be chosen, with the default one first."""
        names = {theme.name for theme in theme_files(self._config_dir)} | {DEFAULT_THEME}
        return (DEFAULT_THEME, *sorted(names - {DEFAULT_THEME}))

    def use_theme(self, name: str) -> None:
        """Draw everything in another theme. Raises ConfigError."""
        self.palette = load_palette(name, self._config_dir)
        self.watch_screen.repaint()

    # --- the terminal

    def toggle_mouse(self) -> bool:
        """Turn mouse capture off or on; True when it is on now."""
        self._mouse = not self._mouse
        self._tell_terminal(_MOUSE_ON if self._mouse else _MOUSE_OFF)
        return self._mouse

    def say_title(self, text: str) -> None:
        """The terminal's title, of text that is safe to show; the one before comes back at the end."""
        if text == self._title_said:
            return
        self._tell_terminal(("" if self._title_said else _KEEP_TITLE) + _TITLE.format(text=text))
        self._title_said = text

    def _tell_terminal(self, sequence: str) -> None:
        driver = self._driver
        if driver is not None:
            driver.write(sequence)
            driver.flush()

    # --- files that a person asks for

    def write_out(self, name: str, suffix: str, content: Union[str, bytes]) -> Exported:
        """Write a new file: in the export directory, else the working directory, never in what is watched."""
        from mstui.export import Exported, write_export  # with what it needs, half as long as all our own imports

        for folder in (self._export_dir, os.getcwd(), self._state_folder("exports")):
            if folder and not _inside(folder, self.monitor.root):
                return write_export(folder, f"mstui-{name}", suffix, content)
        return Exported("", _("no directory to write to: start mstui outside of what it watches"))

    def write_copy(self, text: str) -> Exported:
        """What was copied, as a file of the state directory: many terminals refuse the clipboard."""
        from mstui.export import Exported, write_export

        folder = self._state_folder("copies")
        return (
            write_export(folder, "copy", ".txt", text)
            if folder
            else Exported("", _("copied; there is no state directory for a file"))
        )

    def _state_folder(self, name: str) -> str:
        return os.path.join(self.settings.state_dir, name) if self.settings.state_dir else ""


def _for_link(settings: Settings) -> Settings:
    if not settings.low_bandwidth:
        return settings
    changes: Dict[str, Any] = {"refresh_hz": min(settings.refresh_hz, LOW_BANDWIDTH_HZ)}
    return replace(settings, theme=settings.theme or DEFAULT_THEME, **changes)


def _inside(path: str, root: str) -> bool:
    path, root = os.path.realpath(path), os.path.realpath(root)
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)
