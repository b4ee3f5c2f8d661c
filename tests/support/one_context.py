"""One MLIR context for many programs, where JAX makes one for each: a fifth of the time of a program of one operation.

This is inside of JAX and may change: where it is not found, nothing is done.
"""

import importlib
import itertools
from typing import Any


UNTIL = 200  # programs that share a context, which keeps all that it has seen


def install() -> None:
    mlir: Any = importlib.import_module("jax._src.interpreters.mlir")
    usual = getattr(mlir, "make_ir_context", None)
    if usual is None:
        return
    programs, context = itertools.count(), None

    def make() -> Any:
        nonlocal context
        if next(programs) % UNTIL == 0:
            context = usual()
        return context

    mlir.make_ir_context = make
