"""A network on the simplices of a complex, which commutes with relabelling and with a change of orientation.

| the mathematics                                                   | here                                       |
| ----------------------------------------------------------------- | ------------------------------------------ |
| numbers at the simplices of each dimension                        | `[float[channels, size(k)], …]`            |
| `y_k = A x_k + B ∂ᵀ∂ x_k + C ∂∂ᵀ x_k + D ∂ᵀ x_{k−1} + E ∂ x_{k+1}` | `SimplicialLayer`                          |
| an odd function at each place: signs change with the orientation  | `jnp.tanh`, between the layers             |

The five maps are equivariant; of the whole simplex they are a basis of `hom` of the symmetric group. A bias would not
be: it does not change its sign. `flows` has data to learn from: flows along the edges, each the sum of a gradient, a
curl and a flow round the holes; the network has to find the last.

(Bodnar et al., *Weisfeiler and Lehman go topological*, 2021; Yang, Isufi and Leus, *Simplicial convolutional neural
networks*, 2022.)
"""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from cdl import CdlError
from cdl.checks import with_usage

from ._complexes import Complex


Cochain = Float[Array, "_ _"]


Maps = list[list[Float[Array, "_ _"]]]


def maps(complex: Complex, dimensions: int) -> Maps:
    """The five maps into each dimension: the identity, the two Laplacians, and those from the dimensions beside it.
    Each is divided by the greatest sum of a row's sizes, which neither labels nor orientations change. They have JAX's
    default float; a layer takes them in the dtype of its parameters."""
    found = []
    for k in range(dimensions):
        own = [np.eye(complex.size(k)), *complex.laplacians(k), complex.boundary(k).T, complex.boundary(k + 1)]
        found.append([jnp.asarray(m / max(1, np.abs(m).sum(1).max(initial=0)), jnp.zeros(()).dtype) for m in own])
    return found


class SimplicialLayer(eqx.Module):
    """Equivariant linear maps of the numbers at the simplices of each dimension, to those of each.

    Examples:
        >>> from cdl_arch.symmetry import closed, Complex, maps, SimplicialLayer
        >>> hollow = Complex(closed([(0, 1), (1, 2), (0, 2)]))
        >>> own = maps(hollow, 2)
        >>> layer = SimplicialLayer((1, 1), (2, 2), key=jax.random.key(0))
        >>> [out.shape for out in layer(own, [jnp.ones((1, 3)), jnp.ones((1, 3))])]
        [(2, 3), (2, 3)]
    """

    weights: list[list[Float[Array, "_ _"]]]

    @with_usage
    def __init__(self, inputs: Sequence[int], outputs: Sequence[int], *, dtype: Any = None, key: PRNGKeyArray) -> None:
        """**Arguments:** `inputs`, `outputs`: the channels of each dimension, beginning with the vertices; 0 for none.

        **Raises:** `CdlError` where the dimensions that go in are not as many as those that come out.
        """
        if len(inputs) != len(outputs):
            raise CdlError(f"{len(inputs)} dimensions go in and {len(outputs)} come out: give both equally many.")
        beside = [0, *inputs, 0]
        sources = [(n, n, n, beside[k], beside[k + 2]) for k, n in enumerate(inputs)]
        keys = iter(jr.split(key, 5 * len(inputs)))
        self.weights = [
            [jr.normal(next(keys), (m, n), dtype) / float(np.sqrt(max(1, sum(into)))) for n in into]
            for m, into in zip(outputs, sources, strict=True)
        ]

    def __call__(self, maps: Maps, cochains: Sequence[Cochain], /) -> list[Cochain]:
        """What comes out at the simplices of each dimension.

        **Arguments:** `maps`: those of the complex. `cochains`: the numbers at its simplices, `[channels, size(k)]`.

        **Raises:** `CdlError` where there are more or fewer dimensions than the layer has, or arrays of other shapes.
        """
        self._check(maps, cochains)
        out = []
        for k, weights in enumerate(self.weights):
            near = [k, k, k, k - 1, k + 1]
            terms = [
                jnp.einsum("oi,in,mn->om", w, cochains[j], m.astype(w.dtype))
                for w, j, m in zip(weights, near, maps[k], strict=True)
                if 0 <= j < len(cochains)
            ]
            out.append(sum(terms[1:], terms[0]))
        return out

    def _check(self, maps: Maps, cochains: Sequence[Cochain]) -> None:
        if not len(self.weights) == len(maps) == len(cochains):
            raise CdlError(
                f"a layer of {len(self.weights)} dimensions gets maps of {len(maps)} and numbers of {len(cochains)}: "
                "give as many of each."
            )
        for k, (weights, own, x) in enumerate(zip(self.weights, maps, cochains, strict=True)):
            wanted = weights[0].shape[1], own[0].shape[0]
            if x.shape != wanted:
                raise CdlError(f"numbers of {wanted} are expected at the simplices of dimension {k}, not {x.shape}.")


