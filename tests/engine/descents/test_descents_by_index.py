"""Steps with weights of their own for each constructor: `inherit` and `follow` are their definitions, in any cell."""

import contextlib
from typing import Any, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import pytest
from agreement import as_defined, follows, heads, inherits
from families import FAMILY, Lam, Lit, Neg, Return, ROOTS, Then, TREES as OF_FAMILY, While
from few import few
from indexed_cells import (
    Bare,
    Cell,
    forest_of,
    H,
    KINDS,
    KindsF,
    reader,
    Some,
    That,
    This,
    TREES,
    Word,
)
from inherited_cells import cells_of, Handing, SMALL, tops
from made import by_constructor

from cdl import choose, fmap, inherit, inherited, Many, pack, stacked
from cdl._engine.descents._follow import Scored
from cdl._engine.descents._inherit import _storage
from cdl._engine.descents._step import Plain, Steps
from cdl._engine.folds._sites import all_indexed


WAYS = few(("layers", "lookup", "scan", "of weights", "cond", "custom vjp", "twice"), 0)


@pytest.fixture
def alone():
    """Makes steps with a scan be computed by constructor, as they are where weights are large."""
    with contextlib.ExitStack() as stack:
        yield lambda way: stack.enter_context(by_constructor(4)) if way == "scan" else None


@pytest.mark.parametrize("way", WAYS)
def test_what_is_inherited_by_any_cell_is_the_definition_s(way, alone):
    alone(way)
    with jax.enable_x64(True):
        step = Handing(cells_of(jr.key(3), way), jr.normal(jr.key(4), (H, 2 * H)))
        inherits(forest_of(SMALL), SMALL, (reader(jr.key(0), "product"), step), tops(len(SMALL)))


def programs_of(step: Any, signature: Any, trees: list[Any], top: Any) -> list[tuple[set[str], bool]]:
    """The constructors of each program of a step that sees no values, and whether they are computed together."""
    bucket, nothing, below = pack(signature, trees).bucket, _storage(((),)), _storage((top,))
    scored = isinstance(step, Scored)
    steps = Steps((step,), ("step",), bucket, nothing, below, _storage(()) if scored else nothing, scored)
    found, _ = steps.settled().programs()
    together = all_indexed(found, 0)
    return [({bucket.variants[i].constructor.__name__ for i in x.members}, p in together) for p, x in enumerate(found)]


@pytest.mark.parametrize(("way", "together"), [("layers", True), ("scan", False)])
def test_steps_whose_cells_differ_in_weights_alone_are_one_program(way, together, alone):
    alone(way)

    def step(inherited, layer):
        return handing(inherited, fmap(lambda _: jnp.ones(H), layer))

    handing = Handing(cells_of(jr.key(3), way), jnp.ones((H, 2 * H)))
    every = programs_of(Plain(step), KindsF, TREES, tops(1))
    assert every == [({"This", "That"}, together), ({"Some", "More"}, together)]


class Growing(eqx.Module):
    """A coalgebra with a cell for each constructor that has children, of which some are not there."""

    cells: dict[str, Cell]
    scores: jax.Array

    def __call__(self, seed: jax.Array) -> Any:
        this, that = (self.cells[name] for name in ("This", "That"))
        return choose(
            self.scores @ seed,
            Bare(),
            Word(seed[0], 0),
            This(this(seed, jnp.cos(seed)), this(-seed, seed)),
            That(that(seed, jnp.cos(seed)), that(-seed, seed)),
        )


GROWN = [This(That(Word(0.3, 1), Bare()), This(Bare(), That(Bare(), Word(-1.0, 0)))), Bare(), That(Bare(), Bare())]
GrownF = Union[Bare, Word, This, That]


def near(proposed: Any, true: Any) -> Any:
    return -((proposed.weight - true.weight) ** 2) if isinstance(true, Word) else 0.0


@pytest.mark.parametrize(
    ("way", "trees"), few([("layers", GROWN), ("scan", GROWN), ("of weights", GROWN), ("layers", GROWN[1:])], 3)
)
def test_how_likely_trees_are_under_any_cells_is_the_definition_s(way, trees, alone):
    alone(way)
    with jax.enable_x64(True):
        grow = Growing(cells_of(jr.key(3), way), jr.normal(jr.key(1), (4, H)))
        forest = pack(GrownF, trees, bucket=pack(GrownF, GROWN).bucket)
        seeds = jr.normal(jr.key(2), (len(trees), H))

        follows(forest, trees, grow, seeds, near)


