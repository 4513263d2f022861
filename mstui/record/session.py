"""One training under watch: arms the probes for a step, and reads what they found as one small tensor.

It knows networks, optimizers and devices, and neither files nor step numbers.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

import mindspore as ms
import numpy as np
import numpy.typing as npt
from mindspore import Tensor, ops

from mstui.record import plan, probes, reductions
from mstui.record.network import Inventory
from mstui.record.statistics import (
    ACTIVATION_FIELDS,
    GRADIENT_FIELDS,
    WEIGHT_FIELDS,
    Scalar,
    Subject,
    activation_scalars,
    gradient_scalars,
    weight_scalars,
)

SAMPLED = 1 << 18
"""Elements of a tensor that a histogram is made of; of a larger one every n-th."""
_stack, _join = ops.Stack(), ops.Concat(0)


class Reading(NamedTuple):
    """What one look at the device has brought."""

    scalars: List[Scalar]
    """statistics of the recorded step; empty when its update has not happened yet"""
    pending: npt.NDArray[np.float64]
    """the values of the tensors that were asked for"""
    updated: bool
    silent: Tuple[str, ...] = ()
    """activations that were to be recorded and have not shown"""


class _Activation(NamedTuple):
    name: str
    saturates: bool
    reduce: Callable[[Any], Any]
    """compiled, for outputs that Python has seen"""
    found: Any
    """the parameter that a graph writes to; None outside of one"""


class Session:
    """Probes in one network and its optimizer. Made before the first step, and before anything was compiled."""

    def __init__(
        self,
        inventory: Inventory,
        optimizer: Any,
        *,
        params: plan.Patterns,
        activations: plan.Patterns,
        step_cell: Any = None,
        histograms: bool = True,
    ) -> None:
        """step_cell: the cell that calls the optimizer, so that a probe has to see it; without one `take` is called.

        histograms: will they be asked for, so that whole gradients are to be kept.
        """
        graph = ms.get_context("mode") == ms.GRAPH_MODE
        self._optimizer = optimizer
        self._probes: List[probes.Probe] = []
        self._in_graph: Any = None
        self._vector: Any = None
        self._taken = self._several = self.armed = False
        self._first = True
        self._ticket = probes.Ticket()
        self._chosen = [inventory.weights[at] for at in plan.selected(inventory.names, params, plan.MOST_PARAMETERS)]
        self.left_out = len(inventory.weights) - len(self._chosen) if params in (None, True) else 0
        self._whole: List[Tuple[str, Any]] = []
        self._kept: List[int] = []
        self._kept_names: List[str] = []
        self._kept_parameters: List[Any] = []
        self._weighing = self._plan_weights()
        self._plan_gradients(inventory, histograms=histograms)
        self._plan_columns()
        self._stepwise = step_cell is not None
        if optimizer is not None and self._stepwise:
            self._watch_optimizer(graph)
        self._outputs: Dict[str, Any] = {}
        self._activations = self._watch_activations(inventory, activations, graph)
        self._phase = probes.Phase(step_cell) if graph and self._probes and self._stepwise else None
        self._branches = graph and bool(self._activations) and not self._stepwise
        if self._branches:
            # the graph of a loop's own function is compiled once
            self._put()

    def _plan_weights(self) -> reductions.Weighing:
        groups = plan.grouped([tuple(parameter.shape) for parameter in self._chosen])
        self._weight_columns = np.argsort(plan.order_of(groups))
        weighed = [self._chosen[at] for at in sorted(plan.order_of(groups))]
        self._weight_subjects = [Subject(parameter.name, int(parameter.size)) for parameter in weighed]
        return reductions.weighing(groups)

    def _plan_columns(self) -> None:
        """How what is found lies in one vector: gradients, weights before the update, how far it moved them."""
        self._gradient_fields = GRADIENT_FIELDS * len(self._gradient_subjects)
        self._fields = self._gradient_fields + self._weighing.fields
        gradients = 0 if self._reduce is None else len(self._given)
        self._before = reductions.compiled(reductions.before_update(self._reduce, gradients, self._weighing))
        self._after = reductions.compiled(reductions.after_update(self._fields, self._weighing))

    def _plan_gradients(self, inventory: Inventory, *, histograms: bool) -> None:
        self._reduce: Optional[Callable[..., Any]] = None
        self._gradient_subjects: List[Subject] = []
        self._gradient_chosen: List[bool] = []
        given = self._given = inventory.given
        # a sparse gradient is no tensor: it counts as empty, and nothing is said of it
        groups = plan.grouped(
            [(0,) if p.name in inventory.sparse else tuple(p.shape) for p in given],
            [p.name in inventory.tables for p in given],
        )
        if not groups:
            return
        chosen = {id(parameter) for parameter in self._chosen}
        rows = {member: group.rows for group in groups for member in group.members}
        order = sorted(rows)
        self._gradient_columns = np.argsort(plan.order_of(groups))
        self._gradient_subjects = [Subject(given[at].name, int(given[at].size), rows[at]) for at in order]
        self._gradient_chosen = [id(given[at]) in chosen for at in order]
        self._kept = [
            at
            for at in range(len(given))
            if id(given[at]) in chosen and len(given[at].shape) > 1 and at in rows and given[at].size <= SAMPLED
        ][: plan.MOST_HISTOGRAMS if histograms else 0]
        self._kept_names = [given[at].name for at in self._kept]
        self._reduce = reductions.gradient_reducer(groups)

    def _watch_optimizer(self, graph: bool) -> None:
        if self._reduce is None:
            return
        if graph:
            probe, self._in_graph, self._kept_parameters = probes.optimizer_in_graph(
                self._optimizer,
                self._ticket,
                self._reduce,
                self._weighing,
                self._chosen,
                {at: tuple(self._given[at].shape) for at in self._kept},
                self._fields + len(self._weight_subjects),
            )
        else:
            probe = probes.optimizer_called(self._optimizer, self.take)
        self._probes.append(probe)

    def _watch_activations(self, inventory: Inventory, patterns: plan.Patterns, graph: bool) -> List[_Activation]:
        if graph and patterns is None and not self._stepwise:
            # each would cost every step a branch, about half a millisecond on a CPU: only who asks pays for it
            patterns = False
        reducers: Dict[Any, Any] = {}
        found = []
        for name, cell in inventory.activations(patterns):
            limits = plan.saturation(type(cell).__name__)
            if limits not in reducers:
                raw = reductions.activation_reducer(limits)
                reducers[limits] = (raw, reductions.compiled(raw))
            raw, compiled = reducers[limits]
            parameter = None
            if graph:
                probe, parameter = probes.activation_in_graph(
                    cell, self._ticket, raw, ACTIVATION_FIELDS, name, always=self._stepwise
                )
            else:
                probe = probes.activation_called(cell, self._seer(name))
            self._probes.append(probe)
            found.append(_Activation(name, limits is not None, compiled, parameter))
        return found

    def _seer(self, name: str) -> Callable[[Any], None]:
        def seen(output: Any) -> None:
            if self.armed and isinstance(output, Tensor) and output.ndim > 0:
                self._outputs[name] = output

        return seen

    def passes_over(self) -> bool:
        """Asked once a step: is this the first one, of a cell that has two graphs.

        It is left to the cell's own, which is to be there when others ask for it (SummaryCollector and ModelCheckpoint
        write it down after one step), and with which MindSpore shares rank 0's parameters where it is told to.
        """
        first, self._first = self._first, False
        return first and self._phase is not None

    @property
    def watches_gradients(self) -> bool:
        """Will there be gradient statistics?"""
        return self._reduce is not None

    def arm(self, *, several: bool = False) -> None:
        """The coming step is recorded: open the probes.

        several: the call runs more than one step. What is found is of the last of them; how far that one has moved the
        weights only the graph itself can tell.
        """
        if self.armed:
            return
        self.armed, self._taken, self._vector = True, False, None
        self._outputs.clear()
        self._ticket.advance()
        self._several = several
        if not self._stepwise and not self._branches:
            self._put()
        if self._reduce is None and self._chosen and not several:
            self._vector = self._before(*self._chosen)

    def enter(self) -> None:
        """The step cell is about to be called."""
        if self.armed and self._stepwise:
            self._put()

    def leave(self) -> None:
        """It has returned: whatever runs before the next step (an evaluation) finds the user's own classes."""
        if self.armed and self._stepwise:
            self._remove()

    def _put(self) -> None:
        for probe in self._probes:
            probe.put()
        if self._phase is not None:
            self._phase.put()

    def _remove(self) -> None:
        for probe in self._probes:
            probe.remove()
        if self._phase is not None:
            self._phase.remove()

    def take(self, gradients: Any) -> None:
        """The gradients, before the optimizer gets them."""
        if not self.armed or self._reduce is None or gradients is None:
            return
        several = (gradients,) if isinstance(gradients, Tensor) else tuple(gradients)
        if len(several) != len(self._given):
            message = f"{len(several)} gradients for the {len(self._given)} parameters of the optimizer"
            raise ValueError(message)
        self._vector = self._before(*several, *self._chosen)
        self._whole = [(name, several[at]) for name, at in zip(self._kept_names, self._kept)]
        self._taken = True

    def read(self, tensors: Sequence[Any], scale: float) -> Reading:
        """What was found since `arm`, and the values of some scalar tensors, in one transfer.

        scale: the loss scale that the gradients carry. Disarms the probes when the step's update has happened; a step
        without one (gradient accumulation, an overflow) leaves them armed for a coming one.
        """
        vectors, order = _as_vectors(tensors)
        number = len(vectors)
        outputs = self._found_outputs() if self.armed else []
        vectors += [vector for _, vector in outputs]
        found = self._found() if self.armed else None
        if found is not None:
            vectors.append(found)
        pieces = _read(vectors)
        pending = np.concatenate(pieces[:number])[order] if number else np.zeros(0)
        if not self.armed:
            return Reading([], pending, updated=False)
        scalars: List[Scalar] = []
        shown = set()
        for (activation, _), fields in zip(outputs, pieces[number:]):
            if activation.found is None or fields[-1] == self._ticket.number:
                shown.add(activation.name)
                fields = fields[:ACTIVATION_FIELDS]
                scalars += activation_scalars(fields, activation.name, saturates=activation.saturates)
        updated = self._reduce is None or self._taken
        if found is not None:
            fields = pieces[-1]
            if self._in_graph is not None:
                updated = bool(fields[-1] == self._ticket.number)
            if updated:
                scalars = [*self._weights(fields), *scalars, *self._gradients(fields, scale)]
        if not updated:
            return Reading([], pending, updated=False)
        self.disarm()
        silent = tuple(activation.name for activation in self._activations if activation.name not in shown)
        return Reading(scalars, pending, updated=True, silent=silent)

    def _found(self) -> Any:
        """What is known of gradients and weights, on the device; None without either."""
        if self._in_graph is not None:
            return self._in_graph
        if self._several and self._reduce is None and self._chosen:
            return self._before(*self._chosen)
        if self._vector is None or not self._chosen:
            return self._vector
        return self._vector if self._several else self._after(self._vector, *self._chosen)

    def _gradients(self, fields: npt.NDArray[np.float64], scale: float) -> List[Scalar]:
        if self._reduce is None:
            return []
        columns = fields[: self._gradient_fields].reshape(GRADIENT_FIELDS, -1)[:, self._gradient_columns]
        return gradient_scalars(columns, self._gradient_subjects, self._gradient_chosen, scale)

    def _weights(self, fields: npt.NDArray[np.float64]) -> List[Scalar]:
        if not self._chosen:
            return []
        number = len(self._weight_subjects)
        moved = not self._several or self._in_graph is not None
        some = fields[self._gradient_fields : self._fields].reshape(WEIGHT_FIELDS - 1, number)
        changes = fields[self._fields : self._fields + number] if moved else np.zeros(number)
        columns = np.vstack((some, changes))[:, self._weight_columns]
        return weight_scalars(columns, self._weight_subjects, moved=moved)

    def _found_outputs(self) -> List[Tuple[_Activation, Any]]:
        found: List[Tuple[_Activation, Any]] = []
        for activation in self._activations:
            if activation.found is not None:
                found.append((activation, activation.found))
            elif activation.name in self._outputs:
                found.append((activation, activation.reduce(self._outputs[activation.name])))
        return found

    def disarm(self) -> None:
        """Nothing more is looked for until the next `arm`."""
        if self.armed:
            self.armed = False
            if self._branches:
                self._ticket.withdraw()
            else:
                self._remove()
        self._outputs.clear()
        self._vector = None

    def histograms(self, scale: float) -> List[Tuple[str, npt.NDArray[np.float32]]]:
        """Weights and gradients of the first chosen matrices, of the step that was read last."""
        matrices = [p for p in self._chosen if len(p.shape) > 1][: plan.MOST_HISTOGRAMS]
        found = [(f"weight/{parameter.name}", _sample(parameter.value())) for parameter in matrices]
        whole = list(zip(self._kept_names, self._kept_parameters)) if self._kept_parameters else self._whole
        found += [(f"gradient/{name}", _sample(tensor) / np.float32(scale)) for name, tensor in whole]
        self._whole = []
        return found

    def close(self) -> None:
        """Put the classes back."""
        self._remove()
        self._probes = []
        self._phase = None


