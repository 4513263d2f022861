"""The tags of a run, over all of its ranks and sources: what each means, where it comes from and what is newest.

Kept from call to call, as a run may have thousands of tags and a screen asks every second.
"""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional, Tuple, Union

from mstui.model.roles import Role
from mstui.model.sources import Source
from mstui.monitor_api import TagInfo
from mstui.store.blob_index import BlobState
from mstui.store.columns import GroupState
from mstui.store.identity import Identity
from mstui.store.parts import Run, TagName
from mstui.store.recorded import freshest, newest, recorded
from mstui.store.roles import Roles, TagMeaning, choose_loss

_ROLE_ORDER = {role: place for place, role in enumerate(Role)}


class _Newest(NamedTuple):
    """What a tag's line is made of besides its name."""

    state: Optional[Union[GroupState, BlobState]]
    row: int
    sources: Tuple[Source, ...]
    points: int


class TagLists:
    """Makes lists and remembers them. Any thread asks; entries are replaced, never changed."""

    def __init__(self, roles: Roles) -> None:
        self._roles = roles
        self._lists: Dict[str, Tuple[Tuple[int, int], List[TagInfo]]] = {}
        self._infos: Dict[Tuple[str, TagName], Tuple[_Newest, TagMeaning, TagInfo]] = {}

    def let_go(self) -> None:
        """Forget everything."""
        self._lists, self._infos = {}, {}

    def tags(self, run_key: str, run: Run, revision: int) -> List[TagInfo]:
        """Every tag of a run by role and then first appearance; a curve that has two names once.

        Of several losses the one that "the loss" means comes first.
        """
        stamp = (revision, self._roles.version)
        listed = self._lists.get(run_key)
        if listed is not None and listed[0] == stamp:
            return list(listed[1])
        identity = run.identity
        mixed = bool(identity) or any(len(rank.sources) > 1 for rank in tuple(run.ranks.values()))
        infos: List[TagInfo] = []
        ranks = [run.ranks[rank_id] for rank_id in sorted(run.ranks)]
        for seen, (name, points) in enumerate(run.points().items()):
            kind, tag = name
            if kind is None and not identity.is_listed(tag):
                continue
            if mixed and kind is None:
                found = _newest_of_any(run, identity, tag, points)
            else:
                place = newest(ranks, name)
                found = _Newest(None, 0, (), points)
                if place is not None:
                    found = _Newest(place[0], place[1], (place[2],), points)
            infos.append(self._info(run_key, name, found, seen))
        best = choose_loss(infos)
        infos.sort(
            key=lambda info: (_ROLE_ORDER[info.role], info.kind is not None or info.tag != best, info.first_seen)
        )
        self._lists[run_key] = (stamp, infos)
        return list(infos)

    def _info(self, run_key: str, name: TagName, found: _Newest, seen: int) -> TagInfo:
        kind, tag = name
        meaning = self._roles.meaning(tag, kind)
        cached = self._infos.get((run_key, name))
        if (
            cached is not None
            and cached[0].state is found.state
            and cached[0].points == found.points
            and cached[0].sources == found.sources
            and cached[1] is meaning
        ):
            return cached[2]
        state, row, sources, points = found
        last_step: Optional[int] = None
        last_value: Optional[float] = None
        if state is not None:
            last_step = int(state.steps[state.n - 1])
            if isinstance(state, GroupState):
                last_value = float(state.values[row, state.n - 1])
        info = TagInfo(
            *(tag, kind, meaning.role, meaning.parameter, meaning.statistic, points, last_step, last_value, seen),
            sources,
        )
        self._infos[run_key, name] = (found, meaning, info)
        return info


def _newest_of_any(run: Run, identity: Identity, tag: str, points: int) -> _Newest:
    """A scalar on the lowest rank that has it, whatever its sources call it.

    Points that two sources have are counted once, in the source that has more.
    """
    for rank_id in sorted(run.ranks):
        records = recorded(run.ranks[rank_id], identity.names(tag, rank_id))
        latest = freshest(records)
        if latest is not None:
            most = max(sum(state.n for state, _row in each.parts) for each in records)
            sources = tuple(each.source for each in records)
            return _Newest(*latest.parts[-1], sources, most if len(records) > 1 else points)
    return _Newest(None, 0, (), points)
