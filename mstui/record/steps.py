"""A stand-in for a train-one-step cell in a loop of one's own: counts the steps and hands the outputs on."""

from __future__ import annotations

from typing import Any, Protocol


class _Watcher(Protocol):
    step: int

    def step_begins(self, step: int) -> None: ...

    def step_failed(self) -> None: ...

    def step_ended(self, outputs: Any) -> None: ...


class RecordedStep:
    """Called as the cell; everything else is the cell's."""

    def __init__(self, recorder: _Watcher, cell: Any) -> None:
        self._recorder, self._cell = recorder, cell

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """One training step."""
        self._recorder.step_begins(self._recorder.step + 1)
        try:
            outputs = self._cell(*inputs, **named)
        except BaseException:
            self._recorder.step_failed()
            raise
        self._recorder.step_ended(outputs)
        return outputs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cell, name)
