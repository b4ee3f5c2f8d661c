"""Actions of monoids by generators: what they do to arrays, how they combine, and what is refused."""

import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from cdl import laws
from cdl.errors import CdlError, LawBroken
from cdl.symmetry import Action
from cdl.symmetry.groups import (
    cyclic,
    dihedral,
    p4m,
    permutations,
    reflections,
    regular,
    rotations,
    scalings,
    signed_permutations,
    so,
    translations,
    truncated_translations,
)
from cdl.symmetry.monoids import (
    flip_flop,
    idempotent,
    of_automaton,
    partial_permutations,
    partial_transformations,
    reset_counter,
    saturating_counter,
    transformations,
)


ALL = {
    "cyclic": cyclic(5),
    "translations": translations(2, 3),
    "truncated": truncated_translations(2, 3),
    "rotations": rotations(3),
    "reflections": reflections(3),
    "dihedral": dihedral(3),
    "p4m": p4m(2),
    "permutations": permutations(4),
    "edges": permutations(3).power(2),
    "signed": signed_permutations(3),
    "scalings": scalings(3, -3.0),
    "projection": idempotent(np.diag([1, 0, 1])),
    "saturating": saturating_counter(4, down=True),
    "reset": reset_counter(3),
    "flip-flop": flip_flop(),
    "transformations": transformations(4),
    "pulled": transformations(4).transposed,
    "partial": partial_transformations(4),
    "rook": partial_permutations(4),
    "sum": cyclic(3) + Action(2).perm([1, 0], "shift"),
    "product": cyclic(2) * permutations(3),
}
RELATIONS = {
    "cyclic": [("shift " * 5, "")],
    "translations": [("shift0 shift0", ""), ("shift0 shift1", "shift1 shift0")],
    "truncated": [("shift0 shift0 shift0", "shift0 shift0"), ("shift0 shift1", "shift1 shift0")],
    "rotations": [("turn turn turn turn", "")],
    "dihedral": [("mirror mirror", ""), ("mirror turn mirror turn", "")],
    "permutations": [("swap swap", ""), ("cycle cycle cycle cycle", ""), ("cycle swap cycle swap cycle swap", "")],
    "signed": [("negate negate", ""), ("swap negate swap negate", "negate swap negate swap")],
    "projection": [("project project", "project")],
    "saturating": [("up up up", "up up up up"), ("up down up", "up")],
    "reset": [("reset up reset", "reset"), ("up up up", "")],
    "flip-flop": [("set0 set1", "set0"), ("set1 set1", "set1")],
    "transformations": [("merge merge", "merge"), ("merge swap", "merge")],
    "rook": [("lose lose", "lose")],
}
words = st.integers(0, 10**6)


def word(X, seed):
    """A word of up to four generators."""
    rng = np.random.default_rng(seed)
    return tuple(rng.choice(X.names, rng.integers(0, 5)).tolist())


@pytest.mark.parametrize("name", ALL)
def test_words_act_as_their_products_exactly(name):
    X = ALL[name]
    for seed in range(8):
        x = jnp.asarray(np.random.default_rng(seed).integers(-9, 10, X.shape))
        laws.action(X, x, word(X, seed), word(X, seed + 100))


@pytest.mark.parametrize("name", RELATIONS)
def test_a_monoid_has_its_relations_and_not_others(name):
    X = ALL[name]
    for left, right in RELATIONS[name]:
        assert X.holds(tuple(left.split()), tuple(right.split())), (left, right)
    assert not X.holds((X.names[0],), ())


def test_a_law_that_does_not_hold_is_found():
    with pytest.raises(LawBroken, match="m · h"):
        laws.equivariant(lambda x: x * jnp.arange(3.0), cyclic(3), cyclic(3), jnp.arange(3) / 8, ("shift",))
    laws.equivariant(lambda x: x * x, cyclic(3), cyclic(3), jnp.arange(3), ("shift", "shift"))


class Inverted(Action):
    """A broken action: the matrix of a word is the transposed one."""

    def element(self, word):
        return Action.element(self, word).T


class Backwards(Action):
    """A broken action: the first name of a word acts first."""

    def __call__(self, word, x):
        return Action.__call__(self, word[::-1], x)


@pytest.mark.parametrize(("kind", "law"), [(Inverted, "(m n) · x"), (Backwards, "a ∘ μ = a ∘ M a")])
def test_an_action_whose_words_do_not_act_as_products_is_found(kind, law):
    S = permutations(3)
    with pytest.raises(LawBroken) as told:
        laws.action(kind(3, S.generators), jnp.arange(3) / 4, ("cycle", "swap"), ("cycle",))
    assert law in str(told.value)


def test_generators_do_what_they_say():
    x = jnp.arange(1.0, 5.0)
    X = Action(4).push([1, 1, -1, 0], "a").pull([1, 1, -1, 0], "b").perm([1, 2, 3, 0], "c")
    X = X.signed([0, 1, 3, 2], [1, -2, 1, 3], "d").matrix(np.ones((4, 4)), "e").lie(np.eye(4), "f")
    assert X("a", x).tolist() == [4, 3, 0, 0]
    assert X("b", x).tolist() == [2, 2, 0, 1]
    assert X("c", x).tolist() == [4, 1, 2, 3]
    assert X("d", x).tolist() == [1, -4, 12, 3]
    assert X("e", x).tolist() == [10] * 4
    assert X("f", x).tolist() == x.tolist()


