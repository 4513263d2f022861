"""The machinery behind the recorder: which steps are recorded, what waits on the device, what goes to the disk when.

It never changes the training and never raises into it: what MindSpore or the disk refuse costs the record one warning.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from mstui import __version__
from mstui.i18n import _
from mstui.record import facts as facts_of
from mstui.record.network import Inventory
from mstui.record.plan import Patterns
from mstui.record.rates import Rates, as_it_is
from mstui.record.statistics import Scalar
from mstui.record.wire import Fact
from mstui.record.writer import Writer

if TYPE_CHECKING:
    from mstui.record.session import Session

LOG = logging.getLogger("mstui.record")
LATEST_S = 5.0
"""Seconds after which the losses of slow steps are written, although no step is due: somebody is watching."""
MOST_PENDING = 200
"""Steps whose losses may wait on the device."""
FACTS_A_RECORD = 64
OVERFLOW_OUTPUTS = 3
"""A loss-scaled step returns (loss, overflow, loss scale)."""
_PARALLEL_OFF = frozenset(("semi_auto_parallel", "auto_parallel"))
"""modes in which a tensor of the graph is a slice that only MindSpore's planner knows"""


class _Pending(NamedTuple):
    """Values of one step that are still on the device, or numbers."""

    step: int
    wall_time: float
    values: Dict[Any, Any]
    """by tag"""


