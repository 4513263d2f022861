"""What a tag means to a person who looks at a training. The rules that find a tag's role are in mstui.store.roles."""

from __future__ import annotations

from enum import Enum


class Role(Enum):
    """Roles in the order in which the first page shows them."""

    LOSS = "loss"
    EVAL_METRIC = "eval-metric"
    EVAL_LOSS = "eval-loss"
    GRAD_NORM = "grad-norm"
    UPDATE_RATIO = "update-ratio"
    LOSS_SCALE = "loss-scale"
    OVERFLOW = "overflow"
    LEARNING_RATE = "learning-rate"
    STEP_TIME = "step-time"
    THROUGHPUT = "throughput"
    EPOCH = "epoch"
    PARTIAL_LOSS = "partial-loss"
    """one term of several (box loss, aux loss), never the first choice for "the loss" """
    PARAMETER = "parameter"
    """one statistic of one parameter or layer: belongs to the layer map, not to the first page"""
    OTHER = "other"