def test_functions_compose_as_they_are_pushed_and_as_they_are_pulled():
    g, h = np.array([1, 2, 2, 0]), np.array([3, 0, 0, 1])
    x = jnp.arange(4)
    pushed = Action(4).push(g, "g").push(h, "h").push(g[h], "gh")
    pulled = Action(4).pull(g, "g").pull(h, "h")
    assert (pushed(("g", "h"), x) == pushed("gh", x)).all()
    assert (pulled(("g", "h"), x) == x[h][g]).all()


def test_images_turn_as_numpy_turns_them():
    x = jnp.arange(9).reshape(3, 3)
    assert (rotations(3)("turn", x) == jnp.rot90(x)).all()
    assert (reflections(3)("mirror", x) == jnp.fliplr(x)).all()
    assert (translations(3, 3)(("shift1", "shift0"), x) == jnp.roll(x, (1, 1), (0, 1))).all()


def test_leading_axes_are_kept():
    x = jr.normal(jr.key(0), (2, 5, 3, 3))
    assert jnp.array_equal(rotations(3)("turn", x)[1, 4], jnp.rot90(x[1, 4]))


@settings(max_examples=10)
@given(words, words)
def test_tensors_sums_and_powers_act_on_their_parts(one, two):
    S, A = permutations(3), permutations(3) + permutations(3)
    m = word(S, one)
    rng = np.random.default_rng(two)
    x, y = (jnp.asarray(rng.integers(-9, 10, 3)) for _ in range(2))
    assert (A(m, jnp.concatenate([x, y])) == jnp.concatenate([S(m, x), S(m, y)])).all()
    assert ((S @ S)(m, jnp.outer(x, y)) == jnp.outer(S(m, x), S(m, y))).all()
    assert (S.power(2)(m, jnp.outer(x, y)) == jnp.outer(S(m, x), S(m, y))).all()
    both = (S * cyclic(3))((*m, "shift"), jnp.outer(x, y))
    assert (both == jnp.outer(S(m, x), cyclic(3)("shift", y))).all()
    assert S.power(0)(m, 7) == 7


def test_elements_of_a_lie_algebra_act_on_tensors_by_the_product_rule():
    X, x, y = so(3), jnp.asarray([1.0, 2.0, 3.0]), jnp.asarray([0.5, -1.0, 4.0])
    moved = jnp.outer(X("turn01", x), y) + jnp.outer(x, X("turn01", y))
    assert jnp.allclose(X.power(2)("turn01", jnp.outer(x, y)), moved)
    assert X.trivial()("turn01", 3.0) == 0


def test_what_generators_generate_acts_on_itself():
    for X, count in ((cyclic(4), 4), (permutations(4), 24), (signed_permutations(2), 8), (flip_flop(), 3)):
        G = regular(X)
        assert G.size == count
        assert G.names == X.names
    for name in ("cyclic", "permutations", "signed", "flip-flop", "rook", "transformations"):
        G = regular(ALL[name])
        for left, right in RELATIONS[name]:
            assert G.holds(tuple(left.split()), tuple(right.split())), (name, left, right)
        assert not G.holds(G.names[0], ())


def test_the_letters_of_an_automaton_act_on_its_states():
    import cdl

    machine = cdl.Automaton([[1, 0], [2, 0], [2, 0]], [0, 0, 1])
    X = of_automaton(machine)
    assert X.names == ("letter0", "letter1")
    state = jnp.asarray([1, 0, 0])
    assert X(("letter0", "letter0", "letter0"), state).tolist() == [0, 0, 1]
    assert X(("letter1", "letter0"), state).tolist() == [1, 0, 0]


def test_narrow_whole_numbers_do_not_wrap():
    signs, merge = Action(2).signed([1, 0], [-1, 1]), Action(2).push([0, 0])
    assert signs("g1", jnp.asarray([5, 3], jnp.uint8)).tolist() == [3, -5]
    assert signs("g1", jnp.asarray([True, False])).tolist() == [0, -1]
    assert merge("g1", jnp.asarray([200, 200], jnp.uint8)).tolist() == [400, 0]
    assert cyclic(2)("shift", jnp.asarray([5, 3], jnp.uint8)).dtype == jnp.uint8


def test_a_generator_of_a_lie_algebra_has_a_law_of_derivatives():
    X, x = so(3), jnp.asarray([1.0, 2.0, 3.0])
    scaled = lambda v: v * jnp.sum(v * v)
    laws.equivariant(scaled, X, X, x, ("turn01",), tolerance=1e-4)
    with pytest.raises(LawBroken, match="D h"):
        laws.equivariant(jnp.tanh, X, X, x, ("turn01",), tolerance=1e-4)
    with pytest.raises(CdlError, match="alone"):
        laws.equivariant(scaled, X, X, x, ("turn01", "turn02"))
