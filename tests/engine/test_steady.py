"""The gradient of a maximum is not lost where XLA computes a number twice, once with a fused multiply-add.

The programs are compiled as a user's are: with the options of this suite XLA does not compute such numbers twice.
"""

from typing import Any, Generic, Never, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from jax import lax
from jax.extend.core import jaxpr_as_fun

from cdl import (
    Algebra,
    algebra,
    annotate,
    Base,
    cata,
    choose,
    Cons,
    fold,
    Fork,
    hylo,
    Leaf,
    ListF,
    machines,
    Many,
    MealyF,
    Nil,
    pack,
    refold,
    run,
    Seq,
    to_list,
    unfold,
)
from cdl._engine.jaxprs._steady import steadied, steady
from cdl.compiled import Bracketing
from cdl.monads import Monoid
from cdl.schemes import likelihood


USUAL = {
    "xla_backend_optimization_level": 3,
    "xla_llvm_disable_expensive_passes": False,
    "xla_cpu_use_fusion_emitters": True,
}
X = TypeVar("X", covariant=True)


class Scaled:
    """Trees whose nodes have a number, and any number of children."""


class Tip(Base[Scaled, Never]):
    value: float


class Knot(Base[Scaled, X], Generic[X]):
    scale: float
    parts: Many[X]


ScaledF = Union[Tip, Knot[X]]


class Greatest(Algebra[ScaledF[jax.Array], jax.Array]):
    tip: jax.Array
    weight: jax.Array
    bias: jax.Array
    how: str = eqx.field(static=True)

    def __call__(self, layer: ScaledF[jax.Array]) -> jax.Array:
        match layer:
            case Tip(value):
                return self.tip * value
            case Knot(scale, parts):
                parts = parts.map(lambda x: self.weight @ x * scale + self.bias)
                return getattr(parts, self.how)(jnp.zeros_like(self.bias))


def gradient(f: Any, x: Any) -> Any:
    return eqx.filter_jit(eqx.filter_grad(f), compiler_options=USUAL)(x)


@pytest.mark.parametrize("how", ["max", "min"])
@pytest.mark.parametrize("width", [2, 3, 7])
@pytest.mark.parametrize("double", [False, True])
def test_each_node_gives_all_of_its_gradient_to_its_greatest_child(how, width, double, getkey):
    rng = np.random.default_rng(width)
    with jax.enable_x64(double):
        net = Greatest(*(jr.normal(getkey(), s) for s in ((width,), (width, width), (width,))), how)
        tips = lambda: Many([Tip(float(rng.normal())) for _ in range(rng.integers(1, 6))])
        forest = pack(ScaledF, [Knot(float(rng.normal()), tips()) for _ in range(400)])
        found = gradient(lambda net: fold(net, forest).sum(), net)
    assert found.bias.tolist() == [400.0] * width


@pytest.mark.parametrize("many", [True, False])
def test_a_maximum_by_segments_has_its_gradient_in_a_case_and_inside_of_map(many):
    with jax.enable_x64(True):
        keys = jr.split(jr.key(21), 3)
        weights = [jr.normal(k, shape) for k, shape in zip(keys, [(3,), (21, 3), (3, 1)], strict=True)]
        rng = np.random.default_rng(0)
        trees = [Knot(float(rng.normal()), Many([Tip(float(rng.normal()))])) for _ in range(12)]

        def reads(weights: Any) -> Any:
            tip, weight, bias = weights

            def greatest(x: jax.Array, scale: Any) -> jax.Array:
                y = (weight @ x).reshape(3, 7) * scale + bias
                return jax.ops.segment_max(y.T, jnp.zeros(7, int), 1)[0]

            @algebra
            def read(layer: ScaledF[jax.Array]) -> jax.Array:
                match layer:
                    case Tip(value):
                        return jnp.tanh(tip * value)
                    case Knot(scale, parts) if many:
                        return parts.map(lambda x: greatest(x, scale)).sum(jnp.zeros(3))
                    case Knot(scale, parts):
                        return greatest(parts.sum(jnp.zeros(3)), scale)

            return read

        found = gradient(lambda weights: fold(reads(weights), pack(ScaledF, trees)).sum(), weights)
        close(found, jax.grad(lambda weights: sum(cata(reads(weights))(tree).sum() for tree in trees))(weights))


