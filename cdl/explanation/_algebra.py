"""An algebra explained: `α : P × F S → S`, read by `cata` and by `fold`, untied and tied.

| the law                                     | what is run                                               |
| ------------------------------------------- | --------------------------------------------------------- |
| `fold α = cata α`                           | the compiled form and the definition, on every sample     |
| `∇ (fold α) = Σ ∇ (untied α)`               | the reverse rule, and a copy of the weights for each node |
| `∇ (tied along Δ) = Σ ∇ (untied α)`         | the same for tying as a reparametrisation                 |
| `cata (α ∘ r) = (cata α) ∘ r`               | a reparametrisation `r : P → P`, before and after         |
| of `F`, and of trees as its initial algebra | `cdl.laws` at every layer and every sample                |
"""

from collections.abc import Callable, Sequence
from typing import Any, Union

import jax
import jax.numpy as jnp

from .. import laws
from .._errors import CdlError, first_line
from ..algebra import cata
from ..drawing._strings import space
from ..drawing._term import name, numbers
from ..drawing._trees import legend, power
from ..functor import Cons, holes, Lin, Nil, Snoc
from ..functor._read import layout
from ..functor.poly import Sum
from ..parametric import Para, unroll
from ..parametric._uses import parts
from ..run import fold, Forest, pack, Seq
from ..run.folds._case import read, Reading
from ._measure import exact, gradient, law, shapes, summed, total, weights
from ._page import Checked, cut, Explanation


def explain_algebra(alg: Any, kinds: tuple[type[Any], ...], trees: Sequence[Any], allowed: float | None) -> Explanation:
    """The page of an algebra, its laws run on some trees."""
    values = [cata(alg)(tree) for tree in trees]
    compiled = _compiled(alg, kinds, trees)
    largest = max(trees, key=size)
    checks = [*_of_functor(kinds, trees)]
    if isinstance(compiled, Forest):
        checks += _of_fold(alg, compiled, trees, values, allowed)
    checks += _of_tying(alg, kinds, largest, isinstance(compiled, Forest), allowed)
    many = numbers(alg)
    where = [f"P = {space(many)}"] if many else []
    return Explanation(
        name=name(alg),
        kind="an algebra",
        functor=str(Sum(tuple(map(layout, kinds)))),
        type="α : P × F S → S" if many else "α : F S → S",
        where=(*where, f"S = {_carrier(values[0])}", f"F has {constructors(kinds)}"),
        parameters=weights(alg),
        tying=_tying(alg, largest) if many else (),
        laws=tuple(checks),
        execution=_execution(alg, kinds, compiled, len(trees)),
    )


def _compiled(alg: Any, kinds: tuple[type[Any], ...], trees: Sequence[Any]) -> Forest | str:
    """The trees packed, for an algebra that can be compiled; or why it cannot be."""
    try:
        forest = pack(Union[kinds], trees)
        read(Reading((alg,), forest.bucket, False))
    except (CdlError, TypeError) as error:  # those of JAX, where a value decides, are `TypeError`s
        return first_line(error)
    return forest


def _of_functor(kinds: tuple[type[Any], ...], trees: Sequence[Any]) -> list[Checked]:
    """The laws that no weight has a part in, at every layer that the samples have."""
    layers = [layer for tree in trees for layer in _layers(tree)]
    left, right = lambda x: ("left", x), lambda x: ("right", x)
    return [
        exact("F id = id, F g ∘ F f = F (g ∘ f)", *(lambda x=x: laws.functor(x, left, right) for x in layers)),
        exact("cata in = id", *(lambda t=t: laws.reflection(t) for t in trees)),
    ]


def _of_fold(alg: Any, forest: Forest, trees: Any, values: Any, allowed: float | None) -> list[Checked]:
    """That the compiled forms give what the definition does."""
    folded = fold(alg, forest)
    rows = [jax.tree.map(lambda x, i=i: x[i], folded) for i in range(len(trees))]
    found = [law(f"fold α = cata α, on {len(trees)} trees", rows, _arrays(values), allowed)]
    words = _as_lists(trees)
    if words is not None:
        read_as = fold(alg, words)
        rows = [jax.tree.map(lambda x, i=i: x[i], read_as) for i in range(len(trees))]
        found.append(law("the same as lists, by one scan", rows, _arrays(values), allowed))
    return found


