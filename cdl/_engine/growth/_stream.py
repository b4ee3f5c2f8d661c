"""What grows along a line, by one scan: streams, and lists up to a bound.

| the mathematics                      | here                                                                     |
| ------------------------------------ | ------------------------------------------------------------------------ |
| `take n (ana γ s)`, `γ : S → O × S`  | `unfold_stream(γ, seeds, n)`: `n` outputs for each seed                  |
| `ana γ s`, `γ : S → 1 + A × S`       | `unfold_list(γ, seeds, n)`: the first `n` nodes of each list, and which  |
|                                      | lists have more                                                          |

A stream is a Moore machine that is told nothing, `O × [1, X]`, and is run as one. A list's coalgebra gives every layer
that there may be, `choose(scores, Nil(), Cons(a, s))`, and each step takes the best, or draws one, as `ana` does: list
`b` is that of `ana` with the key `fold_in(key, b)`.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, PRNGKeyArray
from numpy.typing import NDArray
from returns.result import Failure, Result, Success

from ..._functors import Base, Cons, Lin, List, MooreF, Nil, Snoc, SnocList, Stream, StreamF, to_list, to_snoc
from ..._functors.usage import whole
from ..._schemes.algebras import name_of, wants_key
from ..._schemes.unfolds import Choice, own_key, path_below
from ...errors import CdlError, ForeignLayer, PayloadMismatch, TreeTooLarge
from .._compiled import compiled
from .._given import arrays
from .._random_keys import keys_at
from .._standing import expect_one, standing
from ..lists._seq import Seq
from ..machines._machine_steps import masked, pick, Walk
from ..machines._state import leading
from ..shapes import shaped, shown
from ._candidates import Given, Growth
from ._sorts import trace_all


O = TypeVar("O")  # an output
E = TypeVar("E")  # an element
S = TypeVar("S")  # a seed


def unfold_stream(
    coalg: Callable[[S], Base[Stream[O], S]], seeds: S, nodes: int, *, key: PRNGKeyArray | None = None
) -> O:
    """The first outputs of the stream of each seed: `take(nodes, ana(coalg)(seed))`, compiled.

    **Arguments:** `seeds`: one for each stream, along a leading axis. `key`: for coalgebras that take one; stream
    `b` is that of `ana` with `fold_in(key, b)`.

    **Returns:** arrays `(streams, nodes, …)`.
    """
    seeds = arrays(seeds, "a seed")
    leading(seeds, "the seeds", "one for each stream")
    return _heads(coalg, seeds, key, whole("nodes", nodes, 0))


class Lists(eqx.Module, Generic[E]):
    """Lists that were grown up to a bound.

    `elements` has those that are known; of a list that is `cut` there are more. `log_prob` has, for each node, the
    logarithm of the probability of what was chosen there, and is differentiable; zero past the end.

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

    **Arguments:** `coalg`: from a seed to `choose(scores, Nil(), Cons(element, seed))`, in any order and number, or to
    the same of `Lin` and `Snoc`. `seeds`: one for each list, along a leading axis. `nodes`: the bound. `key`: to draw
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
def _heads(coalg: Callable[..., Any], seeds: Any, key: jax.Array | None, nodes: int) -> Any:
    ticks = jnp.zeros((jax.tree.leaves(seeds)[0].shape[0], max(nodes - 1, 0), 0))
    walk = Walk(Ticking(coalg), _first(seeds), shaped((0,), ticks.dtype), key, name_of(coalg))
    return jax.tree.map(lambda x: x[:, :nodes], walk(seeds, ticks, _keys(key, seeds), False)[0])


class Ticking(eqx.Module):
    """A stream as a Moore machine whose inputs say nothing."""

    coalg: Any

    def __call__(self, seed: Any, /, *, key: jax.Array | None = None) -> Any:
        layer = self.coalg(seed, key=key) if key is not None and wants_key(self.coalg) else self.coalg(seed)
        if not isinstance(layer, StreamF):
            kind = "choice of layers" if isinstance(layer, Choice) else f"`{type(layer).__name__}`"
            raise ForeignLayer(f"`{name_of(self.coalg)}` gives a {kind} where a stream's layer belongs: `StreamF`.")
        return MooreF(layer.head, lambda _: layer.tail())


@compiled
def _grown(coalg: Callable[..., Any], seeds: Any, key: jax.Array | None, nodes: int) -> Any:
    growth, weights = trace_all((coalg,), (_first(seeds),), key is not None)
    kinds = {c.constructor for c in growth.candidates}
    if not kinds <= {Nil, Cons} and not kinds <= {Lin, Snoc}:
        names = ", ".join(sorted(f"`{k.__name__}`" for k in kinds))
        raise ForeignLayer(f"`{name_of(coalg)}` gives {names}, and a list's are `Nil` and `Cons`, or `Lin` and `Snoc`.")
    longer = [i for i, c in enumerate(growth.candidates) if c.arity]
    if not longer:
        raise CdlError(f"`{name_of(coalg)}` gives nothing but the empty list, which has no element to say its type.")

    numbers = jnp.arange(nodes, dtype=jnp.int32)

    def one(seed: Any, root: Any) -> Any:
        def body(state: Any, _: Any) -> Any:
            leaves, going, path = state
            here = None if path is None else own_key(path)
            given = growth.call(weights, leaves, [] if here is None else [here])
            choice = growth.choose(given, here)
            chance, _, below = given.chosen(growth, choice)
            grows = going & jnp.any(choice == jnp.array(longer, jnp.int32))
            element = masked(grows, _element(coalg, growth, given, longer, choice))
            missing = going & (choice < 0)
            return (pick(grows, below[0], leaves), grows, _below(path)), (
                element,
                grows,
                jnp.where(going, chance, 0),
                missing,
            )

        begins = jax.tree.leaves(seed), jnp.array(True), root
        (_, cut, _), (elements, grew, log_prob, missing) = jax.lax.scan(body, begins, numbers)
        length = jnp.sum(grew, dtype=jnp.int32)
        if Snoc in kinds:  # grown from the last element
            order = jnp.where(numbers < length, length - 1 - numbers, numbers)
            elements = jax.tree.map(lambda x: x[order], elements)
        return elements, length, log_prob, cut, missing

    return jax.vmap(one)(seeds, _keys(key, seeds)), growth.names


def _element(coalg: Callable[..., Any], growth: Growth, given: Given, longer: list[int], choice: jax.Array) -> Any:
    """The element of the layer that was chosen."""
    layers = [growth.candidates[i].layer(given.payloads[i], [None]) for i in longer]
    elements = [jax.tree.map(jnp.asarray, x.head if isinstance(x, Cons) else x.last) for x in layers]
    form: Any = jax.tree.structure(elements[0])
    for x in elements[1:]:
        if jax.tree.structure(x) != form or shown(x) != shown(elements[0]):
            raise PayloadMismatch(
                f"`{name_of(coalg)}` gives elements {shown(elements[0])} and {shown(x)}: give all of them the same "
                "structure, shapes and dtypes."
            )
    element = elements[0]
    for i, x in zip(longer[1:], elements[1:], strict=True):
        element = pick(choice == i, x, element)
    return element


def _below(path: Any) -> Any:
    """The path of what comes next."""
    return None if path is None else path_below(path, 0)


def _first(seeds: S) -> S:
    return jax.tree.map(lambda x: x[0], seeds)


def _keys(key: jax.Array | None, seeds: Any) -> jax.Array | None:
    """A key for each seed, or none."""
    count = jax.tree.leaves(seeds)[0].shape[0]
    return keys_at(key, jnp.arange(count))
