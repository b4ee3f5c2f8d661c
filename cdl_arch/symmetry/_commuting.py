"""Whether a function at each place commutes with the permutations of any number of nodes.

| the mathematics                                              | here                                            |
| ------------------------------------------------------------ | ----------------------------------------------- |
| `f(p · x) = p · f(x)`, for tensors over `n` nodes            | `commuting(function, order, channels)`          |
| the numbers of nodes at which it is measured                 | `NODES`, by `Pointwise`, and `OTHERS`           |
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from cdl.errors import CdlError
from cdl.symmetry import Pointwise
from cdl.symmetry.groups import permutations


Function: TypeAlias = Callable[[jax.Array], jax.Array]
NODES, OTHERS = 3, (1, 2, 5)  # on which a function is checked: it may do something else on each number of nodes
TOLERANCE = 1e-4  # of the greatest value, as `Pointwise` has it


def commuting(function: Function, order: int, channels: int) -> Function:
    """The same function. **Raises:** `CdlError` where it does not commute with permutations of nodes."""
    Pointwise(function, permutations(NODES).power(order), channels)
    known = not any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(function))  # not inside `jit` or `vmap`
    for n in OTHERS if order and known else ():
        found = _apart(function, order, channels, n)
        if found > TOLERANCE:
            raise CdlError(
                f"`{_name(function)}` commutes with the permutations of {NODES} nodes, and not with those of {n}: "
                f"f(m · x) and m · f(x) differ by {found:.2g}. It has to do the same on every number of nodes."
            )
    return function


def _apart(function: Function, order: int, channels: int, n: int) -> float:
    """How far `f(m · x)` and `m · f(x)` are apart on `n` nodes, over the greatest number of each sample."""
    sizes = np.array([0.3, 1.0, 3.0, 10.0]).reshape((4, 1, *(1 for _ in range(order))))
    xs = sizes * np.random.default_rng(0).normal(size=(4, channels, *(n for _ in range(order))))
    places = np.arange(n)
    moves = [places, np.roll(places, 1), np.concatenate([places[:2][::-1], places[2:]])]  # none, a cycle, an exchange
    at: list[Any] = [(..., *np.ix_(*[move] * order)) for move in moves]
    moved: Callable[[np.ndarray], np.ndarray] = lambda some: np.concatenate([some[move] for move in at])
    with jax.ensure_compile_time_eval():
        try:
            ys = np.asarray(jax.vmap(function)(jnp.asarray(moved(xs), jnp.zeros(()).dtype)))
        except (TypeError, ValueError, IndexError) as error:
            raise CdlError(f"`{_name(function)}` fails on {n} nodes: {error}") from error
    if ys.shape != (len(moves) * 4, *xs.shape[1:]):
        raise CdlError(
            f"`{_name(function)}` takes {xs.shape[1:]} and gives {ys.shape[1:]}: it is not a function at each place."
        )
    wanted = moved(ys[:4])
    same = (ys == wanted) | (np.isnan(ys) & np.isnan(wanted))
    with np.errstate(invalid="ignore"):
        gap = np.where(same, 0.0, np.abs(ys - wanted))
    gap = np.where(np.isnan(gap), np.inf, gap).reshape((len(ys), -1)).max(1)
    scale = np.where(np.isfinite(ys), np.abs(ys), 0.0).reshape((len(ys), -1)).max(1)
    return float(np.max(gap / np.where(scale > 0, scale, 1.0)))


def _name(given: Any) -> str:
    return getattr(given, "__name__", type(given).__name__)
