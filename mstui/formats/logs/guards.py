"""Which words of many stand in a text: words that share letters are looked for only where those letters are."""

from __future__ import annotations

from typing import Dict, Generic, List, Sequence, Set, Tuple, TypeVar

T = TypeVar("T")

STEM = 3
"""Letters that words may share: two are in every text, four in too few words."""


class Guards(Generic[T]):
    """Items, each with words of which one must stand in a text for the item to be of interest."""

    def __init__(self, items: Sequence[Tuple[T, Sequence[str]]]) -> None:
        self._items = [item for item, _words in items]
        self.words = [word for _item, words in items for word in words]
        self._groups = _groups([(word, number) for number, (_item, words) in enumerate(items) for word in words])

    def present(self, text: str) -> Sequence[T]:
        """The items of interest, in the order given."""
        found: List[int] = []
        for stem, words in self._groups:
            if stem in text:
                found += [number for word, number in words if word in text]
        if not found:
            return ()
        return [self._items[number] for number in sorted(set(found))]


def _groups(words: List[Tuple[str, int]]) -> List[Tuple[str, List[Tuple[str, int]]]]:
    """Words by what they share, the stem that most of them share first."""
    out = []
    left = [each for each in words if len(each[0]) >= STEM]
    while left:
        counts: Dict[str, int] = {}
        for word, _number in left:
            for stem in _stems(word):
                counts[stem] = counts.get(stem, 0) + 1
        best = max(counts, key=lambda stem: (counts[stem], stem))
        out.append((best, [each for each in left if best in each[0]]))
        left = [each for each in left if best not in each[0]]
    return out + [(word, [(word, number)]) for word, number in words if len(word) < STEM]


def _stems(word: str) -> Set[str]:
    return {word[at : at + STEM] for at in range(len(word) - STEM + 1)}
