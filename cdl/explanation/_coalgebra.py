"""A coalgebra that grows trees explained: `γ : P × S → F S`, with a score for each layer where it chooses.

In a family there is one for each sort, and they are explained as one.

| the law                                        | what is run                                                      |
| ---------------------------------------------- | ---------------------------------------------------------------- |
| `unfold γ = ana γ`                             | the compiled form and the definition, with the same keys         |
| the trees of `unfold` are as likely as it says | `likelihood`, by definition, on the trees that were grown        |
| `follow γ = likelihood γ`                      | the compiled form and the definition, in value and in gradient   |

The last two are of coalgebras that propose each constructor once.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from returns.pipeline import is_successful

from .._drawing.trees import power
from .._engine import follow, Lists, pack, unfold
from .._functors.words import number_of
from .._schemes import ana, likelihood
from .._schemes.algebras import wants_key
from .._schemes.unfolds import Choice
from .._terms import numbers
from ..errors import ForeignLayer, LawBroken
from ._measure import gradient, law, shapes
from ._page import Checked, Explanation
from ._sorts import size, Sorts


NODES, TREES = 12, 8  # how far trees are grown, and how many of each sort

Coalgs = tuple[Any, ...]  # a coalgebra for each sort
Seeds = tuple[Any, ...]  # a seed for each


class Grown(NamedTuple):
    """A tree that came to an end: its sort, its number among all that were grown, and how likely it is said to be."""

    sort: int
    number: int
    tree: Any
    log_prob: Any


def explain_coalgebra(
    coalgs: Coalgs, sorts: Sorts, seeds: Seeds, trees: Sequence[Any] | None, allowed: float | None
) -> Explanation:
    """The page of a coalgebra, or of those of a family, its laws run on the trees that it grows from a seed of each."""
    seeds = jax.tree.map(jnp.asarray, seeds)
    key = jax.random.key(0)
    coalg, rows = _alone(coalgs, _times([TREES] * len(sorts), seeds))
    grown = _ended(unfold(coalg, rows, NODES, key=key), len(sorts))
    every = [tree for _, _, tree, _ in grown]
    checks, untold = [], tuple[str, ...]()
    if grown:
        defined = [_bounded(coalgs, sort, seeds[sort], jax.random.fold_in(key, i)) for sort, i, _, _ in grown]
        checks.append(law(f"unfold γ = ana γ, on {number_of('tree', len(every))} that ended", every, defined, allowed))
    try:
        checks += _of_likelihood(coalgs, sorts, seeds, grown, allowed)
        checks += _of_follow(coalgs, sorts, seeds, list(trees or every), allowed)
    except ForeignLayer as why:  # a tree does not tell what was chosen, or has what is never chosen
        untold = (f"not compared with `likelihood`: {why}",)
    given = [coalg(seed) for coalg, seed in zip(coalgs, seeds, strict=True)]
    seeded, sizes = TREES * len(sorts), ", ".join(str(size(t)) for t in every) or "no"
    return Explanation(
        name=sorts.name(coalgs),
        kind=_kind(given),
        functors=sorts.functors,
        type=_type(coalgs, sorts, given),
        where=(*sorts.parameters(coalgs), _carriers(sorts, seeds), *sorts.constructors()),
        parameters=sorts.weights(coalgs),
        tying=_tying(every, len(sorts)) if numbers(coalgs) else (),
        laws=tuple(checks),
        execution=(
            f"`unfold`: {seeded} seeds at once, up to {NODES} nodes each; {len(every)} ended, of {sizes} nodes",
            *_choices(given),
            *untold,
        ),
    )


def _kind(given: list[Any]) -> str:
    one = "a coalgebra" if len(given) == 1 else "a family of coalgebras"
    chooses = any(isinstance(layer, Choice) for layer in given)
    return one + (" that chooses" if chooses and len(given) == 1 else " that choose" if chooses else "")


def _type(coalgs: Coalgs, sorts: Sorts, given: list[Any]) -> str:
    """`γ : P × S → F S`, of each sort."""
    each = zip(*map(sorts.letters, "γS"), sorts.product(coalgs), sorts.layer("S"), strict=True)
    words = ", ".join(f"{gamma} : {p}{state} → {layer}" for gamma, state, p, layer in each)
    return words + (", with a score for each layer" if any(isinstance(layer, Choice) for layer in given) else "")


def _carriers(sorts: Sorts, seeds: Seeds) -> str:
    return ", ".join(f"{letter} = {shapes(seed)}" for letter, seed in zip(sorts.letters("S"), seeds, strict=True))


def _choices(given: list[Any]) -> list[str]:
    """How many layers each coalgebra chooses from."""
    counts = [len(layer.layers) if isinstance(layer, Choice) else 1 for layer in given]
    if max(counts) < 2:
        return []
    of = "at each node" if len(counts) == 1 else "at a node of each sort"
    return [f"{', '.join(map(str, counts))} candidate layers {of}, of which one is taken"]


def _of_likelihood(
    coalgs: Coalgs, sorts: Sorts, seeds: Seeds, grown: list[Grown], allowed: float | None
) -> list[Checked]:
    if not grown:
        return []
    defined = [_likelihood(coalgs, sorts, seeds, g.tree) for g in grown]
    return [law("the trees of unfold γ are as likely as it says", [g.log_prob for g in grown], defined, allowed)]


def _of_follow(coalgs: Coalgs, sorts: Sorts, seeds: Seeds, trees: list[Any], allowed: float | None) -> list[Checked]:
    """That teacher forcing, compiled, is what it is by definition."""
    if not trees:
        return []
    roots = list(map(sorts.of, trees))
    forest = pack(sorts.signature, trees)
    rows = _times([roots.count(sort) for sort in range(len(sorts))], seeds)

    def compiled(coalgs: Any) -> Any:
        coalg, own = _alone(coalgs, rows)
        return follow(coalg, forest, own)

    defined: Callable[[Any], Any] = lambda c: jnp.stack([_likelihood(c, sorts, seeds, t) for t in trees])
    found = [
        law(f"follow γ = likelihood γ, on {number_of('tree', len(trees))}", compiled(coalgs), defined(coalgs), allowed)
    ]
    if numbers(coalgs):
        fast, slow = gradient(lambda c: compiled(c).sum(), coalgs), gradient(lambda c: defined(c).sum(), coalgs)
        found.append(law("∇ (follow γ) = ∇ (likelihood γ)", fast, slow, allowed))
    return found


def _likelihood(coalgs: Coalgs, sorts: Sorts, seeds: Seeds, tree: Any) -> Any:
    of: Any = likelihood(*_alone(coalgs, seeds))
    return (of[sorts.of(tree)] if len(sorts) > 1 else of)(tree)


def _bounded(coalgs: Coalgs, sort: int, seed: Any, key: Any) -> Any:
    """What is grown by definition; a text where that does not end when it should."""
    left = iter(range(NODES))

    def once() -> None:
        if next(left, None) is None:
            raise LawBroken(f"`ana` goes on after {NODES} nodes, where `unfold` ended.")

    def counted(coalg: Any) -> Any:
        def plain(seed: Any) -> Any:
            once()
            return coalg(seed)

        def keyed(seed: Any, *, key: Any = None) -> Any:
            once()
            return coalg(seed, key=key)

        return keyed if wants_key(coalg) else plain

    try:
        grow: Any = ana(*map(counted, coalgs), key=key)
        return (grow if len(coalgs) == 1 else grow[sort])(seed)
    except LawBroken as endless:
        return str(endless)


def _tying(trees: list[Any], sorts: int) -> tuple[str, ...]:
    most = max(map(size, trees), default=0)
    same = "the same weights" if sorts == 1 else "the weights of its sort"
    return (f"every node has {same}: for a tree of {most} nodes, Δ : P → {power(most)}",) if most else ()


def _ended(grown: Any, count: int) -> list[Grown]:
    """The trees that came to an end, those of the first sort first."""
    found = []
    for sort, some in enumerate(grown if count > 1 else (grown,)):
        ended = [i for i in range(TREES) if not some.cut[i]]
        trees, said = _trees(some, ended), some.log_prob.sum(1)
        found += [Grown(sort, sort * TREES + i, tree, said[i]) for i, tree in zip(ended, trees, strict=True)]
    return found


def _trees(grown: Any, ended: list[int]) -> list[Any]:
    if not isinstance(grown, Lists):
        return [tree.unwrap() for tree in grown.results() if is_successful(tree)]
    rows = jnp.asarray(ended, jnp.int32)
    elements, log_prob, cut = jax.tree.map(lambda x: x[rows], (grown.elements, grown.log_prob, grown.cut))
    return Lists(elements, log_prob, cut, grown.from_the_end).trees() if ended else []


def _alone(*each: tuple[Any, ...]) -> Any:
    """What the functions of the library are given: of one sort the thing itself, of a family the tuple."""
    return [xs[0] if len(xs) == 1 else xs for xs in each]


def _times(counts: list[int], seeds: Seeds) -> Seeds:
    """A seed of each sort as many times as there are trees of it."""
    again: Callable[[int, Any], Any] = lambda n, seed: jax.tree.map(lambda x: jnp.broadcast_to(x, (n, *x.shape)), seed)
    return tuple(again(n, seed) for n, seed in zip(counts, seeds, strict=True))
