"""Statistics as MindSpore operators: run on the device, in a compiled graph or outside of one.

The only module besides `probes` and `session` that imports MindSpore when it is imported; the recorder imports it when
a training begins. Primitives and not functions of `mindspore.ops`: they exist under the same names in every release,
and a graph of them compiles about twice as fast. Nothing here touches a value that the training uses.
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Optional, Sequence, Tuple, cast

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from mstui.record.plan import Group, stride_of
from mstui.record.statistics import ACTIVATION_FIELDS, GRADIENT_FIELDS, WEIGHT_FIELDS

_F32 = ms.float32
_cast, _reshape, _stack = ops.Cast(), ops.Reshape(), ops.Stack()
_row_join, _column_join = ops.Concat(0), ops.Concat(1)
_sum, _max, _min, _mean = ops.ReduceSum(), ops.ReduceMax(), ops.ReduceMin(), ops.ReduceMean()
_abs, _square, _sqrt, _div, _mul, _sub = ops.Abs(), ops.Square(), ops.Sqrt(), ops.Div(), ops.Mul(), ops.Sub()
_larger, _negative, _zeros, _add, _slice = ops.Maximum(), ops.Neg(), ops.ZerosLike(), ops.Add(), ops.StridedSlice()
_finite, _at_least, _at_most = ops.IsFinite(), ops.GreaterEqual(), ops.LessEqual()
_or, _differs = ops.LogicalOr(), ops.NotEqual()
_SMALLEST = Tensor(np.float32(1e-37))
"""keeps a division by the largest magnitude defined for a tensor of zeros"""
_ONE, _ZERO = Tensor(np.float32(1)), Tensor(np.float32(0))
MOST_LOOKED_AT = 1 << 17
"""Elements of an activation that its shares and its spread are of. Without a limit the cost of a recorded step would
grow with the batch."""
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


def _count(condition: Any, axes: Any) -> Any:
    return _sum(_cast(condition, _F32), axes)


def _other_than_zero(values: Any, axes: Any) -> Any:
    # on a CPU a Sign costs three times as much as this
    return _count(_differs(values, _ZERO), axes)


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
    finite = _count(_finite(matrix), (1,))
    return _stack(
        (
            _norms(matrix, _larger(high, _negative(low))),
            _sum(matrix, (1,)),
            _sum(_abs(matrix), (1,)),
            high,
            low,
            _other_than_zero(matrix, (1,)),
            finite,
            _zeros(finite),
        )
    )


def _table_rows(matrix: Any) -> Any:
    """[fields, 1] of one embedding table's gradient [rows, width]: only the rows that the batch has touched."""
    row_high, row_low = _max(matrix, (1,)), _min(matrix, (1,))
    row_norms = _reshape(_norms(matrix, _larger(row_high, _negative(row_low))), (1, -1))
    other = _other_than_zero(matrix, (1,))
    touched = _cast(_differs(other, _ZERO), _F32)
    missing = _mul(_sub(_ONE, touched), _zeros(touched) + _LOWEST)
    fields = (
        _norms(row_norms, _max(row_norms, (1,))),
        _reshape(_sum(_sum(matrix, (1,)), ()), (1,)),
        _reshape(_sum(_sum(_abs(matrix), (1,)), ()), (1,)),
        _reshape(_max(_mul(row_high, touched) + missing, ()), (1,)),
        _reshape(_min(_mul(row_low, touched) - missing, ()), (1,)),
        _reshape(_sum(other, ()), (1,)),
        _reshape(_sum(_count(_finite(matrix), (1,)), ()), (1,)),
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
        return _flat_columns(parts)

    return reduce


class Weighing(NamedTuple):
    """What is asked of weights before and after the optimizer has moved them; both run in a graph or compiled."""

    before: Callable[..., Any]
    """weights -> (float32 [WEIGHT_FIELDS - 1 times columns], a copy of each group)"""
    after: Callable[..., Any]
    """copies, weights -> float32 [columns]: the norms of the changes"""
    copies: Tuple[Tuple[int, int], ...]
    """shapes of the copies"""
    fields: int
    """length of the first result of `before`"""


def weighing(groups: Sequence[Group]) -> Weighing:
    """Norms and magnitudes of weights, and how far a step moves them.

    Of a tensor of more than MOST_COPIED elements the change is measured on every n-th, or the copies of a large
    network's weights would need as much memory as the weights.
    """
    assert WEIGHT_FIELDS == 4
    members = tuple(group.members for group in groups)
    sizes = tuple(group.size for group in groups)
    strides = tuple(stride_of(group.size) for group in groups)
    count = len(members)

    def before(*weights: Any) -> Any:
        parts = []
        copies = []
        for at in range(count):
            matrix = _matrix(weights, members[at])
            # negated: the compiler may not hand the parameter's own memory out
            copy = _negative(_every(matrix, sizes[at], strides[at]))
            # squares of float32 weights do not vanish as those of gradients do: no scaling here
            norms = _sqrt(_sum(_square(matrix), (1,)))
            base = norms
            if strides[at] > 1:
                base = _sqrt(_sum(_square(copy), (1,)))
            parts.append(_stack((norms, _sum(_abs(matrix), (1,)), base)))
            copies.append(copy)
        return _flat_columns(parts), tuple(copies)

    def after(copies: Any, *weights: Any) -> Any:
        changes = []
        for at in range(count):
            change = _add(copies[at], _every(_matrix(weights, members[at]), sizes[at], strides[at]))
            changes.append(_sqrt(_sum(_square(change), (1,))))
        if count == 1:
            return changes[0]
        return _row_join(changes)

    shapes = tuple((len(group.members), -(-group.size // stride_of(group.size))) for group in groups)
    columns = sum(len(group.members) for group in groups)
    return Weighing(before, after, shapes, (WEIGHT_FIELDS - 1) * columns)


def _every(matrix: Any, size: Any, stride: Any) -> Any:
    """Every n-th column of a matrix of `size` columns."""
    if stride == 1:
        return matrix
    return _slice(matrix, (0, 0), (1, size), (1, stride))


def _flat_columns(parts: Any) -> Any:
    """Matrices side by side, as one vector."""
    if len(parts) == 1:
        return _reshape(parts[0], (-1,))
    return _reshape(_column_join(parts), (-1,))


def before_update(reduce: Optional[Callable[..., Any]], gradients: int, weighing: Weighing) -> Callable[..., Any]:
    """A function of gradients and then weights -> everything found, and behind it the copies, as one vector.

    One result and not several: on a CPU MindSpore starts a small graph of many results up to a hundred times slower.
    """
    before, copied = weighing.before, len(weighing.copies)

    def taken(*tensors: Any) -> Any:
        parts = []
        if reduce is not None:
            parts.append(reduce(*tensors[:gradients]))
        if copied:
            fields, copies = before(*tensors[gradients:])
            parts.append(fields)
            for copy in copies:
                parts.append(_reshape(copy, (-1,)))  # noqa: PERF401 - a graph knows this form
        if len(parts) == 1:
            return parts[0]
        return _row_join(parts)

    return taken


def after_update(fields: int, weighing: Weighing) -> Callable[..., Any]:
    """A function of `before_update`'s vector and the weights -> its first `fields` and the changes."""
    after, shapes = weighing.after, weighing.copies
    starts = []
    end = fields
    for rows, width in shapes:
        starts.append(end)
        end += rows * width
    places = tuple(starts)

    def moved(vector: Any, *weights: Any) -> Any:
        copies = []
        for at in range(len(shapes)):
            rows, width = shapes[at]
            piece = _slice(vector, (places[at],), (places[at] + rows * width,), (1,))
            copies.append(_reshape(piece, (rows, width)))
        return _row_join((_slice(vector, (0,), (fields,), (1,)), after(copies, *weights)))

    return moved


def activation_reducer(limits: Optional[Tuple[float, float]]) -> Callable[[Any], Any]:
    """A function of one activation's output -> float32 [ACTIVATION_FIELDS].

    The mean is over everything, so that it is finite only if all values are. The rest is of the first examples of the
    batch, as many as make MOST_LOOKED_AT elements, but at least one; shares are of these elements.
    """
    assert ACTIVATION_FIELDS == 5
    saturates = limits is not None
    low, high = limits if limits is not None else (0.0, 0.0)

    def reduce(output: Any) -> Any:
        everything = _reshape(_cast(output, _F32), (output.shape[0], -1))
        mean = _mean(_mean(everything, (1,)), (0,))
        examples = max(1, min(output.shape[0], MOST_LOOKED_AT * output.shape[0] // output.size))
        values = everything[:examples]
        elements = _zeros(mean) + float(output.size // output.shape[0] * examples)
        centre = mean
        if examples < output.shape[0]:
            centre = _mean(_mean(values, (1,)), (0,))
        spread = _sqrt(_mean(_mean(_square(_sub(values, centre)), (1,)), (0,)))
        other = _div(_sum(_other_than_zero(values, (1,)), (0,)), elements)
        if saturates:
            edge = _or(_at_least(values, _zeros(values) + high), _at_most(values, _zeros(values) + low))
            saturated = _div(_sum(_count(edge, (1,)), (0,)), elements)
        else:
            saturated = _zeros(mean)
        finite = _sum(_count(_finite(values), (1,)), (0,))
        return _stack((_sub(_ONE, other), saturated, mean, spread, _sub(elements, finite)))

    return reduce
