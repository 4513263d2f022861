"""One TOML table read with care: every mistake is a ConfigError that names the file, the key and what was expected.

It knows the shapes that all files share (pairs, passages, sources), and nothing of what they mean.
"""

from __future__ import annotations

from typing import Any, Collection, Dict, Mapping, NoReturn, Optional, Tuple

from mstui.config import nearest
from mstui.errors import ConfigError
from mstui.i18n import _
from mstui.knowledge.schema import Pair, Passage, Source, Variant
from mstui.knowledge.versions import condition


class Table:
    """A table of a file; what is not asked for by the time of `done` is a mistake."""

    def __init__(self, values: Mapping[str, Any], path: str, prefix: str = "") -> None:
        self.path = path
        self._values = values
        self._prefix = prefix
        self._asked: Dict[str, None] = {}

    def fail(self, what: str, remedy: str = "") -> NoReturn:
        """Raise the mistake with its file."""
        raise ConfigError(what, self.path, remedy)

    def has(self, key: str) -> bool:
        """Whether the key is there."""
        return key in self._values

    def names(self) -> Tuple[str, ...]:
        """The keys in the order of the file."""
        return tuple(self._values)

    def string(self, key: str, default: Optional[str] = None) -> str:
        """A text that is not blank; the default where the key is missing and there is one."""
        value = self._get(key, default)
        if not isinstance(value, str) or (not value.strip() and value != default):
            self._wrong(key, value, _("a text"))
        return str(value)

    def one_of(self, key: str, known: Collection[str], default: Optional[str] = None) -> str:
        """One of the known words."""
        value = self.string(key, default)
        if value not in known and value != default:
            self.fail(
                _('key "{key}" names unknown "{value}"').format(key=self.name(key), value=value), nearest(value, known)
            )
        return value

    def flag(self, key: str) -> bool:
        """True or false; false where the key is missing."""
        value = self._get(key, default=False)
        if not isinstance(value, bool):
            self._wrong(key, value, _("true or false"))
        return bool(value)

    def integer(self, key: str) -> int:
        """A whole number."""
        value = self._get(key)
        if isinstance(value, bool) or not isinstance(value, int):
            self._wrong(key, value, _("a whole number"))
        return int(value)

    def strings(self, key: str) -> Tuple[str, ...]:
        """A list of texts; empty where the key is missing."""
        value = self._get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            self._wrong(key, value, _("a list of texts"))
        return tuple(value)

    def table(self, key: str) -> Table:
        """A table inside; an empty one where the key is missing."""
        value = self._get(key, {})
        if not isinstance(value, dict):
            self._wrong(key, value, _("a table"))
        return Table(value, self.path, self.name(key))

    def tables(self, key: str) -> Tuple[Table, ...]:
        """A list of tables; empty where the key is missing."""
        value = self._get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self._wrong(key, value, _("a list of tables"))
        return tuple(Table(item, self.path, f"{self.name(key)}[{at}]") for at, item in enumerate(value, 1))

    def pair(self, key: str) -> Pair:
        """A text in both languages."""
        if not self.has(key):
            self._missing(key)
        inner = self.table(key)
        pair = Pair(inner.string("en"), inner.string("zh"))
        inner.done()
        return pair

    def maybe_pair(self, key: str) -> Optional[Pair]:
        """A text in both languages, None where the key is missing."""
        return self.pair(key) if self.has(key) else None

    def passage(self, key: str, *also: str) -> Passage:
        """A text with code and version variants; `also` names further keys of its table, which others read."""
        if not self.has(key):
            self._missing(key)
        inner = self.table(key)
        text = Pair(inner.string("en"), inner.string("zh"))
        code = inner.string("code", "").strip("\n")
        variants = tuple(_variant(each) for each in inner.tables("when"))
        inner.done(*also)
        return Passage(text, code, variants)

    def maybe_passage(self, key: str) -> Optional[Passage]:
        """A passage, None where the key is missing."""
        return self.passage(key) if self.has(key) else None

    def sources(self, documents: Collection[str], *, needed: bool = True) -> Tuple[Source, ...]:
        """The places of the key "sources": [{ doc = "...", section = "..." }], one at least where needed."""
        found = []
        for each in self.tables("sources"):
            found.append(Source(each.one_of("doc", documents), each.string("section")))
            each.done()
        if needed and not found:
            self._missing("sources")
        return tuple(found)

    def done(self, *also: str) -> None:
        """Complain about a key that nobody asked for."""
        known = [*self._asked, *also]
        for key in self._values:
            if key not in known:
                self.fail(_('unknown key "{key}"').format(key=self.name(key)), nearest(key, known))

    def name(self, key: str) -> str:
        """The key with the tables that it is in."""
        return f"{self._prefix}.{key}" if self._prefix else key

    def _get(self, key: str, default: Any = None) -> Any:
        self._asked[key] = None
        if key in self._values:
            return self._values[key]
        if default is None:
            self._missing(key)
        return default

    def _missing(self, key: str) -> NoReturn:
        self.fail(_('key "{key}" is missing').format(key=self.name(key)))

    def _wrong(self, key: str, value: object, expected: str) -> NoReturn:
        what = _('key "{key}" cannot be {value!r}').format(key=self.name(key), value=value)
        self.fail(what, _("Expected: {expected}").format(expected=expected))


def _variant(table: Table) -> Variant:
    text: Optional[Pair] = None
    if table.has("en") or table.has("zh"):
        text = Pair(table.string("en"), table.string("zh"))
    written = table.string("mindspore")
    try:
        known = condition(written)
    except ValueError as error:
        what = _('key "{key}" cannot be {value!r}').format(key=table.name("mindspore"), value=written)
        table.fail(what, _("Expected: {expected}").format(expected=error))
    code = table.string("code", "").strip("\n")
    if text is None and not code:
        table.fail(_('key "{key}" is missing').format(key=table.name("en")))
    table.done()
    return Variant(known, text, code)
