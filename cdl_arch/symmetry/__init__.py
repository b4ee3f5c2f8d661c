"""Networks that commute with a symmetry.

| the layer           | the action                                | what it is derived from                   |
| ------------------- | ----------------------------------------- | ----------------------------------------- |
| `VectorLayer`       | rotations, on scalars and vectors         | `hom` of vectors and of their products    |
| `bodies`            | rotations, on trees of vectors            | a fold whose steps are such layers        |
| `SimplicialLayer`   | relabelling and orientation               | boundaries: `hom` of the whole simplex    |
| `Spherical`         | the rotations of a cube, on its points    | `hom` of a finite group                   |
"""

# isort: off
from ._vectors import VectorLayer as VectorLayer, inner as inner
from ._complexes import Complex as Complex, closed as closed
from ._simplicial import SimplicialLayer as SimplicialLayer, SimplicialNetwork as SimplicialNetwork
from ._simplicial import flows as flows, maps as maps
from ._spherical import Spherical as Spherical, on_points as on_points, on_group as on_group, patterns as patterns
from ._spherical import POINTS as POINTS, FACES as FACES, EDGES as EDGES, CORNERS as CORNERS
from . import bodies as bodies
