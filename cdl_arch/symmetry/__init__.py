"""Networks whose weights are tied by a symmetry.

| module             | the group or monoid                          | what it gives                               |
| ------------------ | -------------------------------------------- | ------------------------------------------- |
| `VectorLayer`      | rotations, on scalars and vectors            | layers of `hom` of vectors and of products  |
| `bodies`           | rotations, on trees of vectors               | a fold whose steps are such layers          |
| `SimplicialLayer`  | labels and orientations of a complex         | layers of boundaries and Laplacians         |
| `Spherical`        | the rotations of a cube, on its points       | from the sphere to the group                |
| `futures`          | any that acts on states                      | a value of each state after each element    |
| `counter`          | a counter that stops at its greatest value   | such values, from one number for each state |
| `reset`            | a counter round a circle, with a reset       | the same                                    |
| `stack`            | pushes and pops                              | the same: a memory outside the network      |
| `min_plus`         | lengths that are added, and minima           | shortest paths: Bellman and Ford's step     |

The monoids of the last five are not groups: what their elements do cannot be undone.
"""

# isort: off
from ._vectors import VectorLayer as VectorLayer, inner as inner
from ._complexes import Complex as Complex, closed as closed
from ._simplicial import SimplicialLayer as SimplicialLayer, SimplicialNetwork as SimplicialNetwork
from ._simplicial import flows as flows, maps as maps
from ._spherical import Spherical as Spherical, on_points as on_points, on_group as on_group, patterns as patterns
from ._spherical import POINTS as POINTS, FACES as FACES, EDGES as EDGES, CORNERS as CORNERS
from . import bodies as bodies
from . import futures as futures, counter as counter, reset as reset, stack as stack, min_plus as min_plus
