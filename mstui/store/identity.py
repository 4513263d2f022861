"""One curve under one name: which tag of a summary a log's tag stands for.

Decoders of logs and tables name what a print says by mstui's own names (`loss`, `learning_rate`, `eval/accuracy`); a
summary has the names that its writer chose (`loss/auto`, `learning-rate`, `train_loss_3`). Where exactly one name of
the summary can be meant, both are one curve, listed under the summary's name. In doubt they stay two curves. Decided
from names alone, so that it can be decided again when another name appears.
"""

from __future__ import annotations

import re
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

from mstui.store.roles import form_of, held_out, without_namespaces

MEANINGS: Tuple[Tuple[str, str], ...] = (
    ("loss", r"(?:(?:train|training|total)_)?loss|loss_total|loss/(?:train|training|total)"),
    ("learning_rate", r"(?:current_|cur_)?(?:lr|learning_?rate)"),
    ("loss_scale", r"(?:loss_)?scale|loss_?scale(?:_value)?|loss_scaling|scal(?:e|ing)_sense?"),
    ("grad_norm/global", r"(?:global_|total_)?grad(?:ient)?s?_?norm(?:/(?:global|total|all))?|global_norm"),
    ("overflow", r"(?:is_|has_)?overflow(?:_cond|_flag)?"),
    ("step_time_ms", r"(?:per_)?(?:step|iteration|iter|batch)_time_ms|ms_per_step|elapsed_time_per_iteration_\(ms\)"),
    ("epoch", r"(?:current_|cur_)?epoch"),
)
"""A log's tag, and the forms under which summaries have the same. A loss of one epoch, of one term (`lm_loss` beside an
auxiliary one), or a time without its unit is not the same."""
EVALUATED = "eval/"
"""head of a log's tags of held-out data"""
METRIC_NAMES = {"acc": "accuracy"}
"""short names of the same metric"""
RANKED = r"(?P<base>train_loss|val_.+)_(?P<rank>\d+)"
"""MindCV's tags, which end with the rank that wrote them"""


class _Family(NamedTuple):
    """Names of one meaning in a summary: one name for every rank, or one for each."""

    every: Tuple[str, ...] = ()
    by_rank: Tuple[Tuple[int, str], ...] = ()


class Identity:
    """The names of one run. Immutable."""

    def __init__(self, exact: Iterable[str], printed: Iterable[str]) -> None:
        """`exact`: tags of summaries; `printed`: those of tables and logs."""
        exact = tuple(exact)
        names = set(exact)
        self._families: Dict[str, _Family] = {}
        """by printed tag"""
        self._printed: Dict[str, str] = {}
        """exact tag -> printed tag"""
        self._hidden: set[str] = set()
        wanted = [tag for tag in printed if tag not in names]
        if not wanted or not exact:
            return
        forms, meanings = _by_form(exact)
        for tag in wanted:
            meaning = _meaning_of_print(tag)
            same = _Family(forms.get(form_of(tag), ()))
            family = meanings.get(meaning, _Family()) if meaning else same
            members = (*family.every, *(name for _, name in family.by_rank))
            one = len(family.every) == 1 if family.every else bool(family.by_rank)
            if not one or (family.every and family.by_rank) or any(name in self._printed for name in members):
                continue
            self._families[tag] = family
            self._printed.update(dict.fromkeys(members, tag))
            self._hidden.update((tag, *members[1:]))

    def __bool__(self) -> bool:
        """Is there a tag that has two names?"""
        return bool(self._families)

    def names(self, tag: str, rank_id: int) -> Tuple[str, str]:
        """Under which names a rank's summaries, and its tables and logs, have what is asked for."""
        printed = tag if tag in self._families else self._printed.get(tag)
        if printed is None:
            return tag, tag
        family = self._families[printed]
        exact = family.every[0] if family.every else dict(family.by_rank).get(rank_id, tag)
        return exact, printed

    def is_listed(self, tag: str) -> bool:
        """False for a second name of a curve."""
        return tag not in self._hidden


def _by_form(exact: Tuple[str, ...]) -> Tuple[Dict[str, Tuple[str, ...]], Dict[str, _Family]]:
    """Names by their form, and by what they mean."""
    forms: Dict[str, Tuple[str, ...]] = {}
    meanings: Dict[str, _Family] = {}
    for name in exact:
        form = form_of(name)
        forms[form] = (*forms.get(form, ()), name)
        ranked = re.fullmatch(RANKED, form)
        base = form if ranked is None else str(ranked["base"])
        meaning = _meaning(base)
        if meaning:
            every, by_rank = meanings.get(meaning, _Family())
            if ranked is None:
                meanings[meaning] = _Family((*every, name), by_rank)
            else:
                meanings[meaning] = _Family(every, tuple(sorted((*by_rank, (int(ranked["rank"]), name)))))
    return forms, meanings


def _meaning(form: str) -> str:
    """The log's tag that a name of a summary stands for; empty when it is none of them."""
    short = "/".join(without_namespaces(form.split("/")))
    forms: List[str] = [form, short]
    for each in forms:
        rest = held_out(each)
        if rest:
            return EVALUATED + METRIC_NAMES.get(rest, rest)
    for each in forms:
        found: Optional[str] = next((tag for tag, names in MEANINGS if re.fullmatch(names, each)), None)
        if found is not None:
            return found
    return ""


def _meaning_of_print(tag: str) -> str:
    if tag.startswith(EVALUATED):
        rest = form_of(tag[len(EVALUATED) :])
        return EVALUATED + METRIC_NAMES.get(rest, rest)
    return tag if any(tag == each for each, _ in MEANINGS) else ""
