"""The view that comes back next time, per watched path.

What cannot be used of a stored view is left out silently: a view is a convenience, and the file may be of another
version.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, Mapping, Optional, Tuple

from mstui.config import MAX_SMOOTHING, Settings, load_view, save_view
from mstui.model.series import XAxis
from mstui.tui.layout import VIEWS
from mstui.tui.state import Scale, ViewState

MAX_ITEMS = 1000
"""run keys and scales of a stored view that are used"""
_TEXTS = ("tag_filter", "run_filter", "rank_filter", "layer_metric", "parameter", "pinned", "zoomed")
_FLAGS = ("show_superseded", "band")
_TUPLES = ("overlay", "colours")


def recall(settings: Settings, root: str) -> ViewState:
    """The view of last time under what was asked for now: what this call's command line gives wins."""
    stored = load_view(settings.state_dir, root) if settings.state_dir else {}
    fallback = ViewState(smoothing=settings.smoothing, axis=XAxis(settings.x_axis))
    view = from_plain(stored, fallback)
    if settings.filter or "filter" in settings.given:
        view = dataclasses.replace(view, tag_filter=settings.filter)
    if "smoothing" in settings.given:
        view = dataclasses.replace(view, smoothing=fallback.smoothing)
    if "x_axis" in settings.given and view.axis is not fallback.axis:
        # A range of another axis means nothing on this one.
        view = dataclasses.replace(view, axis=fallback.axis, x_range=None)
    return view


def remember(settings: Settings, root: str, view: ViewState) -> Optional[str]:
    """Store a view; what went wrong, else None."""
    return save_view(settings.state_dir, root, to_plain(view)) if settings.state_dir else None


def to_plain(view: ViewState) -> Dict[str, Any]:
    """A view as JSON values. The selected run is left out: next time another one is newest."""
    plain: Dict[str, Any] = {name: getattr(view, name) for name in (*_TEXTS, *_FLAGS)}
    plain.update({name: list(getattr(view, name))[:MAX_ITEMS] for name in _TUPLES})
    plain["axis"] = view.axis.value
    plain["smoothing"] = view.smoothing
    plain["scales"] = {tag: scale.value for tag, scale in view.scales[:MAX_ITEMS]}
    plain["x_range"] = list(view.x_range) if view.x_range is not None else None
    plain["view"] = view.view
    return plain


def from_plain(plain: Mapping[str, Any], fallback: ViewState) -> ViewState:
    """A view from JSON values; each that is not what it should be is the fallback's."""
    changes: Dict[str, Any] = {}
    for name in _TEXTS:
        if isinstance(plain.get(name), str):
            changes[name] = plain[name]
    for name in _FLAGS:
        if isinstance(plain.get(name), bool):
            changes[name] = plain[name]
    for name in _TUPLES:
        value = plain.get(name)
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            changes[name] = tuple(value[:MAX_ITEMS])
    if plain.get("axis") in [axis.value for axis in XAxis]:
        changes["axis"] = XAxis(plain["axis"])
    smoothing = _number(plain.get("smoothing"))
    if smoothing is not None and 0 <= smoothing <= MAX_SMOOTHING:
        changes["smoothing"] = smoothing
    if plain.get("view") in VIEWS:
        changes["view"] = plain["view"]
    changes["scales"] = _scales(plain.get("scales"))
    changes["x_range"] = _range(plain.get("x_range"))
    return dataclasses.replace(fallback, **changes)


def _scales(value: object) -> Tuple[Tuple[str, Scale], ...]:
    if not isinstance(value, dict):
        return ()
    known = {scale.value: scale for scale in Scale}
    return tuple(
        (tag, known[name]) for tag, name in list(value.items())[:MAX_ITEMS] if isinstance(name, str) and name in known
    )


def _range(value: object) -> Optional[Tuple[float, float]]:
    if not isinstance(value, list) or len(value) != 2:
        return None
    low, high = _number(value[0]), _number(value[1])
    return (low, high) if low is not None and high is not None and low < high else None


def _number(value: object) -> Optional[float]:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:  # JSON's whole numbers may have any length
        return None
    return number if abs(number) < float("inf") else None
