"""A coalgebra that grows trees explained: `γ : P × S → F S`, with a score for each layer where it chooses.

| the law                                        | what is run                                                      |
| ---------------------------------------------- | ---------------------------------------------------------------- |
| `unfold γ = ana γ`                             | the compiled form and the definition, with the same keys         |
| the trees of `unfold` are as likely as it says | `likelihood`, by definition, on the trees that were grown        |
| `follow γ = likelihood γ`                      | the compiled form and the definition, in value and in gradient   |

The last two are of coalgebras that propose each constructor once.
"""

from collections.abc import Callable, Sequence
from typing import Any, Union

import jax
import jax.numpy as jnp
from returns.pipeline import is_successful

from .._errors import ForeignLayer, LawBroken
from ..algebra import ana, likelihood
from ..algebra._algebra import wants_key
from ..algebra._unfolds import Choice
from ..drawing._strings import space
from ..drawing._term import name, numbers
from ..drawing._trees import power
from ..functor._read import layout
from ..functor.poly import Sum
from ..run import follow, Lists, pack, unfold
from ._algebra import constructors, size
from ._measure import gradient, law, shapes, weights
from ._page import Checked, Explanation


NODES, TREES = 12, 8  # how far trees are grown, and how many


def explain_coalgebra(
    coalg: Any, kinds: tuple[type[Any], ...], seed: Any, trees: Sequence[Any] | None, allowed: float | None
) -> Explanation:
    """The page of a coalgebra, its laws run on the trees that it grows from a seed."""
    seed = jax.tree.map(jnp.asarray, seed)
    key = jax.random.key(0)
    grown = unfold(coalg, _times(TREES, seed), NODES, key=key)
    ended = [i for i in range(TREES) if not grown.cut[i]]
    every = _trees(grown, ended)
    checks, untold = [], tuple[str, ...]()
    if every:
        defined = [_bounded(coalg, seed, jax.random.fold_in(key, i)) for i in ended]
        checks.append(law(f"unfold γ = ana γ, on {len(every)} trees that ended", every, defined, allowed))
    try:
        checks += _of_likelihood(coalg, seed, every, [grown.log_prob.sum(1)[i] for i in ended], allowed)
        checks += _of_follow(coalg, kinds, seed, list(trees or every), allowed)
    except ForeignLayer as why:  # a tree does not tell what was chosen, or has what is never chosen
        untold = (f"not held to `likelihood`: {why}",)
    given, many = coalg(seed), numbers(coalg)
    chooses = isinstance(given, Choice)
    sizes = ", ".join(str(size(t)) for t in every) or "no"
    return Explanation(
        name=name(coalg),
        kind="a coalgebra that chooses" if chooses else "a coalgebra",
        functor=str(Sum(tuple(map(layout, kinds)))),
        type=f"γ : {'P × ' if many else ''}S → F S" + (", with a score for each layer" if chooses else ""),
        where=(
            *([f"P = {space(many)}"] if many else []),
            f"S = {shapes(seed)}",
            f"F has {constructors(kinds)}",
        ),
        parameters=weights(coalg),
        tying=_tying(every) if many else (),
        laws=tuple(checks),
        execution=(
            f"`unfold`: {TREES} seeds at once, up to {NODES} nodes each; {len(every)} ended, of {sizes} nodes",
            *([f"{len(given.layers)} candidate layers at each node, of which one is taken"] if chooses else []),
            *untold,
        ),
    )


def _of_likelihood(coalg: Any, seed: Any, trees: list[Any], said: list[Any], allowed: Any) -> list[Checked]:
    defined = [likelihood(coalg, seed)(t) for t in trees]
    return [law("the trees of unfold γ are as likely as it says", said, defined, allowed)] if trees else []


def _of_follow(coalg: Any, kinds: tuple[type[Any], ...], seed: Any, trees: list[Any], allowed: Any) -> list[Checked]:
    """That teacher forcing, compiled, is what it is by definition."""
    if not trees:
        return []
    forest, seeds = pack(Union[kinds], trees), _times(len(trees), seed)
    compiled: Callable[[Any], Any] = lambda c: follow(c, forest, seeds)
    defined: Callable[[Any], Any] = lambda c: jnp.stack([likelihood(c, seed)(t) for t in trees])
    found = [law(f"follow γ = likelihood γ, on {len(trees)} trees", compiled(coalg), defined(coalg), allowed)]
    if numbers(coalg):
        fast, slow = gradient(lambda c: compiled(c).sum(), coalg), gradient(lambda c: defined(c).sum(), coalg)
        found.append(law("∇ (follow γ) = ∇ (likelihood γ)", fast, slow, allowed))
    return found


def _bounded(coalg: Any, seed: Any, key: Any) -> Any:
    """What is grown by definition; a text where that does not end when it should."""
    left = iter(range(NODES))

    def once() -> None:
        if next(left, None) is None:
            raise LawBroken(f"`ana` goes on after {NODES} nodes, where `unfold` ended.")

    def plain(seed: Any) -> Any:
        once()
        return coalg(seed)

    def keyed(seed: Any, *, key: Any = None) -> Any:
        once()
        return coalg(seed, key=key)

    try:
        grow: Any = ana(keyed if wants_key(coalg) else plain, key=key)
        return grow(seed)
    except LawBroken as endless:
        return str(endless)


def _tying(trees: list[Any]) -> tuple[str, ...]:
    most = max(map(size, trees), default=0)
    return (f"every node has the same weights: for a tree of {most} nodes, Δ : P → {power(most)}",) if most else ()


def _trees(grown: Any, ended: list[int]) -> list[Any]:
    """The trees that came to an end."""
    if not isinstance(grown, Lists):
        return [tree.unwrap() for tree in grown.results() if is_successful(tree)]
    rows = jnp.asarray(ended, jnp.int32)
    elements, log_prob, cut = jax.tree.map(lambda x: x[rows], (grown.elements, grown.log_prob, grown.cut))
    return Lists(elements, log_prob, cut, grown.from_the_end).trees() if ended else []


def _times(count: int, seed: Any) -> Any:
    return jax.tree.map(lambda x: jnp.stack([x] * count), seed)
