"""What programs say of the training in plain lines: how many devices it has, and with which versions it runs.

Metrics are none of its business; a line that says nothing of the kind costs it a look for a word.
"""

from __future__ import annotations

import re
from typing import Optional

from mstui.formats.logs.producer import Producer, Shape
from mstui.formats.logs.state import Reading, State
from mstui.formats.logs.values import named

_WORLD = (
    r"^using world size: (?P<megatron>\d{1,9}),|^ {1,4}world_size \.{3,80} (?P<argument>\d{1,9})\s{0,8}$"
    r"|\bmsrun\b[^\n]{0,400} --worker_num[= ](?P<msrun>\d{1,9})\b"
)
_VERSION = r"\b(?P<what>Mind\w{2,30}|CANN|Python) [Vv]ersion(?: is|:)? {1,4}(?P<version>\d[\w.+-]{0,40})"


def _world(found: re.Match[str], state: State) -> Optional[Reading]:
    devices = next((int(each) for each in named(found).values() if each), 0)
    if devices:
        state.declared["device_num"] = devices
    return None


def _version(found: re.Match[str], state: State) -> Optional[Reading]:
    state.declared[f"custom/{found['what'].lower()}_version"] = found["version"].rstrip(".")
    return None


PRODUCER = Producer(
    "declared",
    (
        Shape((b"world", b"--worker_num"), _WORLD, _world, own_record=False),
        Shape((b"ersion",), _VERSION, _version, own_record=False),
    ),
)
