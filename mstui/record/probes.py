"""How the recorder gets at gradients and activations without a change to the user's network.

The class of one cell object (the optimizer, an activation) is replaced by a subclass of it, and put back at the end.
Names, parameters, checkpoints and `isinstance` stay as they were.

In graph mode `construct` is what counts: the subclass adds a branch that is taken only in steps for which the host has
armed it, so that there is one graph, the same operators with and without a recorder, and nothing to pay between two
recorded steps. The results go into parameters that no cell has registered: they are in no checkpoint.
In PyNative mode `construct` stays untouched, in case a person compiles it, and `__call__` hands over what passes.
"""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Sequence, Tuple

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, ops

_assign, _join, _cast, _reshape, _stop = ops.Assign(), ops.Concat(0), ops.Cast(), ops.Reshape(), ops.stop_gradient
_F32 = ms.float32
_depend = ops.depend


def hidden(values: Any, name: str) -> Any:
    """A parameter that no cell knows of."""
    return Parameter(Tensor(values), name=name, requires_grad=False)


class Switch:
    """Tells the probes in a graph whether the coming step is recorded: zero, or the number of the record."""

    def __init__(self) -> None:
        self.parameter = hidden(np.array([0], dtype=np.int32), "mstui_armed")
        self.ticket = 0

    def arm(self) -> None:
        """The coming steps are recorded, under a number of their own."""
        self.ticket += 1
        self._say(self.ticket)

    def disarm(self) -> None:
        """No more."""
        self._say(0)

    def _say(self, number: int) -> None:
        # written into the parameter's own memory: a function's graph does not notice a set_data
        _assign(self.parameter, Tensor(np.array([number], dtype=np.int32)))


class Probe:
    """One cell under watch."""

    def __init__(self, cell: Any, attributes: Sequence[Tuple[str, Any]] = ()) -> None:
        self._cell, self._class = cell, type(cell)
        self._attributes = [name for name, _ in attributes]
        for name, value in attributes:
            object.__setattr__(cell, name, value)

    def put(self, watched: Any) -> None:
        """From now on the cell is of this class."""
        # what asks for the class's name (lineage, logs) is to find the user's
        watched.__name__, watched.__qualname__ = self._class.__name__, self._class.__qualname__
        watched.__module__ = self._class.__module__
        self._cell.__class__ = watched

    def remove(self) -> None:
        """As if nothing had been."""
        self._cell.__class__ = self._class
        for name in self._attributes:
            self._cell.__dict__.pop(name, None)


def optimizer_in_graph(
    optimizer: Any, switch: Switch, reduce: Callable[..., Any], columns: int, kept: Sequence[int]
) -> Tuple[Probe, Any, List[Any]]:
    """Watch what a compiled graph hands to the optimizer.

    Returns the probe, the parameter that takes `reduce`'s result and the ticket behind it, and one parameter for each
    gradient whose position is in `kept`, which takes the whole of it.
    """
    found = hidden(np.zeros(columns + 1, dtype=np.float32), "mstui_gradients")
    tensors = [
        hidden(np.zeros(optimizer.parameters[at].shape, dtype=np.float32), f"mstui_gradient_{at}") for at in kept
    ]
    places = tuple(kept)
    number = len(places)
    attributes = [("mstui_armed", switch.parameter), ("mstui_found", found)]
    attributes += [(f"mstui_kept_{index}", tensor) for index, tensor in enumerate(tensors)]
    probe = Probe(optimizer, attributes)
    base: Any = type(optimizer)

    class Watched(base):  # type: ignore[misc]
        def construct(self, gradients: Any, *more: Any) -> Any:
            if self.mstui_armed > 0:
                ticket = _cast(self.mstui_armed, _F32)
                done = _assign(self.mstui_found, _join((reduce(*gradients), ticket)))
                for index in range(number):
                    whole = _cast(gradients[places[index]], _F32)
                    done = _depend(_assign(getattr(self, "mstui_kept_" + str(index)), whole), done)
                gradients = _depend(gradients, done)
            return super().construct(gradients, *more)

    probe.put(Watched)
    return probe, found, tensors


def optimizer_called(optimizer: Any, before: Callable[[Any], None], after: Callable[[], None]) -> Probe:
    """Watch what Python hands to the optimizer."""
    base: Any = type(optimizer)

    class Watched(base):  # type: ignore[misc]
        def __call__(self, *inputs: Any, **named: Any) -> Any:
            before(inputs[0] if inputs else None)
            result = super().__call__(*inputs, **named)
            after()
            return result

    probe = Probe(optimizer)
    probe.put(Watched)
    return probe


def activation_in_graph(
    cell: Any, switch: Switch, reduce: Callable[[Any], Any], fields: int, name: str
) -> Tuple[Probe, Any]:
    """Watch the output of one cell in a compiled graph; the parameter takes `reduce`'s result and the ticket.

    An output in half precision is left alone: where a backend computes in float32 and rounds, a second reader of the
    rounded value changes which roundings the compiler removes, and so the training.
    """
    found = hidden(np.zeros(fields + 1, dtype=np.float32), f"mstui_output_{name}")
    probe = Probe(cell, [("mstui_armed", switch.parameter), ("mstui_found", found)])
    base: Any = type(cell)

    class Watched(base):  # type: ignore[misc]
        def construct(self, *inputs: Any) -> Any:
            output = super().construct(*inputs)
            if output.dtype == _F32:  # noqa: SIM102 - a constant of the graph, which the inner condition is not
                if self.mstui_armed > 0:
                    ticket = _cast(self.mstui_armed, _F32)
                    done = _assign(self.mstui_found, _join((reduce(_stop(output)), ticket)))
                    output = _depend(output, done)
            return output

    probe.put(Watched)
    return probe, found


def activation_called(cell: Any, seen: Callable[[Any], None]) -> Probe:
    """Watch the output of one cell that Python calls."""
    base: Any = type(cell)

    class Watched(base):  # type: ignore[misc]
        def __call__(self, *inputs: Any, **named: Any) -> Any:
            output = super().__call__(*inputs, **named)
            seen(output)
            return output

    probe = Probe(cell)
    probe.put(Watched)
    return probe


def optimizer_of(network: Any) -> Optional[Any]:
    """The optimizer inside a train-one-step cell; None when it has none, or more than one."""
    kinds = _optimizer_classes()
    found = [cell for _, cell in network.cells_and_names() if isinstance(cell, kinds)]
    return found[0] if len(found) == 1 else None


def _optimizer_classes() -> Tuple[Any, ...]:
    kinds: List[Any] = [ms.nn.Optimizer]
    try:
        from mindspore.experimental.optim import Optimizer

        kinds.append(Optimizer)
    except ImportError:
        # before release 2.1 there is no other family
        pass
    return tuple(kinds)
