"""What a tag's words say beyond its role: held-out data, the kind of objective."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache


class Objective(Enum):
    """What a curve is supposed to do."""

    DESCENDING = "descending"
    SIGNED = "signed"
    """falls, and may pass zero: ratios mean nothing"""
    ADVERSARIAL = "adversarial"
    """two nets pull at it: neither level nor swings mean anything"""
    REWARD = "reward"
    """is supposed to rise"""
    UNORDERED = "unordered"
    """a term of which neither direction is good"""


_WORD = r"(?:^|[^a-z0-9]){}(?:$|[^a-z0-9])"
_HELD_OUT = re.compile(_WORD.format(r"(?:val|valid|validation|eval|evaluation|test|testing|dev|predict)"))
_ADVERSARIAL = re.compile(_WORD.format(r"(?:[dg](?:_?\d)?_?loss|loss_?[dg]|disc|discriminator|gen|generator|adv|gan)"))
_REWARD = re.compile(_WORD.format(r"(?:reward|rewards|return|returns|episode_reward|score)"))
_UNORDERED = re.compile(_WORD.format(r"(?:policy|entropy|kl|aux|auxiliary|actor|critic|value)(?:_loss)?"))


def _form(tag: str) -> str:
    return re.sub(r"[\s\-]+", "_", tag[:512].lower())


def is_held_out(tag: str) -> bool:
    """Does the name say that it was measured on data that is not trained on?"""
    return _HELD_OUT.search(_form(tag).replace("_", "/")) is not None


@lru_cache(maxsize=1024)
def objective_of(tag: str) -> Objective:
    """What the name alone says; values may still show that a descending curve is signed."""
    form = _form(tag)
    if _ADVERSARIAL.search(form) is not None:
        return Objective.ADVERSARIAL
    if _REWARD.search(form) is not None:
        return Objective.REWARD
    if _UNORDERED.search(form) is not None:
        return Objective.UNORDERED
    return Objective.DESCENDING
