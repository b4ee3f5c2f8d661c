"""Linear layers that say how they were used: what K-FAC is made of.

| the mathematics                                        | here                                                   |
| ------------------------------------------------------ | ------------------------------------------------------ |
| a use of a layer `W a + b`, with `a` its input and `1` | a call of a `Watched` layer                            |
| its gradient `g ⊗ a`, `g` that of its output           | what the reverse pass gives `W`, as ever               |
| `Σ a aᵀ`, `Σ g gᵀ` and the number of uses              | what it gives the places of a layer that is *expanded* |
| `Σ a`, `Σ g` and the number of uses                    | what it gives the places of a layer that is *reduced*  |
| `u` with `Σ u uᵀ = F` at every example                 | `roots`; or one score for each, `drawn` from the model |

A watched layer has these places beside its weights. A reverse pass adds up what comes from the uses of a weight, so it
adds up these too, however the layer is run: under `vmap`, in a scan, or by `fold`.
"""

import functools
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from .._engine.arrays.shapes import shown
from ..errors import CdlError
from ._distribution import Distribution
from ._solve import wide


Places = tuple[Array, Array, Array]


@final
class Watched(eqx.Module):
    """A linear layer whose gradient comes with what is said of its inputs and its outputs, and the number of uses."""

    linear: eqx.nn.Linear
    inputs: Array
    outputs: Array
    uses: Array
    reduced: bool = eqx.field(static=True)

    @staticmethod
    def of(linear: eqx.nn.Linear, reduced: bool) -> "Watched":
        """**Raises:** `CdlError` for a layer that is not of one matrix, and for a class made of `eqx.nn.Linear`."""
        _expect_one(linear)
        (m, n), kind = linear.weight.shape, linear.weight.dtype
        n += linear.bias is not None
        inputs, outputs = ((n,), (m,)) if reduced else ((n, n), (m, m))
        return Watched(linear, jnp.zeros(inputs, kind), jnp.zeros(outputs, kind), jnp.zeros((), kind), reduced)

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        a = jnp.reshape(x, (-1,))
        a = a.astype(jnp.result_type(a, self.linear.weight))
        if jnp.issubdtype(a.dtype, jnp.complexfloating):
            raise CdlError("K-FAC is of real numbers, and a linear layer is given complex ones: use `fisher`.")
        if self.linear.bias is not None:
            a = jnp.append(a, jnp.ones((), a.dtype))
        y: Any = _affine(self.reduced, joined(self.linear), a, (self.inputs, self.outputs, self.uses))
        return y[0] if self.linear.out_features == "scalar" else y


def _expect_one(layer: eqx.nn.Linear) -> None:
    if type(layer) is not eqx.nn.Linear:
        raise CdlError(
            f"`params` has a `{type(layer).__name__}`, a class made of `eqx.nn.Linear`, and K-FAC knows what "
            "`eqx.nn.Linear` itself computes: hold one in a field, or use `fisher` with `Cg()`."
        )
    arrays = [layer.weight] if layer.bias is None else [layer.weight, layer.bias]
    whole = all(map(eqx.is_inexact_array, arrays)) and len({x.dtype for x in arrays}) == 1
    if not whole or layer.weight.ndim != 2:
        raise CdlError(
            f"`params` has an `eqx.nn.Linear` of {', '.join(map(shown, arrays))}, and K-FAC has a block for one matrix "
            "and a bias, both of floating numbers of one type. Of an ensemble, whose weights are stacked, take K-FAC "
            "of each network under `jax.vmap`; or use `fisher` with `Cg()`."
        )


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _affine(reduced: bool, weight: Array, a: Array, places: Places) -> Array:
    return weight @ a


def _affine_forward(reduced: bool, weight: Array, a: Array, places: Places) -> tuple[Array, tuple[Array, Array]]:
    return weight @ a, (weight, a)


def _affine_backward(reduced: bool, kept: tuple[Array, Array], g: Array) -> tuple[Array, Array, Places]:
    weight, a = kept
    used = jnp.any(g != 0)  # a use that nothing depends on, as of padding, is not counted
    said = (jnp.where(used, a, 0), g) if reduced else (jnp.where(used, jnp.outer(a, a), 0), jnp.outer(g, g))
    inputs, outputs, uses = (x.astype(weight.dtype) for x in (*said, used))
    return jnp.outer(g, a).astype(weight.dtype), weight.T.astype(g.dtype) @ g, (inputs, outputs, uses)


_affine.defvjp(_affine_forward, _affine_backward)


def joined(linear: Any) -> Array:
    """The weights of a layer, or a gradient of them, with those of the bias as the last column."""
    return linear.weight if linear.bias is None else jnp.concatenate([linear.weight, linear.bias[:, None]], axis=1)


def roots(out: Distribution) -> Any:
    """Covectors `u` with `Σ u uᵀ = F` at every example, one after another along a first axis.

    Each has a part of every eigenvector, so that a use on which the distribution depends has a gradient from each: by
    the first of them, uses are counted.
    """
    leaves, structure = jax.tree.flatten(out)
    count = out.examples
    sizes = [x.size // count for x in leaves]
    total = sum(sizes)

    def rows(tree: Any) -> Array:
        return jnp.concatenate([jnp.reshape(x, (count, -1)) for x in jax.tree.leaves(tree)], axis=1)

    def back(flat: Array) -> Any:
        starts = [sum(sizes[:i]) for i in range(len(sizes))]
        parts = [flat[:, s : s + n] for s, n in zip(starts, sizes, strict=True)]
        return jax.tree.unflatten(structure, [jnp.reshape(p, x.shape) for p, x in zip(parts, leaves, strict=True)])

    one = jnp.eye(total, dtype=leaves[0].dtype)
    columns = jax.vmap(lambda e: rows(out.fisher(back(jnp.broadcast_to(e, (count, total))))))(one)  # (total, count, ·)
    lengths, axes = jnp.linalg.eigh(wide(jnp.moveaxis(columns, 1, 0)))
    mixed = np.linalg.qr(np.random.default_rng(0).normal(size=(total, total)))[0]
    found = (axes * jnp.sqrt(jnp.maximum(lengths, 0))[:, None, :]) @ jnp.asarray(mixed, axes.dtype)
    return jax.vmap(back)(jnp.moveaxis(found.astype(one.dtype), 2, 0))


def drawn(out: Distribution, key: PRNGKeyArray) -> Any:
    """The score of one target for each example, that the model draws."""
    targets = jax.lax.stop_gradient(out.sample(key))
    score = jax.grad(lambda z: jnp.sum(z.log_density(targets)))(out)
    return jax.tree.map(lambda x: x[None], score)
