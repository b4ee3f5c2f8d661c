"""Networks whose layers are all the linear maps that commute with an action: each derived from `hom`.

| the layer           | the action                                | what it is lowered to                     |
| ------------------- | ----------------------------------------- | ----------------------------------------- |
| `Convolution`       | shifts of a grid, periodic or truncated   | `lax.conv_general_dilated`                |
| `GroupConvolution`  | p4 and p4m                                | the same, with turned filters             |
| `DeepSet`           | permutations of a set                     | a mean                                    |
| `GraphLayer`        | permutations of the nodes of a graph      | a product with the adjacency matrix       |
| `Tensors`           | permutations, on tensors of any order     | sums, diagonals and copies                |

Each gives the same as a dense layer with its weights tied by `hom`, which it has as `dense`, or as `at(n)` where it
serves every number of nodes.
"""

# isort: off
from ._convolution import Convolution as Convolution
from ._planes import planes as planes
from ._group_convolution import GroupConvolution as GroupConvolution
from ._gcnn import gcnn as gcnn
from ._tensors import Tensors as Tensors
from ._stack import Stack as Stack
from ._deep_sets import DeepSet as DeepSet, deep_sets as deep_sets
from ._graphs import GraphLayer as GraphLayer, GraphNetwork as GraphNetwork
