"""Laws of a symmetry that goes through a functor, `λ : M × F X → F (M × X)`.

| the law                    | the two sides                                                            |
| -------------------------- | ------------------------------------------------------------------------ |
| unit                       | `λ(1, l) = F (x ↦ (1, x)) l`                                             |
| multiplication             | `λ(m n, l) = F μ (λ(m, λ(n, l)))`, where `μ(m, (n, x)) = (m n, x)`       |
| naturality                 | `λ(m, F f l) = F (1 × f) (λ(m, l))`                                      |
| an algebra distributes     | `a(F act (λ(m, l))) = m · a(l)`                                          |
| then its fold commutes     | `cata a (m · t) = m · cata a t`                                          |
"""

from collections.abc import Callable
from typing import Any

from .._functors import fmap, fmap_term
from .._functors.read import layout, sorts
from .._functors.usage import with_usage
from .._schemes import algebra as as_algebra, cata
from ..symmetry import Actions, Distributive, moved, Word, word_of
from ._folds import Fold
from ._hold import hold


Law = Callable[[Word, Any], Any]


@with_usage
def distributive(
    law: Law, layer: Any, first: str | Word, second: str | Word, f: Callable[[Any], Any], *, tolerance: float = 0.0
) -> None:
    """That a distributive law agrees with the unit and the product of the monoid, and does not look at the children.

    **Arguments:** `law`: such as a `cdl.symmetry.Distributive`. `layer`: with anything in the places of its children.
    `first`, `second`: two words. `f`: a function of the children.

    **Raises:** `LawBroken`.

    Examples:
        >>> turn = cdl.symmetry.groups.cyclic(3)
        >>> law = cdl.symmetry.Distributive(cdl.TreeF, {cdl.Leaf: turn})
        >>> cdl.laws.distributive(
        ...     law, cdl.Leaf(jnp.arange(3.0)), ("shift",), ("shift", "shift"), abs
        ... )
    """
    first, second = word_of(first), word_of(second)
    each: Callable[[Any, Any], Any] = lambda g, l: fmap_term(layout(type(l)), (g,) * sorts(type(l)), l)
    hold("`λ(1, l) = F (x ↦ (1, x)) l`", law((), layer), each(lambda x: ((), x), layer), tolerance)
    twice = each(lambda pair: ((*pair[0], *pair[1][0]), pair[1][1]), law(first, law(second, layer)))
    hold("`λ(m n, l) = F μ (λ(m, λ(n, l)))`", law((*first, *second), layer), twice, tolerance)
    mapped = each(lambda pair: (pair[0], f(pair[1])), law(first, layer))
    hold("`λ(m, F f l) = F (1 × f) (λ(m, l))`", law(first, each(f, layer)), mapped, tolerance)


@with_usage
def equivariant_fold(
    law: Distributive,
    alg: Callable[[Any], Any],
    carrier: Actions,
    tree: Any,
    word: str | Word,
    *,
    by: Fold = cata,
    tolerance: float = 0.0,
) -> None:
    """That the fold of an algebra which distributes commutes with the action; that it distributes is checked at every
    node of the tree. For a signature of one sort.

    **Arguments:** `carrier`: the action on the carrier. `word`: of generators that are not of a Lie algebra; for one,
    give `law.flow(t)` and `cdl.symmetry.flow(carrier, t)`. `by`: the fold.

    **Raises:** `LawBroken`. Where the premise fails, the formula in the error is the premise's.

    Examples:
        >>> turn = cdl.symmetry.groups.cyclic(3)
        >>> law = cdl.symmetry.Distributive(cdl.TreeF, {cdl.Leaf: turn})
        >>> add = cdl.algebra(lambda l: l.label if isinstance(l, cdl.Leaf) else l.left + l.right)
        >>> tree = cdl.Fork(cdl.Leaf(jnp.arange(3.0)), cdl.Leaf(jnp.ones(3)))
        >>> cdl.laws.equivariant_fold(law, add, turn, tree, ("shift",))
    """
    act: Callable[[Any], Any] = lambda x: moved(word, carrier, x)

    def checked(layer: Any) -> Any:
        value, acted = alg(layer), fmap(lambda pair: act(pair[1]), law(word, layer))
        hold("`a(F act (λ(m, l))) = m · a(l)`", alg(acted), act(value), tolerance)
        return value

    value = by(as_algebra(checked))(tree)
    hold("`cata a (m · t) = m · cata a t`", by(as_algebra(alg))(law.act(word, tree)), act(value), tolerance)
