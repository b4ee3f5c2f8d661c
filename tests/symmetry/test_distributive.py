"""A symmetry goes through a functor: an algebra whose steps distribute gives a fold that commutes with the action."""

from collections.abc import Callable
from typing import Any, Generic, Never, TypeVar, Union

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from few import few
from random_families import random_family, random_family_trees
from random_signatures import random_signature, random_trees

import cdl
from cdl import Algebra, algebra, Base, cata, CdlError, Cons, Fork, functor, laws, Leaf, ListF, Many, Nil, TreeF
from cdl.poly import Const
from cdl.symmetry import Action, Actions, Distributive, flow, groups, monoids


X = TypeVar("X", covariant=True)
FLIP = Action().signed([0], [-1], "flip")


def vectors(seed: int, count: int, n: int) -> list[jax.Array]:
    return [jnp.asarray(x, jnp.float32) for x in np.random.default_rng(seed).normal(size=(count, n))]


def lists(n: int) -> list[Any]:
    return [cdl.to_list(vectors(seed, length, n)) for seed, length in enumerate([0, 1, 3])]


def trees(n: int) -> list[Any]:
    a, b, c, d = map(Leaf, vectors(9, 4, n))
    return [a, Fork(a, b), Fork(Fork(c, Fork(a, d)), Fork(b, a))]


def cell(mix: Callable[[Any, Any], Any]) -> tuple[Algebra[Any, Any], Algebra[Any, Any]]:
    """An algebra of lists and one of trees whose steps are one map of two elements, beside a count."""

    @algebra
    def of_lists(layer: ListF[Any, Any]) -> Any:
        match layer:
            case Nil():
                return None
            case Cons(head, (state, count)):
                return mix(head, state), count + 1

    @algebra
    def of_trees(layer: TreeF[Any, Any]) -> Any:
        match layer:
            case Leaf(label):
                return mix(label, label), jnp.ones(())
            case Fork((x, m), (y, n)):
                return mix(x, y), m + n

    return of_lists, of_trees


def started(step: Algebra[Any, Any], n: int) -> Algebra[Any, Any]:
    return algebra(lambda layer: (jnp.zeros(n), jnp.zeros(())) if isinstance(layer, Nil) else step(layer))


def shifted(x: Any, y: Any) -> Any:
    """Commutes with shifts round the ends: a convolution, and a product place by place."""
    return jnp.tanh(0.5 * x + 0.3 * jnp.roll(y, 1) + x * jnp.roll(y, 2))


def summed(x: Any, y: Any) -> Any:
    """Commutes with permutations: places, and their mean."""
    return jnp.tanh(x - 0.4 * y + jnp.mean(x * y))


def signed(x: Any, y: Any) -> Any:
    """Commutes with permutations and signs: odd."""
    return jnp.tanh(x + 0.7 * y) + x * y * y


def turned(x: Any, y: Any) -> Any:
    """Commutes with rotations of space."""
    return jnp.cross(x, y) + x / (1 + jnp.sum(y * y)) + 0.5 * y


def causal(x: Any, y: Any) -> Any:
    """Commutes with a shift that loses its last place."""
    return jnp.tanh(x + 0.6 * jnp.pad(y, (1, 0))[:-1] + x * y)


def projected(x: Any, y: Any) -> Any:
    """Commutes with the projection to the first places: nothing flows between these and the others."""
    return jnp.tanh(x - 0.3 * y)


CASES = {
    "shifts": (groups.cyclic(5), shifted),
    "permutations": (groups.permutations(4), summed),
    "signed permutations": (groups.signed_permutations(3), signed),
    "rotations": (groups.so(3), turned),
    "a truncated shift": (groups.truncated_translations(5), causal),
    "an idempotent": (monoids.idempotent(np.diag([1, 1, 0, 0])), projected),
}


@pytest.mark.parametrize("name", few(CASES, 3))
def test_a_fold_of_an_algebra_that_distributes_commutes_with_the_action(name):
    X, mix = CASES[name]
    of_lists, of_trees = cell(mix)
    for law, alg, values in [
        (Distributive(ListF, {Cons: X}), started(of_lists, X.size), lists(X.size)),
        (Distributive(TreeF, {Leaf: X}), of_trees, trees(X.size)),
    ]:
        assert law.check(alg, (X, None), law.layers(alg, values), tolerance=1e-6) <= 1e-6
        law, Y = law.flow(0.8), flow(X, 0.8)  # elements, where the generators are of a Lie algebra
        word = (*Y.names, *Y.names[:1])
        folded, counts = cdl.fold(alg, cdl.pack(ListF if Nil in law.sort_of else TreeF, values))
        acted = [law.act(word, value) for value in values]
        moved, same = cdl.fold(alg, cdl.pack(ListF if Nil in law.sort_of else TreeF, acted))
        wanted = Y(word, folded)
        assert jnp.max(jnp.abs(moved - wanted)) <= 1e-6 * max(1.0, float(jnp.max(jnp.abs(wanted))))
        assert jnp.array_equal(counts, same)
        for value in values[1:]:
            laws.equivariant_fold(law, alg, (Y, None), value, word, tolerance=2e-6)