def _of_tying(
    alg: Any, kinds: tuple[type[Any], ...], tree: Any, compiles: bool, allowed: float | None
) -> list[Checked]:
    """Where there are weights: that tying is along the diagonal, and its gradient a sum."""
    para = Para.of(alg)
    if not jax.tree.leaves(para.params):
        return []
    untied = unroll(para, tree)
    tied = untied.tied()
    n = size(tree)
    sums = summed(gradient(lambda params: total(untied.at(params)), untied.params))
    once = gradient(lambda params: total(tied.fn(params, ())), tied.params)[0]
    found = [law(f"∇ (tied along Δ : P → {power(n)}) = Σ ∇ (untied α)", once, sums, allowed)]
    if compiles:
        forest = pack(Union[kinds], [tree])
        of_fold = gradient(lambda a: total(jax.tree.map(lambda x: x[0], fold(a, forest))), alg)
        found.append(law("∇ (fold α) = Σ ∇ (untied α)", of_fold, sums, allowed))
    halved: Callable[[Any], Any] = lambda params: jax.tree.map(lambda x: x / 2, params)
    before = unroll(para.reparametrise(halved, at=para.params), tree).tied()(())
    after: Any = Para(halved(para.params), para.fn)
    found.append(law("cata (α ∘ r) = (cata α) ∘ r, r : P → P", before, unroll(after, tree).tied()(()), allowed))
    return found


def _tying(alg: Any, tree: Any) -> tuple[str, ...]:
    """Each part of the weights, and the nodes of a tree that use it."""
    n = size(tree)
    told = legend(parts(Para.of(alg), tree), tree)
    return f"on a tree of {n} nodes, Δ : P → {power(n)}; what the nodes use of each copy:", *cut(told)


def _execution(alg: Any, kinds: tuple[type[Any], ...], forest: Forest | str, trees: int) -> tuple[str, ...]:
    """The bucket, and which constructors are one program."""
    if isinstance(forest, str):
        return ("by definition alone, `cata`: it is not compiled, because", forest)
    _, programs = read(Reading((alg,), forest.bucket, False))
    variants = forest.bucket.variants
    lines = [
        f"`fold`: {trees} trees, {forest.size} nodes in {forest.depth} levels, {forest.fill:.0%} of the rows in use",
        f"bucket of {forest.bucket}",
        f"{len(programs)} programs for {len(variants)} forms of layer:",
        *cut(["  " + ", ".join(str(variants[i]) for i in program.members) for program in programs]),
    ]
    if set(kinds) in ({Nil, Cons}, {Lin, Snoc}):
        lines.append("lists: one scan over a `Seq`")
    return tuple(lines)


def _carrier(value: Any) -> str:
    """What the values are: shapes of arrays, or Python's own."""
    leaves = jax.tree.leaves(value)
    return shapes(value) if all(hasattr(x, "dtype") for x in leaves) else type(value).__name__


def constructors(kinds: tuple[type[Any], ...]) -> str:
    """The constructors of a signature with their fields, as many as a page has room for."""
    return ", ".join(cut(list(map(fields, kinds))))


def fields(kind: type[Any]) -> str:
    """A constructor with its fields."""
    record = layout(kind)
    inside = (f"{field}: {term}" for field, term in zip(record.names, record.factors, strict=True))
    return kind.__name__ + (f"({', '.join(inside)})" if record.names else "")


def _layers(tree: Any) -> list[Any]:
    """Every node of a tree, which is a layer of trees."""
    found = [tree]
    for node in found:
        found += holes(node)
    return found


def size(tree: Any) -> int:
    """How many nodes a tree has."""
    return len(_layers(tree))


def _as_lists(trees: Sequence[Any]) -> Seq[Any] | None:
    """Lists as arrays, where they are lists of numbers."""
    words = []
    for tree in trees:
        elements: list[Any] = []
        while isinstance(tree, Cons | Snoc):
            if isinstance(tree, Cons):
                elements.append(jnp.asarray(tree.head))
                tree = tree.tail
            else:
                elements.insert(0, jnp.asarray(tree.last))
                tree = tree.init
        if not isinstance(tree, Nil | Lin):
            return None
        words.append(elements)
    some = next((w[0] for w in words if w), None)
    if some is None:
        return None
    return Seq.of([jnp.stack(w) if w else jnp.zeros((0, *some.shape), some.dtype) for w in words])


def _arrays(values: Any) -> Any:
    return jax.tree.map(jnp.asarray, values)
