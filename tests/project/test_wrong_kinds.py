"""A value of another kind than belongs there is refused in our words, by a sentence that says what to give.

What the call answers without types checked at run time, which is how a user makes it.
"""

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from alone import run_alone

import cdl
import cdl_arch.recursive
import cdl_arch.search
import cdl_arch.symmetry as arch
from cdl import schemes


@cdl.algebra
def nothing(layer: cdl.ListF[Any, Any]) -> float:
    return 0.0


def refused(said: str, call: Callable[[], Any]) -> None:
    with pytest.raises(cdl.CdlError, match=re.escape(said)):
        call()


def functions() -> None:
    tree: Any = cdl.to_list([1.0])
    three: Any = 3
    refused("`algebra` makes an algebra of a function, and was given `3`", lambda: cdl.algebra(three))
    refused("`fmap` takes a function, and was given 3", lambda: cdl.fmap(three, tree))
    refused("`fmap` takes a function, and was given (3,)", lambda: cdl.fmap((three,), tree))
    refused("`outer` of `compose` is 3, and must be `Const` or", lambda: cdl.poly.compose(three, cdl.poly.Id()))
    refused("`inner` of `compose` is 4, and must be `Const` or", lambda: cdl.poly.compose(cdl.poly.Id(), three + 1))
    refused("`dyna` takes a coalgebra, and was given `3`", lambda: schemes.dyna(nothing, three))
    refused("`dyna` takes an algebra, and was given `3`", lambda: schemes.dyna(three, len))
    refused("`chrono` takes a coalgebra, and was given `3`", lambda: schemes.chrono(nothing, three))
    refused("`chrono` takes an algebra, and was given `3`", lambda: schemes.chrono(three, len))
    refused("write a function that gives `Left(value)` or `Right(layer)`", lambda: schemes.elgot(nothing, three))
    refused("`elgot` takes an algebra, and was given `3`", lambda: schemes.elgot(three, len))
    refused("`coelgot` takes a coalgebra, and was given `3`", lambda: schemes.coelgot(lambda n, layer: n, three))
    refused("write a function that reads a seed and its layer of values", lambda: schemes.coelgot(three, len))
    refused("the function `<lambda>` does not take two arguments", lambda: schemes.coelgot(lambda n: n, len))
    refused("`apo` takes a coalgebra, and was given `3`", lambda: schemes.apo(three))
    refused("`futu` takes a coalgebra, and was given `3`", lambda: schemes.futu(three))
    refused("`transform` of `prepro` is 3, and must be a function", lambda: schemes.prepro(three, nothing))
    refused("`transform` of `prepro_algebra` is 3", lambda: schemes.prepro_algebra(three, nothing, 2))
    refused("`zygo_algebra` takes an algebra, and was given `3`", lambda: schemes.zygo_algebra(three, nothing))
    refused("`mutu_algebra` takes an algebra, and was given `3`", lambda: schemes.mutu_algebra(nothing, three))
    refused("`histo_algebra` takes an algebra, and was given `3`", lambda: schemes.histo_algebra(three, 2))


def batches() -> None:
    forest: Any = cdl.pack(cdl.ListF, [cdl.to_list([1.0])])
    for read in (lambda: forest[0], lambda: list(forest), lambda: 0 in forest):
        refused("a forest is not a list that is indexed or iterated over: `forest.trees()[i]`", read)
    seq, packed = (kind.of([jnp.ones(2)]) for kind in (cdl.Seq, cdl.Packed))
    refused("a `Seq` is not a list that is indexed or iterated over", lambda: seq[0])
    refused("`packed.padded()` is a `Seq` of the same lists", lambda: list(packed))
    down: Any = lambda n: cdl.choose(jnp.stack([0.5 - n, n - 0.5]), cdl.Nil(), cdl.Cons(n, n - 1))
    refused("`lists.trees()[i]` is list `i`", lambda: cdl.unfold(down, jnp.array([2.0]), 4)[0])
    halve: Any = lambda n: cdl.choose(jnp.stack([1.5 - n, n - 1.5]), cdl.Leaf(n), cdl.Fork(n // 2, n - n // 2))
    refused("`grown.trees()[i]` is tree `i`", lambda: cdl.unfold(halve, jnp.array([3.0]), 7)[0])


def numbers() -> None:
    even, three = cdl.Automaton([[0, 1], [1, 0]], [True, False]), 3
    refused("'x' stands where whole numbers from 0 to 1 belong", lambda: even("x"))
    refused("a map of 1 numbers does not take 3.0", lambda: cdl.optics.SmoothMap(1, 1, lambda x: x)(3.0))
    one = cdl.categories.MAT.identity(1)
    refused("`arrows` of `Category.compose` is 3, and must be `Arrow`", lambda: cdl.categories.MAT.compose(one, three))
    turn = cdl.symmetry.groups.so(3)
    refused("`key` is `3`, and a key comes from JAX", lambda: cdl.symmetry.NormGate(turn, key=three))
    wiring = cdl.system.Wiring({}, {}, {}, {})
    refused("`source` of `Wiring.port` is 3, and must be `str`", lambda: wiring.port(three))


def architectures() -> None:
    key, three = jax.random.key(0), 3
    refused("`key` is `3`, and a key comes from JAX", lambda: arch.DeepSet(1, 2, key=three))
    said = "`key` of `GraphLayer` is 3, and must be a key of JAX, such as `jax.random.key(0)`"
    refused(said, lambda: arch.GraphLayer(1, 2, key=three))
    refused("`channels` of `deep_sets` is 3, and must be a list of `int`", lambda: arch.deep_sets(three, 2, key=key))
    refused("`shape` of `Convolution` is 3", lambda: arch.Convolution(three, 1, 1, three, key=key))
    refused("`count` is -1: give at least 1", lambda: cdl_arch.recursive.nand_circuits(-1, 2, key=key))
    refused("`key` is `3`", lambda: cdl_arch.recursive.nand_circuits(1, 2, key=three))
    refused("`task` of `isometry` is 3, and must be `Task`", lambda: cdl_arch.search.isometry(three, jnp.zeros(3), key))


@pytest.mark.parametrize("of", [functions, batches, numbers, architectures])
def test_another_kind_of_value_is_refused(of):
    run_alone(of)
