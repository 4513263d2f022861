"""Keep the catalogues in step with the sources: take the messages out, merge them into every .po, compile every .mo.

    python scripts/messages.py            update mstui/locale
    python scripts/messages.py --missing  print what has no translation yet

Needs Babel (dependency group `static`). Translations are kept; messages that no source holds any more are dropped.
"""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path
from typing import Dict, List, Tuple, Union

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parents[1]
LOCALE = ROOT / "mstui" / "locale"
KEYWORDS: Dict[str, Union[Tuple[int, ...], None]] = {"_": None, "mark": None, "ngettext": (1, 2), "mark_forms": (1, 2)}


def extracted() -> Catalog:
    """Every message of the sources."""
    catalogue = Catalog(project="mstui", fuzzy=False)
    for name, line, message, comments, _context in extract_from_dir(ROOT / "mstui", keywords=KEYWORDS):
        catalogue.add(message, auto_comments=comments, locations=[(f"mstui/{name}", line)])
    return catalogue


def po_path(language: str) -> Path:
    """Where a language's catalogue is edited."""
    return LOCALE / language / "LC_MESSAGES" / "mstui.po"


def read_catalogue(language: str) -> Catalog:
    """The catalogue as it was edited."""
    with po_path(language).open("rb") as stream:
        return read_po(stream, locale=language)


def compiled(catalogue: Catalog) -> bytes:
    """What the .mo of a catalogue holds."""
    out = io.BytesIO()
    write_mo(out, catalogue)
    return out.getvalue()


def untranslated(catalogue: Catalog) -> List[Message]:
    """Messages without a translation, or with one of a plural's forms missing."""
    return [message for message in catalogue if message.id and not _is_whole(message)]


def _is_whole(message: Message) -> bool:
    return all(message.string) if isinstance(message.string, (tuple, list)) else bool(message.string)


def languages() -> List[str]:
    """Languages that have a folder."""
    return sorted(path.name for path in LOCALE.iterdir() if path.is_dir())


def update(language: str) -> None:
    """Merge the sources' messages into one .po and compile it."""
    path = po_path(language)
    catalogue = read_catalogue(language) if path.exists() else Catalog(locale=language)
    catalogue.update(extracted(), no_fuzzy_matching=True, update_creation_date=False)
    catalogue.obsolete.clear()
    catalogue.project, catalogue.version, catalogue.copyright_holder = "mstui", "", "the mstui authors"
    catalogue.fuzzy, catalogue.header_comment = False, f"# mstui in {language}"
    catalogue.msgid_bugs_address, catalogue.last_translator, catalogue.language_team = "", "", ""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as stream:
        write_po(stream, catalogue, width=120, sort_output=True, omit_header=False, include_lineno=False)
    path.with_suffix(".mo").write_bytes(compiled(read_catalogue(language)))


def main() -> int:
    """Update, or list what is missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--missing", action="store_true")
    missing = parser.parse_args().missing
    for language in languages():
        if not missing:
            update(language)
        for message in untranslated(read_catalogue(language)):
            sys.stdout.write(f"{language}: {message.id!r}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
