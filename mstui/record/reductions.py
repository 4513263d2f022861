"""Statistics as MindSpore operators: run on the device, in a compiled graph or outside of one.

The only module besides `probes` and `session` that imports MindSpore when it is imported; the recorder imports it when
a training begins. Primitives and not functions of `mindspore.ops`: they exist under the same names in every release,
and a graph of them compiles about twice as fast. Nothing here touches a value that the training uses.
"""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence, Tuple, cast

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from mstui.record.plan import Group
from mstui.record.statistics import ACTIVATION_FIELDS, GRADIENT_FIELDS, WEIGHT_FIELDS

_F32 = ms.float32
_cast, _reshape, _stack = ops.Cast(), ops.Reshape(), ops.Stack()
_row_join, _column_join = ops.Concat(0), ops.Concat(1)
_sum, _max, _min, _mean = ops.ReduceSum(), ops.ReduceMax(), ops.ReduceMin(), ops.ReduceMean()
_abs, _square, _sqrt, _div, _mul, _sub = ops.Abs(), ops.Square(), ops.Sqrt(), ops.Div(), ops.Mul(), ops.Sub()
_larger, _negative, _select, _zeros, _ones = ops.Maximum(), ops.Neg(), ops.Select(), ops.ZerosLike(), ops.OnesLike()
_finite, _at_least, _at_most, _or, _sign = (
    ops.IsFinite(),
    ops.GreaterEqual(),
    ops.LessEqual(),
    ops.LogicalOr(),
    ops.Sign(),
)
_SMALLEST = Tensor(np.float32(1e-37))
"""keeps a division by the largest magnitude defined for a tensor of zeros"""
_ONE = Tensor(np.float32(1))
_LOWEST = float(np.finfo(np.float32).min)


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Outside of the training's graph a compiled function needs one launch where eager operators need twenty.

    Tensors must come as arguments of their own: in a tuple they would count as constants, and compile anew each time.
    """
    return cast("Callable[..., Any]", ms.jit(function))


def _norms(matrix: Any, largest: Any) -> Any:
    """L2 norms of the rows of [k, n]: scaled by the largest magnitude, or squares of 1e-20 would be zero."""
    scale = _larger(largest, _SMALLEST)
    return _mul(_sqrt(_sum(_square(_mul(matrix, _reshape(_div(_ONE, scale), (-1, 1)))), (1,))), scale)


def _count(condition: Any, like: Any, axes: Any) -> Any:
    # a conversion of truth values costs twice as much as this on a CPU
    return _sum(_select(condition, _ones(like), _zeros(like)), axes)


def _matrix(tensors: Any, members: Any) -> Any:
    """[k, n] in float32, a row a tensor."""
    rows = []
    for member in members:
        rows.append(_reshape(_cast(tensors[member], _F32), (1, -1)))  # noqa: PERF401 - a graph knows this form
    if len(rows) == 1:
        return rows[0]
    return _row_join(rows)


def _gradient_rows(matrix: Any) -> Any:
    """[fields, k] of a matrix that holds a gradient a row."""
    high, low = _max(matrix, (1,)), _min(matrix, (1,))
    finite = _count(_finite(matrix), matrix, (1,))
    return _stack(
        (
            _norms(matrix, _larger(high, _negative(low))),
            _sum(matrix, (1,)),
            _sum(_abs(matrix), (1,)),
            high,
            low,
            _sum(_square(_sign(matrix)), (1,)),
            finite,
            _zeros(finite),
        )
    )


def _table_rows(matrix: Any) -> Any:
    """[fields, 1] of one embedding table's gradient [rows, width]: only the rows that the batch has touched."""
    row_high, row_low = _max(matrix, (1,)), _min(matrix, (1,))
    row_norms = _reshape(_norms(matrix, _larger(row_high, _negative(row_low))), (1, -1))
    other = _sum(_square(_sign(matrix)), (1,))
    touched = _square(_sign(other))
    missing = _mul(_sub(_ONE, touched), _zeros(touched) + _LOWEST)
    fields = (
        _norms(row_norms, _max(row_norms, (1,))),
        _reshape(_sum(_sum(matrix, (1,)), ()), (1,)),
        _reshape(_sum(_sum(_abs(matrix), (1,)), ()), (1,)),
        _reshape(_max(_mul(row_high, touched) + missing, ()), (1,)),
        _reshape(_min(_mul(row_low, touched) - missing, ()), (1,)),
        _reshape(_sum(other, ()), (1,)),
        _reshape(_sum(_count(_finite(matrix), matrix, (1,)), ()), (1,)),
        _reshape(_sum(_sub(_ONE, touched), ()), (1,)),
    )
    return _stack(fields)


