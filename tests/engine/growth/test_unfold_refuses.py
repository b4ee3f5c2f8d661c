"""What cannot be grown is refused, with the seed and what to write instead."""

from typing import Generic, TypeVar

import jax
import jax.numpy as jnp
import pytest

from cdl import (
    algebra,
    ana,
    Base,
    CdlError,
    choose,
    Cons,
    follow,
    Fork,
    Leaf,
    MealyF,
    Nil,
    pack,
    refold,
    TreeF,
    unfold,
)
from cdl.errors import CarrierMismatch, ForeignLayer, PayloadMismatch, SignatureError
from cdl.functors import StreamF
from cdl.schemes import likelihood


X = TypeVar("X", covariant=True)


Y = TypeVar("Y", covariant=True)


class OfTwo(Base["Two", tuple[X, Y]], Generic[X, Y]):
    """A constructor of a family of two sorts."""

    f0: X
    f1: Y


class Two:
    """The name of its functor."""


def fork(seed: jax.Array) -> TreeF[jax.Array, jax.Array]:
    """A tree that is as deep as its seed says."""
    return choose(jnp.stack([0.5 - seed, seed - 0.5]), Leaf(seed), Fork(seed - 1, seed - 1))


def test_a_coalgebra_that_needs_a_key_is_told_where_there_is_none():
    def drawing(seed, *, key):
        return choose(jnp.zeros(2), Leaf(seed + jax.random.normal(key)), Fork(seed, seed))

    forest = pack(TreeF, [Leaf(0.0)])
    for grow in (lambda: ana(drawing)(0.0), lambda: unfold(drawing, jnp.zeros(2), 3)):
        with pytest.raises(CdlError, match=r"needs a `key`, and `\w+` has none for it: give one, `key=jax\.random\."):
            grow()
    reads = algebra(lambda layer: jnp.zeros(()))
    each = (
        lambda: follow(drawing, forest, jnp.zeros(1)),
        lambda: likelihood(drawing, 0.0)(Leaf(0.0)),
        lambda: refold(reads, drawing, jnp.zeros(2), 3),
    )
    for read in each:
        with pytest.raises(CdlError, match=r"has none for it: write its parameter `key=None`, for a pass in which"):
            read()


@pytest.mark.parametrize(
    ("change", "form"),
    [
        (lambda s: jnp.zeros(3), r"f32\[3\]"),
        (lambda s: s.astype(jnp.int32), r"i32\[2\]"),
        (lambda s: (s, s), r"\(f32\[2\], f32\[2\]\)"),
    ],
)
def test_a_coalgebra_that_changes_its_seed_is_refused(change, form):
    words = r"`<lambda>` is not a coalgebra: its seed goes in as f32\[2\] and comes out at place 1 of `Fork` as "
    with pytest.raises(CarrierMismatch, match=words + form):
        unfold(lambda s: choose(jnp.zeros(2), Leaf(s), Fork(s, change(s))), jnp.zeros((3, 2)), 5)


def test_seeds_whose_batch_axes_differ_are_refused():
    with pytest.raises(CdlError, match=r"the seeds are a `Forest`, and have the shapes .*, … \(\d\d in all\): give"):
        unfold(words, pack(TreeF, [Leaf(1.0)]), nodes=4)
    with pytest.raises(CdlError, match=r"the seeds have the shapes \(3, 2\), \(4,\)"):
        unfold(lambda s: Leaf(s[0]), (jnp.zeros((3, 2)), jnp.zeros(4)), 5)


def test_a_budget_of_no_nodes_is_refused():
    with pytest.raises(CdlError, match="`nodes` is 0: give at least 1"):
        unfold(fork, jnp.zeros(2), 0)


def test_a_coalgebra_that_branches_on_a_value_is_told_to_choose():
    with pytest.raises(CdlError, match=r"decides by a seed's value.*return `choose\(scores, …\)`"):
        unfold(lambda s: Leaf(s) if s < 0 else Fork(s, s), jnp.zeros(2), 5)