def _as_vectors(tensors: Sequence[Any]) -> Tuple[List[Any], npt.NDArray[np.intp]]:
    """Vectors that hold the scalars, one a kind of tensor, and the places of the scalars in them.

    Eager operators cost up to a millisecond each, so scalars of one kind are joined before they are converted.
    """
    kinds: Dict[Tuple[Any, Tuple[int, ...]], List[int]] = {}
    for index, tensor in enumerate(tensors):
        kinds.setdefault((tensor.dtype, tuple(tensor.shape)), []).append(index)
    vectors, places = [], []
    for (dtype, shape), members in kinds.items():
        joined = _stack([tensors[at] for at in members])
        if dtype != ms.float32:
            joined = ops.cast(joined, ms.float32)
        if shape not in ((), (1,)):
            joined = joined.reshape((len(members), -1)).mean(axis=1)
        vectors.append(joined.reshape((-1,)))
        places += members
    return vectors, np.argsort(np.array(places, dtype=np.intp))


def _read(vectors: Sequence[Any]) -> List[npt.NDArray[np.float64]]:
    """The vectors' values, by one transfer."""
    if not vectors:
        return []
    joined = vectors[0] if len(vectors) == 1 else _join(tuple(vectors))
    host = joined.asnumpy().astype(np.float64)
    return np.split(host, np.cumsum([vector.shape[0] for vector in vectors])[:-1])


def _sample(tensor: Any) -> npt.NDArray[np.float32]:
    """The elements that a histogram is made of, on the host."""
    every = -(-int(tensor.size) // SAMPLED)
    flat = tensor.reshape((-1,))
    chosen = flat if every == 1 else flat[::every]
    # on the CPU the array would share the parameter's memory, and change with it
    return np.array(ops.cast(chosen, ms.float32).asnumpy(), dtype=np.float32, copy=True)
