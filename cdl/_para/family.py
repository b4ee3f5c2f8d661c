"""A family of sorts: an algebra for each, as one parametric map.

| the mathematics                                          | here                                          |
| -------------------------------------------------------- | --------------------------------------------- |
| `αₛ : Pₛ × Fₛ(S₀, S₁, …) → Sₛ` for each sort `s`         | a tuple of algebras                           |
| `P₀ × P₁ × …`                                            | the parameters, a tuple of those of each      |
| `[α₀, α₁, …]`, of layers of every sort                   | `family(algs, kinds)`                         |

So the network of a tree of several sorts is unrolled, tied and drawn as that of a tree of one. A node has a copy of all
parameters, of which it uses those of its sort.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx

from .._terms import name
from .para import Para


Kinds = tuple[tuple[type[Any], ...], ...]  # the constructors of each sort


def family(algs: tuple[Any, ...], kinds: Kinds) -> Para[Any, Any, Any]:
    """The algebras of all sorts as one; that of a single sort as it is."""
    each = [Para.of(alg) for alg in algs]
    if len(each) == 1:
        return each[0]
    return Para(tuple(para.params for para in each), _BySort(tuple(para.fn for para in each), kinds))


def sort_of(node: Any, kinds: Kinds) -> int:
    """The number of a node's sort, or 0 for a node of no sort. The caller refuses that."""
    return next((sort for sort, some in enumerate(kinds) if type(node) in some), 0)


class _BySort(eqx.Module):
    fns: tuple[Callable[[Any, Any], Any], ...]
    kinds: Kinds = eqx.field(static=True)

    @property
    def __called__(self) -> str:
        return f"({', '.join(map(name, self.fns))})"

    def __call__(self, params: Any, layer: Any) -> Any:
        sort = sort_of(layer, self.kinds)
        return self.fns[sort](params[sort], layer)