class Core:
    """One recorder's state. Used from the training's thread only."""

    def __init__(
        self,
        summary_dir: Union[str, os.PathLike[str]],
        *,
        every: int,
        params: Patterns,
        activations: Patterns,
        histograms_every: int,
        network: Any,
        optimizer: Any,
        declared: Optional[facts_of.Declared],
        rank_id: Optional[int],
        clock: Callable[[], float],
    ) -> None:
        rank, self._ranks = facts_of.rank_of()
        self._rank = rank if rank_id is None else rank_id
        directory = Path(summary_dir)
        self._directory = directory / f"rank_{self._rank}" if self._ranks > 1 or rank_id is not None else directory
        self._every, self._histograms_every = every, histograms_every
        self._params, self._activations = params, activations
        self._declared = facts_of.declared_facts(declared)
        self._network, self._optimizer = network, optimizer
        self._clock = clock
        self._writer: Optional[Writer] = None
        self._broken = False
        self._entered = 0
        self.step = 0
        """the step that was recorded or begun last"""
        self._forget()

    def _forget(self) -> None:
        """What belongs to one training."""
        self._session: Optional[Session] = None
        self._trained: Dict[str, Fact] = {}
        self._pending: List[_Pending] = []
        self._rates = Rates()
        self._asked_rates: List[Any] = []
        self._flushed_at = 0.0
        self._last_due = -1
        self._own_scale = self._gradient_scale = 1.0
        self._fixed_scale = 0.0
        self._scale_before: Any = None
        self._silence_told = False
        self._histograms_done = -1 if self._histograms_every else 0

    def close(self, *, finished: bool = True) -> None:
        """Write what is left. finished: the training came to its end, which MindSpore's readers want to know."""
        self._flush_pending()
        session = self._session
        if session is not None:
            self._guarded(session.close)
        writer, self._writer = self._writer, None
        if writer is not None:
            if finished and self.step:
                writer.trained(self._trained)
            if writer.dropped:
                writer.custom({"recorder_dropped": writer.dropped})
            writer.close()
        self._forget()

    def flush(self) -> bool:
        """Bring everything to the disk; False when it is too slow for that."""
        self._flush_pending()
        return self._writer is None or self._writer.flush()

    @property
    def failure(self) -> str:
        """Why nothing is recorded any more; empty while all is well."""
        return self._writer.failure if self._writer is not None else ""

    @property
    def dropped(self) -> int:
        """Records that the bounded queue refused."""
        return self._writer.dropped if self._writer is not None else 0

    @property
    def bytes_written(self) -> int:
        """Bytes on the disk since the training began."""
        return self._writer.written if self._writer is not None else 0

    def _open(self) -> Optional[Writer]:
        if self._writer is None:
            self._writer = Writer(self._directory, self._rank, self._clock)
        return None if self._writer.failure else self._writer

    def _start(self, network: Any, optimizer: Any, *, step_cell: Any, args: Mapping[str, Any]) -> None:
        """Look at the training, set the probes, write the facts."""
        if self._session is None and not self._broken:
            self._guarded(lambda: self._prepare(network, optimizer, step_cell, args))

    def _prepare(
        self,
        network: Any,
        optimizer: Any,
        step_cell: Any,
        args: Mapping[str, Any],
    ) -> None:
        import mindspore

        from mstui.record.session import Session

        self._optimizer = optimizer
        inventory = Inventory(network, optimizer)
        found = facts_of.host_facts(mindspore, self._rank, self._ranks, f"mstui {__version__}")
        found.update(facts_of.model_facts(args))
        found.update(facts_of.optimizer_facts(optimizer))
        found.update(facts_of.scale_facts(step_cell))
        self._trained = dict(found)
        self._scale_of(step_cell, optimizer)
        sliced = found.get("parallel_mode") in _PARALLEL_OFF
        self._session = Session(
            inventory,
            None if sliced else optimizer,
            params=False if sliced else self._params,
            activations=False if sliced else self._activations,
            step_cell=step_cell,
            histograms=bool(self._histograms_every),
        )
        found["recorded_every"] = self._every
        if self._session.left_out:
            found["params_not_recorded"] = self._session.left_out
        if not self._session.watches_gradients:
            found["gradients_not_recorded"] = "sliced parameters" if sliced else "no optimizer, or several"
        found.update(facts_of.network_facts(inventory))
        found.update(self._declared)
        writer = self._open()
        if writer is not None:
            for some in facts_of.split(found, FACTS_A_RECORD):
                writer.custom(some)

    def _scale_of(self, step_cell: Any, optimizer: Any) -> None:
        """The factor that gradients carry when the optimizer gets them, and the loss scale before the first step."""
        own = getattr(optimizer, "loss_scale", 1.0)
        self._own_scale = float(own) if isinstance(own, (int, float)) and own > 0 else 1.0
        self._gradient_scale = self._own_scale
        sense = getattr(step_cell, "scale_sense", None)
        if sense is not None and hasattr(sense, "asnumpy"):
            self._scale_before = float(np.asarray(sense.asnumpy()).ravel()[0])
            return
        fixed = getattr(step_cell, "sens", None)
        if isinstance(fixed, (int, float)) and not isinstance(fixed, bool) and fixed > 0:
            self._gradient_scale = float(fixed)
        if self._gradient_scale != 1.0:
            self._fixed_scale = self._gradient_scale

    def _due(self, step: int) -> bool:
        """The first step, then every one that `every` divides; where several run at once, the call that passes one."""
        first, due = self._last_due < 0, step // self._every
        if not first and due == self._last_due:
            return False
        self._last_due = due
        return True

    def _begin_step(self, step: int, *, several: bool = False) -> None:
        """several: one call runs more than one step (data sinking)."""
        self.step = step
        if self._last_due < 0:
            self._flushed_at = self._clock()
        self._arm_if_due(step, several=several)
        session = self._session
        if session is not None and session.armed:
            self._guarded(session.enter)

    def _ask_rates(self) -> None:
        session = self._session
        if session is not None and session.armed:
            self._asked_rates = self._guarded(lambda: self._rates.ask(self._optimizer)) or []

    def _arm_if_due(self, step: int, *, several: bool = False) -> None:
        """Before the forward pass of this step, or its activations have gone by."""
        session = self._session
        if session is None or session.passes_over():
            return
        if self._due(step) and not self.failure:
            self._guarded(lambda: session.arm(several=several))

    def _note(self, **values: Any) -> None:
        """Values of the current step; None is no value."""
        given = {tag: as_it_is(value) for tag, value in values.items() if value is not None}
        if self.failure or self._broken:
            return
        if given:
            self._pending.append(_Pending(self.step, self._clock(), given))

    def _end_step(self, *, forced: bool = False) -> None:
        """Read the device when the step was recorded, or when values have waited for long."""
        session = self._session
        armed = session is not None and session.armed
        if session is not None:
            session.leave()
        now = self._clock()
        late = bool(self._pending) and (now - self._flushed_at >= LATEST_S or len(self._pending) >= MOST_PENDING)
        if not (armed or late or forced):
            return
        self._flushed_at = now
        if self._guarded(lambda: self._record(now)) is None:
            self._pending = []

    def _record(self, now: float) -> bool:
        session, writer = self._session, self._open()
        pending, self._pending = self._pending, []
        rates, self._asked_rates = self._asked_rates, []
        if writer is None:
            return True
        if session is not None and session.armed and self._fixed_scale:
            pending.append(_Pending(self.step, now, {"loss_scale": self._fixed_scale}))
        scalars: List[Scalar] = []
        histograms: List[Tuple[str, npt.NDArray[np.float32]]] = []
        if session is not None:
            told = _Pending(self.step, now, dict(enumerate(rates)))
            asked = [(entry.values, key) for entry in (*pending, told) for key in entry.values]
            asked = [(values, key) for values, key in asked if _on_device(values[key])]
            reading = session.read([values[key] for values, key in asked], self._gradient_scale)
            for (values, key), value in zip(asked, reading.pending.tolist()):
                values[key] = value
            numbers = [float(rate) for rate in told.values.values()]
            scalars = [*reading.scalars, *self._rates.by_tag(numbers).items()]
            if reading.silent and not self._silence_told:
                self._silence_told = True
                writer.custom({"activations_not_recorded": facts_of.joined(reading.silent)})
            if reading.updated and self._histograms_due():
                histograms = session.histograms(self._gradient_scale)
        # the loss behind everything else: of more than 300 tags MindInsight forgets those that came first
        by_step: Dict[int, Dict[str, float]] = {self.step: dict(scalars)}
        times = {self.step: now}
        for entry in pending:
            by_step.setdefault(entry.step, {}).update({tag: float(value) for tag, value in entry.values.items()})
            times.setdefault(entry.step, entry.wall_time)
        for step in sorted(by_step):
            some = histograms if step == self.step else []
            if by_step[step] or some:
                writer.summary(step, list(by_step[step].items()), some, times[step])
        return True

    def _histograms_due(self) -> bool:
        """With the first recorded step, then with the first one after each multiple."""
        number = self.step // self._histograms_every if self._histograms_every else self._histograms_done
        if number == self._histograms_done:
            return False
        self._histograms_done = number
        return True

    def _scalars(self, values: Mapping[str, float]) -> None:
        writer = self._open()
        if writer is not None and values:
            # what belongs before it comes first
            self._flush_pending()
            writer.summary(self.step, list(values.items()), (), self._clock())

    def _flush_pending(self) -> None:
        if self._pending:
            self._end_step(forced=True)

    def _catch_failing_step(self) -> None:
        """In a loop of one's own nothing is known of a step but what was told."""

    def _failed(self, error: BaseException) -> None:
        self._catch_failing_step()
        self._flush_pending()
        writer = self._open()
        if writer is not None:
            text = facts_of.cut(f"{type(error).__name__}: {error}")
            writer.custom({"ended_by": text, "ended_at_step": self.step})

    def _guarded(self, work: Callable[[], Any]) -> Any:
        """Do it; whatever MindSpore raises ends the statistics with one warning, and never the training."""
        try:
            return work()
        except Exception as error:  # noqa: BLE001 - the border with MindSpore: its operators raise what they like
            if not self._broken:
                self._broken = True
                LOG.warning(
                    _("mstui: statistics are off (%s: %s); the training goes on without them"),
                    type(error).__name__,
                    str(error).splitlines()[0] if str(error) else "",
                )
            session, self._session = self._session, None
            if session is not None:
                session.close()
            return None

    def mark_epoch(self, epoch: int) -> None:
        """Mark the end of an epoch, counted from 1."""
        self._scalars({"epoch": float(epoch)})

    def evaluation(self, metrics: Mapping[str, Any]) -> None:
        """Metrics on held-out data: `loss` is recorded as `loss/val`, `accuracy` as `accuracy/val`."""
        numbers = {name: float(np.mean(np.asarray(value, dtype=np.float64))) for name, value in metrics.items()}
        self._scalars({f"{name}/val": value for name, value in numbers.items()})
        if self._open() is not None and self._writer is not None:
            self._writer.evaluated(numbers)

    def scalar(self, tag: str, value: Any) -> None:
        """Record a number of one's own at the current step."""
        self._scalars({tag: float(value)})

    def step_begins(self, step: int) -> None:
        """A step begins, with this number."""
        self._begin_step(step)
        self._ask_rates()

    def step_failed(self) -> None:
        """Its cell has raised: whoever goes on with it finds the user's own classes."""
        if self._session is not None:
            self._session.leave()

    def step_ended(self, outputs: Any) -> None:
        """It has ended, and its cell has returned this."""
        self._guarded(lambda: self._take_outputs(outputs))
        self._end_step()

    def _take_outputs(self, outputs: Any) -> None:
        """The loss, and behind it what a loss-scaled step tells."""
        several = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        loss = several[0] if several else None
        overflow = scale = None
        if len(several) >= OVERFLOW_OUTPUTS and all(_is_scalar(each) for each in several[1:OVERFLOW_OUTPUTS]):
            # the scale that comes with a step is already the next step's
            overflow, scale = several[1], self._scale_before
            self._scale_before = as_it_is(several[2])
            if scale is None:
                scale = several[2]
        if hasattr(loss, "asnumpy") or isinstance(loss, float):
            self._note(loss=loss, overflow=overflow, loss_scale=scale)


def _on_device(value: Any) -> bool:
    return hasattr(value, "asnumpy")


def _is_scalar(value: Any) -> bool:
    return _on_device(value) and int(value.size) == 1
