"""Text logs as a format: which files are claimed, by name and by their first bytes.

A name that may be a log is not enough: the head must be text. Event files, CSVs and pickles are none.
"""

from __future__ import annotations

import re
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Optional, Sequence, Tuple

from mstui.formats.base import Format
from mstui.formats.logs.decoder import TextLogDecoder
from mstui.formats.logs.own_patterns import OwnShape
from mstui.model.sources import SourceKind

_ROTATED = r"(?:\.\d{1,4}|[.-]\d{4}-?\d\d-?\d\d[\d_T:.-]{0,18})?"
_NAME = re.compile(
    rf"(?:.*\.(?:log|out|err)|.*log[\w.-]*\.txt|nohup\.out|std(?:out|err)|mindspore\.log\.\d{{1,10}}){_ROTATED}"
    r"|mindspore\..{1,200}\.log\.(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\.[\d.-]{1,40}",
    re.DOTALL,
)
_ALLOWED_CONTROLS = frozenset(b"\t\n\r\x1b\0\x08\x0c")
MOST_ODD = 0.02
"""Share of control characters in the head of a text."""
SELF_CONTAINED = re.compile(rb"overflow cond:|consumed_samples:|iteration {1,12}\d|, global_step \d|\], batch: ?\[\d")
"""Lines that print the global step, or all that it is made of: they can be read from anywhere."""


def claims_name(name: str) -> bool:
    """May a file of this name be a text log."""
    return _NAME.fullmatch(name) is not None


def claims_head(head: bytes) -> bool:
    """Do the first bytes look like text; NULs may stand in it, but not only they."""
    odd = sum(byte < 0x20 and byte not in _ALLOWED_CONTROLS for byte in head)
    return odd <= MOST_ODD * len(head) and 2 * head.count(0) <= len(head)


def find_boundary(data: bytes) -> Optional[int]:
    """Where the first whole line begins, if these bytes hold lines that need none before them to be understood."""
    feed = data.find(b"\n")
    return feed + 1 if 0 <= feed < len(data) - 1 and SELF_CONTAINED.search(data) is not None else None


FORMAT = Format(
    name="text-log",
    claims_name=claims_name,
    claims_head=claims_head,
    make_decoder=TextLogDecoder,
    kind=SourceKind.LOG,
    find_boundary=find_boundary,
)


def with_patterns(own: Sequence[Tuple[OwnShape, str]]) -> Format:
    """The same format with patterns of a person's own, each with wildcards for its files (empty: every log).

    Wildcards are for a file's name, or for its path where they hold a slash. A file that they name is a log whatever
    else its name says.
    """

    def is_for(wildcards: str, path: str) -> bool:
        name = path if "/" in wildcards else path.rsplit("/", 1)[-1]
        return not wildcards or fnmatchcase(name, wildcards) or fnmatchcase(name, f"*/{wildcards}")

    def claims(name: str) -> bool:
        ends = (wildcards.rsplit("/", 1)[-1] for _shape, wildcards in own if wildcards)
        return claims_name(name) or any(fnmatchcase(name, end) for end in ends)

    def decoder(path: str) -> TextLogDecoder:
        return TextLogDecoder(path, [shape for shape, wildcards in own if is_for(wildcards, path)])

    return replace(FORMAT, claims_name=claims, make_decoder=decoder)