class SimplicialNetwork(eqx.Module):
    """Several layers, with an odd function at each place between them.

    Examples:
        >>> from cdl_arch.symmetry import closed, Complex, maps, SimplicialNetwork
        >>> hollow = Complex(closed([(0, 1), (1, 2), (0, 2)]))
        >>> own = maps(hollow, 2)
        >>> net = SimplicialNetwork([(1, 1), (4, 4), (1, 1)], key=jax.random.key(0))
        >>> [out.shape for out in net(own, [jnp.ones((1, 3)), jnp.ones((1, 3))])]
        [(1, 3), (1, 3)]
    """

    layers: list[SimplicialLayer]

    @with_usage
    def __init__(self, channels: Sequence[Sequence[int]], *, dtype: Any = None, key: PRNGKeyArray) -> None:
        """**Arguments:** `channels`: of each dimension, before each layer and after the last.

        **Raises:** `CdlError` for fewer than two, and where they are not of equally many dimensions.
        """
        if len(channels) < 2:
            raise CdlError("a network of no layers is asked for: give channels before each layer and after the last.")
        keys = jr.split(key, len(channels) - 1)
        pairs = zip(channels, channels[1:], keys, strict=False)
        self.layers = [SimplicialLayer(before, after, dtype=dtype, key=k) for before, after, k in pairs]

    def __call__(self, maps: Maps, cochains: Sequence[Cochain], /) -> list[Cochain]:
        """What comes out at the simplices of each dimension."""
        found = self.layers[0](maps, cochains)
        for layer in self.layers[1:]:
            found = layer(maps, [jnp.tanh(x) for x in found])
        return found


@with_usage
def flows(
    complex: Complex, count: int, *, key: PRNGKeyArray
) -> tuple[Float[Array, "n edges"], Float[Array, "n edges"]]:
    """Random flows along the edges, and the harmonic part of each, which goes round the holes.

    The harmonic part has no boundary, and is not itself a boundary.

    **Arguments:** `complex`: with edges. `count`: how many flows. `key`: for the numbers.

    **Returns:** the flows and their harmonic parts, both `float[count, edges]`.

    Examples:
        >>> from cdl_arch.symmetry import closed, Complex, flows
        >>> hollow = Complex(closed([(0, 1), (1, 2), (0, 2)]))
        >>> flow, around = flows(hollow, 2, key=jax.random.key(0))
        >>> flow.shape, bool(jnp.allclose(around[:, 0], around[:, 2]))
        ((2, 3), True)
    """
    a, b, c = jr.split(key, 3)
    down, up = complex.laplacians(1)
    values, vectors = np.linalg.eigh(down + up)
    dtype = jnp.zeros(()).dtype
    holes = jnp.asarray(vectors[:, values < 1e-9], dtype)
    gradient = jr.normal(a, (count, complex.size(0))) @ jnp.asarray(complex.boundary(1), dtype)
    curl = jr.normal(b, (count, complex.size(2))) @ jnp.asarray(complex.boundary(2).T, dtype)
    wanted = jr.normal(c, (count, holes.shape[1])) * np.sqrt(complex.size(1) / 4) @ holes.T
    return wanted + 0.5 * (gradient + curl), wanted
