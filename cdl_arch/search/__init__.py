"""Search among architectures: one space, one budget, and methods behind one protocol.

| the thing      | here                                                                                               |
| -------------- | -------------------------------------------------------------------------------------------------- |
| a space        | `Space`; `Blocks`, residual networks on pictures; `Signatures`, functor signatures of a fold       |
| a task         | `Task`, a space and data; `of_dataset`; `trained`, many candidates in one `vmap`, gives `Outcome`  |
| a score        | `isometry`, `gradient_norm`: `scored` codes before any training, `ranked` with NaN last            |
| a method       | `Random`, `Pruned`, `Evolution`, `Controller`, and with shared weights `Enas` and `Darts`          |
| a search       | `search`, from many seeds at once, gives `Search`; `retrained` says what was found                 |
| many searches  | `bootstrap`, from one `Pool`                                                                       |

Examples:
    >>> from cdl_arch.search import Signatures, Random, search, tree_task
    >>> task = tree_task(Signatures(4), trees=8, depth=2, steps=2)
    >>> found = search(
    ...     task, Random(), jax.random.split(jax.random.key(0), 1), budget=2, batch=1
    ... )
    >>> found.validation.shape
    (1, 2)
"""

# isort: off
from ._space import Space as Space
from ._blocks import Blocks as Blocks
from ._task import Part as Part, Task as Task, Outcome as Outcome, of_dataset as of_dataset, trained as trained
from ._trees import RIGHT as RIGHT
from ._signatures import Signatures as Signatures, tree_task as tree_task
from ._scores import Score as Score, isometry as isometry, gradient_norm as gradient_norm
from ._scores import scored as scored, ranked as ranked
from ._methods import Method as Method, Random as Random, Pruned as Pruned
from ._methods import Evolution as Evolution, Controller as Controller
from ._supernet import Enas as Enas, Darts as Darts
from ._search import Search as Search, search as search, retrained as retrained
from ._bootstrap import Pool as Pool, Resampled as Resampled, bootstrap as bootstrap
