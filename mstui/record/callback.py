"""What MindSpore's Model tells a callback, turned into steps, epochs and evaluations of the recorder."""

from __future__ import annotations

from typing import Any, Mapping, Optional

from mstui.record.core import Core


class CallbackHooks(Core):
    """Called by Model; MindSpore's Callback stands behind it in the class that is really made."""

    def _forget(self) -> None:
        super()._forget()
        self._args: Optional[Mapping[str, Any]] = None
        self._handled = 0
        self._ended: Optional[bool] = None

    def _came_to_an_end(self) -> bool:
        """Model says so at the end of a training; a loop of one's own has no other sign than leaving `with`."""
        return self._ended is not False

    def on_train_begin(self, run_context: Any) -> None:
        """Set the probes: nothing is compiled yet."""
        self._guarded(lambda: self._begin_training(run_context))

    def _begin_training(self, run_context: Any) -> None:
        from mstui.record import probes

        args = run_context.original_args()
        self._args, self._ended = args, False
        step_cell = args.get("train_network")
        optimizer = args.get("optimizer")
        if optimizer is None and step_cell is not None:
            optimizer = probes.optimizer_of(step_cell)
        network = args.get("network")
        self._start(
            network if network is not None else step_cell,
            optimizer,
            step_cell=step_cell,
            args=args,
        )

    def on_train_step_begin(self, run_context: Any) -> None:
        """Arm the probes when the step is due."""
        args = run_context.original_args()
        self._args = args
        sunk = bool(args.get("dataset_sink_mode")) and int(args.get("sink_size") or 0) != 1
        self._begin_step(int(args.get("cur_step_num", 0)), several=sunk)
        self._ask_rates()

    def on_train_step_end(self, run_context: Any) -> None:
        """Take the step's outputs."""
        args = run_context.original_args()
        self._handled = int(args.get("cur_step_num", 0))
        self.step_ended(args.get("net_outputs"))

    def on_train_epoch_end(self, run_context: Any) -> None:
        """Mark the epoch."""
        self.mark_epoch(int(run_context.original_args().get("cur_epoch_num", 0)))

    def on_eval_end(self, run_context: Any) -> None:
        """Record what the evaluation has found."""
        args = run_context.original_args()
        metrics = args.get("metrics") or args.get("eval_results")
        if isinstance(metrics, dict):
            self._guarded(lambda: self.evaluation({str(name): value for name, value in metrics.items()}))

    def on_train_end(self, run_context: Any) -> None:  # noqa: ARG002 - MindSpore's signature
        """The training has come to its end."""
        self._ended = True

    def _catch_failing_step(self) -> None:
        """After an exception: the step whose end nobody has told, when its outputs are there."""
        args = self._args
        if (
            args is not None
            and int(args.get("cur_step_num", 0)) > self._handled
            and args.get("net_outputs") is not None
        ):
            self._handled = int(args["cur_step_num"])
            self.step_ended(args["net_outputs"])
