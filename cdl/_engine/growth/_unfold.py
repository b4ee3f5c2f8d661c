"""`unfold`: the anamorphism of many seeds, compiled.

| the functor         | what is grown                                 | how                                          |
| ------------------- | --------------------------------------------- | -------------------------------------------- |
| `O × [1, X]`        | the first outputs of each stream              | one scan (`_stream`)                         |
| `1 + A × X`         | each list, up to a number of nodes            | one scan with a mask (`_lists`)              |
| any other           | each tree, up to a number of nodes            | one queue for all trees (`_grow`)            |

It is `ana` at every seed, as one program; in a family (`_sorts`) too. Reverse mode of trees is a separate rule
(`_grow_rule`).
"""

import itertools
from collections.abc import Callable
from typing import Any, overload, TypeVar

from jaxtyping import Array, PRNGKeyArray

from ..._functors import Base, Cons, Fix, Fix1of2, Fix2of2, Lin, List, Nil, Snoc, SnocList, Stream, StreamF
from ..._functors.usage import whole, with_usage
from ..._schemes.expect import expect_coalgebras
from ..._schemes.likelihoods import Coalgebras, of_sorts
from ...errors import CdlError
from ..arrays._given import arrays
from ..arrays._random_keys import expect_key_of_rows
from ..calls._compiled import compiled
from ..calls._traced import reverse_only
from ..machines._state import leading
from ._grow_rule import grown_rows
from ._grown import as_grown, Grown
from ._lists import Lists, unfold_list
from ._paths import on_paths
from ._plan import Plan
from ._scores import expect_scores, lost
from ._sorts import at_roots, trace_all
from ._stream import unfold_stream
from ._tracing import kinds, one


T = TypeVar("T")
U = TypeVar("U")
S = TypeVar("S")
R = TypeVar("R")
O = TypeVar("O")  # an output
E = TypeVar("E")  # an element

ROWS = 2**31 - 1  # which a whole number of 32 bits can tell apart
LANES = 1024  # how many nodes grow at a time


@overload
def unfold(  # type: ignore[overload-overlap]
    coalg: Callable[[S], Base[Stream[O], S]], seeds: S | Array, /, nodes: int, *, key: PRNGKeyArray | None = None
) -> O: ...
@overload
def unfold(  # type: ignore[overload-overlap]
    coalg: Callable[[S], Base[List[E], S]], seeds: S | Array, /, nodes: int, *, key: PRNGKeyArray | None = None
) -> Lists[E]: ...
@overload
def unfold(  # type: ignore[overload-overlap]
    coalg: Callable[[S], Base[SnocList[E], S]], seeds: S | Array, /, nodes: int, *, key: PRNGKeyArray | None = None
) -> Lists[E]: ...
@overload
def unfold(
    coalg: Callable[[S], Base[T, S]],
    seeds: S | Array,
    /,
    nodes: int,
    *,
    key: PRNGKeyArray | None = None,
    total: int | None = None,
    lanes: int = LANES,
) -> Grown[Fix[T]]: ...
@overload
def unfold(
    coalg: tuple[Callable[[S], Base[T, tuple[S, R]]], Callable[[R], Base[U, tuple[S, R]]]],
    seeds: tuple[S | Array, R | Array],
    /,
    nodes: int,
    *,
    key: PRNGKeyArray | None = None,
    total: int | None = None,
    lanes: int = LANES,
) -> tuple[Grown[Fix1of2[T, U]], Grown[Fix2of2[T, U]]]: ...
@overload
def unfold(
    coalg: Coalgebras,
    seeds: tuple[Any, ...],
    /,
    nodes: int,
    *,
    key: PRNGKeyArray | None = None,
    total: int | None = None,
    lanes: int = LANES,
) -> tuple[Grown[Any], ...]: ...
@with_usage
def unfold(
    coalg: Any,
    seeds: Any,
    /,
    nodes: int,
    *,
    key: PRNGKeyArray | None = None,
    total: int | None = None,
    lanes: int = LANES,
) -> Any:
    """`ana(coalg)` at every seed, in one compiled program: an anamorphism, batched.

    A coalgebra that chooses gives every layer that there may be, with scores: `choose(scores, Lit(v), Neg(s), …)`. The
    layer with the best score is taken; with a key, one is drawn by the softmax of the scores. At each seed the scores
    are computed first, and then the chosen layer alone.

    Trees grow breadth first: level by level, and each level from left to right. A tree that would have more than
    `nodes` nodes is cut. Its first `nodes` nodes are those of the whole tree, and the open places below them still hold
    seeds. With `total`, growth also stops after `total` nodes of all trees, in the same order, where a level has the
    trees one after another.

    **Arguments:** `coalg`: one layer of seeds for one seed; the same object as for `ana`. `seeds`: a pytree of
    arrays `(trees, …)`. For a family of sorts, `coalg` and `seeds` are tuples in the order of the sorts. Each sort has
    as many trees as seeds, and the trees of the first sort have the first numbers. `nodes`: the most nodes that a tree
    may have; of a stream, how many outputs. `key`: for coalgebras that take one, and to draw; tree `t` is that of
    `ana` with `fold_in(key, t)`. `total`: the most nodes that all trees may have together; it saves memory where most
    trees are far smaller than the largest. `lanes`: how many nodes grow at a time; the trees are the same.

    **Returns:** a `Grown`, the trees as arrays. For a family, a tuple of these, one for each sort. For a signature of
    lists, `Lists`; for streams, their outputs `(trees, nodes, …)`.

    **Raises:** `CdlError` where the seeds' leaves have different numbers of rows, where the budget is not a positive
    integer, and where a score is NaN; `CarrierMismatch` where a coalgebra gives seeds of another form;
    `PayloadMismatch` where a payload is no number, or not of the annotated kind;
    `SignatureError` where there are not as many coalgebras as sorts, or in another order.

    Examples:
        >>> halve = lambda n: cdl.choose(
        ...     jnp.stack([1.5 - n, n - 1.5]), cdl.Leaf(n), cdl.Fork(n // 2, n - n // 2)
        ... )
        >>> grown = cdl.unfold(halve, jnp.array([1.0, 3.0]), 7)
        >>> grown.count.tolist()
        [1, 5]
        >>> grown.results()[1].unwrap()
        Fork(Leaf(1.0), Fork(Leaf(1.0), Leaf(1.0)))
    """
    coalgs = coalg if isinstance(coalg, tuple) else (coalg,)
    expect_coalgebras("unfold", coalgs, several="in a tuple", key=key, takes_key=True)
    expect_key_of_rows(key)
    _, each = of_sorts(coalg, seeds)
    each = tuple(arrays(x, "a seed") for x in each)
    budget = whole("nodes", nodes), None if total is None else whole("total", total, 0), whole("lanes", lanes)
    with reverse_only("unfold", "use reverse mode, `jax.grad`, `jax.vjp` or `jax.jacrev`"):
        return expect_scores(*_unfolded(coalg, each, key, counted(each), *budget))


