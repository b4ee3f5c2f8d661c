"""Every law of a symmetry that goes through a functor fails on an instance planted to break it, and it alone."""

from typing import Any

import jax.numpy as jnp
import pytest
from planted import breaks

from cdl import algebra, cata, fmap, Fork, laws, Leaf, TreeF
from cdl.symmetry import Action, Distributive, groups


TREE = Fork(Leaf(2), Fork(Leaf(3), Leaf(5)))
FLIP = Action().signed([0], [-1], "flip")
SIGNED = Distributive(TreeF, {Leaf: FLIP})
PLACES = Distributive(TreeF, {Leaf: groups.permutations(3)})
LABEL = Leaf(jnp.arange(3))


def without_unit(word: Any, layer: Any) -> Any:
    return SIGNED(word, layer) if word else Leaf(7)


def backwards(word: Any, layer: Any) -> Any:
    """The letters of a word act in the other order, which only a product of two tells."""
    return PLACES(word[::-1], layer)


def looks(word: Any, layer: Any) -> Any:
    """Forgets the word where a child is 9, which only the function of naturality makes."""
    seen = SIGNED(word, layer)
    return fmap(lambda pair: ((), pair[1]), seen) if isinstance(layer, Fork) and layer.left == 9 else seen


@algebra
def total(layer: Any) -> Any:
    return jnp.asarray(layer.label) if isinstance(layer, Leaf) else layer.left + layer.right


@algebra
def marked(layer: Any) -> Any:
    """Has a mark at leaves that does not change its sign, and that no node above reads."""
    if isinstance(layer, Leaf):
        return jnp.asarray(layer.label), jnp.arange(4)[3]
    return layer.left[0] + layer.right[0], jnp.arange(4)[0]


def size(alg: Any) -> Any:
    """A scheme that loses the sign."""
    return lambda tree: abs(cata(alg)(tree))


def distributive(law: Any, layer: Any, f: Any = str, words: tuple[str, str] = ("flip", "flip")) -> None:
    laws.distributive(law, layer, words[:1], words[1:], f)


BROKEN = [
    ("`λ(1, l) = F (x ↦ (1, x)) l`", lambda: distributive(without_unit, Leaf(2)), 7, 2),
    ("`λ(m n, l) = F μ (λ(m, λ(n, l)))`", lambda: distributive(backwards, LABEL, words=("cycle", "swap"))),
    ("`λ(m, F f l) = F (1 × f) (λ(m, l))`", lambda: distributive(looks, Fork(0, 1), lambda _: 9), "()", "('flip',)"),
    (
        "`a(F act (λ(m, l))) = m · a(l)`",
        lambda: laws.equivariant_fold(SIGNED, marked, FLIP, TREE, ("flip",)),
        "Array(3, dtype=int32)", "Array(-3, dtype=int32)",
    ),
    ("`cata a (m · t) = m · cata a t`", lambda: laws.equivariant_fold(SIGNED, total, FLIP, TREE, ("flip",), by=size)),
]  # fmt: skip


@pytest.mark.parametrize(("law", "check", "sides"), [pytest.param(x, y, z, id=x) for x, y, *z in BROKEN])
def test_an_instance_with_one_mistake_breaks_one_law_and_no_other(law, check, sides):
    breaks(law, check, *sides)


@pytest.mark.parametrize(
    "law",
    [
        lambda: distributive(SIGNED, Leaf(2)),
        lambda: distributive(SIGNED, Fork(0, 1), lambda _: 9),
        lambda: distributive(PLACES, LABEL, words=("cycle", "swap")),
        lambda: laws.equivariant_fold(SIGNED, total, FLIP, TREE, ("flip",)),
        lambda: laws.equivariant_fold(SIGNED, total, FLIP, TREE, ("flip", "flip")),
    ],
)
def test_the_same_without_the_mistake_break_none(law):
    law()
