"""Several names in one narrow column: cut where they are equal, kept where they differ.

Pure: safe texts in, texts out. A name that fits is never changed, and names that differ anyway when each is cut alone
are left at that. It refuses to number or to rename: where not even the difference fits, two names stay alike.
"""

from __future__ import annotations

from functools import partial
from typing import Callable, Collection, Dict, FrozenSet, List, NamedTuple, Optional, Sequence, Tuple

from mstui.safe_text import ELLIPSIS, fit, width

Cut = Callable[[str, int], str]
"""a safe text, cells -> the text cut to them"""

SEPARATORS = frozenset("/._-: ")
"""what stands between the components of tags and parameters"""
_HEAD_SHARE = 1 / 3
"""of the room beside the difference that the common start may take: the common end says what the name is of"""
_LEAST_PART = 3
"""cells from which a cut start or end says something: an ellipsis and two letters"""
_LEAST_TAIL = 1 / 2
"""of the common end that must be left before the start is kept whole"""

VAGUE: FrozenSet[str] = frozenset(
    (
        *("train", "training", "val", "valid", "validation", "eval", "evaluation", "test", "testing", "dev", "predict"),
        *("global", "total", "all", "mean", "avg", "max", "min", "best", "step", "epoch", "by_epoch"),
    )
)
"""last components that say of what or when, but not what is measured"""


class _Split(NamedTuple):
    """What a group of names shares at both ends, and what is left of each."""

    head: str
    middles: Tuple[str, ...]
    tail: str


def short_names(
    names: Sequence[str], cells: int, *, ellipsis: str = ELLIPSIS, cut: Optional[Cut] = None
) -> Tuple[str, ...]:
    """Each of these safe names in at most `cells` cells, in their order; different ones differ wherever there is room.

    `cut` is how one name alone is cut, in the middle unless given; it must leave one that fits as it is.
    """
    cut = cut or partial(fit, ellipsis=ellipsis)
    unique = list(dict.fromkeys(names))
    alone = {name: cut(name, cells) for name in unique}
    if len(set(alone.values())) == len(unique):
        return tuple(alone[name] for name in names)
    texts = dict(alone)
    group_of: Dict[str, Tuple[str, ...]] = {name: (name,) for name in unique}
    # Each turn joins at least two groups into one, or is the last.
    for _turn in unique:
        grown = False
        for alike in _alike(texts):
            members = tuple(dict.fromkeys(each for name in alike for each in group_of[name]))
            if members == group_of[alike[0]]:
                continue
            grown = True
            long = [name for name in members if width(name) > cells]
            if len(long) > 1:
                texts.update(zip(long, _apart(long, cells, ellipsis)))
            group_of.update(dict.fromkeys(members, members))
        if not grown:
            break
    better = texts if len(set(texts.values())) >= len(set(alone.values())) else alone
    return tuple(better[name] for name in names)


def endings(names: Sequence[str], taken: Collection[str] = ()) -> Tuple[str, ...]:
    """The fewest last components (after "/") of each name that say what it is: no two alike, none of those taken.

    Names that are equal stay so.
    """
    parts = {name: name.split("/") for name in names}
    used = {name: 2 if name.rpartition("/")[2].lower() in VAGUE else 1 for name in parts}

    def ending(name: str) -> str:
        return "/".join(parts[name][-used[name] :])

    while True:
        by_ending: Dict[str, List[str]] = {}
        for name in parts:
            by_ending.setdefault(ending(name), []).append(name)
        longer = [
            name
            for text, alike in by_ending.items()
            if len(alike) > 1 or text in taken
            for name in alike
            if used[name] < len(parts[name])
        ]
        if not longer:
            return tuple(ending(name) for name in names)
        for name in longer:
            used[name] += 1


def _alike(texts: Dict[str, str]) -> List[List[str]]:
    """Names that have the same text, two or more each."""
    by_text: Dict[str, List[str]] = {}
    for name, text in texts.items():
        by_text.setdefault(text, []).append(name)
    return [names for names in by_text.values() if len(names) > 1]


def _apart(names: Sequence[str], cells: int, ellipsis: str) -> List[str]:
    """Names cut so that what differs between them stays, as whole components where these tell all of them apart."""
    whole = _joined(_split(names, whole=True), cells, ellipsis)
    if len(set(whole)) == len(names):
        return whole
    letters = _joined(_split(names, whole=False), cells, ellipsis)
    return max(whole, letters, key=lambda texts: len(set(texts)))


def _joined(split: _Split, cells: int, ellipsis: str) -> List[str]:
    """The middles, as whole as they can be, with what is left of the common start and end in the room beside them."""
    room = cells - width(ellipsis) * (bool(split.head) + bool(split.tail))
    if room < 1 or not (split.head or split.tail):
        return []
    middles = short_names(split.middles, room, ellipsis=ellipsis)
    beside = cells - max(width(middle) for middle in middles)
    head, tail = _ends(split.head, split.tail, beside, ellipsis)
    texts = [head + middle + tail for middle in middles]
    once = [_seam(_seam(head, middle, ellipsis), tail, ellipsis) for middle in middles]
    return once if len(set(once)) == len(set(texts)) else texts


def _seam(left: str, right: str, ellipsis: str) -> str:
    """Both, with one ellipsis where each has one at the seam."""
    both = left.endswith(ellipsis) and right.startswith(ellipsis)
    return left + right[len(ellipsis) :] if both else left + right


def _split(names: Sequence[str], *, whole: bool) -> _Split:
    """Common start and end, taken off; `whole`: the middles keep their components, and the separators beside them."""
    head = _common(names)
    start = len(head)
    while start and ((whole and head[start - 1] not in SEPARATORS) or _joins(names, start)):
        start -= 1
    if whole and start:
        start -= 1
    rests = [name[start:] for name in names]
    tail = _common([rest[::-1] for rest in rests])[::-1]
    while tail and ((whole and tail[0] not in SEPARATORS) or not width(tail[0])):
        tail = tail[1:]
    if whole:
        tail = tail[1:]
    return _Split(head[:start], tuple(rest[: len(rest) - len(tail)] for rest in rests), tail)


def _common(texts: Sequence[str]) -> str:
    """The characters that all of them begin with."""
    first, last = min(texts), max(texts)
    return first[: next((at for at, (one, other) in enumerate(zip(first, last)) if one != other), len(first))]


def _joins(names: Sequence[str], at: int) -> bool:
    """Does a combining mark stand there, which belongs to the letter before it?"""
    return any(at < len(name) and not width(name[at]) for name in names)


def _ends(head: str, tail: str, cells: int, ellipsis: str) -> Tuple[str, str]:
    """Common start and end in so many cells: one of them whole if that leaves enough of the other."""
    if width(head) + width(tail) <= cells:
        return head, tail
    for_head, for_tail = cells - width(tail), cells - width(head)
    if for_head >= _LEAST_PART:
        for_tail = width(tail)
    elif for_tail >= max(width(tail) * _LEAST_TAIL, _LEAST_PART):
        for_head = width(head)
    else:
        for_head = max(int(cells * _HEAD_SHARE), width(ellipsis) * bool(head))
        for_tail = cells - for_head
    return fit(head, for_head, middle=False, ellipsis=ellipsis), _last(tail, for_tail, ellipsis)


def _last(text: str, cells: int, ellipsis: str) -> str:
    """The end of a text after an ellipsis; all of it where it fits."""
    if width(text) <= cells:
        return text
    start = 0
    while start < len(text) and (width(text[start:]) > cells - width(ellipsis) or not width(text[start])):
        start += 1
    return ellipsis + text[start:]
