"""No loop of a compiled fold, or of its gradient, copies a whole table of states or cotangents: they are written in
place.

The optimised HLO is read; that the reader finds a copy is tested on a loop that makes one.
"""

import dataclasses
import re
from typing import Any, Generic, Never, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import pytest
from any_algebra import any_algebra, H, REDUCTIONS
from hlo import computations, copies_in_loops, gathered_in_loops, in_loops

from cdl import annotate, Base, fmap, fold, Forest, inherit, Many, pack
from cdl._engine.arrays._platform import CPU
from cdl._engine.folds._tile_sums import TOGETHER
from cdl._engine.forests._bucket import Size
from cdl._engine.jaxprs._stacks import _stack


X = TypeVar("X", covariant=True)


class Mixed:
    """The name of the functor `R + R × X + X² + List X × X`."""


class End(Base[Mixed, Never]):
    label: float


class Go(Base[Mixed, X], Generic[X]):
    label: float
    rest: X


class Both(Base[Mixed, X], Generic[X]):
    left: X
    right: X


class All(Base[Mixed, X], Generic[X]):
    some: Many[X]
    last: X


MixedF = Union[End, Go[X], Both[X], All[X]]


def forest_of(widths: tuple[int, ...]) -> Forest:
    """A forest whose chunks have these widths, and whose tables are of lengths that no other array has."""
    tree: Any = Both(Go(1.0, End(2.0)), End(0.5))
    tree = Both(All(Many([tree, End(3.0)]), tree), All(Many(), tree))
    sizes = tuple(Size(w, 2 * w + 2) for w in widths)
    bucket = dataclasses.replace(
        pack(MixedF, [tree]).bucket, sizes=sizes, pieces=sizes, nodes=9973, inner=9973, leaves=9973
    )
    return pack(MixedF, [tree], bucket=bucket)


def lengths(forest: Forest) -> set[int]:
    """Of tables of rows and of edges."""
    return {forest.bucket.rows, *forest.bucket.starts, forest.bucket.edges, len(forest.child)}


def total(inputs: Any) -> Any:
    return jnp.sum(jnp.sin(fold(*inputs)))


def down(inputs: Any) -> Any:
    """A pass up, and one down again, of whose products some are kept."""
    alg, forest = inputs
    weight = jnp.outer(alg.starts["Go"], alg.starts["End"])
    step = lambda inherited, layer: fmap(lambda child: jnp.tanh(weight @ inherited + weight @ child), layer)
    return jnp.sum(inherit(step, forest, jnp.ones((len(forest), H)), values=annotate(alg, forest)))


def optimised(f: Any, forest: Forest, way: str = "sum") -> str:
    alg = any_algebra(MixedF, jr.key(0), jnp.float32, ways=(way,))
    arrays, rest = eqx.partition((alg, forest), eqx.is_array)
    return str(jax.jit(lambda arrays: f(eqx.combine(arrays, rest))).lower(arrays).compile().as_text())


@pytest.mark.parametrize("function", [total, eqx.filter_grad(total)], ids=["fold", "gradient"])
@pytest.mark.parametrize("widths", [CPU.widths[i : i + 2] for i in range(0, len(CPU.widths), 2)], ids=str)
def test_no_loop_copies_a_table_of_states_or_cotangents(widths, function):
    forest = forest_of(widths)
    text = optimised(function, forest)
    assert in_loops(computations(text))
    assert copies_in_loops(text, lengths(forest)) == []


class Bilinear(eqx.Module):
    """The product of two matrix products: the cotangent of each depends on the other alone."""

    weights: jax.Array

    def __call__(self, layer: MixedF[jax.Array]) -> jax.Array:
        a, b = self.weights[:2]
        match layer:
            case End(label):
                return jnp.full(H, label)
            case Go(label, rest):
                return (a @ rest) * (b @ rest) + label
            case Both(left, right):
                return (a @ left) * (b @ right)
            case All(some, last):
                return (a @ some.sum(jnp.zeros(H))) * (b @ last)


@pytest.mark.parametrize("widths", [CPU.widths[:2], CPU.widths[2:4]], ids=str)
def test_nor_where_a_product_is_read_for_the_cotangent_of_another(widths):
    forest = forest_of(widths)
    arrays, rest = eqx.partition((Bilinear(jr.normal(jr.key(0), (2, H, H))), forest), eqx.is_array)
    slope = jax.jit(lambda arrays: eqx.filter_grad(total)(eqx.combine(arrays, rest)))
    assert copies_in_loops(str(slope.lower(arrays).compile().as_text()), lengths(forest)) == []


OTHERS = [(total, way) for way in REDUCTIONS if way not in ("sum", "attend")]


@pytest.mark.parametrize(
    ("function", "way"),
    [(total, "attend"), *(pytest.param(*case, marks=pytest.mark.slow) for case in [*OTHERS, (down, "sum")])],
)
def test_nor_does_the_gradient_of_any_reduction_or_of_a_pass_down(function, way):
    forest = forest_of((4, 16))
    text = optimised(eqx.filter_grad(function), forest, way)
    assert copies_in_loops(text, lengths(forest)) == []


@pytest.mark.parametrize("function", [total, down])
def test_the_rows_of_a_chain_are_read_one_at_a_time_and_by_slices(function):
    chain: Any = End(1.0)
    for i in range(9):
        chain = Go(float(i), chain)
    forest = pack(MixedF, [chain])
    assert {size.rows for size in forest.bucket.sizes} == {1}
    text = optimised(eqx.filter_grad(function), forest)
    assert copies_in_loops(text, lengths(forest)) == []
    assert set(gathered_in_loops(text)) == {*TOGETHER}  # for the weights' gradients, at the end


def loop(body: Any) -> str:
    """The optimised HLO of a loop over two tables."""

    def run(tables: Any) -> Any:
        return jax.lax.fori_loop(0, 9, body, tables)

    return str(jax.jit(run).lower((jnp.zeros((777, 3)), jnp.ones((777, 3)))).compile().as_text())


def test_the_reader_finds_a_copy_that_a_loop_makes():
    text = loop(lambda i, tables: (tables[0].at[i].set(tables[1][i + 1]), tables[0]))
    assert copies_in_loops(text, {777})
    assert copies_in_loops(text, {776}) == []


def test_the_reader_finds_a_gather_that_a_loop_makes():
    text = loop(lambda i, tables: (tables[0].at[:3].add(tables[1][jnp.array([i, 2 * i, 7])]), tables[1]))
    assert gathered_in_loops(text) == [3]


def test_the_reader_finds_none_where_a_table_is_written_in_place():
    text = loop(lambda i, tables: (tables[0].at[i].set(tables[1][i + 1]), tables[1]))
    assert in_loops(computations(text))
    assert copies_in_loops(text, {777}) == []


def test_all_weights_are_cut_out_of_a_stack_by_one_kernel():
    cut = lambda arrays, given: jax.vjp(_stack, arrays)[1](given)
    text = jax.jit(cut).lower([jnp.ones((4, 3))] * 6, jnp.ones((6, 4, 3))).compile().as_text()
    kernels = re.findall(r"^%(?:fused|wrapped).*?^}", text, re.MULTILINE | re.DOTALL)
    told = [sorted(re.findall(r"= (\S+ (?:constant\(.*?\)|[\w-]+))", kernel)) for kernel in kernels]
    assert len(kernels) == 6
    assert all(x == told[0] for x in told)
