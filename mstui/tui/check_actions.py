"""The screen's part in guided checks and the manual: what opens them, and what they need of the application."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, List

from mstui.i18n import _, current_language
from mstui.journal.who import user_at_host
from mstui.tui.messages import CheckWanted, ManualWanted
from mstui.tui.overlay import Choice, Chooser
from mstui.tui.selection import find_run
from mstui.tui.view_actions import ViewActions

if TYPE_CHECKING:
    from mstui.checks.session import Session
    from mstui.export import Exported
    from mstui.tui.check_life import Services


DECIDES = ("a", "I")
"""Keys of the alert panel that say what becomes of an alert whose cause is found."""


class CheckActions(ViewActions):
    """Opens windows; they do the rest."""

    async def on_check_wanted(self, message: CheckWanted) -> None:
        """Lead a person through the checks of an alert."""
        message.stop()
        await self._open_check(message.alert_id)

    async def on_manual_wanted(self, message: ManualWanted) -> None:
        """Open an entry of the manual."""
        message.stop()
        await self._open_manual(message.entry)

    async def action_manual(self) -> None:
        """The entry of what is selected, else the list of all."""
        explained = getattr(self.focused_panel, "explained", None)
        await self._open_manual(explained() if explained is not None else "")

    async def action_checklists(self) -> None:
        """Choose a flow, then walk it."""
        from mstui.knowledge.loader import knowledge

        language = current_language()
        choices = [Choice(flow.id, flow.title.text(language), flow.id) for flow in knowledge().flows.values()]

        def chosen(flow: str) -> None:
            self.call_later(self._open_check, "", flow)

        over = Chooser(_("checklists and flows"), choices, chosen, self.close_over, ascii_only=self.ascii_only)
        await self.open_over(over)

    async def _open_check(self, alert_id: str, flow: str = "") -> None:
        from mstui.tui.check_window import CheckWindow
        from mstui.tui.panels.alerts import AlertsPanel

        panel = self.panels.get("alerts")
        acts = panel.acts(alert_id) if alert_id and isinstance(panel, AlertsPanel) else {}
        over = CheckWindow(
            *(self._services(), self.view.run_key, alert_id, self.close_over),
            flow=flow,
            acts={key: act for key, act in acts.items() if key in DECIDES},
            ascii_only=self.ascii_only,
        )
        await self.open_over(over)

    async def _open_manual(self, entry: str) -> None:
        from mstui.knowledge.loader import knowledge
        from mstui.tui.check_manual import ManualPages, ManualWindow

        over = ManualWindow(ManualPages(knowledge(), entry), self.close_over, ascii_only=self.ascii_only)
        await self.open_over(over)

    def _services(self) -> Services:
        from mstui.tui.check_life import Services

        return Services(self.monitor, self.now, user_at_host(), self._copied, self._saved, self.say)

    def _copied(self, text: str) -> str:
        """To the clipboard and to a file."""
        from mstui.tui.app import MstuiApp

        assert isinstance(self.app, MstuiApp)
        self.app.copy_to_clipboard(text)
        written = self.app.write_copy(text)
        return written.problem or _("copied, and written to {path}").format(path=written.path)

    def _saved(self, session: Session, run_key: str, alert_id: str, language: str) -> List[Exported]:
        """Write the story into the state directory. In a worker."""
        from mstui.export import Exported
        from mstui.tui.check_export import Subject, export_folder, written

        folder = export_folder(self.settings.state_dir or "", os.getcwd(), self.monitor.root)
        if not folder:
            return [Exported("", _("no directory to write to: start mstui outside of what it watches"))]
        alerts = self.monitor.alerts(run_key)
        incident = next((alert.incident for alert in alerts if alert.id == alert_id), None)
        subject = Subject(session, find_run(self.monitor.runs(), run_key), incident, self.now())
        return written(self.monitor, subject, language, folder, ascii_only=self.ascii_only)