def test_machines_words_and_what_is_no_layer_are_refused():
    with pytest.raises(ForeignLayer, match=r"gives a `MealyF`, which has a function in it.*`run`"):
        unfold(lambda s: MealyF(lambda i: (i, s)), jnp.zeros(2), 5)
    with pytest.raises(PayloadMismatch, match="puts a `str` in a `Leaf` of `Tree`"):
        unfold(lambda s: Leaf("a"), jnp.zeros(2), 5)
    with pytest.raises(ForeignLayer, match="which is not a layer"):
        unfold(lambda s: s, jnp.zeros(2), 5)


def test_a_layer_of_a_family_of_several_sorts_is_refused_where_there_is_one_coalgebra():
    words = "`OfTwo` is of a family of 2 sorts, and the number of coalgebras is 1: give one for each sort"
    with pytest.raises(SignatureError, match=words):
        unfold(lambda s: choose(jnp.zeros(2), OfTwo(s, s), OfTwo(s, -s)), jnp.zeros(2), 5)


WEIGHT = jnp.ones((3, 3))


def words(seed):
    return choose(jnp.stack([(seed @ WEIGHT).sum(), 0.0]), Nil(), Cons(1.0, seed / 2))


def forks(seed):
    return choose(jnp.stack([(seed @ WEIGHT).sum(), 0.0]), Leaf(1.0), Fork(seed / 2, seed / 2))


def stream(seed):
    return StreamF((seed @ WEIGHT).sum(), lambda: seed / 2)


class Own(IndexError):
    """An error of the user's."""


def refuses(seed):
    raise Own("mine")


def misses(seed):
    return choose(jnp.zeros(2), Nil(), Cons([1.0][5], seed))


@pytest.mark.parametrize(("coalg", "kind", "words"), [(refuses, Own, "mine"), (misses, IndexError, "list index out")])
@pytest.mark.parametrize("wrapped", [lambda f: f, lambda f: jax.vmap(f) if f is refuses else f])
def test_an_error_of_the_coalgebra_itself_stays_what_it_is(coalg, kind, words, wrapped):
    with pytest.raises(kind, match=words) as found:
        unfold(wrapped(coalg), jnp.ones((4, 2)), nodes=4)
    assert type(found.value) is kind
    assert any(f"cdl called `{coalg.__name__}` for a seed of f32[2]." in x for x in found.value.__notes__)


@pytest.mark.parametrize("coalg", [words, forks, stream])
@pytest.mark.parametrize(("seed", "shown"), [(jnp.ones((4, 2)), r"f32\[2\]"), (jnp.ones(4), r"f32\[\]")])
def test_seeds_of_a_shape_that_a_coalgebra_does_not_take_are_shown(coalg, seed, shown):
    with pytest.raises(
        CdlError,
        match=rf"`{coalg.__name__}` fails for a seed of {shown} \(.*\): give seeds of the .*one seed: `seed\[None\]`",
    ):
        unfold(coalg, seed, nodes=4)


@pytest.mark.parametrize(
    ("coalg", "dtype", "below"),
    [
        (lambda s: choose(jnp.stack([1.5 - 1.0 * s.sum(), 0.0]), Leaf(1.0), Fork(s * 0.5, s * 0.25)), jnp.int32, "f32"),
        (
            lambda s: choose(jnp.stack([1.5 - jnp.abs(s).sum(), 0.0]), Leaf(1.0), Fork(s * 0.5j, s * 0.25)),
            jnp.float32,
            "c64",
        ),
    ],
)
def test_a_seed_is_not_cast_to_a_narrower_kind(coalg, dtype, below):
    """A number that JAX holds weakly takes the type of the seed only where it stays the same number."""
    seeds = jnp.full((1, 3), 3, dtype)
    read = algebra(lambda layer: 1.0)
    with jax.numpy_dtype_promotion("standard"):
        assert ana(coalg)(seeds[0]) != Leaf(1.0)
        for form in (lambda: unfold(coalg, seeds, nodes=15), lambda: refold(read, coalg, seeds, nodes=15)):
            with pytest.raises(
                CarrierMismatch, match=rf"goes in as ...\[3\] and comes out at place 0 of `Fork` as {below}"
            ):
                form()
