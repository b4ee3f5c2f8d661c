"""Layers on scalars and vectors that commute with a group of rotations, such as SO(2) and SO(3).

| the mathematics                                          | here                                                |
| -------------------------------------------------------- | --------------------------------------------------- |
| linear maps of vectors, `hom(X, X)`                      | `into`, `beside`, `out`                             |
| a number for each channel times its vector               | `gate`, a linear map of the scalars                 |
| `σ(a ‖x‖ + b) x`                                         | `norm`, a `NormGate`                                |
| inner products: `hom(X ⊗ X, 1)`                          | into `scalars`; of `so(2)` also the area            |
| cross products: `hom(X ⊗ X, X)`                          | `cross`; `None` where it is zero, as for `so(2)`    |

With `h = tanh(gate(s)) · into(v)` and `k` of `norm(beside(v))`, made shorter than 1, the scalars that come out are a
function of `s` and of `⟨h, k⟩`, and the vectors are `out(h) + cross(h ⊗ k)`. All that is linear is derived from `hom`,
so that any action that keeps lengths can stand in the place of the rotations.

(Thomas et al., *Tensor field networks*, 2018; Jing et al., *Learning from protein structure with geometric vector
perceptrons*, 2021; Satorras et al., *E(n) equivariant graph neural networks*, 2021.)
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, PRNGKeyArray

from cdl.checks import with_usage
from cdl.symmetry import Action, Equivariant, hom, NormGate


Scalars = Float[Array, " scalars"]
Vectors = Float[Array, "vectors axes"]


class VectorLayer(eqx.Module):
    """From scalars and vectors to scalars and vectors: scalars do not change, and vectors turn, with the input.

    Examples:
        >>> from cdl_arch.symmetry import VectorLayer
        >>> layer = VectorLayer(cdl.symmetry.groups.so(3), (1, 2), (1, 1), 4, key=jax.random.key(0))
        >>> turn = jnp.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
        >>> scalars, vectors = jnp.ones(1), jnp.arange(6.0).reshape(2, 3)
        >>> one, turned = layer(scalars, vectors), layer(scalars, vectors @ turn.T)
        >>> bool(jnp.allclose(one[0], turned[0], atol=1e-4))
        True
        >>> bool(jnp.allclose(one[1] @ turn.T, turned[1], atol=1e-4))
        True
    """

    into: Equivariant
    beside: Equivariant
    out: Equivariant
    cross: Equivariant | None
    gate: eqx.nn.Linear
    norm: NormGate
    scalars: eqx.nn.MLP
    straight: eqx.nn.Linear
    action: Action = eqx.field(static=True)

    @with_usage
    def __init__(
        self,
        X: Action,
        inputs: tuple[int, int],
        outputs: tuple[int, int],
        hidden: int,
        *,
        dtype: Any = None,
        key: PRNGKeyArray,
    ) -> None:
        """**Arguments:** `X`: the action on one vector, such as `groups.so(3)`. `inputs`, `outputs`: how many scalars
        and how many vectors. `hidden`: how many channels of vectors are gated and multiplied.

        **Raises:** `CdlError` for an action that does not keep lengths.
        """
        keys = iter(jr.split(key, 8))
        linear: Any = lambda n, m: Equivariant(X, X, n, m, bias=False, dtype=dtype, key=next(keys))
        (s, v), (t, w) = inputs, outputs
        self.into, self.beside, self.out = linear(v, hidden), linear(v, hidden), linear(hidden, w)
        bilinear = hom(X @ X, X).dimension
        self.cross = Equivariant(X @ X, X, hidden, w, bias=False, dtype=dtype, key=next(keys)) if bilinear else None
        self.gate = eqx.nn.Linear(s, hidden, dtype=dtype, key=next(keys))
        gate = NormGate(X, hidden, key=next(keys))
        self.norm = gate if dtype is None else jax.tree.map(lambda x: x.astype(dtype), gate)
        read = s + hidden * hom(X @ X, X.trivial()).dimension
        self.scalars = eqx.nn.MLP(read, t, 2 * t, 1, jax.nn.silu, dtype=dtype, key=next(keys))
        self.straight = eqx.nn.Linear(read, t, use_bias=False, dtype=dtype, key=next(keys))
        self.action = X

    def __call__(self, scalars: Scalars, vectors: Vectors, /) -> tuple[Float[Array, " out"], Float[Array, "_ axes"]]:
        """The scalars and the vectors that come out."""
        h = jnp.tanh(self.gate(scalars))[:, None] * self.into(vectors)
        k = self.norm(self.beside(vectors))
        k = k / jnp.sqrt(1 + jnp.sum(k * k, 1, keepdims=True))  # no step multiplies two numbers that grow with the tree
        products = h[:, :, None] * k[:, None, :]
        read = jnp.concatenate([scalars, inner(self.action, products)])
        moved = self.out(h)
        return self.scalars(read) + self.straight(read), moved if self.cross is None else moved + self.cross(products)


def inner(X: Action, products: Float[Array, "channels axes axes"]) -> Float[Array, " invariants"]:
    """The invariants of each channel of tensors of order 2: the trace for `so(d)`, and the area for `so(2)`."""
    tying = hom(X @ X, X.trivial())
    basis = jnp.asarray(tying.basis.reshape(tying.dimension, *products.shape[1:]), products.dtype)
    return jnp.einsum("pij,cij->cp", basis, products).ravel()
