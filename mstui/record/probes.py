"""How the recorder gets at gradients and activations without a change to the user's network.

The class of one cell object (the optimizer, an activation) is replaced by a subclass of it, and put back at the end.
Names, parameters, checkpoints and `isinstance` stay as they were.

In graph mode `construct` is what counts. A recorded step is run by a compiled graph of its own, made while the
subclasses are in place and kept by MindSpore under a phase of its own; every other step runs the graph of the user's
own classes. So there is nothing to pay between two recorded steps, but two graphs to compile. The results go into
parameters that no cell has registered: they are in no checkpoint.
In PyNative mode `construct` stays untouched, in case a person compiles it, and `__call__` hands over what passes.
"""

from __future__ import annotations

from typing import Any, Callable, List, Mapping, Optional, Sequence, Tuple

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, ops

from mstui.record.network import optimizers_in
from mstui.record.reductions import Weighing

_assign, _join, _cast, _stack, _stop = ops.Assign(), ops.Concat(0), ops.Cast(), ops.Stack(), ops.stop_gradient
_F32 = ms.float32
_RECORDED = ".mstui"
"""Behind a dot: what MindSpore asks of a phase is the part before it."""
_depend = ops.depend


def hidden(values: Any, name: str) -> Any:
    """A parameter that no cell knows of."""
    return Parameter(Tensor(values), name=name, requires_grad=False)


def copied(value: Any) -> Any:
    """The value of a parameter at this point of what the device does."""
    return _stack((value,))


class Ticket:
    """The number of the record, which a graph puts beside what it finds: whether it was found for this record."""

    def __init__(self) -> None:
        self.parameter = hidden(np.array([0], dtype=np.float32), "mstui_ticket")
        self.number = 0

    def advance(self) -> None:
        """A new record begins."""
        self.number += 1
        self._say(self.number)

    def withdraw(self) -> None:
        """Graphs that run every step need not look."""
        self._say(0)

    def _say(self, number: int) -> None:
        # written into the parameter's own memory: a function's graph does not notice a set_data
        _assign(self.parameter, Tensor(np.array([number], dtype=np.float32)))


class Probe:
    """One cell under watch, while its class is `watched`."""

    def __init__(self, cell: Any, watched: Any, attributes: Sequence[Tuple[str, Any]] = ()) -> None:
        self._cell, self._class, self._watched = cell, type(cell), watched
        self._attributes = attributes
        # what asks for the class's name (lineage, logs) is to find the user's
        watched.__name__, watched.__qualname__ = self._class.__name__, self._class.__qualname__
        watched.__module__ = self._class.__module__

    def put(self) -> None:
        """From now on the cell is of the watched class."""
        for name, value in self._attributes:
            object.__setattr__(self._cell, name, value)
        self._cell.__class__ = self._watched

    def remove(self) -> None:
        """As if nothing had been."""
        self._cell.__class__ = self._class
        for name, _ in self._attributes:
            self._cell.__dict__.pop(name, None)


class Phase:
    """Which of its two graphs a step cell runs. MindSpore keeps one graph for each phase of a cell."""

    def __init__(self, step_cell: Any) -> None:
        self._cell = step_cell
        self._own = ""
        # MindSpore sends rank 0's parameters to the others whenever it compiles a graph: not for this one
        self._shares = bool(ms.get_auto_parallel_context("parameter_broadcast"))

    def put(self) -> None:
        """The coming call compiles or runs the graph of recorded steps."""
        phase = str(self._cell.phase)
        # a change of mode sets the phase anew: asked each time. Model changes it in the first step after an evaluation,
        # when the step has begun: the cell's own graph runs then, and the record waits for the next step
        if not phase.endswith(_RECORDED):
            self._own = phase
            self._cell.phase = phase + _RECORDED
        if self._shares:
            ms.set_auto_parallel_context(parameter_broadcast=False)

    def remove(self) -> None:
        """The coming calls run the cell's own graph."""
        if str(self._cell.phase).endswith(_RECORDED):
            self._cell.phase = self._own
        if self._shares:
            ms.set_auto_parallel_context(parameter_broadcast=True)


