"""msprobe's `anomaly.json`: one object of entries, an event each. Figures are none of its business.

msprobe writes the whole file anew with every alert. Entries are read one by one as far as they are whole.
"""

from __future__ import annotations

import re
from typing import Any, List, Mapping, Optional

import numpy as np

from mstui.formats.base import Decoded
from mstui.formats.logs.lines import decode
from mstui.model.logs import EventKind, LogEvent, LogLevel, LogRecords

LONGEST_TEXT = 1000
"""Characters of a message that are kept."""
LONGEST_ENTRY = 64 * 1024
"""Bytes."""
MARK = b'"tag_name"'
"""Every entry has it; nothing else that is called so does."""
_END = b"}"
_ENTRY = re.compile(rb'"(?:[^"\\]|\\.){1,2000}"\s{0,40}:\s{0,40}(?P<body>\{[^{}]{1,65536}\})')
_MESSAGE = re.compile(
    r"Rule (?P<rule>\w{1,60}) reports anomaly signal in \('(?P<tag>[^']{1,400})', '(?P<op>\w{1,40})'\)"
    r".{0,60}current value (?P<value>\S{1,40}), history mean (?P<mean>[^\s,]{1,40}?)\.?$"
)


class AnomalyDecoder:
    """Decodes one file of anomalies."""

    def __init__(self, path: str) -> None:
        self._path = path

    def decode(self, data: bytes, base: int, *, at_end: bool, condemn: bool = False) -> Decoded:  # noqa: ARG002
        """Decode the entries in `data` that are whole; see `Decoder`."""
        events: List[LogEvent] = []
        consumed = 0
        for found in _ENTRY.finditer(data):
            event = _event(found, base)
            consumed = found.end()
            if event is not None:
                events.append(event)
        if data[consumed:].strip() == _END or len(data) - consumed > LONGEST_ENTRY:
            consumed = len(data)
        offsets = np.array([event.offset for event in events], np.int64)
        return Decoded(
            consumed=consumed,
            records=len(events),
            log_records=LogRecords(offsets, np.full(len(events), int(LogLevel.ERROR), np.uint8)),
            log_events=tuple(events),
            log_understood=len(events),
        )


def _event(found: re.Match[bytes], base: int) -> Optional[LogEvent]:
    import json  # few runs have anomalies

    try:
        entry = json.loads(decode(found["body"]))
    except (ValueError, RecursionError):
        return None
    message = entry.get("message")
    if not isinstance(message, str):
        return None
    text = message[:LONGEST_TEXT]
    said = _MESSAGE.match(text)
    return LogEvent(
        kind=EventKind.PROBE_ALERT,
        offset=base + found.start(),
        length=found.end() - found.start(),
        text=text,
        wall_time=None,
        step=_count(entry, "step"),
        rank_id=_count(entry, "rank"),
        fields=said.groupdict() if said is not None else {},
    )


def _count(entry: Mapping[str, Any], name: str) -> Optional[int]:
    value = entry.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None
