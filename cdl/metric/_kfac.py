"""K-FAC: a Fisher metric of which each linear layer has a block, a Kronecker product of two small matrices.

| the mathematics                                              | here                                                |
| ------------------------------------------------------------ | --------------------------------------------------- |
| a layer `W a + b`, with `a` its input and `1`                | every `eqx.nn.Linear` of the parameters             |
| its gradient at one use is `g ⊗ a`, `g` that of its output   |                                                     |
| `A`, the mean of `a aᵀ`                                      | `Kronecker.inputs`                                  |
| `G`, the mean over examples of `Σ g gᵀ`                      | `Kronecker.outputs`                                 |
| the block `G ⊗ A`, `V ↦ G V A`                               | `kfac(model, params).mv(v)`                         |
| `(G ⊗ A + λ)⁻¹`, by the eigenvectors of the two              | `kfac(model, params).solve(g, damping=λ)`           |
| other arrays: a dense block for each, exact                  |                                                     |

A layer that is used many times, at the nodes of a tree or the steps of a sequence, is one block. There are two ways to
make it (Eschenhagen et al., *Kronecker-factored approximate curvature for modern neural network architectures*, 2023):

- `shared="expand"`: each use counts as one more example, and products of two different uses are left out. `A` is the
  mean of `a aᵀ` over all uses whose output changes what the model says, so padding is not counted. It is exact
  for one example with a Gaussian of one scale at each use.
- `shared="reduce"`: the uses of an example are taken together first, as the mean of their `a` and the sum of their
  `g`. It is exact for one example that is told from the mean of all uses.

Which sums belong to one example is seen by a reverse pass for that example alone. So the second costs one for each
example, where the first has one for all (`_watched` says how the two are read).

Source: J. Martens, R. Grosse, *Optimizing neural networks with Kronecker-factored approximate curvature* (2015).
"""

import dataclasses
from collections.abc import Callable
from typing import Any, final, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.tree_util import DictKey, GetAttrKey, SequenceKey
from jaxtyping import Array, PRNGKeyArray

from .._functors.usage import with_types
from .._functors.words import first_line
from ..errors import CdlError
from ._distribution import Distribution
from ._fisher import fisher, Model, P, value_of
from ._pullback import coordinates
from ._solve import damped, Dense, expect_damping, expect_gradient, Number, rounding, wide
from ._watched import drawn, joined, roots, Watched


Shared = Literal["expand", "reduce"]
MOST = 2048  # numbers of an array that is not of a linear layer


@final
class Kronecker(eqx.Module):
    """The block of a layer, `G ⊗ A`. The last row of `inputs` is that of the bias, where there is one.

    Examples:
        >>> inputs = jnp.array([[1.0, 0.0], [0.0, 2.0]])
        >>> net = eqx.nn.Linear(2, 3, key=jax.random.key(0))
        >>> factors = cdl.metric.kfac(
        ...     lambda net: cdl.metric.Categorical(jax.vmap(net)(inputs)), net
        ... )
        >>> block: cdl.metric.Kronecker = factors.blocks
        >>> block.inputs.shape, block.outputs.shape
        ((3, 3), (3, 3))
    """

    inputs: Array
    outputs: Array

    def mv(self, v: Array, /) -> Array:
        """`G V A`, of a matrix `(outputs, inputs)`."""
        return self.outputs @ v @ self.inputs

    def solve(self, g: Array, damping: Number, /) -> Array:
        """`(G ⊗ A + λ)⁻¹ g`."""
        (a, u), (b, w) = jnp.linalg.eigh(wide(self.inputs)), jnp.linalg.eigh(wide(self.outputs))
        sizes = jnp.maximum(b[:, None], 0) * jnp.maximum(a[None, :], 0) + jnp.asarray(damping, a.dtype)
        floor = sizes.size * rounding(g) * sizes.max()
        turned = jnp.where(sizes > floor, w.T @ wide(g) @ u / jnp.where(sizes > floor, sizes, 1), 0)
        return (w @ turned @ u.T).astype(g.dtype)


@final
class Kfac(eqx.Module):
    """A metric of blocks. `blocks` has a `Kronecker` in the place of each linear layer, and an operator for each other
    array.

    Examples:
        >>> inputs = jnp.array([[1.0, 0.0], [0.0, 2.0]])
        >>> net = eqx.nn.Linear(2, 3, key=jax.random.key(0))
        >>> says = lambda net: cdl.metric.Categorical(jax.vmap(net)(inputs))
        >>> factors: cdl.metric.Kfac = cdl.metric.kfac(says, net)
        >>> isinstance(factors.blocks, cdl.metric.Kronecker)
        True
    """

    blocks: Any
    structure: Any = eqx.field(static=True)
    kinds: tuple[Any, ...] = eqx.field(static=True)

    def in_structure(self) -> Any:
        """The shapes and types of the parameters, as those of a linear operator."""
        return jax.tree.unflatten(self.structure, [jax.ShapeDtypeStruct(*kind) for kind in self.kinds])

    def mv(self, v: Any, /) -> Any:
        """The metric times a vector, with the structure of the parameters.

        **Raises:** `CdlError` for a vector of other parameters.
        """
        return self._each(lambda block, v: block.mv(v), v)

    @with_types
    def solve(self, g: Any, /, *, damping: Number = 0.0) -> Any:
        """`(M + λ)⁻¹ g`, block by block. Directions in which a layer's block is zero get no step.

        **Raises:** `CdlError` for a gradient of other parameters, and a damping below 0.
        """

        def one(block: Any, g: Any) -> Any:
            if isinstance(block, Kronecker):
                return block.solve(g, damping)
            return Dense()(damped(block, damping, None), g)

        expect_damping(damping)
        return self._each(one, g)

    def _each(self, fn: Callable[[Any, Any], Any], tree: Any) -> Any:
        def at(block: Any, part: Any) -> Any:
            return _apart(part, fn(block, joined(part))) if isinstance(block, Kronecker) else fn(block, part)

        return jax.tree.map(at, self.blocks, expect_gradient(self, tree), is_leaf=_is_block)


