"""An equivariant layer or network explained: a map of algebras of the monad `M × −`, and how its weights are tied.

| the law                                | what is run                                                        |
| -------------------------------------- | ------------------------------------------------------------------ |
| `f(m · x) = m · f(x)`                  | both sides, for each generator; derivatives for a Lie algebra      |
| `W ρ_X(m) = ρ_Y(m) W`                  | the same of the weights, for each generator                        |
| `∇_θ = tyingᵀ ∇_W`                     | the gradient of the tied weights, and of the dense ones            |
"""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr

from .._functors.words import number_of
from .._terms import real
from ..symmetry import Action, Chain, Equivariant, EquivariantMap, Sides, sides
from ._measure import equations, gradient, law, shapes, tolerance, total, weights
from ._page import Checked, Explanation


ROWS = 12  # of a weight matrix, how many are written


def explain_equivariant(arch: EquivariantMap, x: Any, allowed: float | None) -> Explanation:
    """The page of an equivariant map, its laws run at an input; without one, at normal numbers."""
    lead = () if arch.in_channels is None else (arch.in_channels,)
    x = jr.normal(jr.key(0), (*lead, *arch.source.shape)) if x is None else jnp.asarray(x)
    maps = _unfolded(arch)
    linear = [(where, f) for where, f in maps.items() if isinstance(f, Equivariant)]
    X, Y = arch.source, arch.target
    return Explanation(
        name=" ; ".join(type(f).__name__ for f in maps.values()),
        kind="an equivariant map",
        functors=("M × X",),
        type="f : X → Y, a map of algebras of M × −",
        where=(
            f"M = the free monoid on {', '.join(X.names)}" if X.names else "M = the monoid of one element",
            f"X = {_carrier(X, arch.in_channels)}",
            f"Y = {_carrier(Y, arch.out_channels)}",
            f"an input is {shapes(x)}",
        ),
        parameters=weights(arch),
        tying=tuple(line for where, f in linear for line in _tying(f, _of(where))),
        laws=(
            *(law for where, f in linear for law in _weights_commute(f, _of(where), allowed)),
            *_commutes(arch, x, allowed),
            *([_gradient(arch, x, allowed)] if isinstance(arch, Equivariant) else []),
        ),
        execution=(
            *(f"{_of(where)}{type(f).__name__}: {f.execution}" for where, f in maps.items()),
            f"{equations(arch, x)} operations, to be compiled by `jit` where it is called",
        ),
    )


def _carrier(X: Action, channels: int | None) -> str:
    shape = " × ".join(map(str, X.shape)) or "1"
    return f"arrays of {shape}" + ("" if channels is None else f", in {number_of('channel', channels)}")


def _tying(layer: Equivariant, of: str) -> list[str]:
    """What is tied, and the weight matrix with a letter for each number where it is small."""
    tying = layer.tying
    m, n = tying.shape
    found = [f"{of}tying : {real(tying.dimension)} → {real(m * n)}, by {tying.how}"]
    if tying.gap is not None:
        found.append(f"rank certified: what counts as not zero is {tying.gap:.0e} times what counts as zero")
    if max(m, n) <= ROWS:
        found += tying.rows
    return [*found, *tying.counts]


def _weights_commute(layer: Equivariant, of: str, allowed: float | None) -> list[Checked]:
    W = jnp.asarray(layer.weight).reshape((-1, *layer.tying.shape))
    found = []
    for x, y in zip(layer.source.generators, layer.target.generators, strict=True):
        right, left = jnp.asarray(x.dense, W.dtype), jnp.asarray(y.dense, W.dtype)
        both = Sides("", W @ right[None], left[None] @ W, max(x.bound, y.bound) * W)
        found.append(_run(f"{of}W ρ_X({x.name}) = ρ_Y({x.name}) W", both, allowed))
    return found


def _commutes(arch: EquivariantMap, x: jax.Array, allowed: float | None) -> list[Checked]:
    names = arch.source.names
    function, point = _letter("f", names), _letter("x", names)
    return [
        _run(both.law.format(h=function, m=name, x=point), both, allowed)
        for name in names
        for both in sides(arch, arch.source, arch.target, x, name)
    ]


def _run(law: str, both: Sides, allowed: float | None) -> Checked:
    return Checked(law, both.apart, tolerance(both.left, both.right) if allowed is None else allowed)


def _letter(letter: str, taken: Sequence[str]) -> str:
    """A letter for a function or a point; where a generator has it for a name, with a prime."""
    return letter if letter not in taken else _letter(letter + "'", taken)


def _gradient(layer: Equivariant, x: jax.Array, allowed: float | None) -> Checked:
    dense, tying = layer.dense(), layer.weights
    by_weight = gradient(lambda W: total(dense.fn(W, x)), dense.params)
    _, transpose = jax.vjp(tying, (layer.theta, layer.beta))
    tied = gradient(lambda f: total(f(x)), layer)
    return law("∇_θ f = tyingᵀ ∇_W f", (tied.theta, tied.beta), transpose(by_weight)[0], allowed)


def _unfolded(arch: EquivariantMap, where: str = "") -> dict[str, EquivariantMap]:
    """The maps of a chain, and of the chains in it, each by where it is: `maps[0]`."""
    if not isinstance(arch, Chain):
        return {where: arch}
    dot = "." if where else ""
    inner = (_unfolded(f, f"{where}{dot}maps[{i}]") for i, f in enumerate(arch.maps))
    return {at: f for found in inner for at, f in found.items()}


def _of(where: str) -> str:
    """What is said before a line about one of several maps."""
    return f"{where}, " if where else ""