def gradient_reducer(groups: Sequence[Group]) -> Callable[..., Any]:
    """A function of all gradients -> float32 [GRADIENT_FIELDS * columns], a column a tensor in the groups' order."""
    assert GRADIENT_FIELDS == 8
    members = tuple(group.members for group in groups)
    rows = tuple(group.rows for group in groups)
    count = len(members)

    def reduce(*gradients: Any) -> Any:
        parts = []
        for at in range(count):
            if rows[at]:
                parts.append(_table_rows(_reshape(_cast(gradients[members[at][0]], _F32), (rows[at], -1))))
            else:
                parts.append(_gradient_rows(_matrix(gradients, members[at])))
        return _reshape(_column_join(parts), (-1,))

    return reduce


def snapshot(groups: Sequence[Group]) -> Callable[..., Any]:
    """A function of the tensor 1.0 and the weights -> copies of them, a matrix a group."""
    members = tuple(group.members for group in groups)
    count = len(members)

    def copy(one: Any, *weights: Any) -> Any:
        copies = []
        for at in range(count):
            # times one that the compiler does not know: it may not hand the parameter's own memory out
            copies.append(_mul(_matrix(weights, members[at]), one))  # noqa: PERF401 - a graph knows this form
        return tuple(copies)

    return copy


def _weight_rows(before: Any, after: Any) -> Any:
    # squares of float32 differences of weights do not vanish as those of gradients do: no scaling here
    change = _sub(after, before)
    return _stack(
        (_sqrt(_sum(_square(before), (1,))), _sum(_abs(before), (1,)), _sqrt(_sum(_square(change), (1,)))),
    )


def weight_reducer(groups: Sequence[Group]) -> Callable[..., Any]:
    """A function of the copies from before the step and then the weights -> float32 [WEIGHT_FIELDS * columns]."""
    assert WEIGHT_FIELDS == 3
    members = tuple(group.members for group in groups)
    count = len(members)

    def reduce(*tensors: Any) -> Any:
        weights = tensors[count:]
        parts = []
        for at in range(count):
            parts.append(_weight_rows(tensors[at], _matrix(weights, members[at])))  # noqa: PERF401 - as above
        return _reshape(_column_join(parts), (-1,))

    return reduce


def activation_reducer(limits: Optional[Tuple[float, float]]) -> Callable[[Any], Any]:
    """A function of one activation's output -> float32 [ACTIVATION_FIELDS]. Shares are of all elements."""
    assert ACTIVATION_FIELDS == 5
    saturates = limits is not None
    low, high = limits if limits is not None else (0.0, 0.0)

    def reduce(output: Any) -> Any:
        values = _reshape(_cast(output, _F32), (output.shape[0], -1))
        mean = _mean(_mean(values, (1,)), (0,))
        spread = _sqrt(_mean(_mean(_square(_sub(values, mean)), (1,)), (0,)))
        other = _mean(_mean(_square(_sign(values)), (1,)), (0,))
        if saturates:
            edge = _or(_at_least(values, _zeros(values) + high), _at_most(values, _zeros(values) + low))
            saturated = _div(_sum(_count(edge, values, (1,)), (0,)), _zeros(mean) + float(output.size))
        else:
            saturated = _zeros(mean)
        finite = _sum(_count(_finite(values), values, (1,)), (0,))
        return _stack((_sub(_ONE, other), saturated, mean, spread, _sub(_zeros(mean) + float(output.size), finite)))

    return reduce