@with_types
def kfac(model: Model[P], params: P, /, *, key: PRNGKeyArray | None = None, shared: Shared = "expand") -> Kfac:
    """The K-FAC approximation of the Fisher metric of a model.

    **Arguments:** `model`, `params`: as for `fisher`; every `eqx.nn.Linear` in `params` gets a Kronecker block. The
    model is called with watched layers in their place, so `params` is the module itself, not its arrays alone. `key`:
    draws one target for each example, so that there is one reverse pass. Without it, the expectation over the targets
    is exact, with a reverse pass for each number that the distribution of an example has. `shared`: `"expand"` or
    `"reduce"`, for a layer that is used many times.

    **Raises:** as `fisher`; `CdlError` for an array outside of linear layers that is too large for a dense block, and
    for linear layers that are stacked.

    Examples:
        >>> inputs = jnp.array([[1.0, 0.0], [0.0, 2.0]])
        >>> net = eqx.nn.Linear(2, 3, key=jax.random.key(0))
        >>> factors = cdl.metric.kfac(
        ...     lambda net: cdl.metric.Categorical(jax.vmap(net)(inputs)), net
        ... )
        >>> factors.blocks.inputs.tolist()
        [[0.5, 0.0, 0.5], [0.0, 2.0, 1.0], [0.5, 1.0, 1.0]]
    """
    out = value_of(model, params)
    reduced = shared == "reduce"
    watched = jax.tree.map(lambda x: Watched.of(x, reduced) if _is_linear(x) else x, params, is_leaf=_is_linear)
    smooth, rest = coordinates(watched)
    try:
        pull = jax.vjp(lambda p: model(eqx.combine(p, rest)), smooth)[1]
    except (AttributeError, ValueError) as why:
        if Watched.__name__ not in str(why):
            raise
        raise CdlError(
            "K-FAC puts watched layers in the place of linear ones, and the model does more with one than call it. "
            f"Give the module itself as `params`, not its arrays alone, and call its layers: {first_line(why)}"
        ) from why
    covectors = roots(out) if key is None else drawn(out, key)
    back: Callable[[Any], Any] = jax.vmap(lambda u: pull(u)[0])
    found = (_reduced if reduced else _expanded)(back, covectors, out)

    def block(path: Any, layer: Any) -> Any:
        if isinstance(layer, Watched):
            return Kronecker(layer.inputs / jnp.where(layer.uses == 0, 1, layer.uses), layer.outputs / out.examples)
        if layer.size > MOST:
            raise CdlError(
                f"`params{jax.tree_util.keystr(path)}` has {layer.size} numbers and is of no `eqx.nn.Linear`: K-FAC "
                f"has a dense block for such arrays, of at most {MOST} numbers. Make it a linear layer, or use "
                "`fisher` with `Cg()`."
            )
        return _alone(model, params, path)

    blocks = jax.tree_util.tree_map_with_path(block, found, is_leaf=_is_watched)
    leaves, structure = jax.tree.flatten(coordinates(params)[0])
    return Kfac(blocks, structure, tuple((x.shape, x.dtype) for x in leaves))


def _expanded(back: Callable[[Any], Any], covectors: Any, out: Distribution) -> Any:
    """The sums over all uses."""

    def of_layer(layer: Any) -> Any:
        if not _is_watched(layer):
            return layer[0]
        return dataclasses.replace(
            layer, inputs=layer.inputs[0], outputs=jnp.sum(layer.outputs, axis=0), uses=layer.uses[0]
        )

    return jax.tree.map(of_layer, back(covectors), is_leaf=_is_watched)


def _reduced(back: Callable[[Any], Any], covectors: Any, out: Distribution) -> Any:
    """Likewise for uses that are summed within each example first: a reverse pass for each example alone."""

    def of_layer(layer: Any) -> Any:
        if not _is_watched(layer):
            return layer[0]
        a = layer.inputs[0] / jnp.where(layer.uses[0] == 0, 1, layer.uses[0])
        some = (layer.uses[0] > 0).astype(a.dtype)
        return dataclasses.replace(layer, inputs=jnp.outer(a, a), outputs=layer.outputs.T @ layer.outputs, uses=some)

    def of_example(i: Array) -> Any:
        only = lambda u: jnp.where(jnp.reshape(places == i, (1, -1) + (1,) * (u.ndim - 2)), u, 0) if out.shape else u
        return jax.tree.map(of_layer, back(jax.tree.map(only, covectors)), is_leaf=_is_watched)

    places = jnp.arange(out.examples)
    return jax.tree.map(lambda x: jnp.sum(x, axis=0), jax.lax.map(of_example, places))


def _is_watched(x: Any) -> bool:
    return isinstance(x, Watched)


def _is_linear(x: Any) -> bool:
    return isinstance(x, eqx.nn.Linear)


def _is_block(x: Any) -> bool:
    return isinstance(x, Kronecker) or hasattr(x, "in_structure")


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
