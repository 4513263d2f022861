"""Reverse-mode differentiation in numpy, as much of it as the small nets of bench/zoo.py need."""

from __future__ import annotations

from typing import Any, Callable, List, Sequence, Tuple

import numpy as np


def _fold(grad: Any, shape: Tuple[int, ...]) -> Any:
    """The sum over what was broadcast."""
    while grad.ndim > len(shape):
        grad = grad.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1 and grad.shape[axis] != 1:
            grad = grad.sum(axis=axis, keepdims=True)
    return grad


class Node:
    """A value, and how its gradient is handed on."""

    def __init__(self, data: Any, parents: Sequence[Tuple[Node, Callable[[Any], Any]]] = ()) -> None:
        self.data = np.asarray(data, dtype=np.float64)
        self.parents = parents
        self.grad: Any = None

    def __add__(self, other: Any) -> Node:
        b = other if isinstance(other, Node) else Node(other)
        return Node(
            self.data + b.data,
            ((self, lambda g: _fold(g, self.data.shape)), (b, lambda g: _fold(g, b.data.shape))),
        )

    def __mul__(self, other: Any) -> Node:
        b = other if isinstance(other, Node) else Node(other)
        return Node(
            self.data * b.data,
            ((self, lambda g: _fold(g * b.data, self.data.shape)), (b, lambda g: _fold(g * self.data, b.data.shape))),
        )

    def __sub__(self, other: Any) -> Node:
        return self + (other * -1.0 if isinstance(other, Node) else -np.asarray(other))

    def __matmul__(self, other: Node) -> Node:
        a, b = self.data, other.data
        return Node(
            a @ b,
            (
                (self, lambda g: _fold(g @ np.swapaxes(b, -1, -2), a.shape)),
                (other, lambda g: _fold(np.swapaxes(a, -1, -2) @ g, b.shape)),
            ),
        )

    def apply(self, value: Any, slope: Any) -> Node:
        return Node(value, ((self, lambda g: g * slope),))

    def tanh(self) -> Node:
        y = np.tanh(self.data)
        return self.apply(y, 1 - y * y)

    def sigmoid(self) -> Node:
        y = 1 / (1 + np.exp(-np.clip(self.data, -500, 500)))
        return self.apply(y, y * (1 - y))

    def relu(self) -> Node:
        return self.apply(np.maximum(self.data, 0), (self.data > 0).astype(float))

    def exp(self) -> Node:
        y = np.exp(np.clip(self.data, -50, 50))
        return self.apply(y, y)

    def power(self, exponent: float) -> Node:
        return self.apply(self.data**exponent, exponent * self.data ** (exponent - 1))

    def mean(self, axis: Any = None, *, keep: bool = False) -> Node:
        y = self.data.mean(axis=axis, keepdims=keep)
        count = self.data.size / max(1, y.size)

        def back(g: Any) -> Any:
            g = g if keep or axis is None else np.expand_dims(g, axis)
            return np.broadcast_to(g, self.data.shape) / count

        return Node(y, ((self, back),))

    def turned(self) -> Node:
        """Last two axes exchanged."""
        return Node(np.swapaxes(self.data, -1, -2), ((self, lambda g: np.swapaxes(g, -1, -2)),))

    def rows(self, index: Any) -> Node:
        """Rows of a table."""

        def back(g: Any) -> Any:
            out = np.zeros_like(self.data)
            np.add.at(out, index, g)
            return out

        return Node(self.data[index], ((self, back),))

    def softmax(self) -> Node:
        y = np.exp(self.data - self.data.max(axis=-1, keepdims=True))
        y /= y.sum(axis=-1, keepdims=True)
        return Node(y, ((self, lambda g: y * (g - (g * y).sum(axis=-1, keepdims=True))),))

    def cross_entropy(self, target: Any, smoothing: float = 0.0) -> Node:
        """Mean over all but the last axis; `target`: class numbers."""
        top = self.data - self.data.max(axis=-1, keepdims=True)
        logs = top - np.log(np.exp(top).sum(axis=-1, keepdims=True))
        classes = self.data.shape[-1]
        wanted = np.eye(classes)[target] * (1 - smoothing) + smoothing / classes
        count = self.data.size / classes
        return Node(-(wanted * logs).sum() / count, ((self, lambda g: g * (np.exp(logs) - wanted) / count),))


def stack(nodes: Sequence[Node]) -> Node:
    """Along a new second axis."""
    return Node(
        np.stack([each.data for each in nodes], axis=1),
        [(each, lambda g, k=k: g[:, k]) for k, each in enumerate(nodes)],  # type: ignore[misc]
    )


def backward(root: Node, leaves: Sequence[Node], seed: float = 1.0) -> List[Any]:
    """Gradients of the leaves."""
    order: List[Node] = []
    seen = set()
    todo: List[Tuple[Node, bool]] = [(root, False)]
    while todo:
        node, done = todo.pop()
        if done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            node.grad = None
            todo.append((node, True))
            todo.extend((parent, False) for parent, _back in node.parents)
    root.grad = np.asarray(seed)
    for node in reversed(order):
        for parent, back in node.parents:
            share = back(node.grad)
            parent.grad = share if parent.grad is None else parent.grad + share
    return [np.zeros_like(each.data) if each.grad is None else each.grad for each in leaves]
