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
_larger, _select, _zeros = ops.Maximum(), ops.Select(), ops.ZerosLike()
_finite, _equal, _at_least, _at_most, _or = (
    ops.IsFinite(),
    ops.Equal(),
    ops.GreaterEqual(),
    ops.LessEqual(),
    ops.LogicalOr(),
)
_SMALLEST = Tensor(np.float32(1e-37))
"""keeps a division by the largest magnitude defined for a tensor of zeros"""
_ZERO, _ONE = Tensor(np.float32(0)), Tensor(np.float32(1))
_LOWEST = float(np.finfo(np.float32).min)


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Outside of the training's graph a compiled function needs one launch where eager operators need twenty.

    Tensors must come as arguments of their own: in a tuple they would count as constants, and compile anew each time.
    """
    return cast("Callable[..., Any]", ms.jit(function))


def _norms(clean: Any, largest: Any) -> Any:
    """L2 norms of the rows of [k, n]: scaled by the largest magnitude, or squares of 1e-20 would be zero."""
    scale = _larger(largest, _SMALLEST)
    return _mul(_sqrt(_sum(_square(_div(clean, _reshape(scale, (-1, 1)))), (1,))), scale)


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
    good = _finite(matrix)
    clean = _select(good, matrix, _zeros(matrix))
    size = _abs(clean)
    largest = _max(size, (1,))
    zero = _cast(_equal(matrix, _ZERO), _F32)
    finite = _sum(_cast(good, _F32), (1,))
    return _stack(
        (
            _norms(clean, largest),
            _sum(clean, (1,)),
            _sum(size, (1,)),
            _max(clean, (1,)),
            _min(clean, (1,)),
            _sum(zero, (1,)),
            finite,
            _zeros(finite),
        )
    )


def _table_rows(matrix: Any) -> Any:
    """[fields, 1] of one embedding table's gradient [rows, width]: only the rows that the batch has touched."""
    good = _finite(matrix)
    clean = _select(good, matrix, _zeros(matrix))
    size = _abs(clean)
    row_largest = _max(size, (1,))
    zeros = _sum(_cast(_equal(matrix, _ZERO), _F32), (1,))
    untouched = _equal(zeros, _zeros(zeros) + float(matrix.shape[1]))
    low = _select(untouched, _zeros(zeros) + _LOWEST, _max(clean, (1,)))
    high = _select(untouched, _zeros(zeros) - _LOWEST, _min(clean, (1,)))
    row_norms = _reshape(_norms(clean, row_largest), (1, -1))
    fields = (
        _norms(row_norms, _max(row_norms, (1,))),
        _reshape(_sum(clean, ()), (1,)),
        _reshape(_sum(size, ()), (1,)),
        _reshape(_max(low, ()), (1,)),
        _reshape(_min(high, ()), (1,)),
        _reshape(_sum(zeros, ()), (1,)),
        _reshape(_sum(_sum(_cast(good, _F32), (1,)), ()), (1,)),
        _reshape(_sum(_cast(untouched, _F32), ()), (1,)),
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
    good = _finite(before)
    clean = _select(good, before, _zeros(before))
    size = _abs(clean)
    change = _sub(after, before)
    moved = _select(_finite(change), change, _zeros(change))
    return _stack(
        (
            _norms(clean, _max(size, (1,))),
            _sum(size, (1,)),
            _sum(_cast(good, _F32), (1,)),
            _norms(moved, _max(_abs(moved), (1,))),
            _sum(_cast(_finite(change), _F32), (1,)),
        )
    )


def weight_reducer(groups: Sequence[Group]) -> Callable[..., Any]:
    """A function of the copies from before the step and then the weights -> float32 [WEIGHT_FIELDS * columns]."""
    assert WEIGHT_FIELDS == 5
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
        good = _finite(values)
        clean = _select(good, values, _zeros(values))
        mean = _mean(_mean(clean, (1,)), (0,))
        spread = _sqrt(_mean(_mean(_square(_sub(clean, mean)), (1,)), (0,)))
        zero = _mean(_mean(_cast(_equal(values, _ZERO), _F32), (1,)), (0,))
        if saturates:
            edge = _or(_at_least(values, _zeros(values) + high), _at_most(values, _zeros(values) + low))
            saturated = _mean(_mean(_cast(edge, _F32), (1,)), (0,))
        else:
            saturated = _zeros(mean)
        bad = _sum(_sum(_sub(_ONE, _cast(good, _F32)), (1,)), (0,))
        return _stack((zero, saturated, mean, spread, bad))

    return reduce
