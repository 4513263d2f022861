"""What a network consists of, in its own order: weights, what of them the optimizer was given, activations.

It reads names, shapes and classes of MindSpore's objects and imports no MindSpore.
"""

from __future__ import annotations

import json
from typing import AbstractSet, Any, Dict, FrozenSet, Iterator, List, Optional, Sequence, Set, Tuple

from mstui.record import plan

TRAINED, FROZEN, LEFT_OUT, STATISTICS = "trained", "frozen", "left_out", "statistics"
"""given to the optimizer, if one is known; does not require a gradient; requires one, but the optimizer was not given
it; running statistics of a normalisation"""
_STATISTICS_NAMES = ("moving_mean", "moving_variance", "running_mean", "running_var", "num_batches_tracked")
_COUNTERS = frozenset(("scale_sense", "loss_scale", "current_iterator_step", "last_overflow_iterator_step"))
_TABLE_CELLS = frozenset(("Embedding", "EmbeddingLookup", "MultiFieldEmbeddingLookup", "VocabEmbedding"))
_SPARSE_CELLS = frozenset(("EmbeddingLookup", "MultiFieldEmbeddingLookup"))
_HALVES = {"FP16": "float16", "BF16": "bfloat16"}
"""MindSpore's kinds of mixed precision"""
LONGEST_CHUNK = 1000
"""Characters of one fact: readers cut longer texts."""
MOST_LISTED = 2000
"""Parameters in the list; a network of more names only their number."""


class Inventory:
    """Parameters and cells of one training."""

    def __init__(self, network: Optional[Any], optimizer: Optional[Any]) -> None:
        self._network = network
        self.given: Tuple[Any, ...] = given_parameters(optimizer)
        """what the optimizer updates, in its order, which is that of the gradients"""
        given = _ids(self.given)
        optimizers = [] if network is None else optimizers_in(network)
        if optimizer is not None:
            optimizers.append(optimizer)
        state: Set[int] = set()
        updated = set(given)
        for each in optimizers:
            state |= _ids(each.get_parameters())
            updated |= _ids(given_parameters(each))
        everything: List[Any] = []
        seen = set()
        sources = [] if network is None else list(network.get_parameters())
        for parameter in [*sources, *self.given]:
            own_state = id(parameter) in state and id(parameter) not in updated
            if id(parameter) not in seen and not own_state and not _is_counter(parameter, given):
                seen.add(id(parameter))
                everything.append(parameter)
        self.parameters: Tuple[Any, ...] = tuple(everything)
        """of the network, not of the optimizer"""
        self._knows_optimizer = bool(optimizers)
        self.states: Tuple[str, ...] = tuple(self._state(parameter, updated) for parameter in everything)
        self.weights: Tuple[Any, ...] = tuple(
            parameter for parameter, state in zip(everything, self.states) if state != STATISTICS
        )
        """those that statistics can be of"""
        self.names: Tuple[str, ...] = tuple(parameter.name for parameter in self.weights)
        self.tables, self.sparse = self._tables()

    def _state(self, parameter: Any, given: AbstractSet[int]) -> str:
        if id(parameter) in given:
            return TRAINED if parameter.requires_grad else FROZEN
        if not parameter.requires_grad:
            return STATISTICS if parameter.name.endswith(_STATISTICS_NAMES) else FROZEN
        # of an optimizer that nobody has shown nothing can be said
        return LEFT_OUT if self._knows_optimizer else TRAINED

    def _tables(self) -> Tuple[FrozenSet[str], FrozenSet[str]]:
        tables, sparse = set(), set()
        for _, cell in self._cells():
            kind = type(cell).__name__
            if kind in _TABLE_CELLS:
                names = [parameter.name for parameter in cell.get_parameters() if len(parameter.shape) == 2]
                tables.update(names)
                if kind in _SPARSE_CELLS and getattr(cell, "sparse", True):
                    sparse.update(names)
        return frozenset(tables), frozenset(sparse)

    def _cells(self) -> Iterator[Tuple[str, Any]]:
        if self._network is not None:
            yield from self._network.cells_and_names()

    def activations(self, patterns: plan.Patterns) -> List[Tuple[str, Any]]:
        """Cells whose outputs are recorded: the known activation classes, or those whose names match."""
        if patterns is False:
            return []
        found: Dict[int, Tuple[str, Any]] = {}
        everything = patterns is None or patterns is True
        for name, cell in self._cells():
            if not everything or type(cell).__name__ in plan.ACTIVATIONS:
                found.setdefault(id(cell), (without_wrappers(name), cell))
        cells = [(name, cell) for name, cell in found.values() if name]
        chosen = plan.selected([name for name, _ in cells], patterns, plan.MOST_ACTIVATIONS)
        return [cells[at] for at in chosen]

    def listed(self) -> List[str]:
        """The parameters in network order as JSON, [[name, shape, state], ...] in pieces of LONGEST_CHUNK."""
        chunks: List[str] = []
        entries: List[str] = []
        length = 2
        for parameter, state in list(zip(self.parameters, self.states))[:MOST_LISTED]:
            entry = json.dumps([parameter.name, list(parameter.shape), state], separators=(",", ":"))
            if entries and length + len(entry) + 1 > LONGEST_CHUNK:
                chunks.append(f"[{','.join(entries)}]")
                entries, length = [], 2
            entries.append(entry)
            length += len(entry) + 1
        if entries:
            chunks.append(f"[{','.join(entries)}]")
        return chunks

    def of_state(self, state: str) -> List[str]:
        """Names of the parameters in this state."""
        return [parameter.name for parameter, found in zip(self.parameters, self.states) if found == state]

    def precision(self) -> str:
        """How many cells compute in half precision; empty when none does."""
        counts: Dict[str, int] = {}
        cells = 0
        for _, cell in self._cells():
            cells += 1
            # the attributes that say so have other names in older releases
            name = _HALVES.get(cell.get_mixed_precision_type().name)
            if name:
                counts[name] = counts.get(name, 0) + 1
        return ", ".join(f"{name} in {number} of {cells} cells" for name, number in counts.items())


def without_wrappers(name: str) -> str:
    """A cell's name without the cells that a training wraps around the network."""
    parts = name.split(".")
    while parts and parts[0] in ("network", "_backbone", "backbone_network"):
        parts = parts[1:]
    return ".".join(parts)


def given_parameters(optimizer: Optional[Any]) -> Tuple[Any, ...]:
    """What an optimizer of either of MindSpore's families updates."""
    if optimizer is None:
        return ()
    parameters = getattr(optimizer, "parameters", None)
    if parameters is not None and not callable(parameters):
        return tuple(parameters)
    groups: Sequence[Any] = getattr(optimizer, "param_groups", ())
    return tuple(parameter for group in groups for parameter in group["params"])


def optimizers_in(network: Any) -> List[Any]:
    """MindSpore's optimizers among the cells of a network; both of its families have a base class of this name."""
    return [cell for _, cell in network.cells_and_names() if any(map(_is_optimizer, type(cell).__mro__))]


def _is_optimizer(kind: Any) -> bool:
    return str(kind.__name__) == "Optimizer" and str(kind.__module__).startswith("mindspore.")


def _is_counter(parameter: Any, given: FrozenSet[int]) -> bool:
    """The state of a loss scale or of a step counter, which a train-one-step cell keeps beside the network."""
    lone = int(parameter.size) <= 1 and not len(parameter.shape)
    return id(parameter) not in given and (lone or parameter.name in _COUNTERS)


def _ids(parameters: Any) -> FrozenSet[int]:
    return frozenset(id(parameter) for parameter in parameters)
