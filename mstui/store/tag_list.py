"""The tags of a run, over all of its ranks and sources: what each means, where it comes from and what is newest.

Kept from call to call, as a run may have thousands of tags and a screen asks every second.
"""

from __future__ import annotations

from typing import Dict, List, Optional, Tuple, Union

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


_State = Union[GroupState, BlobState]
_Found = Tuple[Optional[_State], int, Tuple[Source, ...], int]
"""newest place (state and row), sources and points of a tag"""


class TagLists:
    """Makes lists and remembers them. Any thread asks; entries are replaced, never changed."""

    def __init__(self, roles: Roles) -> None:
        self._roles = roles
        self._lists: Dict[str, Tuple[Tuple[int, int], List[TagInfo]]] = {}
        self._infos: Dict[Tuple[str, TagName], Tuple[Optional[_State], int, TagMeaning, TagInfo]] = {}

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
        two_names = bool(identity)
        mixed = two_names or any(len(rank.sources) > 1 for rank in tuple(run.ranks.values()))
        infos: List[TagInfo] = []
        ranks = [run.ranks[rank_id] for rank_id in sorted(run.ranks)]
        for seen, (name, points) in enumerate(run.points().items()):
            if name[0] is None and mixed:
                if not two_names or identity.is_listed(name[1]):
                    infos.append(self._info(run_key, name, *_newest_of_any(run, identity, name[1], points), seen))
                continue
            place = newest(ranks, name)
            if place is None:
                infos.append(self._info(run_key, name, None, 0, (), points, seen))
            else:
                infos.append(self._info(run_key, name, *place, points, seen))
        best = choose_loss(infos)
        infos.sort(
            key=lambda info: (_ROLE_ORDER[info.role], info.tag != best or info.kind is not None, info.first_seen)
        )
        self._lists[run_key] = (stamp, infos)
        return list(infos)

    def _info(
        self,
        run_key: str,
        name: TagName,
        state: Optional[_State],
        row: int,
        sources: Tuple[Source, ...],
        points: int,
        seen: int,
    ) -> TagInfo:
        kind, tag = name
        meaning = self._roles.meaning(tag, kind)
        cached = self._infos.get((run_key, name))
        if cached is not None and cached[0] is state and cached[1] == points and cached[2] is meaning:
            info = cached[3]
            if info.sources == sources:
                return info
        last_step: Optional[int] = None
        last_value: Optional[float] = None
        if state is not None:
            last_step = int(state.steps[state.n - 1])
            if isinstance(state, GroupState):
                last_value = float(state.values[row, state.n - 1])
        role, parameter, statistic = meaning
        info = TagInfo(tag, kind, role, parameter, statistic, points, last_step, last_value, seen, sources)
        self._infos[run_key, name] = (state, points, meaning, info)
        return info


def _newest_of_any(run: Run, identity: Identity, tag: str, points: int) -> _Found:
    """A scalar on the lowest rank that has it, whatever its sources call it.

    Points that two sources have are counted once, in the source that has more.
    """
    for rank_id in sorted(run.ranks):
        records = recorded(run.ranks[rank_id], identity.names(tag, rank_id))
        latest = freshest(records)
        if latest is not None:
            most = max(sum(state.n for state, _row in each.parts) for each in records)
            sources = tuple(each.source for each in records)
            state, row = latest.parts[-1]
            return state, row, sources, most if len(records) > 1 else points
    return None, 0, (), points