def test_candidates_that_differ_in_weights_alone_are_one_program_without_the_others():
    step = Scored(Growing(cells_of(jr.key(3), "layers"), jnp.ones((4, H))), None)
    every = programs_of(step, GrownF, GROWN, jnp.ones((1, H)))
    assert every == [({"Bare"}, True), ({"Word"}, True), ({"This", "That"}, True)]


def test_what_a_step_tells_beside_its_value_is_told():
    seen: list[float] = []

    def step(depth, layer):
        jax.debug.callback(lambda x: seen.append(float(x)), depth)
        return fmap(lambda _: depth + 1, layer)

    inherit(step, pack(KindsF, [This(Bare(), That(Bare(), Bare()))]), jnp.zeros(1))
    jax.effects_barrier()
    assert set(seen) == {0.0, 1.0}


class OfExpr(eqx.Module):
    """A step of expressions."""

    w: dict[str, jax.Array]

    def __call__(self, vector: Any, layer: Any) -> Any:
        match layer:
            case Lit():
                return layer
            case Neg():
                return Neg(jnp.tanh(self.w["Neg"] @ vector))
            case Lam(body):
                return Lam(body.map(lambda _: (jnp.sin(self.w["Lam"] @ vector), vector[0])))
        raise AssertionError(layer)


class OfStmt(eqx.Module):
    """A step of statements."""

    w: dict[str, jax.Array]

    def __call__(self, inherited: Any, layer: Any) -> Any:
        vector, number = inherited
        match layer:
            case Return():
                return Return(jnp.tanh(self.w["Return"] @ vector) * number)
            case While(_, body):
                own = jnp.tanh(self.w["While"] @ vector)
                return While(own + number, body.map(lambda _: (self.w["body"] @ own, number + own[1])))
            case Then():
                return Then((self.w["Then"] @ vector, number * vector[0]), jnp.cos(vector))
        raise AssertionError(layer)


def test_a_family_inherits_by_steps_with_weights():
    with jax.enable_x64(True):
        draw = lambda names, key: {n: jr.normal(k, (H, H)) for n, k in zip(names, jr.split(key, 4), strict=False)}
        steps = OfExpr(draw(("Neg", "Lam"), jr.key(0))), OfStmt(draw(("Return", "While", "body", "Then"), jr.key(1)))
        at_roots = jr.normal(jr.key(2), (2, H)), (jr.normal(jr.key(3), (2, H)), jnp.array([0.5, -1.0]))
        forest = pack(FAMILY, OF_FAMILY)
        size = forest.size

        def defined(steps: Any, tops: Any) -> Any:
            exprs, stmts = jnp.zeros((size, H)), (jnp.zeros((size, H)), jnp.zeros(size))
            for sort, some in enumerate(ROOTS):
                for place, number in enumerate(some):
                    top = jax.tree.map(lambda x, place=place: x[place], tops[sort])
                    below = heads(inherited(steps, (top, top))[sort](OF_FAMILY[number]))
                    for at, head in zip(range(*forest.nodes(number).indices(size)), below, strict=True):
                        if isinstance(head, tuple):
                            stmts = jax.tree.map(lambda xs, x, at=at: xs.at[at].set(x), stmts, head)
                        else:
                            exprs = exprs.at[at].set(head)
            return exprs, stmts

        def compiled(steps: Any, tops: Any) -> Any:
            return jax.tree.map(lambda x: x[:size], inherit(steps, forest, tops))

        as_defined(defined, compiled, steps, at_roots)


@pytest.mark.slow
def test_cells_of_a_stack_and_steps_that_see_no_values():
    """Weights of constructors that no tree has get a gradient of zero, though a slope is infinite there."""
    with jax.enable_x64(True):
        cells = stacked(KindsF, lambda key: Cell(key, "norm"), key=jr.key(3))
        cells = eqx.tree_at(lambda c: c.cells.b, cells, cells.cells.b.at[KINDS.index(That)].set(0.0) ** 2)

        class Rooted(Handing):
            def __call__(self, inherited: Any, layer: Any) -> Any:
                own = jnp.sqrt(self.cells[type(layer)].b)
                return super().__call__((inherited[0] + own, inherited[1]), layer)

        trees = [This(Word(1.0, 0), This(Bare(), Some(Many([Bare(), Word(2.0, 1)])))), Bare()]
        bucket = forest_of(TREES).bucket
        step = Rooted(cells, jr.normal(jr.key(4), (H, 2 * H)))
        forest, models = pack(KindsF, trees, bucket=bucket), (reader(jr.key(0), "product"), step)
        gradients = inherits(forest, trees, models, tops(len(trees)))
        met = jnp.any(gradients[0][1].cells.cells.b != 0, 1)
        assert [k for k, yes in zip(KINDS, met.tolist(), strict=True) if yes] == [This, Some]
