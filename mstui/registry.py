"""Find the one object that every module of a drop-in folder declares."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Tuple, Type, TypeVar

T = TypeVar("T")


def collect(package: str, attribute: str, kind: Type[T]) -> Tuple[T, ...]:
    """Every module's `attribute`, in the order of the module names.

    Raises TypeError naming the module that declares none, or one of another type.
    """
    root = importlib.import_module(package)
    found = []
    for info in sorted(pkgutil.iter_modules(root.__path__), key=lambda m: m.name):
        module = importlib.import_module(f"{package}.{info.name}")
        declared = getattr(module, attribute, None)
        if not isinstance(declared, kind):
            message = f"{package}.{info.name} must declare {attribute}, a {kind.__name__}; it has {declared!r}"
            raise TypeError(message)
        found.append(declared)
    return tuple(found)
