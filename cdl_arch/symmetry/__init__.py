"""Networks that commute with an action, each derived from `hom`.

| the layer, or module | the action                                     | what it is lowered to, or gives             |
| -------------------- | ---------------------------------------------- | ------------------------------------------- |
| `Convolution`        | shifts of a grid, periodic or truncated        | `lax.conv_general_dilated`                  |
| `GroupConvolution`   | p4 and p4m                                     | the same, with turned filters               |
| `DeepSet`            | permutations of a set                          | a mean                                      |
| `GraphLayer`         | permutations of the nodes of a graph           | a product with the adjacency matrix         |
| `Tensors`            | permutations, on tensors of any order          | sums, diagonals and copies                  |
| `VectorLayer`        | rotations, on scalars and vectors              | products of vectors, by `hom`               |
| `bodies`             | rotations, on trees of vectors                 | a fold whose steps are such layers          |
| `Spherical`          | the rotations of a cube, on points of a sphere | layers on the group                         |
| `SimplicialLayer`    | labels and orientations of a complex           | boundaries and Laplacians                   |
| `futures`            | any monoid that acts on states                 | a value of each state after each element    |
| `counter`, `reset`   | counters that stop, and that are reset         | such values, from one number for each state |
| `stack`              | pushes and pops                                | the same: a memory outside the network      |
| `min_plus`           | lengths that are added, and minima             | shortest paths: Bellman and Ford's step     |

`Convolution` and `GroupConvolution` give the same as a dense layer with its weights tied by `hom`, which is their
`equivariant`. So do `DeepSet`, `GraphLayer` and `Tensors`: their `at(n)` is that layer on `n` nodes. The monoids of
`futures`, `counter`, `reset`, `stack` and `min_plus` are not groups: what their elements do cannot be undone.

Examples:
    >>> from cdl_arch.symmetry import Convolution
    >>> layer = Convolution((5,), 1, 1, (3,), key=jax.random.key(0))
    >>> x = jnp.arange(5.0)[None]
    >>> bool(
    ...     jnp.allclose(
    ...         layer(jnp.roll(x, 1, axis=1)), jnp.roll(layer(x), 1, axis=1), atol=1e-5
    ...     )
    ... )
    True
"""

# isort: off
from ._convolution import Convolution as Convolution
from ._planes import planes as planes
from ._group_convolution import GroupConvolution as GroupConvolution
from ._gcnn import gcnn as gcnn
from ._tensors import Tensors as Tensors
from ._layers import Layers as Layers
from ._deep_sets import DeepSet as DeepSet, deep_sets as deep_sets
from ._graphs import GraphLayer as GraphLayer, GraphNetwork as GraphNetwork
from ._vectors import VectorLayer as VectorLayer, inner as inner
from ._complexes import Complex as Complex, closed as closed
from ._simplicial import SimplicialLayer as SimplicialLayer, SimplicialNetwork as SimplicialNetwork
from ._simplicial import flows as flows, maps as maps
from ._spherical import Spherical as Spherical, on_points as on_points, on_group as on_group, patterns as patterns
from ._spherical import POINTS as POINTS, FACES as FACES, EDGES as EDGES, CORNERS as CORNERS
from . import bodies as bodies
from . import futures as futures, counter as counter, reset as reset, stack as stack, min_plus as min_plus
