"""How far apart two values are, and how much of it is rounding."""

import functools
import math
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._engine.arrays.shapes import alike
from .._engine.jaxprs._jaxprs import inside
from .._functors.difference import as_numpy, difference
from ..errors import LawBroken
from ._page import Checked, Weights


def shapes(value: Any) -> str:
    """The structure of a value, with the shapes and types of its arrays."""
    return str(eqx.tree_pformat(value, struct_as_array=True, short_arrays=True, width=10**6)).replace("weak_", "")


def weights(arch: Any) -> tuple[Weights, ...]:
    """The arrays of an architecture that are learnt."""
    found = jax.tree_util.tree_leaves_with_path(eqx.filter(arch, eqx.is_inexact_array))
    return tuple(Weights(jax.tree_util.keystr(path).lstrip("."), shapes(x), x.size) for path, x in found)


def apart(left: Any, right: Any) -> float:
    """The greatest difference of two values, over the larger of 1 and the greatest number on the right.

    Infinite where they differ in form, or in what is not a number.
    """
    ours, theirs = jax.tree.leaves(left), jax.tree.leaves(right)
    if not all(map(_is_number, [*ours, *theirs])):
        return math.inf if difference(left, right) else 0.0
    pairs = [(as_numpy(x), as_numpy(y)) for x, y in zip(ours, theirs, strict=False)]
    if not alike(left, right) or any(x.shape != y.shape for x, y in pairs):
        return math.inf
    pairs = [(_widest(x), _widest(y)) for x, y in pairs if x.size]
    scale = max([1.0, *(float(np.abs(y).max()) for _, y in pairs)])
    found = max([0.0, *(float(np.abs(x - y).max()) for x, y in pairs)], key=lambda d: (math.isnan(d), d))
    return found / scale


def tolerance(*values: Any) -> float:
    """What rounding may do to values that are computed in two ways: nothing to integers."""
    types = [jnp.result_type(x) for x in jax.tree.leaves(values) if _is_number(x)]
    eps: Callable[[Any], float] = lambda t: float(jnp.finfo(t).eps)  # type: ignore[no-untyped-call]
    inexact = [eps(t) for t in types if jnp.issubdtype(t, jnp.inexact)]
    coarsest = max(inexact, default=0.0)
    return next((t for least, t in ((1e-4, 5e-2), (1e-10, 1e-4), (0.0, 1e-9)) if coarsest > least), 0.0)


def law(name: str, left: Any, right: Any, allowed: float | None = None) -> Checked:
    """A law, run: its two sides compared."""
    return Checked(name, apart(left, right), tolerance(left, right) if allowed is None else allowed)


def exact(name: str, *checks: Callable[[], None]) -> Checked:
    """A law of `cdl.laws`, run at each of some values: it holds exactly, or not."""
    try:
        for check in checks:
            check()
    except LawBroken:
        return Checked(name, math.inf, 0.0)
    return Checked(name, 0.0, 0.0)


def total(value: Any) -> Any:
    """One number of a value, that no exchange of its parts leaves as it is."""
    leaves = [jnp.asarray(x) for x in jax.tree.leaves(value)]
    smooth = [x for x in leaves if jnp.issubdtype(x.dtype, jnp.inexact)]
    real = [part for x in smooth for part in ((x.real, x.imag) if jnp.iscomplexobj(x) else (x,))]
    if not real:
        return jnp.zeros(())
    finest = max((x.dtype for x in real), key=lambda t: t.itemsize)
    return functools.reduce(jnp.add, [jnp.sum(jnp.sin((i + 1) * x.astype(finest))) for i, x in enumerate(real)])


def gradient(fn: Callable[[Any], Any], at: Any) -> Any:
    """The gradient of a number in the arrays that are learnt."""
    slope: Any = eqx.filter_grad(fn)
    return eqx.filter(slope(at), eqx.is_inexact_array)


def summed(copies: Any) -> Any:
    """The sum of some gradients of one form."""
    return jax.tree.map(lambda *xs: sum(xs[1:], xs[0]), *copies)


def equations(fn: Callable[..., Any], *given: Any) -> int:
    """How many equations the program of a function has, those of its loops once."""
    closed, _, _ = eqx.filter_make_jaxpr(fn)(*given)
    return _count(closed.jaxpr)


def _count(jaxpr: Any) -> int:
    return len(jaxpr.eqns) + sum(_count(inner) for eqn in jaxpr.eqns for inner in inside(eqn))


def _widest(x: Any) -> Any:
    return x.astype(complex if np.iscomplexobj(x) else float)


def _is_number(x: Any) -> bool:
    return isinstance(x, bool | int | float | complex | np.generic | np.ndarray | jax.Array)