def counted(seeds: tuple[Any, ...]) -> tuple[int, ...]:
    """How many seeds there are of each sort. **Raises:** `CdlError` where the leaves of one sort's differ in that."""
    which = [f" of sort {s}" if len(seeds) > 1 else "" for s in range(len(seeds))]
    return tuple(leading(x, f"the seeds{of}", "one for each tree") for x, of in zip(seeds, which, strict=True))


@compiled
def _unfolded(
    coalg: Any, seeds: tuple[Any, ...], key: Any, trees: tuple[int, ...], nodes: int, total: int | None, lanes: int
) -> tuple[Any, Any, Any]:
    """What was grown, whether a score was NaN, and the names of the layers."""
    family = isinstance(coalg, tuple)
    if not family:
        found = kinds(coalg, one(seeds[0]), key is not None)
        lists = bool(found & {Cons, Snoc}) and found <= {Nil, Cons, Lin, Snoc}
        if not sum(trees) and (lists or found == {StreamF}):
            raise CdlError("`unfold` was given no seeds, and it grows a list or a stream from each: give one at least.")
        if found == {StreamF}:
            _expect_no_total(total, "streams", "every stream has `nodes` outputs")
            return unfold_stream(coalg, seeds[0], nodes, key=key), False, ()
        if lists:
            _expect_no_total(total, "lists", "`nodes` bounds each list by itself")
            return unfold_list(coalg, seeds[0], nodes, key=key)
    plan = plan_of(sum(trees), nodes, total, lanes, spread=True)
    growth, weights = trace_all(coalg if family else (coalg,), one(seeds), key is not None)
    growth, roots = on_paths(growth, at_roots(seeds, trees), key)
    rows = grown_rows(growth, plan, weights, roots)
    grown = tuple(as_grown(growth.candidates, rows, plan, part) for part in by_sort(trees))
    return grown if family else grown[0], lost(rows), growth.names


def _expect_no_total(total: int | None, what: str, why: str) -> None:
    if total is not None:
        raise CdlError(f"`total` is given to an `unfold` of {what}, where {why}: leave it out.")


def by_sort(trees: tuple[int, ...]) -> list[slice]:
    """Which trees are of each sort."""
    ends = list(itertools.accumulate(trees))
    return [slice(end - n, end) for n, end in zip(trees, ends, strict=True)]


def plan_of(trees: int, nodes: Any, total: Any, lanes: Any, *, spread: bool = False) -> Plan:
    """How far trees may grow. `spread`: as of `Plan`.

    **Raises:** `CdlError` for a budget that is not a number of nodes, or fits no tree.
    """
    nodes, lanes = whole("nodes", nodes), whole("lanes", lanes)
    total = trees * nodes if total is None else whole("total", total, min(trees, 1))
    if min(total, trees * nodes) > ROWS or (spread and trees * nodes > ROWS):
        more = "" if spread else ", or a `total`"
        raise CdlError(
            f"{trees} trees of {nodes} nodes each are more than the {ROWS} rows that a table can have: give fewer "
            f"`nodes`{more}."
        )
    return Plan(trees, nodes, total, max(1, min(lanes, trees * nodes, total)), spread)
