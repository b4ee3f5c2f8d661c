"""Cells of one form for many constructors, their weights held in one array each."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import equinox as eqx
import jax
import jax.random as jr
from jax import lax
from jaxtyping import PRNGKeyArray

from .._functors import constructors
from .._functors.usage import with_usage
from .._functors.words import an
from ..errors import ForeignLayer, SignatureError


M = TypeVar("M")


class Stacked(eqx.Module, Generic[M]):
    """Cells of one form, one for each constructor. Each array of `cells` has a leading axis of constructors.

    `stack[type(layer)]` is a constructor's cell, as from a `dict` of cells. `fold`, `unfold` and `refold` read the
    stack as it is; they would stack the cells of a `dict` anew at every step. Take the cell in the case itself, and not
    in the function that is mapped over a `Many`. Then constructors are computed together.

    Examples:
        >>> cells = cdl.stacked(
        ...     cdl.TreeF, lambda key: eqx.nn.Linear(2, 3, key=key), key=jax.random.key(0)
        ... )
        >>> cells.cells.weight.shape, cells[cdl.Fork].weight.shape
        ((2, 3, 2), (3, 2))
    """

    cells: M
    constructors: tuple[type[Any], ...] = eqx.field(static=True)

    def __getitem__(self, constructor: type[Any]) -> M:
        """**Raises:** `ForeignLayer` for what is not a constructor, or one that has no cell."""
        number = number_of(constructor, self.constructors)
        arrays, rest = eqx.partition(self.cells, eqx.is_array)
        found: M = eqx.combine(jax.tree.map(lambda x: _picked(x, number), arrays), rest)
        return found


def number_of(constructor: object, constructors: tuple[type[Any], ...]) -> int:
    """The place of a constructor among some. **Raises:** `ForeignLayer` for anything else."""
    if not isinstance(constructor, type):
        raise ForeignLayer(
            f"a stack was asked for the cell of {constructor!r}, which is no constructor: write `stack[Leaf]`, with "
            "the class itself, or `stack[type(layer)]`."
        )
    if constructor not in constructors:
        known = ", ".join(f"`{c.__name__}`" for c in constructors)
        raise ForeignLayer(
            f"the stack has a cell for each of {known}, and that of `{constructor.__name__}` was asked for."
        )
    return constructors.index(constructor)


@with_usage
def stacked(signature: Any, cell: Callable[[PRNGKeyArray], M], *, key: PRNGKeyArray) -> Stacked[M]:
    """A cell for each constructor of a signature, their weights in stacks.

    **Arguments:** `signature`: the signature, or those of its constructors that are to have a cell, as a tuple.
    `cell`: a new cell, from a key; all of one structure, with arrays of the same shapes. `key`: split, one for each
    constructor in the order they were written.

    **Raises:** `SignatureError` where the signature has no constructors, or the tuple does not have some, each once,
    and for a cell in place of a function that makes one.

    Examples:
        >>> cells = cdl.stacked(
        ...     cdl.TreeF, lambda key: eqx.nn.Linear(2, 3, key=key), key=jax.random.key(0)
        ... )
        >>> cells[cdl.Leaf](jnp.zeros(2)).shape
        (3,)
    """
    kinds = signature if isinstance(signature, tuple) else constructors(signature)
    if not kinds or not all(isinstance(kind, type) for kind in kinds) or len(set(kinds)) < len(kinds):
        raise SignatureError(
            f"`stacked` makes a cell for each of {kinds!r}, and needs the signature, or a tuple of its constructors, "
            "each once: write `stacked((Leaf, Fork), cell, key=key)`."
        )
    if not callable(cell) or (isinstance(cell, eqx.Module) and not isinstance(cell, eqx.Partial)):
        raise SignatureError(
            f"`stacked` makes the cells itself, and was given {an(type(cell).__name__)}: give a function of a key, as "
            "in `stacked(signature, lambda key: eqx.nn.Linear(2, 3, key=key), key=key)`."
        )
    cells: M = eqx.filter_vmap(cell)(jr.split(key, len(kinds)))
    return Stacked(cells, tuple(kinds))


PICKED = "one of a `cdl.schemes.Stacked`"  # in a jaxpr; no one else gives such a name


def _one(stack: Any, number: Any) -> Any:
    """One of a stack, under `jit` so that its name says where it is in a jaxpr."""
    return lax.dynamic_index_in_dim(stack, number, keepdims=False)


_one.__name__ = PICKED
_picked = jax.jit(_one)
