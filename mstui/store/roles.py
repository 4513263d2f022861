"""What a tag means, from its name alone: a table of rules over the names that MindSpore's world uses.

A rule is an anchored pattern over a *form* of the tag: lower case, blanks and hyphens as underscores, `/auto` and
namespaces like `train/` taken off. It never looks at values. A person's word (`Roles.set`) beats every rule.
"""

from __future__ import annotations

import re
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from mstui.model.records import BlobKind
from mstui.model.roles import Role
from mstui.monitor_api import TagInfo
from mstui.store.role_rules import (
    BEST_LOSS_NAMES,
    EVALUATION,
    EVALUATION_PARTS,
    EVALUATION_RULES,
    MSPROBE,
    NEUTRAL_SEGMENTS,
    STATISTIC,
    TRAINING_RULES,
    WHOLE_NETWORK,
)

_AUTO = "/auto"
LONGEST_TAG = 512
"""Characters of a tag that rules look at: a hostile name costs no more than that."""


class TagMeaning(NamedTuple):
    """What a tag is about."""

    role: Role
    parameter: str = ""
    """the parameter or layer that a PARAMETER tag is about"""
    statistic: str = ""
    """what of it"""


# Not compiled here: `re` does it at the first use and keeps it, and most runs need few of them for their first picture.
_RANK_SEGMENT = r"(?:rank|device|card|worker|npu)[_-]?\d+"
_TENSOR_NAMES = {
    "weight": "weight", "weights": "weight", "param": "weight", "params": "weight", "parameter": "weight",
    "parameters": "weight", "gradient": "gradient", "gradients": "gradient", "grad": "gradient", "grads": "gradient",
    "activation": "activation", "activations": "activation", "act": "activation", "update": "update",
    "updates": "update",
}  # fmt: skip
"""First or last path segment of a histogram's tag -> statistic."""

_EVAL_HEAD = rf"{EVALUATION}[_/.](?P<rest>.+)"
_EVAL_TAIL = rf"(?P<rest>.+)[_/.]{EVALUATION}(?P<more>[_/.].+)?"
_PERIOD = r"(?:(?:epoch|batch|step|train|training)_(?P<head>.+)|(?P<tail>.+)_(?:step|epoch))"


def strip_auto(tag: str) -> str:
    """The tag without the suffix that SummaryCollector adds."""
    return tag[: -len(_AUTO)] if tag.endswith(_AUTO) else tag  # noqa: FURB188


def form_of(tag: str) -> str:
    """What rules look at: lower case, blanks and hyphens as underscores, without `/auto`."""
    text = re.sub(r"[\s\-]+", "_", strip_auto(tag[:LONGEST_TAG].strip()).lower())
    return re.sub(r"/+", "/", text).strip("/_")


def without_namespaces(parts: Sequence[str]) -> List[str]:
    """Path segments (in any case) without ranks, doubled names, and leading words that say nothing."""
    kept = [part for part in parts if not re.fullmatch(_RANK_SEGMENT, part.lower())] or list(parts)
    while len(kept) > 1 and (form_of(kept[0]) in NEUTRAL_SEGMENTS or form_of(kept[0]) == form_of(kept[1])):
        kept = kept[1:]
    return kept


def _is_statistic(form: str) -> bool:
    return "_" in form and re.fullmatch(STATISTIC, form) is not None


def _parameter(tag: str) -> Optional[TagMeaning]:
    """`statistic/parameter` or `parameter/statistic` of a scalar."""
    text = strip_auto(tag[:LONGEST_TAG])
    probe = re.fullmatch(MSPROBE, text) if ":" in text else None
    if probe is not None:
        return TagMeaning(Role.PARAMETER, probe["parameter"], probe["statistic"])
    parts = without_namespaces([part for part in text.split("/") if part])
    if len(parts) < 2:
        return None
    head, tail = form_of(parts[0]), form_of(parts[-1])
    if _is_statistic(head):
        return None if tail in WHOLE_NETWORK else TagMeaning(Role.PARAMETER, "/".join(parts[1:]), head)
    if _is_statistic(tail):
        return None if head in WHOLE_NETWORK else TagMeaning(Role.PARAMETER, "/".join(parts[:-1]), tail)
    return None


def held_out(form: str) -> str:
    """What was measured on held-out data; empty when nothing in the form says that it was."""
    if not any(part in form for part in EVALUATION_PARTS):
        return ""
    head = re.fullmatch(_EVAL_HEAD, form)
    if head is not None:
        return str(head["rest"])
    tail = re.fullmatch(_EVAL_TAIL, form)
    return "" if tail is None else f"{tail['rest']}{tail['more'] or ''}"


