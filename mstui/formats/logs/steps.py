"""From the epoch and the step inside it, as most trainings print them, to the global step.

Where a line prints how many steps an epoch has, that is taken. Where it does not, the number is the highest step of a
finished epoch, or what the epoch's time divided by the step's time says. Until one of both is known - in the first
epoch that is read - the step inside the epoch stands for the global step: right when the log begins with the first
epoch, too small in a log that begins later. A step beyond the number shows that it was too small.
"""

from __future__ import annotations

from typing import Optional

import numpy as np

from mstui.model.records import IntArray

STEP_LIMIT = 2**53
"""Larger steps are no counter of a training; what is beyond is printed nonsense, and int64 must hold products."""
ROUND_OFF = 0.0005
"""Half of the last digit of the times that TimeMonitor prints."""
SURE = 0.4
"""Steps by which epoch time / step time may be off for it to be believed."""


class StepCounter:
    """What one stream of lines has told of its epochs."""

    def __init__(self) -> None:
        self.per_epoch: Optional[int] = None
        self._printed = False
        self._first = 1
        self._zero_step = False
        self._epoch: Optional[int] = None
        self._highest = 0

    @property
    def printed(self) -> Optional[int]:
        """Steps of an epoch, where the lines say it."""
        return self.per_epoch if self._printed else None

    @property
    def in_first_epoch(self) -> bool:
        """All that was told belongs to the first epoch: a step in it is a global one."""
        return self._epoch == self._first

    def between_epochs(self) -> StepCounter:
        """One that knows how the steps of an epoch are counted, and of no line."""
        other = StepCounter()
        other.per_epoch, other._printed = self.per_epoch, self._printed
        other._first, other._zero_step = self._first, self._zero_step
        return other

    def place(self, epoch: int, step: int, per_epoch: Optional[int] = None) -> int:
        """The global step of a step inside an epoch; `per_epoch` where the line says it."""
        if epoch == 0:
            self._first = 0
        if per_epoch:
            self.per_epoch = per_epoch
            self._printed = True
            self._epoch, self._highest = epoch, step
            return self._bounded(epoch, step)
        self._zero_step = self._zero_step or step == 0
        if epoch != self._epoch:
            if self._epoch is not None and epoch > self._epoch:
                self._learn(self._count(self._highest))
            self._epoch, self._highest = epoch, step
        else:
            self._highest = max(self._highest, step)
        if self.per_epoch is not None and not self._printed:
            self._learn(self._count(step))
        return self._bounded(epoch, step)

    def place_many(self, epochs: IntArray, steps: IntArray) -> IntArray:
        """`place` for lines in a row that do not say how many steps an epoch has."""
        out = np.empty(len(steps), np.int64)
        begins = [0, *(np.flatnonzero(epochs[1:] != epochs[:-1]) + 1).tolist(), len(steps)]
        for begin, end in zip(begins, begins[1:]):
            part = steps[begin:end]
            out[begin] = self.place(int(epochs[begin]), int(part[0]))
            if end - begin == 1:
                continue
            highest, epoch = int(part.max()), int(epochs[begin])
            if (self.per_epoch is not None and self._count(highest) > self.per_epoch) or int(part.min()) == 0:
                out[begin + 1 : end] = [self.place(epoch, step) for step in part[1:].tolist()]
                continue
            self._highest = max(self._highest, highest)
            out[begin + 1 : end] = part[1:] + (self._bounded(epoch, int(part[0])) - int(part[0]))
        return out

    def finished(self, epoch_ms: float, step_ms: float) -> None:
        """An epoch ended that took so long, and so long a step."""
        if not (0.0 < step_ms <= epoch_ms < float("inf")):
            return
        steps = epoch_ms / step_ms
        if steps * ROUND_OFF / step_ms < SURE and abs(steps - round(steps)) < SURE and not self._printed:
            self._learn(round(steps) if round(steps) >= self._count(self._highest) else 0)

    def _count(self, highest: int) -> int:
        return highest + 1 if self._zero_step else highest

    def _learn(self, steps: int) -> None:
        if steps > 0 and not self._printed and (self.per_epoch is None or steps > self.per_epoch):
            self.per_epoch = steps

    def _bounded(self, epoch: int, step: int) -> int:
        return min((epoch - self._first) * (self.per_epoch or 0) + step, STEP_LIMIT)
