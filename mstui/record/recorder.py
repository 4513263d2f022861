"""The recorder that a person adds to a training script.

It is a callback of MindSpore's Model and has the calls for a loop of one's own. MindSpore is imported when a Recorder
is made, not before.
"""

from __future__ import annotations

import atexit
import os
import time
import weakref
from typing import Any, Callable, List, Optional, Type, Union, cast

from mstui.record import facts as facts_of
from mstui.record.callback import CallbackHooks
from mstui.record.plan import Patterns
from mstui.record.steps import RecordedStep

DEFAULT_EVERY = 10
DEFAULT_HISTOGRAMS_EVERY = 200

_classes: List[Type[Any]] = []


class Recorder(CallbackHooks):
    """Records a training's loss, gradients, weights and activations into a summary directory.

    Three ways to use it:

    1. `model.train(epochs, data, callbacks=[Recorder("summary"), ...])`, first in the list; `fit` and `eval` likewise.
    2. In a loop of one's own: `recorder.before_update(gradients, loss)`, the optimizer, `recorder.after_update()`.
    3. `step = recorder.wrap(train_one_step_cell)`, then call `step` instead of the cell.
    """

    def __new__(cls, *_arguments: Any, **_options: Any) -> Recorder:
        """A MindSpore callback: the base class is found only now, when MindSpore may be imported."""
        if not _classes:
            from mindspore.train.callback import Callback

            _classes.append(type("Recorder", (cls, Callback), {"__doc__": cls.__doc__, "__module__": cls.__module__}))
        return cast("Recorder", object.__new__(_classes[0] if cls is Recorder else cls))

    def __init__(
        self,
        summary_dir: Union[str, os.PathLike[str]],
        *,
        every: int = DEFAULT_EVERY,
        params: Patterns = None,
        activations: Patterns = None,
        histograms_every: int = DEFAULT_HISTOGRAMS_EVERY,
        network: Any = None,
        optimizer: Any = None,
        declared: Optional[facts_of.Declared] = None,
        rank_id: Optional[int] = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """summary_dir: several ranks write `rank_N` below it.

        every: statistics at the first step (a train-one-step cell in graph mode: the second) and at every step that
        this divides; the loss of every step is kept in any case.
        params, activations: True for all (up to a limit), False for none, or regular expressions of names; None is
        True, but for activations of a loop of one's own in graph mode: each would cost every step a little.
        histograms_every: 0 for none. network, optimizer: of a loop of one's own; the other ways find them.
        declared: facts of the run (see mstui.record.facts.DECLARED). rank_id: when MindSpore does not know it.
        """
        if every < 1 or histograms_every < 0:
            message = "every must be at least 1 and histograms_every at least 0"
            raise ValueError(message)
        super().__init__(
            summary_dir,
            every=every,
            params=params,
            activations=activations,
            histograms_every=histograms_every,
            network=network,
            optimizer=optimizer,
            declared=declared,
            rank_id=rank_id,
            clock=clock,
        )
        reference = weakref.ref(self)
        atexit.register(_close_at_exit, reference)

    # -- a loop of one's own ------------------------------------------------------------------------------------------

    def watch(self, network: Any = None, optimizer: Any = None) -> None:
        """What the loop trains, when the recorder was made before it. Call this before the first step."""
        self._network = self._network if network is None else network
        self._optimizer = self._optimizer if optimizer is None else optimizer
        facts = {} if self._network is None else {"network": self._network}
        self._start(self._network, self._optimizer, step_cell=None, args=facts)
        self._arm_if_due(self.step + 1)

    def before_update(
        self,
        gradients: Any,
        loss: Any = None,
        *,
        step: Optional[int] = None,
        loss_scale: Any = None,
        overflow: Any = None,
        gradient_scale: Optional[float] = None,
    ) -> None:
        """Call this before the optimizer, with the gradients that it will get.

        step: counted from 1 by itself. loss_scale, overflow: for the record. gradient_scale: the factor that the
        gradients still carry, when they were not unscaled (the optimizer's own `loss_scale` is known).
        """
        if self._session is None:
            self.watch()
        self._begin_step(self.step + 1 if step is None else step)
        self._gradient_scale = self._own_scale if gradient_scale is None else gradient_scale
        self._note(loss=loss, loss_scale=loss_scale, overflow=overflow)
        session = self._session
        if session is not None:
            self._guarded(lambda: session.take(gradients))
            self._ask_rates()

    def after_update(self) -> None:
        """Call this after the optimizer."""
        self._end_step()
        self._arm_if_due(self.step + 1)

    # -- a train-one-step cell ----------------------------------------------------------------------------------------

    def wrap(self, step_cell: Any) -> RecordedStep:
        """A stand-in for a train-one-step cell: call it as the cell. Wrap before the first call."""
        from mstui.record import probes

        optimizer = self._optimizer if self._optimizer is not None else probes.optimizer_of(step_cell)
        network = step_cell if self._network is None else self._network
        self._start(network, optimizer, step_cell=step_cell, args={"train_network": step_cell})
        return RecordedStep(self, step_cell)

    def __enter__(self) -> Recorder:
        self._entered += 1
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        # Model enters its callbacks too, for a training and again for each evaluation within it
        self._entered -= 1
        if self._entered:
            return
        if error is not None:
            self._failed(error)
        self.close(finished=error is None and self._came_to_an_end())


def _close_at_exit(reference: weakref.ReferenceType[Recorder]) -> None:
    """A script that ends without closing its recorder has written everything, but not that it came to its end."""
    recorder = reference()
    if recorder is not None:
        recorder.close(finished=False)