@pytest.mark.parametrize(
    ("name", "wrong", "refusal"),
    [
        ("shifts", lambda x, y: x + y * jnp.arange(5.0), "`Fork` .* `shift`"),
        ("permutations", lambda x, y: x + jnp.roll(y, 1), "`Leaf` .* `swap`"),
        ("signed permutations", lambda x, y: x + jnp.abs(y), "`Leaf` .* `negate`"),
        ("rotations", lambda x, y: jnp.tanh(x + y), r"`Leaf` .* `turn01`: .* 0\.\d"),
        ("a truncated shift", shifted, "`Leaf` .* `shift0`"),
        ("an idempotent", lambda x, y: x + jnp.roll(y, 1), "`Leaf` .* `project`"),
    ],
)
def test_a_step_that_does_not_distribute_is_refused_by_name(name, wrong, refusal):
    X = CASES[name][0]
    law, alg = Distributive(TreeF, {Leaf: X}), cell(wrong)[1]
    found = law.layers(alg, trees(X.size))
    if "Fork" in refusal:
        found = [layer for layer in found if isinstance(layer, Fork)]
    with pytest.raises(CdlError, match=refusal):
        law.check(alg, (X, None), found)


class Odd(Algebra[Any, Any]):
    """An algebra of any signature whose steps are odd functions; with a bias at one constructor, they are not."""

    bias: float = 0.0
    at: str = ""

    def __call__(self, layer: Any) -> jax.Array:
        record: Any = functor(type(layer)).summands[0]
        state = jnp.zeros(2) + (self.bias if type(layer).__name__ == self.at else 0.0)
        for i, (name, term) in enumerate(zip(record.names, record.factors, strict=True)):
            value = getattr(layer, name)
            if isinstance(term, Const):
                state = state + jnp.sin(jnp.asarray(value, jnp.float32) * jnp.array([1.0, 0.5 + i]))
            elif isinstance(value, Many):
                state = state + value.map(jnp.tanh).sum(jnp.zeros(2))
            else:
                children = [] if value is None else value if isinstance(value, tuple) else [value]
                for k, child in enumerate(children):
                    state = jnp.tanh(state + child[::-1] / (1 + i + k))
        return state


def payloads(signature: Any) -> dict[Any, dict[str, Action]]:
    return {
        r.constructor: {n: FLIP for n, f in zip(r.names, r.factors, strict=True) if isinstance(f, Const)}
        for r in functor(signature).summands
    }


@pytest.mark.parametrize("seed", range(3))
def test_signatures_of_every_kind_of_field_have_the_law(seed):
    signature, _ = random_signature(seed)
    law, X = Distributive(signature, payloads(signature)), FLIP @ FLIP.trivial(2)
    values = random_trees(signature, seed, 3, 12)
    alg = Odd()
    met = law.layers(alg, values)
    for layer in met[:6]:
        laws.distributive(law, cdl.fmap(tuple, layer), ("flip",), ("flip", "flip"), len)
    assert law.check(alg, X, met) <= 1e-6
    moved = cdl.fold(alg, cdl.pack(signature, [law.act("flip", value) for value in values]))
    assert jnp.allclose(moved, -cdl.fold(alg, cdl.pack(signature, values)), atol=1e-6)
    at = type(met[-1]).__name__
    with pytest.raises(CdlError, match=f"`{at}` .* `flip`"):
        law.check(Odd(1.0, at), X, met)


@pytest.mark.parametrize("seed", range(3))
def test_a_family_of_sorts_has_the_law_too(seed):
    signatures, kinds = random_family(seed)
    given = {kind: v for signature in signatures for kind, v in payloads(signature).items()}
    law = Distributive(signatures, given)
    values = random_family_trees(kinds, seed, 3, 3)
    algebras = tuple(Odd() for _ in signatures)
    carriers: Actions = tuple(FLIP @ FLIP.trivial(2) for _ in signatures)
    one = len(signatures) == 1
    laws.distributive(law, values[0], ("flip",), ("flip", "flip"), repr)
    met = law.layers(algebras[0] if one else algebras, values)
    assert law.check(algebras[0] if one else algebras, carriers[0] if one else carriers, met) <= 1e-6
    for value in values:
        read: Any = cata(*algebras)
        read = read if one else read[law.sort_of[type(value)]]
        assert jnp.allclose(read(law.act("flip", value)), -read(value), atol=1e-6)


class Body: ...


class Ball(Base[Body, Never]):
    place: jax.Array
    mass: float


class Bond(Base[Body, X], Generic[X]):
    ends: tuple[X, X]


BodyF = Union[Ball, Bond[X]]


def test_a_law_says_what_it_does_to_each_field():
    law = Distributive(BodyF, {Ball: {"place": groups.cyclic(3)}})
    ball = Ball(jnp.arange(3), 2.0)
    assert law("shift", Bond((ball, 5))) == Bond(((("shift",), ball), (("shift",), 5)))
    assert law(("shift", "shift"), ball) == Ball(jnp.array([1, 2, 0]), 2.0)
    assert law.act("shift", Bond((ball, ball))).ends[0] == Ball(jnp.array([2, 0, 1]), 2.0)


def test_elements_of_a_lie_algebra_keep_the_names_and_the_other_generators():
    mixed = flow(groups.so(2) & groups.scalings(2, 3.0), jnp.pi / 2)
    assert mixed.names == ("turn01", "scale")
    assert jnp.allclose(mixed("turn01", jnp.array([1.0, 0.0])), jnp.array([0.0, 1.0]), atol=1e-6)
    assert jnp.array_equal(mixed("scale", jnp.ones(2)), jnp.full(2, 3.0))