def optimizer_in_graph(
    optimizer: Any,
    ticket: Ticket,
    reduce: Callable[..., Any],
    weighing: Weighing,
    weights: Sequence[Any],
    shapes: Mapping[int, Tuple[int, ...]],
    columns: int,
) -> Tuple[Probe, Any, List[Any]]:
    """Watch what a compiled graph hands to the optimizer, and how far that moves the weights.

    shapes: of the gradients that are to be kept whole, by their positions. Returns the probe, the parameter that takes
    what was found (`columns` values) and the ticket behind it, and one parameter for each gradient kept.
    """
    found = hidden(np.zeros(columns + 1, dtype=np.float32), "mstui_gradients")
    tensors = [hidden(np.zeros(shape, dtype=np.float32), f"mstui_gradient_{at}") for at, shape in shapes.items()]
    places = tuple(shapes)
    number, weighs = len(places), bool(weights)
    before, after = weighing.before, weighing.after
    attributes = [("mstui_ticket", ticket.parameter), ("mstui_found", found)]
    attributes += [(f"mstui_kept_{index}", tensor) for index, tensor in enumerate(tensors)]
    if weighs:
        attributes.append(("mstui_weights", ms.ParameterTuple(weights)))
    base: Any = type(optimizer)

    class Watched(base):  # type: ignore[misc]
        def construct(self, gradients: Any, *more: Any) -> Any:
            statistics = reduce(*gradients)
            done = statistics
            for index in range(number):
                whole = _cast(gradients[places[index]], _F32)
                done = _depend(_assign(getattr(self, "mstui_kept_" + str(index)), whole), done)
            if weighs:
                fields, copies = before(*self.mstui_weights)
                gradients = _depend(gradients, (done, fields, copies))
                result = super().construct(gradients, *more)
                # read behind the update: the graph keeps the order in which a parameter is used
                statistics = _join((statistics, fields, after(copies, *self.mstui_weights)))
            else:
                gradients = _depend(gradients, done)
                result = super().construct(gradients, *more)
            return _depend(result, _assign(self.mstui_found, _join((statistics, self.mstui_ticket))))

    return Probe(optimizer, Watched, attributes), found, tensors


def optimizer_called(optimizer: Any, before: Callable[[Any], None]) -> Probe:
    """Watch what Python hands to the optimizer."""
    base: Any = type(optimizer)

    class Watched(base):  # type: ignore[misc]
        def __call__(self, *inputs: Any, **named: Any) -> Any:
            before(inputs[0] if inputs else None)
            return super().__call__(*inputs, **named)

    return Probe(optimizer, Watched)


def activation_in_graph(
    cell: Any, ticket: Ticket, reduce: Callable[[Any], Any], fields: int, name: str, *, always: bool
) -> Tuple[Probe, Any]:
    """Watch the output of one cell in a compiled graph; the parameter takes `reduce`'s result and the ticket.

    always: the graph is that of recorded steps. A graph that runs every step gets a branch, which costs it a little.
    An output in half precision is left alone: where a backend computes in float32 and rounds, a second reader of the
    rounded value changes which roundings the compiler removes, and so the training.
    """
    found = hidden(np.zeros(fields + 1, dtype=np.float32), f"mstui_output_{name}")
    base: Any = type(cell)

    class Watched(base):  # type: ignore[misc]
        def construct(self, *inputs: Any) -> Any:
            output = super().construct(*inputs)
            if output.dtype == _F32:  # noqa: SIM102 - a constant of the graph, which the inner condition is not always
                if always or self.mstui_ticket > 0:
                    done = _assign(self.mstui_found, _join((reduce(_stop(output)), self.mstui_ticket)))
                    output = _depend(output, done)
            return output

    return Probe(cell, Watched, [("mstui_ticket", ticket.parameter), ("mstui_found", found)]), found


def activation_called(cell: Any, seen: Callable[[Any], None]) -> Probe:
    """Watch the output of one cell that Python calls."""
    base: Any = type(cell)

    class Watched(base):  # type: ignore[misc]
        def __call__(self, *inputs: Any, **named: Any) -> Any:
            output = super().__call__(*inputs, **named)
            seen(output)
            return output

    return Probe(cell, Watched)


def optimizer_of(network: Any) -> Optional[Any]:
    """The optimizer inside a train-one-step cell; None when it has none, or more than one."""
    found = optimizers_in(network)
    return found[0] if len(found) == 1 else None
