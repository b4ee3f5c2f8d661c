"""Candidates that are one program with other weights are computed as one, in value and gradient as each by itself."""

import types
from functools import reduce
from typing import Any, Generic, Never, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from agreement import close
from any_coalgebra import numbers
from programs import equations, primitives

from cdl import Algebra, Base, choose, fold, hylo, pack, stacked, unfold
from cdl.compiled import refold


X = TypeVar("X", covariant=True)
H, NODES, EACH = 3, 30, 5


class Term:
    """Many constructors, of two forms."""


def constructor(name: str, *, leaf: bool) -> type[Any]:
    fields: dict[str, Any] = {"label": float} if leaf else {"label": float, "below": tuple[X, X]}
    bases = (Base[Term, Never],) if leaf else (Base[Term, X], Generic[X])  # type: ignore[valid-type]
    return types.new_class(name, bases, exec_body=lambda body: body.update({"__annotations__": fields}))


LEAVES = [constructor(f"Leaf{i}", leaf=True) for i in range(EACH)]
FORKS = tuple(constructor(f"Fork{i}", leaf=False) for i in range(EACH))
EVERY = tuple(x for pair in zip(LEAVES, FORKS, strict=True) for x in pair)


class Cell(eqx.Module):
    """The weights of one constructor."""

    first: jax.Array
    second: jax.Array
    label: jax.Array

    def __init__(self, key: jax.Array) -> None:
        a, b, c = jr.split(key, 3)
        self.first, self.second, self.label = jr.normal(a, (H, H)), jr.normal(b, (H, H)), jr.normal(c, (H,))


class Grower(eqx.Module):
    """A layer of each constructor, made by a cell of its own. A seed is a vector, and how deep it is. Constructors
    differ in their weights; where `scaled`, in a constant too, and where `written`, in a number in the code."""

    scores: jax.Array
    cells: Any
    scaled: bool = eqx.field(static=True, default=False)
    written: bool = eqx.field(static=True, default=False)
    many: int = eqx.field(static=True, default=len(EVERY))

    def __call__(self, seed: Any) -> Any:
        h, depth = seed
        kinds = EVERY[: self.many]
        forks = jnp.array([kind in FORKS for kind in kinds], h.dtype)
        layers = [self.layer(kind, number, h, depth) for number, kind in enumerate(kinds)]
        return choose(self.scores[: self.many] @ h - 2 * forks * depth.astype(h.dtype), *layers)

    def layer(self, kind: Any, number: int, h: jax.Array, depth: jax.Array) -> Any:
        cell = self.cells[number if isinstance(self.cells, list) else kind]
        h = h * np.array([1, 2, number], h.dtype) if self.scaled else h
        h = h * (1 + 0.1 * number) if self.written and number % 3 else h
        label = jnp.sin(cell.label @ h)
        if kind in LEAVES:
            return kind(label)
        return kind(label, ((jnp.tanh(cell.first @ h), depth + 1), (jnp.tanh(cell.second @ h), depth + 1)))


class Reader(Algebra[Any, Any]):
    """An algebra with a cell for each constructor. Where `curved`, some values go through another curve in the end."""

    cells: Any
    curved: bool = eqx.field(static=True, default=False)

    def __call__(self, layer: Any) -> Any:
        number = EVERY.index(type(layer))
        cell = self.cells[number if isinstance(self.cells, list) else type(layer)]
        below = cell.first @ layer.below[0] - cell.second @ layer.below[1] if isinstance(layer, FORKS) else 0.0
        curve = jax.nn.sigmoid if self.curved and number > 4 else jnp.tanh
        return curve(layer.label * cell.label + below)


class Tied(eqx.Module):
    """One cell for all constructors but the fourth. In a list, one object many times is many arguments of `jit`."""

    common: Cell
    other: Cell

    def __getitem__(self, kind: Any) -> Cell:
        return self.other if kind is EVERY[3] else self.common


class Inside(eqx.Module):
    """Cells in a stack of stacks: of each constructor's stack, the first."""

    stack: Any

    def __getitem__(self, kind: Any) -> Cell:
        found: Cell = self.stack[kind][EVERY[0]]
        return found


def cells(held: str, seed: int) -> Any:
    """A cell for each constructor: stacked, each by itself, or one for all but the fourth."""
    stack: Any = stacked(EVERY, Cell, key=jr.key(seed))
    each = [jax.tree.map(jnp.array, stack[kind]) for kind in EVERY]
    return {"stacked": stack, "apart": each, "tied": Tied(each[0], each[3])}[held]


def grower(held: str, **how: Any) -> Grower:
    return Grower(2 * jr.normal(jr.key(4), (len(EVERY), H)), cells(held, 3), **how)


def seeds(count: int) -> Any:
    return jr.normal(jr.key(1), (count, H)), jnp.zeros(count, jnp.int32)


def one(seeds: Any, t: int) -> Any:
    return jax.tree.map(lambda x: x[t], seeds)


WAVE = np.sin(1.0 + np.arange(NODES))


PAIRS = [("apart", "alike"), ("stacked", "scaled"), ("tied", "written"), ("apart", "scaled"), ("stacked", "alike")]


