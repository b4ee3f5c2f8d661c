"""Lists that grow up to a bound, by one scan.

A list's coalgebra gives every layer that there may be, `choose(scores, Nil(), Cons(a, s))`. Each step takes the best,
or draws one, as `ana` does: list `b` is that of `ana` with the key `fold_in(key, b)`.

A layer is computed at the seeds where it was chosen. At the other lists of the batch it is computed again at one of
these, and the value is dropped. So a `log` of what is left of a seed makes no NaN in the gradient of a list that ends.
"""

from collections.abc import Callable
from typing import Any, Generic, TYPE_CHECKING, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, PRNGKeyArray
from numpy.typing import NDArray
from returns.result import Failure, Result, Success

from ..._functors import Base, Cons, Lin, List, Nil, Snoc, SnocList, to_list, to_snoc
from ..._functors.usage import whole
from ..._schemes.algebras import name_of
from ...errors import CdlError, ForeignLayer, PayloadMismatch, TreeTooLarge
from ..arrays._given import arrays
from ..arrays._rows import chosen, masked, repeated, take
from ..arrays.shapes import Arrays, one_of, shown
from ..calls._compiled import compiled
from ..calls._standing import expect_one, not_a_list, standing
from ..jaxprs._stacks import array_of
from ..lists._seq import Seq
from ..machines._state import leading
from ._cases import Cases, inputs_of, one_by_one
from ._paths import on_paths
from ._pieces import in_pieces
from ._sorts import trace_all
from ._tables import table


E = TypeVar("E")  # an element
S = TypeVar("S")  # a seed


class Lists(eqx.Module, Generic[E]):
    """Lists that were grown up to a bound.

    `elements` is a `Seq` of the elements that were grown. A list that is `cut` has more. `log_prob` has the
    log-probability of the choice at each node, and 0 past the end. It is differentiable.

    Examples:
        >>> down = lambda n: cdl.choose(
        ...     jnp.stack([0.5 - n, n - 0.5]), cdl.Nil(), cdl.Cons(n, n - 1)
        ... )
        >>> counted: cdl.compiled.Lists = cdl.unfold(down, jnp.array([2.0, 9.0]), 4)
        >>> counted.cut.tolist()
        [False, True]
    """

    elements: Seq[E]
    log_prob: Float[Array, "lists nodes"]
    cut: Bool[Array, " lists"]
    from_the_end: bool = eqx.field(static=True)  # a list that grows at its first element

    def __len__(self) -> int:
        return len(self.elements)

    if not TYPE_CHECKING:  # type checkers know that there is none
        __getitem__ = not_a_list("`Lists`", "`lists.trees()[i]` is list `i`")

    def trees(self) -> list[Any]:
        """Each as a tree, `Cons(…)` or `Snoc(…)`. On the host.

        **Raises:** `TreeTooLarge` where some are cut; `CdlError` where they are traced.
        """
        cut = np.flatnonzero(self._cut("trees")).tolist()
        if cut:
            nodes = self.log_prob.shape[1]
            raise TreeTooLarge(
                f"{len(cut)} of {len(self.cut)} lists do not end within {nodes} nodes: {', '.join(map(str, cut[:8]))}"
                f"{', …' if len(cut) > 8 else ''}. Give more `nodes`; what is known of them is in `elements`."
            )
        return self._built()

    def results(self) -> list[Result[Any, TreeTooLarge]]:
        """Each tree as a `Success`, or as a `Failure` where it is cut. On the host."""
        cut, nodes = self._cut("results"), self.log_prob.shape[1]
        why = f"the list does not end within {nodes} nodes: give more `nodes`; what is known of it is in `elements`."
        return [
            Failure(TreeTooLarge(why)) if more else Success(tree) for more, tree in zip(cut, self._built(), strict=True)
        ]

    def _cut(self, of: str) -> NDArray[Any]:
        """Which lists are cut. **Raises:** `CdlError` where they are several, stacked, or traced."""
        expect_one(self.cut, 1, f"`{of}` builds the lists of", "result of `unfold`")
        if isinstance(self.cut, Tracer):
            raise CdlError(f"`{of}` builds lists on the host, and these are traced: call it outside of `jit`.")
        return np.asarray(self.cut)

    def _built(self) -> list[Any]:
        values, build = jax.tree.map(np.asarray, self.elements.values), to_snoc if self.from_the_end else to_list
        rows = enumerate(np.asarray(self.elements.lengths).tolist())
        return [build([jax.tree.map(lambda x: x[b, t], values) for t in range(n)]) for b, n in rows]  # noqa: B023

    def __repr__(self) -> str:
        if other := standing(self.cut, 1) or ("traced" if isinstance(self.cut, Tracer) else ""):
            return f"Grown lists: {other}"
        count, cut = np.asarray(self.elements.lengths).sum(), int(np.asarray(self.cut).sum())
        return (
            f"Grown lists: {len(self)}, with {count} elements, at most {self.log_prob.shape[1]} nodes each; {cut} "
            "unfinished"
        )


