"""An algebra explained: `α : P × F S → S`, read by `cata` and by `fold`, untied and tied; or one for each sort.

| the law                                     | what is run                                               |
| ------------------------------------------- | --------------------------------------------------------- |
| `fold α = cata α`                           | the compiled form and the definition, on every sample     |
| `∇ (fold α) = Σ ∇ (untied α)`               | the reverse rule, and a copy of the weights for each node |
| `∇ (tied along Δ) = Σ ∇ (untied α)`         | the same for tying as a reparametrisation                 |
| `cata (α ∘ r) = (cata α) ∘ r`               | a reparametrisation `r : P → P`, before and after         |
| of `F`, and of trees as its initial algebra | `cdl.laws` at every layer and every sample                |
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from .. import laws
from .._drawing.trees import legend, power
from .._engine import fold, Forest, pack, Seq
from .._engine.folds.case import read, Reading
from .._functors import Cons, fmap, Lin, Nil, Snoc
from .._functors.words import first_line, number_of
from .._para import Para, unroll
from .._para.family import family
from .._para.uses import parts
from .._schemes import cata
from ..errors import CdlError
from ._measure import exact, gradient, law, shapes, summed, total
from ._page import Checked, cut, Explanation
from ._sorts import nodes, size, Sorts


Algs = tuple[Any, ...]  # an algebra for each sort


def explain_algebra(algs: Algs, sorts: Sorts, trees: Sequence[Any], allowed: float | None) -> Explanation:
    """The page of an algebra, or of those of a family, its laws run on some trees."""
    readers = _readers(algs)
    values = [readers[sorts.of(tree)](tree) for tree in trees]
    compiled = _compiled(algs, sorts, trees)
    largest, para = max(trees, key=size), family(algs, sorts.kinds)
    checks = [*_of_functor(sorts, trees)]
    if isinstance(compiled, Forest):
        checks += _of_fold(algs, sorts, compiled, trees, values, allowed)
    checks += _of_tying(algs, sorts, para, largest, isinstance(compiled, Forest), allowed)
    weighs = bool(jax.tree.leaves(para.params))
    return Explanation(
        name=sorts.name(algs),
        kind="an algebra" if len(sorts) == 1 else "a family of algebras",
        functors=sorts.functors,
        type=_type(algs, sorts),
        where=(*sorts.parameters(algs), _carriers(readers, sorts, trees), *sorts.constructors()),
        parameters=sorts.weights(algs),
        tying=_tying(para, largest) if weighs else (),
        laws=tuple(checks),
        execution=_execution(algs, sorts, compiled, len(trees)),
    )


def _readers(algs: Algs) -> Sequence[Any]:
    """`cata`, of the trees of each sort."""
    found: Any = cata(*algs)
    return found if len(algs) > 1 else (found,)


def _type(algs: Algs, sorts: Sorts) -> str:
    """`α : P × F S → S`, of each sort."""
    each = zip(*map(sorts.letters, "αS"), sorts.product(algs), sorts.layer("S"), strict=True)
    return ", ".join(f"{alpha} : {p}{layer} → {carrier}" for alpha, carrier, p, layer in each)


def _carriers(readers: Sequence[Any], sorts: Sorts, trees: Sequence[Any]) -> str:
    """What the values of each sort are: those of the first node that is of it."""
    found = []
    every = [node for tree in trees for node in nodes(tree)]
    for sort, letter in enumerate(sorts.letters("S")):
        some = next((node for node in every if sorts.of(node) == sort), None)
        found.append(f"{letter} is of no node" if some is None else f"{letter} = {_carrier(readers[sort](some))}")
    return ", ".join(found)


def _compiled(algs: Algs, sorts: Sorts, trees: Sequence[Any]) -> Forest | str:
    """The trees packed, for an algebra that can be compiled; or why it cannot be."""
    try:
        forest = pack(sorts.signature, trees)
        read(Reading(algs, forest.bucket, None))
    except (CdlError, TypeError) as error:  # those of JAX, where a value decides, are `TypeError`s
        return first_line(error)
    return forest


def _of_functor(sorts: Sorts, trees: Sequence[Any]) -> list[Checked]:
    """The laws that no weight has a part in, at every layer that the samples have."""
    layers = [layer for tree in trees for layer in nodes(tree)]
    left, right = lambda x: ("left", x), lambda x: ("right", x)
    each: Any = lambda f, layer: fmap((f,) * len(sorts) if len(sorts) > 1 else f, layer)
    return [
        exact(
            "F id = id, F g ∘ F f = F (g ∘ f)", *(lambda x=x: laws.functor(x, left, right, map=each) for x in layers)
        ),
        exact(
            "cata in = id",
            *(lambda t=t: laws.reflection(t, by=lambda i: _readers((i,) * len(sorts))[sorts.of(t)]) for t in trees),
        ),
    ]


def _of_fold(algs: Algs, sorts: Sorts, forest: Forest, trees: Any, values: Any, allowed: float | None) -> list[Checked]:
    """That the compiled forms give what the definition does."""
    folded: Any = fold(algs, forest)
    rows = sorts.rows(trees, lambda sort, i: jax.tree.map(lambda x: x[i], folded[sort]))
    found = [law(f"fold α = cata α, on {number_of('tree', len(trees))}", rows, _arrays(values), allowed)]
    words = _as_lists(trees)
    if words is not None:
        read_as = fold(algs[0], words)
        rows = [jax.tree.map(lambda x, i=i: x[i], read_as) for i in range(len(trees))]
        found.append(law("the same as lists, by one scan", rows, _arrays(values), allowed))
    return found


def _of_tying(
    algs: Algs, sorts: Sorts, para: Para[Any, Any, Any], tree: Any, compiles: bool, allowed: float | None
) -> list[Checked]:
    """Where there are weights: that tying is along the diagonal, and its gradient a sum."""
    if not jax.tree.leaves(para.params):
        return []
    untied = unroll(para, tree)
    tied = untied.tied()
    n = size(tree)
    sums = summed(gradient(lambda params: total(untied.at(params)), untied.params))
    once = gradient(lambda params: total(tied.fn(params, ())), tied.params)[0]
    found = [law(f"∇ (tied along Δ : P → {power(n)}) = Σ ∇ (untied α)", once, sums, allowed)]
    if compiles:
        forest = pack(sorts.signature, [tree])
        of_fold = gradient(lambda a: total(jax.tree.map(lambda x: x[0], fold(a, forest)[sorts.of(tree)])), algs)
        found.append(law("∇ (fold α) = Σ ∇ (untied α)", of_fold if len(sorts) > 1 else of_fold[0], sums, allowed))
    halved: Callable[[Any], Any] = lambda params: jax.tree.map(lambda x: x / 2, params)
    before = unroll(para.reparametrise(halved, at=para.params), tree).tied()(())
    after: Any = Para(halved(para.params), para.fn)
    found.append(law("cata (α ∘ r) = (cata α) ∘ r, r : P → P", before, unroll(after, tree).tied()(()), allowed))
    return found


def _tying(para: Para[Any, Any, Any], tree: Any) -> tuple[str, ...]:
    """Each part of the weights, and the nodes of a tree that use it."""
    n = size(tree)
    told = legend(parts(para, tree), tree)
    return f"on a tree of {n} nodes, Δ : P → {power(n)}; what the nodes use of each copy:", *cut(told)


def _execution(algs: Algs, sorts: Sorts, forest: Forest | str, trees: int) -> tuple[str, ...]:
    """The bucket, and which constructors are one program."""
    if isinstance(forest, str):
        return ("by definition alone, `cata`: it is not compiled, because", forest)
    _, programs, _ = read(Reading(algs, forest.bucket, None))
    variants = forest.bucket.variants
    lines = [
        f"`fold`: {number_of('tree', trees)}, {number_of('node', forest.size)} in {number_of('level', forest.depth)}, "
        f"{forest.fill:.0%} of the rows in use",
        f"bucket of {forest.bucket}",
        f"{number_of('program', len(programs))} for {number_of('form', len(variants))} of layer:",
        *cut(["  " + ", ".join(str(variants[i]) for i in program.members) for program in programs]),
    ]
    if set(sorts.kinds[0]) in ({Nil, Cons}, {Lin, Snoc}):
        lines.append("lists: one scan over a `Seq`")
    return tuple(lines)


def _carrier(value: Any) -> str:
    """What the values are: shapes of arrays, or Python's own."""
    leaves = jax.tree.leaves(value)
    return shapes(value) if all(hasattr(x, "dtype") for x in leaves) else type(value).__name__


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
