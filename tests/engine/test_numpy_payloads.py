"""Payloads that are numbers and arrays of NumPy: each operator gives what it gives in the definition, or is refused."""

from typing import Any, Never

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bushes import Bud, bushes, BushF, twig
from few import few
from operators import case, in_both

import cdl
from cdl import algebra, cata, CdlError, fmap, fold, Fork, inherit, Leaf, pack, TreeF, unfold


OPERATORS = "> >= < <= == != + - * / // % & | ^ << >> **".split()
OTHERS = "3", "300", "-1", "1.5", "np.uint32(3)", "np.float16(1.1)", "jnp.int16(3)"
OF_ONE = (
    "-v ~v abs(v) +v round(v) v.sum() v.prod() v.mean() v.std() v.max() v.min() v.any() v.argmax() v.cumsum() "
    "v.cumprod() v.round() v.clip(0,3) v.clip(-1,300) v.conj() v.real v.imag v.astype(np.int8) v.astype(float) "
    "v.ravel() v.repeat(2) v.T v[None] v[...] divmod(v,3) divmod(9,v) v.cumsum(dtype=np.int32) v.cumsum().max() "
    "v.max()>300 (v+1)>300 -v<300 v[...]!=300 v.T.cumsum() v.astype(np.int32)>300 jnp.cumsum(v) jnp.abs(v)+v "
    "v.astype(np.uint8)<-1 jnp.where(v>3,v,100) v*v+v v/3*v v.reshape(-1).cumprod() (v>3)|(v<2) jnp.multiply(v,v)"
).split()
EACH = [f"v {sign} {other}" for sign in OPERATORS for other in OTHERS] + OF_ONE
EACH += [f"{other} {sign} v" for sign in OPERATORS[:-1] for other in OTHERS] + [f"v {sign} v" for sign in OPERATORS]
KINDS = [(np.int8, False), (np.uint32, False), (np.bool_, False), (np.int16, True)]


def values(kind: Any) -> list[Any]:
    if kind is np.bool_:
        return [np.True_]
    return [kind(x) for x in (5, 1, 100, min(np.iinfo(kind).max - 3, 65_000))]


@pytest.mark.parametrize(("kind", "is_array"), few(KINDS, 0, 3), ids=str)
def test_each_operator_gives_what_it_gives_in_the_definition_or_is_refused(kind, is_array):
    leaves = [Leaf(np.array([x, x]) if is_array else x) for x in values(kind)]
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"), np.errstate(all="ignore"):
        for text, leaf, x, y in in_both(EACH, leaves):
            is_same = np.allclose(np.asarray(x, float), np.asarray(y, float), 2e-3, equal_nan=True)
            wraps = np.asarray(x).dtype.kind in "iu" and np.asarray(x).itemsize > 4  # JAX has 32 bits
            assert is_same or (wraps and np.abs(x).max() > 2**31), f"{text} of {leaf}: {x!r} and {y!r}"