def unfold_list(
    coalg: Callable[[S], Base[List[E] | SnocList[E], S]], seeds: S, nodes: int, *, key: PRNGKeyArray | None = None
) -> tuple[Lists[E], Bool[Array, ""], tuple[str, ...]]:
    """The list of each seed as far as its first `nodes` nodes, of which the end of the list is one.

    `ana(coalg)(seed)`, compiled. Differentiable in what the coalgebra holds and in the seeds, through the elements and
    through the probabilities of what was chosen.

    **Arguments:** `coalg`: from a seed to `choose(scores, Nil(), Cons(element, seed))`, in any order and number, or
    likewise with `Lin` and `Snoc`. `seeds`: one for each list, along a leading axis. `nodes`: the bound. `key`: to draw
    what is chosen, and for coalgebras that take one; without it the best is chosen.

    **Returns:** the lists, whether a score was NaN, and the names of the layers.

    **Raises:** `PayloadMismatch` where elements differ in shape, `CarrierMismatch` where seeds do; `ForeignLayer` for
    other layers.
    """
    seeds = arrays(seeds, "a seed")
    leading(seeds, "the seeds", "one for each list")
    (elements, lengths, log_prob, cut, missing), names = _grown(coalg, seeds, key, whole("nodes", nodes))
    return Lists(Seq(elements, lengths), log_prob, cut, Snoc.__name__ in names), jnp.any(missing), names


@compiled
def _grown(coalg: Callable[..., Any], seeds: Any, key: jax.Array | None, nodes: int) -> Any:
    growth, weights = trace_all((coalg,), (jax.tree.map(lambda x: x[0], seeds),), key is not None)
    kinds = {c.constructor for c in growth.candidates}
    if not kinds <= {Nil, Cons} and not kinds <= {Lin, Snoc}:
        names = ", ".join(sorted(f"`{k.__name__}`" for k in kinds))
        raise ForeignLayer(f"`{name_of(coalg)}` gives {names}, and a list's are `Nil` and `Cons`, or `Lin` and `Snoc`.")
    growth, begin = on_paths(growth, jax.tree.leaves(seeds), key)
    cases = one_by_one(in_pieces(growth, weights, begin))
    steps = Steps(coalg, cases, list(map(array_of, weights)), len(begin[0]))
    numbers = jnp.arange(nodes, dtype=jnp.int32)
    (_, cut), (elements, grew, log_prob, missing) = lax.scan(steps, (begin, jnp.ones(steps.lists, bool)), numbers)
    elements, grew, log_prob, missing = jax.tree.map(
        lambda x: jnp.swapaxes(x, 0, 1), (elements, grew, log_prob, missing)
    )
    lengths = jnp.sum(grew, 1, dtype=jnp.int32)
    if Snoc in kinds:  # grown from the last element
        order = jax.vmap(lambda length: jnp.where(numbers < length, length - 1 - numbers, numbers))(lengths)
        elements = jax.tree.map(lambda x: jax.vmap(take)(x, order), elements)
    return (elements, lengths, log_prob, cut, missing), growth.names


class Steps:
    """One node more of each list. A state is the leaves of the seeds, and which lists go on."""

    def __init__(self, coalg: Callable[..., Any], cases: Cases, weights: Arrays, lists: int) -> None:
        self.cases, self.weights, self.lists = cases, weights, lists
        if not cases.inner:
            raise CdlError(
                f"`{name_of(coalg)}` gives nothing but the empty list, which has no element to say its type."
            )
        forms = [self._element(c, one_of(cases.cases[c].part.outputs)) for c in cases.inner]
        structure: Any = jax.tree.structure(forms[0])
        for x in forms[1:]:
            if jax.tree.structure(x) != structure or shown(x) != shown(forms[0]):
                raise PayloadMismatch(
                    f"`{name_of(coalg)}` gives elements {shown(forms[0])} and {shown(x)}: give all of them the same "
                    "structure, shapes and dtypes."
                )
        self.element = forms[0]

    def __call__(self, state: tuple[Arrays, jax.Array], _: Any) -> tuple[tuple[Arrays, jax.Array], Any]:
        seeds, going = state
        first = self.cases.choice
        weights, rows = first.weights(self.weights, 0), inputs_of(first.piece, seeds, [])
        choice, chances, *shared = self.cases.choosing(weights, rows, self.lists)
        chance = jnp.take_along_axis(chances, jnp.maximum(choice, 0)[:, None], axis=1)[:, 0]
        element, grows, after = jax.tree.map(lambda x: table((self.lists,), x), self.element), going & False, seeds
        for c in self.cases.inner:
            mine = going & (choice == self.cases.alike[c].first)
            outs = self._where(mine, c, seeds, shared)
            element = jax.tree.map(lambda x, y: chosen(mine, x, y), self._element(c, outs), element)  # noqa: B023
            below = outs[len(self.cases.columns(c)) :]
            below = [x if curve is None else curve(x) for curve, x in zip(self.cases.curves, below, strict=True)]
            after = [chosen(mine, x, y) for x, y in zip(below, after, strict=True)]
            grows |= mine
        return (after, grows), (element, grows, masked(going & (choice >= 0), chance), going & (choice < 0))

    def _where(self, mine: jax.Array, c: int, seeds: Arrays, shared: Arrays) -> Arrays:
        """A candidate at the lists that chose it; at the others, any numbers."""
        alike, case, first = self.cases.alike[c], self.cases.cases[c], jnp.argmax(mine)
        weights = alike.weights(self.weights, 0)
        rows = [repeated(x, mine, first) for x in inputs_of(alike.piece, seeds, shared)]
        nothing = [table((self.lists,), x) for x in case.part.outputs]
        found: Arrays = lax.cond(mine.any(), lambda rows: case(weights, rows, self.lists), lambda _: nothing, rows)
        return found

    def _element(self, c: int, outs: Arrays) -> Any:
        """The element of a layer, from a candidate's outputs."""
        layer = self.cases.growth.candidates[c].layer(outs[: len(self.cases.columns(c))], [None])
        return layer.head if isinstance(layer, Cons) else layer.last