class Cell(eqx.Module):
    """The greatest of each row of a matrix; 8 rows of 3 are among those that XLA computes twice."""

    weight: jax.Array
    bias: jax.Array

    def __init__(self, key: jax.Array) -> None:
        a, b = jr.split(key)
        self.weight, self.bias = jr.normal(a, (24, 8)), jr.normal(b, (8, 1))

    def __call__(self, state: jax.Array, x: jax.Array) -> jax.Array:
        return jnp.max((self.weight @ state).reshape(8, 3) * x + self.bias, 1)


def reads(cell: Cell) -> Any:
    @algebra
    def read(layer: ListF[jax.Array, jax.Array]) -> jax.Array:
        match layer:
            case Nil():
                return jnp.ones(8)
            case Cons(x, rest):
                return jnp.tanh(cell(rest, x))

    return read


def grows(cell: Cell) -> Any:
    def grow(seed: jax.Array) -> Any:
        z = cell(seed, seed[0])
        return choose(z[:2], Leaf(z[2]), Fork(jnp.tanh(z), jnp.tanh(z[::-1])))

    return grow


def mealy(cell: Cell) -> Any:
    return lambda state: MealyF(lambda x: (jnp.tanh(cell(state, x)),) * 2)


def close(found: Any, wanted: Any) -> None:
    for x, y in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-6)


@pytest.fixture
def rows() -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    return [rng.normal(size=n) for n in (3, 9, 5, 12)]


def by_definition(rows):
    return jax.grad(lambda cell: sum(cata(reads(cell))(to_list(row)).sum() for row in rows))


def test_a_list_is_read_by_a_cell_with_a_maximum(rows):
    with jax.enable_x64(True):
        cell = Cell(jr.key(24))
        wanted = by_definition(rows)(cell)
        close(
            gradient(lambda cell: fold(reads(cell), Seq.of(rows * 8)).sum(), cell),
            jax.tree.map(lambda x: 8 * x, wanted),
        )
        forest = pack(ListF, [to_list(map(float, row)) for row in rows * 8])
        close(gradient(lambda cell: fold(reads(cell), forest).sum(), cell), jax.tree.map(lambda x: 8 * x, wanted))


def test_a_tree_is_grown_by_a_cell_with_a_maximum():
    with jax.enable_x64(True):
        cell, seeds = Cell(jr.key(24)), jr.normal(jr.key(5), (6, 8))
        of = lambda cell: unfold(grows(cell), seeds, 15, key=jr.key(2))
        grown = of(cell)
        pairs = [(seed, grown.results()[i].unwrap()) for i, seed in enumerate(seeds) if not grown.cut[i]]
        assert len(pairs) > 2
        whole = ~grown.cut
        found = gradient(lambda cell: jnp.where(whole, of(cell).log_prob.sum(1), 0).sum(), cell)
        close(found, jax.grad(lambda cell: sum(likelihood(grows(cell), s)(tree) for s, tree in pairs))(cell))


