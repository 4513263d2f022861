"""What the terminal, the locale and the connection ask for. Pure functions of an environment: they read nothing."""

from __future__ import annotations

from typing import Dict, Mapping, Optional, Sequence

from mstui.config import Settings
from mstui.i18n import language_from_environment, normalize

LOCAL_ESCAPE_MS, REMOTE_ESCAPE_MS = 25, 100
"""How long an ESC byte may be the beginning of a longer key. Over a network the rest of the key comes later."""
LOW_BANDWIDTH_FPS = 4

_CHINESE_PROBE = "中"


def can_encode(text: str, encoding: Optional[str]) -> bool:
    """Can a stream with this encoding show the text?"""
    try:
        text.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def option_value(arguments: Sequence[str], name: str) -> Optional[str]:
    """Value of a long option before anything is parsed; None when it is not there."""
    for index, argument in enumerate(arguments):
        if argument == "--":
            break
        if argument == name:
            return arguments[index + 1] if index + 1 < len(arguments) else None
        if argument.startswith(name + "="):
            return argument[len(name) + 1 :]
    return None


def command_language(arguments: Sequence[str], environ: Mapping[str, str], encoding: Optional[str]) -> str:
    """Language of help and errors: --lang, else the locale as long as the output can show it."""
    asked = normalize(option_value(arguments, "--lang") or "")
    if asked:
        return asked
    language = language_from_environment(environ)
    return language if language == "en" or can_encode(_CHINESE_PROBE, encoding) else "en"


def wants_ascii(environ: Mapping[str, str], encoding: Optional[str]) -> bool:
    """Draw with ASCII: the output is not UTF-8, or the person said so by LC_ALL=C, which Python itself overrides."""
    plain = (encoding or "ascii").lower().replace("-", "").replace("_", "")
    return plain != "utf8" or environ.get("LC_ALL") in ("C", "POSIX")


def is_remote(environ: Mapping[str, str]) -> bool:
    """Is the terminal at the other end of an SSH connection?"""
    return bool(environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"))


def resolve(settings: Settings, environ: Mapping[str, str], encoding: Optional[str]) -> Settings:
    """Settings in which nothing about the terminal is left open."""
    from dataclasses import replace

    return replace(
        settings,
        ascii=wants_ascii(environ, encoding) if settings.ascii is None else settings.ascii,
        low_bandwidth=is_remote(environ) if settings.low_bandwidth is None else settings.low_bandwidth,
    )


def numeric_environment(environ: Mapping[str, str]) -> Dict[str, str]:
    """Variables that numpy's linear algebra reads when it is imported. What the person has set already stays.

    It would start a thread for every core, each of which spins for a while: we multiply no matrices, and the cores
    belong to the training.
    """
    return {} if "OPENBLAS_NUM_THREADS" in environ else {"OPENBLAS_NUM_THREADS": "1"}


def textual_environment(settings: Settings, environ: Mapping[str, str]) -> Dict[str, str]:
    """Variables that Textual reads when it is imported. What the person has set already stays."""
    wanted = {
        "TEXTUAL_ANIMATIONS": "none",  # nothing moves but the data, and every frame of an animation costs bytes
        "TEXTUAL_SMOOTH_SCROLL": "0",
        "ESCDELAY": str(REMOTE_ESCAPE_MS if is_remote(environ) else LOCAL_ESCAPE_MS),
    }
    if settings.low_bandwidth:
        wanted["TEXTUAL_FPS"] = str(LOW_BANDWIDTH_FPS)
        wanted["TEXTUAL_COLOR_SYSTEM"] = "standard"
    return {name: value for name, value in wanted.items() if name not in environ}
