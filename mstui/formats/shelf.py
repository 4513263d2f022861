"""The templates of one file, found by the fixed bytes of a record. A bounded cache and nothing else."""

from __future__ import annotations

from typing import Dict, List, Optional, Tuple

import numpy as np
import numpy.typing as npt

from mstui.formats.template import Template

_KEPT = 2048
"""Templates remembered; a template holds some kilobytes."""
_MASKS_KEPT = 32
"""Arrangements of fixed and varying bytes remembered for one length; each costs one look a search."""

_Mask = npt.NDArray[np.uint8]


class Shelf:
    """Templates by length, then by which bytes are fixed, then by those bytes."""

    def __init__(self) -> None:
        self._lengths: Dict[int, List[Tuple[_Mask, Dict[bytes, Template]]]] = {}
        self._count = 0

    def find(self, payload: bytes) -> Optional[Template]:
        """The template whose fixed bytes and width of step this record has. (Its checksum is not looked at.)"""
        shelves = self._lengths.get(len(payload))
        if shelves is None:
            return None
        record = np.frombuffer(payload, dtype=np.uint8)
        for mask, templates in shelves:
            template = templates.get((record & mask).tobytes())
            if template is not None and template.has_step_of(payload):
                return template
        return None

    def put(self, template: Template) -> None:
        """Remember a template."""
        if self._count >= _KEPT:
            self._lengths.clear()
            self._count = 0
        shelves = self._lengths.setdefault(template.length, [])
        self._count += 1
        for mask, templates in shelves:
            if np.array_equal(mask, template.mask):
                templates[template.fixed] = template
                return
        shelves.insert(0, (template.mask, {template.fixed: template}))
        del shelves[_MASKS_KEPT:]
