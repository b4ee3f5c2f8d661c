"""What cases print: once for each node, and inside of a `Many` once for each child, as by the definition.

| where a case prints                         | what runs                                                        |
| ------------------------------------------- | ---------------------------------------------------------------- |
| at a node                                   | the whole case, for one valid row of the chunk after the other   |
| in the function of `map`, of `attend`, or   | inside of that, a loop over the row's children, before the       |
| in the list algebra of `fold`               | reduction, which is silent                                       |

So `map` prints where it is called, even if its result is never reduced, or reduced twice.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import ClosedJaxpr

from ..arrays._rows import take
from ..arrays.shapes import Arrays, is_smooth
from ..jaxprs._jaxprs import opened
from ..jaxprs._prints import prints, silent
from ._program import Program


def told(f: Callable[[Any], Any], row: Any, segment: Any, children: Any, child: Any) -> Callable[[Any], Any]:
    """`f` itself if it prints nothing; else it prints for each child of one row, and a silent function is returned.

    **Arguments:** as the fields of `Edges`; `child`: the shapes of one.
    """
    found: list[tuple[Any, list[Any]]] = []

    def arrays(x: Any) -> list[Any]:
        leaves, structure = jax.tree.flatten(f(x))
        found.append((structure, [None if isinstance(leaf, jax.Array) else leaf for leaf in leaves]))
        return [leaf for leaf in leaves if isinstance(leaf, jax.Array)]

    case = jax.make_jaxpr(arrays)(child)
    if not prints(case.jaxpr):
        return f
    tell_edges(case, row, segment, children, None)
    run, (structure, fixed) = opened(silent(case)), found[0]

    def quiet(x: Any) -> Any:
        own = iter(run(*case.consts, *jax.tree.leaves(x)))
        return jax.tree.unflatten(structure, [next(own) if leaf is None else leaf for leaf in fixed])

    return quiet


def tell_edges(case: ClosedJaxpr, row: Any, segment: Any, children: Any, start: Any) -> None:
    """Runs the step of a reduction for each child of one row, from the last. `start`: the value that it carries
    along, if any."""
    own, run = segment == row, opened(case)
    count = own.sum(dtype=jnp.int32)
    last = jnp.argmax(own).astype(jnp.int32) + count - 1
    values, children = lax.stop_gradient((jax.tree.leaves(start), jax.tree.leaves(children)))

    def step(i: jax.Array, values: Arrays) -> Arrays:
        out = run(*lax.stop_gradient(case.consts), *(take(x, last - i) for x in children), *values)
        return [x.astype(v.dtype) for x, v in zip(out, values, strict=True)] if values else []

    lax.fori_loop(0, count, step, list(map(jnp.asarray, values)))


def tell_rows(
    program: Program, case: ClosedJaxpr, kinds: jax.Array, count: jax.Array, weights: Arrays, inputs: Any
) -> None:
    """Runs a case that prints for each of the `count` valid rows of a chunk.

    **Arguments:** `kinds`: the places of the rows' constructors in the stacks. `inputs`: as of `Program.at`, without
    the weights.
    """
    quiet: Callable[[Any], Any] = lambda x: lax.stop_gradient(x) if is_smooth(x) else x
    weights, (payload, slots, keys, edges, own) = jax.tree.map(quiet, (weights, inputs))
    run = opened(case)

    def one(i: jax.Array, _: None) -> None:
        kind = take(kinds, i)
        ws = [take(w, kind) if stacked else w for w, stacked in zip(weights, program.stacked, strict=True)]
        at_row: Callable[[Any], Any] = lambda xs: jax.tree.map(lambda x: x[i], xs)
        run(*ws, *jax.tree.leaves((i, at_row(payload), at_row(slots), at_row(keys), edges, at_row(own))))

    lax.fori_loop(0, count, one, None)
