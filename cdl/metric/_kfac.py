"""K-FAC: a Fisher metric of which each linear layer has a block, a Kronecker product of two small matrices.

| the mathematics                                              | here                                                |
| ------------------------------------------------------------ | --------------------------------------------------- |
| a layer `W a + b`, with `a` its input and `1`                | every `eqx.nn.Linear` of the parameters             |
| its gradient at one use is `g ⊗ a`, `g` that of its output   |                                                     |
| `A = E a aᵀ` over all uses                                   | `Kronecker.inputs`                                  |
| `G = Σ g gᵀ` over the uses, and the mean over examples       | `Kronecker.outputs`                                 |
| the block `G ⊗ A`, `V ↦ G V A`                               | `kfac(model, params).mv(v)`                         |
| `(G ⊗ A + λ)⁻¹`, by the eigenvectors of the two              | `kfac(model, params).solve(g, damping=λ)`           |
| other arrays: a dense block for each, exact                  |                                                     |

A layer that is used many times, at the nodes of a tree or the steps of a sequence, is one block. Of the two ways that
are known, this one expands: each use counts as one more example, and products of two different uses are left out
(Eschenhagen et al., *Kronecker-factored approximate curvature for modern neural network architectures*, 2023, where the
other way, which adds up the uses first, is called reduce).

`A` and `G` come back with the gradient. A watched layer has places for them beside its weights, and its rule of
differentiation puts `a aᵀ` and `g gᵀ` there. A reverse pass adds up what comes from the uses of a weight, so it adds up
these, however the layer is run: under `vmap`, in a scan, or by `fold`.

Source: J. Martens, R. Grosse, *Optimizing neural networks with Kronecker-factored approximate curvature* (2015).
"""

from collections.abc import Callable
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import DictKey, GetAttrKey, SequenceKey
from jaxtyping import Array, PRNGKeyArray

from .._functors.usage import with_types
from .._functors.words import first_line
from ..errors import CdlError
from ._distribution import Distribution
from ._fisher import fisher, Model, over_examples, P, value_of
from ._pullback import coordinates
from ._solve import damped, Dense, Number


MOST = 2048  # numbers of an array that is not of a linear layer


@final
class Kronecker(eqx.Module):
    """The block of a layer, `G ⊗ A`. The last row of `inputs` is that of the bias, where there is one."""

    inputs: Array
    outputs: Array

    def mv(self, v: Array, /) -> Array:
        """`G V A`, of a matrix `(outputs, inputs)`."""
        return self.outputs @ v @ self.inputs

    def solve(self, g: Array, damping: Number, /) -> Array:
        """`(G ⊗ A + λ)⁻¹ g`."""
        (a, u), (b, w) = jnp.linalg.eigh(self.inputs), jnp.linalg.eigh(self.outputs)
        sizes = jnp.maximum(b[:, None], 0) * jnp.maximum(a[None, :], 0) + damping
        floor = sizes.size * float(np.finfo(sizes.dtype).eps) * sizes.max()
        turned = jnp.where(sizes > floor, w.T @ g @ u / jnp.where(sizes > floor, sizes, 1), 0)
        return w @ turned @ u.T


@final
class Kfac(eqx.Module):
    """A metric of blocks. `blocks` has a `Kronecker` in the place of each linear layer, and an operator for each other
    array."""

    blocks: Any

    def mv(self, v: Any, /) -> Any:
        """The metric times a vector, with the structure of the parameters."""
        return self._each(lambda block, v: block.mv(v), v)

    @with_types
    def solve(self, g: Any, /, *, damping: Number = 0.0) -> Any:
        """`(M + λ)⁻¹ g`, block by block. Ways in which a layer's block has no extent get no step."""

        def one(block: Any, g: Any) -> Any:
            if isinstance(block, Kronecker):
                return block.solve(g, damping)
            return Dense()(damped(block, damping, None), g)

        return self._each(one, g)

    def _each(self, fn: Callable[[Any, Any], Any], tree: Any) -> Any:
        def at(block: Any, part: Any) -> Any:
            return _apart(part, fn(block, _joined(part))) if isinstance(block, Kronecker) else fn(block, part)

        return jax.tree.map(at, self.blocks, eqx.filter(tree, eqx.is_inexact_array), is_leaf=_is_block)


