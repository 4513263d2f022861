"""msprobe's `anomaly.json`: alerts of its monitor."""

from __future__ import annotations

from mstui.formats.base import Format
from mstui.formats.logs.anomalies import MARK, AnomalyDecoder
from mstui.model.sources import SourceKind

FORMAT = Format(
    name="msprobe-anomaly",
    claims_name=lambda name: name == "anomaly.json",
    claims_head=lambda head: head.lstrip().startswith(b"{") and MARK in head,
    make_decoder=AnomalyDecoder,
    kind=SourceKind.LOG,
)