@pytest.fixture
def batch(rows: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    return np.stack([row[:3] for row in rows * 8])


def read_by_hand(cell: Cell, batch: Any) -> jax.Array:
    """The sum of all states of 32 sequences."""
    state, total = jnp.ones((len(batch), 8)), jnp.zeros(())
    for x in batch.T:
        state = jnp.tanh(jax.vmap(cell)(state, x))
        total += state.sum()
    return total


def by_run(cell: Cell, batch: Any) -> jax.Array:
    return run(mealy(cell), jnp.ones((32, 8)), Seq(batch, [3] * 32))[0].values.sum()


def by_steps(cell: Cell, batch: Any) -> jax.Array:
    def one(row: jax.Array) -> jax.Array:
        stepper, total = machines.start(mealy(cell), jnp.ones(8)), jnp.zeros(())
        for x in row:
            out, stepper = stepper.step(x)
            total += out.sum()
        return total

    return jax.vmap(one)(batch).sum()


def by_prefixes(cell: Cell, batch: Any) -> jax.Array:
    elements = jnp.broadcast_to(batch[..., None], (*batch.shape, 8))
    monoid = Monoid(jnp.ones(8), lambda before, x: jnp.tanh(cell(before, x[0])))
    return annotate(monoid, Seq(elements, [3] * 32), how=Bracketing("scan")).values.sum()


@pytest.mark.parametrize("compiled", [by_run, by_steps, by_prefixes])
def test_a_sequence_is_read_by_a_cell_with_a_maximum(compiled, batch):
    with jax.enable_x64(True):
        cell = Cell(jr.key(24))
        close(gradient(lambda cell: compiled(cell, batch), cell), jax.grad(read_by_hand)(cell, batch))


def test_a_list_is_cut_and_read_by_a_cell_with_a_maximum():
    """Without a number of nodes: the shapes of the seeds say where a list ends."""
    with jax.enable_x64(True):
        cell, seeds = Cell(jr.key(24)), jr.normal(jr.key(6), (32, 4, 1))
        cut = lambda xs: Cons(xs[0, 0], xs[1:]) if len(xs) else Nil()
        found = gradient(lambda cell: refold(reads(cell), cut, seeds).sum(), cell)
        close(found, jax.grad(lambda cell: jnp.stack([hylo(reads(cell), cut)(x) for x in seeds]).sum())(cell))


def steady_ones(f: Any, *inputs: Any) -> int:
    return str(steadied(jax.make_jaxpr(f)(*inputs))).count("steady[")


@pytest.mark.parametrize(
    ("f", "count"),
    [
        (jnp.max, 1),
        (jnp.min, 1),
        (lambda x: jax.ops.segment_max(x, jnp.zeros(4, int), 1), 2),
        (jax.jit(lambda x: jnp.max(x) + 1), 1),
        (lambda x: lax.scan(lambda c, y: (jnp.max(c * y), c), 1.0, x[:, None])[0], 1),
        (lambda x: lax.cond(x[0] > 0, jnp.max, jnp.sum, x), 1),
        (lambda x: jax.checkpoint(jnp.max)(x), 1),
        (jnp.sum, 0),
        (jax.nn.logsumexp, 0),  # whose maximum has no gradient
        (lambda x: jnp.argmax(x).astype(float) * x, 0),
        (lambda x: x.astype(int).max().astype(float) * x, 0),
        (lambda x: jnp.where(x > jnp.max(x), x, 0), 0),
    ],
)
def test_what_has_a_gradient_and_a_maximum_is_steady(f, count):
    x = jnp.arange(4.0)
    assert steady_ones(f, x) == count
    case = steadied(jax.make_jaxpr(f)(x))
    assert str(steadied(case)).count("steady[") == count  # once is enough
    assert jnp.array_equal(jaxpr_as_fun(case)(x)[0], f(x))


def test_what_is_steady_is_the_same_and_has_every_derivative(getkey):
    x, v = jr.normal(getkey(), (2, 5))
    f = lambda x: steady(x**3).sum()
    assert jnp.array_equal(steady(x), x)
    assert jnp.array_equal(jax.jit(jax.vmap(steady))(x), x)
    for transform in (lambda f: f, jax.jit):
        np.testing.assert_allclose(transform(jax.grad(f))(x), 3 * x**2, rtol=1e-6)
        np.testing.assert_allclose(transform(jax.hessian(f))(x), jnp.diag(6 * x), rtol=1e-6)
        np.testing.assert_allclose(transform(lambda x: jax.jvp(jax.grad(f), (x,), (v,))[1])(x), 6 * x * v, rtol=1e-6)
        np.testing.assert_allclose(transform(jax.vmap(jax.grad(lambda x: steady(x) ** 2)))(x), 2 * x, rtol=1e-6)
