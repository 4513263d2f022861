"""The commands and their options, as click sees them. Built after the language is known, so that help speaks it.

It computes nothing: each command hands its options to the module that does the work.
"""

from __future__ import annotations

import os
from typing import Any, Optional, Tuple

import click

from mstui import __version__
from mstui.assets import SAMPLE_RUNS, THEMES, asset_dir, sample_names
from mstui.cli.alert_commands import alert_commands
from mstui.cli.click_words import teach_click
from mstui.cli.options import Command, examples, language, path_argument
from mstui.config import CONFIG_NAME, MAX_REFRESH_HZ, MAX_SMOOTHING, default_state_dir, user_config_dir
from mstui.i18n import LANGUAGES, _

LOCATIONS = ("themes", "samples", "config", "state")


def build() -> click.Group:
    """The whole command line in the current language."""
    teach_click()
    group = click.Group(
        name="mstui",
        help=_("Watch a MindSpore training live in the terminal."),
        epilog=_("Help of one command: mstui watch --help"),
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    click.version_option(__version__, prog_name="mstui")(group)
    for command in (
        _watch_command(),
        _replay_command(),
        _plot_command(),
        *alert_commands(),
        _record_command(),
        _locate_command(),
    ):
        group.add_command(command)
    for command in (_explain_command(), _checklist_command()):
        group.add_command(command)
    return group


def _paths_argument(function: Command) -> Command:
    kind = click.Path(readable=False)
    return click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=kind)(function)


def _pattern_example() -> str:
    """How to have logs read that nobody knows; the path is that of `mstui locate config`."""
    return "\n".join(
        (
            "\n\n\b",
            _("Logs of a form of your own are read with patterns from the file that `mstui locate config` names:"),
            "[[log_pattern]]",
            'name = "mine"',
            "pattern = 'step (?P<step>\\d+).*loss (?P<loss>[-+.\\de]+).*lr (?P<lr>\\S+)'",
            _('files = "*.txt"   # optional'),
            _("Known groups: {names}; any other group is a curve of its own.").format(
                names="epoch step steps loss lr scale gnorm ms s acc overflow"
            ),
        )
    )


