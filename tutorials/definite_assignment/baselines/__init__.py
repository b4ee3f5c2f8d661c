"""What a tree network has to beat: linear models on what a tree contains, and a recurrent one on the tree written out.

| the model              | what it sees of a tree                                                        |
| ---------------------- | ----------------------------------------------------------------------------- |
| `bag`                  | how many nodes of each constructor                                            |
| `edges`                | the same, and how many of each pair of a node and its child                   |
| `paths(…)`             | which paths from the root there are                                           |
| `GruReader`            | every symbol of the tree written out with brackets, in order, by a GRU        |
"""

# isort: off
from ._features import Features as Features, bag as bag, edges as edges, paths as paths
from ._linear import Linear as Linear, fit_linear as fit_linear
from ._written import Alphabet as Alphabet, Batch as Batch, batches as batches
from ._gru import GruReader as GruReader, parameter_count as parameter_count