REFUSED = {
    "v > 300": r"has 300 and a number of type `int8` in `>` at `Leaf`: the type ends at 127. NumPy compares the "
    r"numbers as they are, and JAX takes 44 for 300.*`v.astype\(jnp.int32\)`",
    "-300 == v": r"has -300 and a number of type `int8` in `==` at `Leaf`: the type ends at -128",
    "v + 300": r"in `\+` at `Leaf`: the type ends at 127. NumPy does not take one for another, and JAX takes 44",
    "v.clip(0, 300)": "has 300 and a number of type `int8` in `clip`",
    "(v + 1).max() < 300": "has 300 and a number of type `int8` in `<`",
    "v.cumsum()": r"takes `cumsum` of numbers of type `int8` at `Leaf`: NumPy computes it in `int32`, and JAX in `int8`"
    r".*Write `v.astype\(jnp.int32\).cumsum\(\)`, or `jnp.cumsum\(v\)`",
    "v * np.uint32(3)": "has numbers of types `int8` and `uint32` in `\\*` at `Leaf`: NumPy takes both as `int64`, and "
    "JAX as `int32`",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_numpy_and_jax_do_otherwise_with_small_whole_numbers_is_refused(text):
    with jax.numpy_dtype_promotion("standard"), pytest.raises(CdlError, match=REFUSED[text]):
        fold(case(text), pack(TreeF, [Leaf(np.int8(100))]))


def test_a_small_whole_number_beside_one_of_python_is_refused():
    table = np.array([1, 2], np.int8)
    for alg in (algebra(lambda layer: table[0] > layer.label), algebra(lambda layer: layer.label * table)):
        with (
            jax.numpy_dtype_promotion("standard"),
            pytest.raises(CdlError, match=r"has a whole number of Python's and one of type `int8` in `[<*]` at `Leaf`"),
        ):
            fold(alg, pack(TreeF, [Leaf(300)]))
    both = algebra(lambda layer: layer.a < layer.b)
    with jax.numpy_dtype_promotion("standard"), pytest.raises(CdlError, match="Python's and one of type `uint8`"):
        fold(both, pack(Pair, [Pair(np.uint8(3), 300)]))


class Pairs:
    """The name of the signature."""


class Pair(cdl.Base[Pairs, Never]):
    a: Any
    b: Any


def test_numbers_of_two_types_that_numpy_takes_as_wider_ones_are_refused():
    product = algebra(lambda layer: layer.a * layer.b)
    pair = Pair(np.int32(100_000), np.float16(2.0))
    with jax.numpy_dtype_promotion("standard"):
        with pytest.raises(CdlError, match=r"NumPy takes both as `float64`, and JAX as `float16`.*`v.astype\(jnp.flo"):
            fold(product, pack(Pair, [pair]))
        wide = algebra(lambda layer: layer.a.astype(jnp.float32) * layer.b)
        assert fold(wide, pack(Pair, [pair]))[0] == cata(wide)(pair) == 200_000


def test_the_values_of_children_are_compared_as_payloads_are():
    top = algebra(lambda layer: layer.label if isinstance(layer, Leaf) else layer.left * (layer.right < 300))
    tree, bush = Fork(Leaf(np.uint8(200)), Leaf(np.uint8(3))), twig(Bud(1.0))
    small = lambda value: jnp.asarray(value, jnp.uint8)
    for form in (
        lambda: fold(top, pack(TreeF, [tree])),
        lambda: fold(bushes(lambda kids: kids.map(lambda x: 1 * (x > 300)).sum(0), small), pack(BushF, [bush])),
        lambda: inherit(
            lambda x, layer: fmap(lambda _: x * (x < 300), layer), pack(TreeF, [tree]), jnp.ones(1, "uint8")
        ),
        lambda: unfold(lambda n: Leaf(1 * (n < 300)), jnp.ones(1, jnp.uint8), 1),
    ):
        with (
            jax.numpy_dtype_promotion("standard"),
            pytest.raises(CdlError, match="has 300 and a number of type `uint8`"),
        ):
            form()


OUTSIDE = (
    *("v[5]", "v[-4]", "v[..., 3]", "v[np.array([0, 7])]", "v[None][0, 4]", "v[1:][2]", "v.take(6)", "v.T[4]"),
    *("(-v)[5]", "(v * 2)[5]", "(2 - v)[5]", "(v + v)[3]", "v.reshape(3, 1)[4]", "v.ravel()[3]", "v.copy().take(3)"),
)
INSIDE = (
    "v[2]",
    "v[-3]",
    "v[1:9].sum()",
    "v[..., 0]",
    "v[np.array([0, 2])].sum()",
    "v[None].sum()",
    "v.take(1)",
    "v[1:][1]",
)
NUMBERS = [np.array([1.0, 2.0, 4.0], np.float32), np.array([1, 2, 4], np.int8), np.array([1, 2, 4], np.int32)]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda x: x.dtype.name)
def test_an_index_outside_of_a_payload_is_refused_as_numpy_does(number):
    forest = pack(TreeF, [Leaf(number)])
    for text in OUTSIDE:
        with pytest.raises(IndexError):
            cata(case(text))(Leaf(number))
        with pytest.raises(CdlError, match=r"reads a payload of shape .* where it has no number at `Leaf`"):
            fold(case(text), forest)
    with pytest.raises(CdlError, match=r"fails for `Leaf.*Too many indices"):
        fold(case("v[1, 0]"), forest)
    inside = fold(case(*INSIDE), forest)
    assert [float(x[0]) for x in inside] == [float(x) for x in cata(case(*INSIDE))(Leaf(number))]