@pytest.mark.parametrize(("held", "how"), PAIRS)
def test_candidates_alike_are_grown_as_by_the_definition(held, how):
    with jax.enable_x64(True):
        some = seeds(4)

        def compiled(coalg: Grower) -> Any:
            grown = unfold(coalg, some, NODES, key=jr.key(7), lanes=8)
            (label,) = grown.payload
            return jnp.sum(WAVE[None] * (label + grown.log_prob)), grown

        def defined(coalg: Grower) -> Any:
            total = jnp.zeros(())
            for t in range(4):
                choices, log_probs, payloads = numbers(coalg, one(some, t), jr.fold_in(jr.key(7), t))
                assert choices == grown.choice[t, : len(choices)].tolist()
                for wave, log_prob, (label,) in zip(WAVE, log_probs, payloads, strict=False):
                    total = total + wave * (label + log_prob)
            return total

        coalg = grower(held, **{how: True} if how != "alike" else {})
        value = eqx.filter_value_and_grad
        (total, grown), slope = eqx.filter_jit(value(compiled, has_aux=True))(coalg)
        assert not grown.cut.any()
        assert len(set(np.concatenate([grown.choice[t, :n] for t, n in enumerate(grown.count)]).tolist())) > EACH
        close((total, slope), value(defined)(coalg), 1e-9)


@pytest.mark.parametrize(("held", "curved"), [("apart", True), ("stacked", False), ("tied", True)])
def test_candidates_alike_are_read_as_by_the_definition(held, curved):
    with jax.enable_x64(True):
        some = seeds(4)

        def slow(inputs: Any) -> Any:
            alg, coalg = inputs
            return sum(jnp.sum(jnp.sin((t + 1) * hylo(alg, coalg)(one(some, t)))) for t in range(4))

        def fast(inputs: Any) -> Any:
            values, waiting = refold(*inputs, some, NODES, lanes=8)
            return jnp.sum(jnp.sin((jnp.arange(4.0)[:, None] + 1) * values)), waiting

        nets = Reader(cells(held, 5), curved), grower(held)
        (value, waiting), slope = eqx.filter_jit(eqx.filter_value_and_grad(fast, has_aux=True))(nets)
        assert not waiting.any()
        close((value, slope), eqx.filter_value_and_grad(slow)(nets), 1e-9)


class Stop(Base["Steps", Never]):
    """An end, with a number."""

    number: float


class Step(Base["Steps", X], Generic[X]):
    """Another seed."""

    after: X


class Steps:
    """Numbers that a seed goes through."""


def test_a_payload_and_a_seed_that_are_computed_alike_go_to_their_own_places():
    class Doubled(eqx.Module):
        first: jax.Array
        second: jax.Array

        def __call__(self, seed: jax.Array) -> Any:
            return choose(jnp.stack([seed - 20.0, 20.0 - seed]), Stop(self.first * seed), Step(self.second * seed))

    def total(coalg: Any) -> Any:
        return jnp.sum(unfold(coalg, jnp.array([3.0, 30.0]), 9).payload[0])

    value, slope = eqx.filter_value_and_grad(total)(Doubled(jnp.array(5.0), jnp.array(2.0)))
    assert float(value) == 5 * 24 + 5 * 30
    assert (float(slope.first), float(slope.second)) == (24 + 30, 5 * 3 * 3 * 2**2)


def test_the_program_does_not_grow_with_the_candidates():
    def size(many: int) -> int:
        nets = Reader(cells("apart", 5)), Grower(jnp.ones((len(EVERY), H)), cells("apart", 3), many=many)
        arrays, rest = eqx.partition(nets, eqx.is_inexact_array)

        def loss(arrays: Any) -> Any:
            alg, coalg = eqx.combine(arrays, rest)
            grown = unfold(coalg, seeds(2), NODES, key=jr.key(7))
            return grown.payload[0].sum() + refold(alg, coalg, seeds(2), NODES)[0].sum()

        found = primitives(jax.make_jaxpr(jax.grad(loss))(arrays))
        return found["while"] + found["tanh"]

    assert size(8) == size(4)


def test_a_stack_is_taken_as_it_is():
    def stackings(held: str) -> int:
        nets = Reader(cells(held, 5)), grower(held)
        arrays, rest = eqx.partition(nets, eqx.is_inexact_array)

        def loss(arrays: Any) -> Any:
            alg, coalg = eqx.combine(arrays, rest)
            return unfold(coalg, seeds(2), NODES).log_prob.sum() + refold(alg, coalg, seeds(2), NODES)[0].sum()

        program = jax.make_jaxpr(jax.grad(loss))(arrays)
        return sum(e.primitive.name == "stack" and e.outvars[0].aval.shape == (EACH, H, H) for e in equations(program))

    assert stackings("apart") > 0
    assert stackings("stacked") == 0


def test_a_stack_of_stacks_is_grown_and_folded():
    inner = lambda key: stacked(EVERY[:2], Cell, key=key)
    nested: Any = stacked(EVERY, inner, key=jr.key(8))
    apart = [jax.tree.map(jnp.array, nested[kind][EVERY[0]]) for kind in EVERY]
    both = [Grower(jnp.ones((len(EVERY), H)), cells) for cells in (Inside(nested), apart)]
    grown, same = (unfold(coalg, seeds(3), NODES, key=jr.key(7)) for coalg in both)
    assert grown.choice.tolist() == same.choice.tolist()
    close(grown.payload, same.payload, 1e-6)
    forest = pack(reduce(lambda union, kind: Union[union, kind], EVERY), grown.trees())
    close(fold(Reader(Inside(nested)), forest), fold(Reader(apart), forest), 1e-6)
