"""The command line: `mstui watch | check | alerts | replay | ...`.

Importing it loads neither numpy nor textual; each command loads what it needs once it is known to start. Every
MstuiError becomes what, where and what to do on stderr, exit code 2. Anything else is a bug: it is seen whole, with an
exit code that no verdict of `check` has.
"""

from __future__ import annotations

import io
import os
import sys
import traceback
from typing import List, NoReturn, Optional

from mstui.cli import garbage
from mstui.cli.surroundings import command_language, numeric_environment
from mstui.errors import MstuiError
from mstui.i18n import _, set_language

EXIT_OK, EXIT_ERROR = 0, 2
EXIT_READER_GONE = 1
"""What click returns when a pipe is closed at the other end"""
EXIT_INTERRUPTED = 130
EXIT_BUG = 70
"""EX_SOFTWARE of sysexits.h"""


def main(arguments: Optional[List[str]] = None) -> NoReturn:
    """Run one command and leave the process with its exit code."""
    garbage.hold()
    given = sys.argv[1:] if arguments is None else arguments
    set_language(command_language(given, os.environ, getattr(sys.stdout, "encoding", None)))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # text that a terminal cannot show is no reason to stop
    os.environ.update(numeric_environment(os.environ))
    sys.exit(_run(given))


def _run(arguments: List[str]) -> int:
    import click

    from mstui.cli.commands import build

    try:
        code = build().main(args=arguments, prog_name="mstui", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except MstuiError as error:
        print(_("mstui: {error}").format(error=error), file=sys.stderr)
        return EXIT_ERROR
    except (click.Abort, KeyboardInterrupt):
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever read our lines has gone. Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_READER_GONE
    except Exception:  # noqa: BLE001  # the outermost border: 1 would say that a training is ill
        traceback.print_exc()
        print(_("mstui: this is a bug of mstui; the lines above tell where"), file=sys.stderr)
        return EXIT_BUG
    return int(code or EXIT_OK)