def _watch_options(function: Command) -> Command:
    """Options that watch and replay share, in the order in which help lists them."""
    options = (
        click.option("--run", metavar="KEY", help=_("Begin with this run (its path below PATH).")),
        click.option("--rank", type=click.IntRange(min=0), metavar="N", help=_("Begin with this rank.")),
        click.option("--filter", metavar="TEXT", help=_("Begin with this tag filter; @NAME is a saved one.")),
        click.option(
            "--smoothing",
            type=click.FloatRange(0, MAX_SMOOTHING),
            metavar="W",
            help=_("Weight of the past in the average, 0 to 0.99."),
        ),
        click.option(
            "--total-steps", type=click.IntRange(min=1), metavar="N", help=_("Steps the training will take, for ETA.")
        ),
        click.option(
            "--refresh",
            "refresh_hz",
            type=click.FloatRange(0.1, MAX_REFRESH_HZ),
            metavar="HZ",
            help=_("Redraws a second, at most (2)."),
        ),
        click.option("--theme", metavar="NAME", help=_("Theme; `mstui locate themes` says where they are.")),
        click.option(
            "--ascii/--unicode", "ascii", default=None, help=_("Draw with ASCII only (chosen by the output encoding).")
        ),
        click.option("--mouse/--no-mouse", "mouse", default=None, help=_("Leave the mouse to the terminal.")),
        click.option(
            "--low-bandwidth/--full-bandwidth",
            "low_bandwidth",
            default=None,
            help=_("Fewer bytes (chosen by itself under SSH)."),
        ),
        click.option("--poll", "watch", flag_value="poll", help=_("Look at the files in turns, as on NFS.")),
        click.option("--events", "watch", flag_value="events", help=_("Rely on file system events.")),
        click.option("--plain", is_flag=True, help=_("One line per event, no screen control.")),
        click.option(
            "--every",
            "every_s",
            type=click.FloatRange(min=0.1),
            default=10.0,
            metavar="S",
            help=_("With --plain: seconds between status lines (10)."),
        ),
        click.option(
            "--lang", metavar="|".join(LANGUAGES), callback=language, help=_("Language (chosen by the locale).")
        ),
        click.option(
            "--config", type=click.Path(readable=False), metavar="FILE", help=_("Settings that win over all others.")
        ),
        click.option(
            "--state-dir",
            type=click.Path(readable=False),
            metavar="DIR",
            help=_("Where views, copies and replays are kept."),
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def _watch_command() -> click.Command:
    @click.command(
        "watch",
        help=_(
            "Watch PATH: a directory of summaries or logs, a parent of many runs, a rank layout, an event file or a "
            "log. Several PATHs of one training, as its summary and its log, are one run."
        ),
        epilog=examples(
            "mstui watch ./summary",
            "mstui watch ./output/msrun_log",
            "mstui watch ./summary ./train.log",
            'mstui watch ./summary --filter "loss | grad_norm" --smoothing 0.9',
            "nohup mstui watch ./summary --plain > training.log &",
        )
        + _pattern_example(),
    )
    @_paths_argument
    @_watch_options
    def command(paths: Tuple[str, ...], config: Optional[str], plain: bool, every_s: float, **options: Any) -> int:
        from mstui.cli import watching

        return watching.watch(paths, config, options, plain=plain, every_s=every_s)

    return command


def _replay_command() -> click.Command:
    @click.command(
        "replay",
        help=_("Play a recorded run as if it were being written. PATH may be a bundled sample: {names}.").format(
            names=", ".join(sample_names())
        ),
        epilog=examples("mstui replay healthy", 'mstui replay ./summary --speed 20 --at "step 1200"'),
    )
    @path_argument
    @click.option(
        "--speed",
        type=click.FloatRange(min=0, min_open=True),
        default=1.0,
        metavar="N",
        help=_("Times the recorded pace (1)."),
    )
    @click.option("--at", metavar="PLACE", help=_('Begin here, for example "step 1200".'))
    @_watch_options
    def command(
        path: str,
        config: Optional[str],
        plain: bool,
        every_s: float,
        speed: float,
        at: Optional[str],
        **options: Any,
    ) -> int:
        from mstui.cli import watching

        return watching.replay(path, config, options, plain=plain, every_s=every_s, speed=speed, at=at)

    return command


def _plot_command() -> click.Command:
    @click.command(
        "plot",
        help=_("Print one tag as a text picture. TAG is a name, a role (loss, grad-norm, ...) or part of a name."),
        epilog=examples("mstui plot ./summary loss", "mstui plot ./summary grad_norm/global --log --width 120"),
    )
    @path_argument
    @click.argument("tag")
    @click.option("--run", metavar="KEY", help=_("This run (its path below PATH) instead of the newest."))
    @click.option("--rank", type=click.IntRange(min=0), metavar="N", help=_("This rank instead of the lowest."))
    @click.option("--width", type=click.IntRange(min=1), metavar="CELLS", help=_("Width (the terminal's, else 80)."))
    @click.option("--height", type=click.IntRange(min=1), default=20, metavar="CELLS", help=_("Height (20)."))
    @click.option("--log", is_flag=True, help=_("Logarithmic values."))
    @click.option("--ascii/--unicode", "ascii", default=None, help=_("Draw with ASCII only."))
    @click.option("--lang", metavar="|".join(LANGUAGES), callback=language, help=_("Language (chosen by the locale)."))
    def command(
        path: str,
        tag: str,
        run: Optional[str],
        rank: Optional[int],
        width: Optional[int],
        height: int,
        log: bool,
        ascii: Optional[bool],  # noqa: A002 - the option's own name
        lang: Optional[str],  # noqa: ARG001 - read before anything was parsed
    ) -> int:
        import shutil
        import sys

        from mstui.cli.plotting import plot
        from mstui.cli.surroundings import wants_ascii

        ascii_only = wants_ascii(os.environ, sys.stdout.encoding) if ascii is None else ascii
        columns = width or shutil.get_terminal_size().columns
        return plot(path, tag, run=run, rank=rank, width=columns, height=height, log=log, ascii_only=ascii_only)

    return command


class _Page(click.Command):
    """A command whose help is a page of its own, not to be wrapped."""

    def format_help(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the page as it is."""
        from mstui.record.page import page

        formatter.write(page())


def _record_command() -> click.Command:
    @click.command("record", cls=_Page, short_help=_("What a training script adds to be watched well."))
    @click.option("--lang", metavar="|".join(LANGUAGES), callback=language, help=_("Language (chosen by the locale)."))
    @click.pass_context
    def command(context: click.Context, lang: Optional[str]) -> int:  # noqa: ARG001 - read before anything was parsed
        click.echo(context.get_help())
        return 0

    return command


def _version_option(function: Command) -> Command:
    return click.option("--mindspore", "version", default="", metavar="VERSION", help=_("Texts for this MindSpore."))(
        function
    )


def _explain_command() -> click.Command:
    @click.command(
        "explain",
        help=_("The manual: symptoms, causes, checks, flows and background, offline. ID names a page."),
        epilog=examples("mstui explain loss-nan", "mstui explain lr-too-large", "mstui explain --list"),
    )
    @click.argument("word", metavar="[ID]", default="")
    @click.option("--list", "listing", is_flag=True, help=_("Every page with its title."))
    @click.option("--columns", type=click.IntRange(min=20), metavar="CELLS", help=_("Width (the terminal's, else 80)."))
    @_version_option
    @click.option("--lang", metavar="|".join(LANGUAGES), callback=language, help=_("Language (chosen by the locale)."))
    def command(
        word: str,
        listing: bool,
        columns: Optional[int],
        version: str,
        lang: Optional[str],  # noqa: ARG001 - read before anything was parsed
    ) -> int:
        import shutil

        from mstui.cli.explain import WIDEST, explain

        cells = columns or min(shutil.get_terminal_size().columns, WIDEST)
        return explain("" if listing else word, columns=cells, version=version)

    return command


def _checklist_command() -> click.Command:
    @click.command(
        "checklist",
        help=_(
            "The checks before a training, one question at a time; answers are kept, so that it can be gone on with."
        ),
        epilog=examples("mstui checklist", "mstui checklist --path ./summary --markdown checklist.md"),
    )
    @click.option("--path", type=click.Path(readable=False), metavar="PATH", help=_("The run that it is for."))
    @click.option("--markdown", type=click.Path(readable=False), metavar="FILE", help=_("Write the result there."))
    @click.option("--restart", "again", is_flag=True, help=_("Take every answer back and begin anew."))
    @_version_option
    @click.option("--lang", metavar="|".join(LANGUAGES), callback=language, help=_("Language (chosen by the locale)."))
    @click.option("--state-dir", type=click.Path(readable=False), metavar="DIR", help=_("Where answers are kept."))
    def command(
        path: Optional[str],
        markdown: Optional[str],
        again: bool,
        version: str,
        lang: Optional[str],  # noqa: ARG001 - read before anything was parsed
        state_dir: Optional[str],
    ) -> int:
        from mstui.cli.checklist import run

        return run(path, state_dir=state_dir, markdown=markdown, again=again, version=version)

    return command


def _locate_command() -> click.Command:
    @click.command(
        "locate",
        help=_("Print where mstui keeps things; all of them without a name."),
        epilog=examples("mstui locate themes"),
    )
    @click.argument("what", required=False, type=click.Choice(LOCATIONS))
    def command(what: Optional[str]) -> int:
        places = {
            "themes": asset_dir(THEMES),
            "samples": asset_dir(SAMPLE_RUNS),
            "config": os.path.join(user_config_dir(), CONFIG_NAME),
            "state": default_state_dir(),
        }
        if what:
            click.echo(places[what])
        else:
            for name, place in places.items():
                click.echo(f"{name}\t{place}")
        return 0

    return command
