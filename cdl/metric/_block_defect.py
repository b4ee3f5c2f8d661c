"""Does a module learn by itself what it learns in the whole?

| the mathematics                                                       | here                                    |
| --------------------------------------------------------------------- | --------------------------------------- |
| modules `f₁, …, fₙ`, one after the other, and a loss `L` of the whole | `modules`, a tuple; `loss` of its value |
| costates `λᵢ = dL/dhᵢ`, at what `fᵢ` gives                            | `costates(modules, loss, x)`            |
| the loss `⟨λᵢ, fᵢ(hᵢ₋₁)⟩` of a module alone                           | `costate_losses(λ, x)`                  |
| `‖gᵢ − ∂L/∂θᵢ‖ / ‖∂L/∂θᵢ‖`, where `gᵢ` is the gradient of its own loss | `block_defect(losses, whole, modules)` |

The gradient of the whole in module `i` is `Jᵢᵀ λᵢ`. A loss of the module's own has the same gradient where
`Jᵢᵀ (∇Lᵢ − λᵢ) = 0`. Costates have it exactly: then each module sees its input and a change of its output, and this is
the composition of lenses. They have to be computed anew at every step; those of a step before are only near. The
pentagon and the triangle say nothing about it: they commute for all parametric maps.
"""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array

from .._engine.arrays.shapes import shown
from .._functors.usage import with_types
from .._optics.reversal import pullback
from ..errors import CdlError
from ._invariance import relative


Modules = tuple[Any, ...]
Loss = Callable[[Modules], Array]


@with_types
def costates(modules: Modules, loss: Callable[[Any], Array], x: Any, /) -> tuple[Any, ...]:
    """The gradient of a loss at the output of each module.

    **Arguments:** `modules`: one after the other. `loss`: of the output of the last. `x`: the input of the first.

    **Returns:** one gradient for each module, as its output is.

    Examples:
        >>> modules = (lambda x: 3 * x, lambda y: y + 1)
        >>> [float(back) for back in cdl.metric.costates(modules, lambda z: z**2, jnp.array(1.0))]
        [8.0, 8.0]
    """
    ways, h = [], x
    for module in modules:
        h, way = pullback(module, h)
        ways.append(way)
    found = [jax.grad(loss)(h)]
    for way in reversed(ways[1:]):
        found.append(way(found[-1])[0])
    return tuple(reversed(found))


@with_types
def costate_losses(costates: tuple[Any, ...], x: Any, /) -> tuple[Loss, ...]:
    """A loss for each module: the inner product of its output and a costate. Its input does not change with the others.

    **Arguments:** `costates`: one for each module; those of an earlier step are allowed. `x`: the input of the first.

    **Returns:** a tuple of losses, one for each module. Each gives `float[]` from the parameters of all modules.

    **Raises:** `CdlError`, where a loss is taken, for modules that the costates are not of.

    Examples:
        >>> modules = (eqx.nn.Lambda(lambda x: 3 * x), eqx.nn.Lambda(lambda y: y + 1))
        >>> backs = cdl.metric.costates(modules, lambda z: z**2, jnp.array(1.0))
        >>> [float(loss(modules)) for loss in cdl.metric.costate_losses(backs, jnp.array(1.0))]
        [24.0, 32.0]
    """

    def of(place: int) -> Loss:
        def loss(modules: Modules) -> Array:
            h = x
            for module in modules[:place]:
                h = module(h)
            _expect(costates, modules)
            y = eqx.filter(modules[place](jax.lax.stop_gradient(h)), eqx.is_inexact_array)
            given = jax.lax.stop_gradient(eqx.filter(costates[place], eqx.is_inexact_array))
            _expect_like(place, given, y)
            return jnp.stack(jax.tree.leaves(jax.tree.map(lambda a, b: jnp.sum(a * b), given, y))).sum()

        return loss

    return tuple(map(of, range(len(costates))))


@with_types
def block_defect(losses: Sequence[Loss], whole: Loss, modules: Modules, /) -> Array:
    """How far the gradient of each module's own loss is from that of the whole: `‖gᵢ − ∂L/∂θᵢ‖ / ‖∂L/∂θᵢ‖`.

    **Arguments:** `losses`: for each module the loss that it learns by, a function of all modules; only its gradient in
    that module is read. `whole`: the loss of all. `modules`: the point at which the gradients are taken.

    **Returns:** one number for each module: 0 where both gradients are the same, also where both are zero; `inf` where
    only that of the whole is zero.

    **Raises:** `CdlError` where there are not as many losses as modules, or a module has no parameters.

    Examples:
        >>> modules = (
        ...     eqx.nn.Linear(2, 2, key=jax.random.key(1)),
        ...     eqx.nn.Linear(2, 1, key=jax.random.key(2)),
        ... )
        >>> whole = lambda modules: jnp.sum(modules[1](modules[0](jnp.ones(2))) ** 2)
        >>> backs = cdl.metric.costates(modules, lambda z: jnp.sum(z**2), jnp.ones(2))
        >>> losses = cdl.metric.costate_losses(backs, jnp.ones(2))
        >>> bool(cdl.metric.block_defect(losses, whole, modules).max() < 1e-5)
        True
    """
    if len(losses) != len(modules):
        raise CdlError(f"{len(losses)} losses for {len(modules)} modules: give one for each.")
    end_to_end = eqx.filter_grad(whole)(modules)
    found = []
    for place, loss in enumerate(losses):
        own, true = (ravel_pytree(g[place])[0] for g in (eqx.filter_grad(loss)(modules), end_to_end))
        if not true.size:
            raise CdlError(f"module {place} has no parameters, and so no gradient: join it with one that has.")
        found.append(relative(own - true, true))
    return jnp.stack(found)


def _expect(costates: tuple[Any, ...], modules: Modules) -> None:
    if len(costates) != len(modules):
        raise CdlError(f"{len(costates)} costates for {len(modules)} modules: give one for each.")


def _expect_like(place: int, costate: Any, y: Any) -> None:
    form: Any = lambda x: jax.ShapeDtypeStruct(jnp.shape(x), jnp.result_type(x))
    given, wanted = (" ".join(shown(jax.tree.map(form, tree)).split()) for tree in (costate, y))
    if given != wanted:
        raise CdlError(
            f"the costate of module {place} is {given}, and its output is {wanted}: take `costates` of these modules, "
            "at inputs of this shape."
        )