def _scalar_role(tag: str) -> Role:
    whole = form_of(tag)
    parts = whole.split("/")
    short = "/".join(without_namespaces(parts))
    for form in dict.fromkeys((whole, short)):
        rest = held_out(form)
        if rest:
            return next((rule.role for rule in EVALUATION_RULES if rule.matches(rest)), Role.OTHER)
    forms = [whole, short]
    period = re.fullmatch(_PERIOD, short)
    if period is not None:
        inner = period["head"] or period["tail"]
        forms.append(inner)
        again = re.fullmatch(_PERIOD, inner)
        if again is not None:
            forms.append(again["head"] or again["tail"])
    # The longest form first, or `batch_time` would be read as "time"; but `epoch_loss` is the loss and not a term of
    # it, so the rules for terms wait until every form was tried.
    late = Role.OTHER
    for form in dict.fromkeys(forms):
        for rule in TRAINING_RULES:
            if rule.matches(form):
                if rule.role is not Role.PARTIAL_LOSS:
                    return rule.role
                late = rule.role
                break
    return late


def _histogram(tag: str) -> TagMeaning:
    text = tag[:LONGEST_TAG]
    if text.endswith("/auto"):
        return TagMeaning(Role.PARAMETER, strip_auto(text), "weight")
    parts = [part for part in text.split("/") if part]
    if len(parts) > 1:
        head, tail = _TENSOR_NAMES.get(parts[0].lower()), _TENSOR_NAMES.get(parts[-1].lower())
        if head is not None:
            return TagMeaning(Role.PARAMETER, "/".join(parts[1:]), head)
        if tail is not None:
            return TagMeaning(Role.PARAMETER, "/".join(parts[:-1]), tail)
    if text.endswith((".grad", "_grad")):
        return TagMeaning(Role.PARAMETER, text[:-5], "gradient")
    return TagMeaning(Role.PARAMETER, text, "value")


def classify(tag: str, kind: Optional[BlobKind] = None) -> TagMeaning:
    """What the rules say of a tag."""
    if kind is BlobKind.HISTOGRAM:
        return _histogram(tag)
    if kind is not None:
        return TagMeaning(Role.OTHER)
    return _parameter(tag) or TagMeaning(_scalar_role(tag))


class Roles:
    """The rules, remembered a tag, under a person's own words."""

    def __init__(self, said: Optional[Dict[str, Role]] = None) -> None:
        self._said: Dict[str, Role] = dict(said or {})
        self._known: Dict[Tuple[str, Optional[BlobKind]], TagMeaning] = {}
        self.version = 0
        """rises with every word said"""

    def set(self, tag: str, role: Role) -> None:
        """A person's word on a tag."""
        self._said[tag] = role
        self._known = {}
        self.version += 1

    @property
    def said(self) -> Dict[str, Role]:
        """Everything that was set, to be kept."""
        return dict(self._said)

    def meaning(self, tag: str, kind: Optional[BlobKind] = None) -> TagMeaning:
        """What a tag means; the same object until somebody sets a role."""
        known = self._known
        found = known.get((tag, kind))
        if found is None:
            found = classify(tag, kind)
            said = self._said.get(tag) if kind is None else None
            if said is not None:
                keeps = said is Role.PARAMETER
                found = TagMeaning(said, found.parameter if keeps else "", found.statistic if keeps else "")
            known[tag, kind] = found
        return found


_LOSSES = (Role.LOSS, Role.PARTIAL_LOSS, Role.EVAL_LOSS)


def choose_loss(tags: Sequence[TagInfo]) -> Optional[str]:
    """The one curve that "the loss" means, or None.

    A tag with the role LOSS: the plainest name first, then most points. Without one the term of a loss with most points
    stands in, then a loss on held-out data.
    """
    losses = [info for info in tags if info.role in _LOSSES and info.kind is None]
    for role in _LOSSES:
        candidates = [info for info in losses if info.role is role]
        if candidates:
            return min(candidates, key=lambda info: (_plainness(info.tag), -info.points, info.first_seen)).tag
    return None


def _plainness(tag: str) -> int:
    form = form_of(tag)
    short = "/".join(without_namespaces(form.split("/")))
    for name in (form, short):
        if name in BEST_LOSS_NAMES:
            return BEST_LOSS_NAMES.index(name)
    return len(BEST_LOSS_NAMES)