@with_types
def kfac(model: Model[P], params: P, /, *, key: PRNGKeyArray | None = None) -> Kfac:
    """The K-FAC approximation of the Fisher metric of a model.

    **Arguments:** `model`, `params`: as for `fisher`; every `eqx.nn.Linear` in `params` gets a Kronecker block. The
    model is called with watched layers in their place, so `params` is the module itself, not its arrays alone. `key`:
    draws one target for each example, so that there is one reverse pass. Without it, the expectation over the targets
    is exact, with a reverse pass for each number that the distribution of an example has.

    **Raises:** as `fisher`; `CdlError` for an array that is of no linear layer and too large for a dense block.
    """
    out = value_of(model, params)
    for layer in filter(_is_linear, jax.tree.leaves(params, is_leaf=_is_linear)):
        if type(layer) is not eqx.nn.Linear:
            raise CdlError(
                f"`params` has a `{type(layer).__name__}`, a class made of `eqx.nn.Linear`, and K-FAC knows what "
                "`eqx.nn.Linear` itself computes: hold one in a field, or use `fisher` with `Cg()`."
            )
    watched = jax.tree.map(lambda x: _Watched.of(x) if _is_linear(x) else x, params, is_leaf=_is_linear)
    smooth, rest = coordinates(watched)
    try:
        pull = jax.vjp(lambda p: model(eqx.combine(p, rest)), smooth)[1]
    except (AttributeError, ValueError) as why:
        if _Watched.__name__ not in str(why):
            raise
        raise CdlError(
            "K-FAC puts watched layers in the place of linear ones, and the model does more with one than call it. "
            f"Give the module itself as `params`, not its arrays alone, and call its layers: {first_line(why)}"
        ) from why
    covectors = _roots(out) if key is None else _drawn(out, key)
    found = over_examples(out, jax.tree.map(lambda x: jnp.sum(x, axis=0), jax.vmap(lambda u: pull(u)[0])(covectors)))

    def block(path: Any, layer: Any) -> Any:
        if isinstance(layer, _Watched):
            return Kronecker(layer.inputs / jnp.where(layer.uses == 0, 1, layer.uses), layer.outputs)
        if layer.size > MOST:
            raise CdlError(
                f"`params{jax.tree_util.keystr(path)}` has {layer.size} numbers and is of no `eqx.nn.Linear`: K-FAC "
                f"has a dense block for such arrays, of at most {MOST} numbers. Make it a linear layer, or use "
                "`fisher` with `Cg()`."
            )
        return _alone(model, params, path)

    return Kfac(jax.tree_util.tree_map_with_path(block, found, is_leaf=lambda x: isinstance(x, _Watched)))


class _Watched(eqx.Module):
    """A linear layer whose gradient comes with `Σ a aᵀ`, `Σ g gᵀ`, and the number of its uses."""

    linear: eqx.nn.Linear
    inputs: Array
    outputs: Array
    uses: Array

    @staticmethod
    def of(linear: eqx.nn.Linear) -> "_Watched":
        (m, n), kind = linear.weight.shape, linear.weight.dtype
        n += linear.bias is not None
        return _Watched(linear, jnp.zeros((n, n), kind), jnp.zeros((m, m), kind), jnp.zeros((), kind))

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        a = jnp.reshape(x, (-1,)).astype(self.inputs.dtype)
        if self.linear.bias is not None:
            a = jnp.append(a, jnp.ones((), a.dtype))
        y = _affine(_joined(self.linear), a, (self.inputs, self.outputs, self.uses))
        return y[0] if self.linear.out_features == "scalar" else y


@jax.custom_vjp
def _affine(weight: Array, a: Array, places: tuple[Array, Array, Array]) -> Array:
    return weight @ a


def _affine_forward(weight: Array, a: Array, places: tuple[Array, Array, Array]) -> tuple[Array, tuple[Array, Array]]:
    return weight @ a, (weight, a)


def _affine_backward(kept: tuple[Array, Array], g: Array) -> tuple[Array, Array, tuple[Array, Array, Array]]:
    weight, a = kept
    one = jnp.any(g != 0).astype(g.dtype)  # a use that nothing depends on, as of padding, is not counted
    return jnp.outer(g, a), weight.T @ g, (one * jnp.outer(a, a), jnp.outer(g, g), one)


_affine.defvjp(_affine_forward, _affine_backward)


def _is_linear(x: Any) -> bool:
    return isinstance(x, eqx.nn.Linear)


def _is_block(x: Any) -> bool:
    return isinstance(x, Kronecker) or hasattr(x, "in_structure")


def _joined(linear: Any) -> Array:
    """The weights of a layer, or a gradient of them, with those of the bias as the last column."""
    return linear.weight if linear.bias is None else jnp.concatenate([linear.weight, linear.bias[:, None]], axis=1)


def _apart(like: Any, joined: Array) -> Any:
    if like.bias is None:
        return eqx.tree_at(lambda x: x.weight, like, joined)
    return eqx.tree_at(
        lambda x: (x.weight, x.bias), like, (joined[:, :-1], jnp.reshape(joined[:, -1], like.bias.shape))
    )


def _alone(model: Model[Any], params: Any, path: Any) -> Any:
    """The exact metric of one array of the parameters."""
    at: Callable[[Any], Any] = lambda tree: _at(tree, path)
    put: Callable[[Any], Any] = lambda x: eqx.tree_at(at, params, x)
    return fisher(lambda x: model(put(x)), at(params))


def _at(tree: Any, path: Any) -> Any:
    for key in path:
        match key:
            case GetAttrKey(name):
                tree = getattr(tree, name)
            case SequenceKey(at) | DictKey(at):
                tree = tree[at]
    return tree


def _roots(out: Distribution) -> Any:
    """Covectors `u` with `Σ u uᵀ = F` at every example, one after another along a first axis."""
    leaves, structure = jax.tree.flatten(out)
    count = max(1, *out.shape) if out.shape else 1
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
    lengths, axes = jnp.linalg.eigh(jnp.moveaxis(columns, 1, 0))
    roots = axes * jnp.sqrt(jnp.maximum(lengths, 0))[:, None, :]
    return jax.vmap(back)(jnp.moveaxis(roots, 2, 0))


def _drawn(out: Distribution, key: PRNGKeyArray) -> Any:
    """The score of one target for each example, that the model draws."""
    targets = jax.lax.stop_gradient(out.sample(key))
    score = jax.grad(lambda z: jnp.sum(z.log_density(targets)))(out)
    return jax.tree.map(lambda x: x[None], score)
