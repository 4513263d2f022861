"""The commands about what is wrong with a training, as click sees them: check, alerts, ack and its kin, rules.

It computes nothing: each command hands its options to the module that does the work.
"""

from __future__ import annotations

from typing import Any, Optional, Tuple

import click

from mstui.cli.options import (
    Command,
    config_option,
    examples,
    json_option,
    language_option,
    path_argument,
    run_option,
    state_dir_option,
)
from mstui.i18n import _

LEVELS = ("warn", "error", "critical")
PROCESSES = "running|exited:CODE|unknown"
SNOOZE = "30m|2h|step:500|TIME"
UNTIL = "ever|30m|step:500|restart|worse|TIME"


def alert_commands() -> Tuple[click.Command, ...]:
    """All of them, in the order in which help lists them."""
    return (
        _check_command(),
        _alerts_command(),
        *_note_commands(),
        _rules_command(),
    )


def _process(_context: click.Context, _parameter: click.Parameter, value: Optional[str]) -> Optional[str]:
    if value is None or value in ("running", "unknown"):
        return value
    kind, colon, code = value.partition(":")
    if kind == "exited" and colon and code.lstrip("-").isdecimal():
        return value
    raise click.BadParameter(_("{value} is not one of {choices}").format(value=value, choices=PROCESSES))


def _where(function: Command) -> Command:
    """Options of every command that reads a run."""
    for option in (language_option, state_dir_option, config_option, run_option):
        function = option(function)
    return function


def _check_command() -> click.Command:
    @click.command(
        "check",
        help=_("Judge a finished or growing run once, and say how it stands."),
        epilog=examples("mstui check ./summary", "mstui check ./output --json --fail-on error")
        + "\n\n\b\n"
        + "\n".join(
            (
                _("Exit codes: 0 healthy, 1 ill at or above the level, 2 bad input or nothing readable,"),
                _("3 stalled or not judged."),
                _("JSON: schema, run, verdict, judged, not_judged, incidents, unread; see docs/check.md."),
            )
        ),
    )
    @path_argument
    @json_option
    @click.option(
        "--fail-on",
        type=click.Choice(LEVELS),
        default="warn",
        show_default=True,
        help=_("Least severity that makes the exit code 1."),
    )
    @click.option("--now", type=float, metavar="UNIX_SECONDS", help=_("Judge as if it were then (the clock's time)."))
    @click.option(
        "--process",
        callback=_process,
        metavar=PROCESSES,
        help=_("What is known of the training's process (what this host shows)."),
    )
    @click.option("--total-steps", type=click.IntRange(min=1), metavar="N", help=_("Steps the training will take."))
    @_where
    def command(
        path: str,
        config: Optional[str],
        as_data: bool,
        fail_on: str,
        now: Optional[float],
        process: Optional[str],
        **options: Any,
    ) -> int:
        from mstui.cli import checking

        return checking.check(path, config, options, as_data=as_data, fail_on=fail_on, now=now, process=process)

    return command


def _alerts_command() -> click.Command:
    @click.command(
        "alerts",
        help=_("List the alerts of the run below PATH."),
        epilog=examples("mstui alerts ./summary", "mstui alerts ./summary --history"),
    )
    @path_argument
    @json_option
    @click.option("--all", "everything", is_flag=True, help=_("Also those that are cleared or intended."))
    @click.option("--history", is_flag=True, help=_("What was noted about each, by whom and when."))
    @_where
    def command(
        path: str, config: Optional[str], as_data: bool, everything: bool, history: bool, **options: Any
    ) -> int:
        from mstui.cli import alerting

        return alerting.alerts(path, config, options, as_data=as_data, everything=everything, history=history)

    return command


def _id_and_path(function: Command) -> Command:
    """Which alert; the path is needed only for what is measured by how the run stands."""
    for option in (
        _where,
        click.option("--comment", metavar="TEXT", default="", help=_("A word for those who watch with you.")),
        click.argument("path", required=False, type=click.Path(readable=False)),
        click.argument("alert_id", metavar="ID"),
    ):
        function = option(function)
    return function


def _note_command(
    name: str, kind: str, help_text: str, examples_shown: Tuple[str, ...], *until: Command
) -> click.Command:
    """A command that notes one kind of entry about an alert; `until`: its option for how long, where it has one."""

    def command(
        alert_id: str,
        path: Optional[str],
        config: Optional[str],
        comment: str,
        until: str = "ever",
        **options: Any,
    ) -> int:
        from mstui.cli import alerting
        from mstui.model.journal import EntryKind

        return alerting.note(EntryKind(kind), alert_id, path, config, options, until=until, comment=comment)

    function: Any = command
    for option in (*until, _id_and_path):
        function = option(function)
    return click.command(name, help=help_text, epilog=examples(*examples_shown))(function)


def _note_commands() -> Tuple[click.Command, ...]:
    return (
        _note_command(
            "ack",
            "acknowledged",
            _("Acknowledge the alert ID, which may be shortened: it asks for no attention any more."),
            ("mstui ack 3fa1", 'mstui ack 3fa1 --comment "known bad shard" --until step:500'),
            click.option("--until", metavar=UNTIL, default="ever", show_default=True, help=_("For how long.")),
        ),
        _note_command(
            "unack",
            "unacknowledged",
            _("Take back that the alert ID was acknowledged, snoozed or intended."),
            ("mstui unack 3fa1",),
        ),
        _note_command(
            "snooze",
            "snoozed",
            _("Ask the alert ID to be silent for a while."),
            ("mstui snooze 3fa1 --for 2h",),
            click.option("--for", "until", metavar=SNOOZE, default="30m", show_default=True, help=_("How long.")),
        ),
        _note_command(
            "intended",
            "intended",
            _("Say that what raised the alert ID is meant so: its symptom stays silent for this tag of this run."),
            ("mstui intended 3fa1",),
        ),
    )


def _rules_command() -> click.Command:
    @click.command(
        "rules",
        help=_("List the rules: what each finds, what it needs, its thresholds, how it may err."),
        epilog=examples("mstui rules loss-spike", "mstui rules --json")
        + "\n\n\b\n"
        + "\n".join(
            (
                _("Thresholds are set in the file that `mstui locate config` names:"),
                '[rules."loss-spike"]',
                "sigmas = 8",
                '[rules."loss-spike".tags."aux/*"]',
                "enabled = false",
            )
        ),
    )
    @click.argument("rule", required=False)
    @json_option
    @config_option
    @language_option
    def command(rule: Optional[str], config: Optional[str], as_data: bool, lang: Optional[str]) -> int:  # noqa: ARG001
        from mstui.cli import ruling

        return ruling.rules(rule, config, as_data=as_data)

    return command
