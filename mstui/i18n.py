"""The language of everything a person reads. English text in the sources is the message id; catalogues lie in locale/.

Nothing is loaded until the first message is asked for, and nothing at all for English. It refuses to guess: a locale
that has no catalogue means English.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Iterable, Mapping, Optional, Tuple

if TYPE_CHECKING:
    from gettext import NullTranslations

SOURCE_LANGUAGE = "en"
LANGUAGES: Tuple[str, ...] = (SOURCE_LANGUAGE, "zh_CN")
DOMAIN = "mstui"
LOCALE_DIR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "locale")

_LOCALE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")


class _State:
    """What is chosen and what is loaded; one per process, for a process speaks to one person."""

    language: Optional[str] = None
    """None until somebody has chosen or asked"""
    catalogue: Optional[NullTranslations] = None
    """None for English and before the first message"""
    ready = False


def normalize(code: str) -> Optional[str]:
    """The supported language that a code or locale name means ("zh-cn", "zh_CN.UTF-8", "en"), None when there is none.

    Every kind of Chinese gets the Simplified catalogue: nearer to a reader of Traditional Chinese than English is.
    """
    primary = re.split(r"[._@-]", code.lower(), maxsplit=1)[0]
    if primary == "zh":
        return "zh_CN"
    if primary in ("en", "c", "posix"):
        return SOURCE_LANGUAGE
    return None


def language_from_environment(environ: Mapping[str, str]) -> str:
    """The first locale variable that is set decides, as everywhere in POSIX."""
    for name in _LOCALE_VARIABLES:
        value = environ.get(name, "")
        if value:
            return normalize(value) or SOURCE_LANGUAGE
    return SOURCE_LANGUAGE


def set_language(code: Optional[str] = None) -> str:
    """Choose the language: a code, or None for that of the environment. Returns the language that is spoken from now.

    A code without a catalogue means English.
    """
    chosen = (normalize(code) or SOURCE_LANGUAGE) if code else language_from_environment(os.environ)
    _State.language = chosen
    _State.ready = False
    return chosen


def current_language() -> str:
    """The language that is spoken."""
    return _State.language or set_language()


def _(message: str) -> str:
    """The message in the chosen language."""
    if not _State.ready:
        _load()
    return message if _State.catalogue is None or not message else _State.catalogue.gettext(message)


def ngettext(one: str, many: str, n: int) -> str:
    """The form of a message that goes with the number n; the caller formats {n} into it."""
    if not _State.ready:
        _load()
    if _State.catalogue is None:
        return one if n == 1 else many
    return _State.catalogue.ngettext(one, many, n)


def enumerated(names: Iterable[str]) -> str:
    """Things of one kind, one after the other: `loss, accuracy, lr`."""
    return _(", ").join(names)


def commas(parts: Iterable[str]) -> str:
    """What is said of one thing, part after part: `active, since 5m`."""
    said = ""
    for part in parts:
        said = _("{text}, {more}").format(text=said, more=part) if said else part
    return said


def clauses(parts: Iterable[str]) -> str:
    """Statements side by side: `2 ranks stopped; 3 more`."""
    return _("; ").join(parts)


def headed(head: str, rest: str) -> str:
    """What it is about, and what is said of it: `Loss spike: 9.3 at step 40`."""
    return _("{head}: {rest}").format(head=head, rest=rest)


def aside(text: str, more: str) -> str:
    """A text, and in brackets what belongs to it: `Loss spike (rank 1)`."""
    return _("{text} ({more})").format(text=text, more=more)


def mark(message: str) -> str:
    """Name a message for the catalogue without translating it yet: for tables that are built at import.

    Whoever shows it calls `_` on it then.
    """
    return message


def mark_forms(one: str, many: str) -> Tuple[str, str]:
    """The same for both forms of a message with a number; whoever shows it calls `ngettext`."""
    return one, many


def _load() -> None:
    language = current_language()
    if language == SOURCE_LANGUAGE:
        _State.catalogue = None
    else:
        import gettext  # only readers of other languages pay for it

        _State.catalogue = gettext.translation(DOMAIN, LOCALE_DIR, [language], fallback=True)
    _State.ready = True
