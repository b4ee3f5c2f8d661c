"""Values that no one reads have no gradient, also where their slope is infinite: zero times infinity would be NaN.

By the definition a child that its parent does not read is not differentiated. The compiled form differentiates all rows
of a chunk at once.
"""

import dataclasses
import itertools
from typing import Any, Generic, Never, TypeVar, Union

import agreement
import equinox as eqx
import indexed_cells
import jax
import jax.numpy as jnp
import jax.random as jr
import pytest
from agreement import close, payload_places, QUICKLY
from few import few
from indexed_cells import Bare, forest_of, KindsF, More, reader, Some, That, This, WAYS, Word
from made import anew, by_constructor

from cdl import Algebra, Base, cata, fold, Many, pack, stacked
from cdl._engine.arrays import _platform
from cdl._engine.folds import _activity


pytestmark = pytest.mark.slow


X = TypeVar("X", covariant=True)
ZERO = Word(0.0, 1)  # where a root's slope is infinite
TREES = [
    This(Word(0.5, 1), ZERO),
    This(That(Word(0.3, 1), Bare()), That(ZERO, ZERO)),
    That(This(Word(0.2, 0), Some(Many([ZERO]))), Word(0.4, 2)),
    Some(Many([Word(0.2, 2), Word(0.7, 1)])),
    More(Many([ZERO, Bare(), This(ZERO, ZERO)])),
    Bare(),
]
WEIGHTS = {
    "shared": jnp.array([0.4, 0.7]),
    "matrix": jnp.array([[0.3, -0.2], [0.5, 0.9]]),
    "This": jnp.array([0.2, 0.6]),
    "That": jnp.array([0.3, 0.1]),
    "Bare": jnp.array(0.0),
    "zero": {"This": jnp.array(0.0), "That": jnp.array(0.0)},
}


class Reads(Algebra[Any, dict[str, jax.Array]]):
    """`This` does not read its right child, and `More` reads none of its children. `how` is one of many ways not to."""

    weights: dict[str, jax.Array]
    how: str = eqx.field(static=True)

    def __call__(self, layer: Any) -> dict[str, jax.Array]:
        w = self.weights
        match layer:
            case Word(weight, _):
                root = (jnp.log if self.how == "log" else jnp.sqrt)(weight * w["shared"])
                side = jnp.sqrt(weight * w["shared"][0]) if self.how in ("component", "scan") else weight
                main = weight * w["shared"] if self.how in ("component", "weights", "scan") else root
                if self.how == "weights":
                    side = jnp.log(w["Bare"] ** 2)
                return {"main": main, "side": side}
            case This(left, right):
                main = w["matrix"] @ left["main"] * w["This"]
                match self.how:
                    case "compared":
                        main = main + (right["main"] > 0.5).astype(float)
                    case "stopped":
                        main = main + jax.lax.stop_gradient(right["main"])
                    case "sign":
                        main = main + jnp.sign(right["main"])
                zero = w["zero"]["This"]
                return {"main": main, "side": 1 / zero if self.how == "weights" else left["main"][0]}
            case That(left, right) if self.how == "scan":
                return jax.lax.scan(lambda x, _: (carried(w, x, right), None), left, None, length=2)[0]
            case That(left, right):
                main = w["matrix"] @ left["main"] * w["That"] + jnp.sin(right["main"])
                zero = w["zero"]["That"]
                return {"main": main, "side": 1 / zero if self.how == "weights" else jnp.sqrt(right["side"])}
            case Some(items) if self.how == "scan":
                return {
                    "main": items.map(lambda x: x["main"] * w["This"]).prod(jnp.ones(2)),
                    "side": items.map(lambda x: jnp.sqrt(x["side"])).prod(1.0),
                }
            case Some(items):
                return {
                    "main": items.map(lambda x: w["matrix"] @ x["main"]).sum(jnp.zeros(2)),
                    "side": items.map(lambda x: jnp.sqrt(x["side"])).sum(0.0),
                }
            case More(items):
                main = items.count * w["shared"]
                if self.how == "compared":
                    main = main + items.map(lambda x: x["main"] > 0.5).any().astype(float)
                return {"main": main, "side": main[0]}
            case _:
                return {"main": w["shared"], "side": jnp.sqrt(w["Bare"])}


def carried(w: Any, x: dict[str, jax.Array], right: dict[str, jax.Array]) -> dict[str, jax.Array]:
    return {"main": w["matrix"] @ x["main"] * w["That"] + jnp.sin(right["main"]), "side": jnp.sqrt(x["side"])}


def gradients(total: Any, inputs: Any) -> Any:
    return eqx.filter_value_and_grad(total)(inputs)


def read(found: dict[str, jax.Array]) -> jax.Array:
    """A loss that reads one component."""
    return jnp.sum(jnp.sin(found["main"]))


@pytest.mark.parametrize("how", ["root", "log", "component", "weights", "scan", "compared", "stopped", "sign"])
def test_what_no_one_reads_has_no_gradient(how):
    agrees(how, TREES)


MADE = {
    "apart": dataclasses.replace(_platform.CPU, apart=0),
    "in blocks": dataclasses.replace(_platform.CPU, batched=True),
    "by constructor": _platform.CPU,
}


@pytest.mark.parametrize(("made", "how"), few(itertools.product(MADE, ["root", "component", "weights"]), 0, 7))
def test_however_programs_are_made_it_has_none(made, how):
    with by_constructor() if made == "by constructor" else anew(), _platform.taken_for(MADE[made]):
        agrees(how, TREES)


def agrees(how: str, trees: list[Any]) -> None:
    with jax.enable_x64(True):
        weights = jax.tree.map(lambda x: x.astype(float), WEIGHTS)
        trees = [*trees, Some(Many([ZERO]))] if how == "component" else trees
        forest, (leaves, structure) = forest_of(trees), jax.tree.flatten(trees)

        def defined(inputs: Any) -> Any:
            weights, leaves = inputs
            return sum(read(cata(Reads(weights, how))(t)) for t in jax.tree.unflatten(structure, leaves))

        def compiled(inputs: Any) -> Any:
            weights, forest = inputs
            return read(fold(Reads(weights, how), forest))

        leaves = [jnp.asarray(x) if isinstance(x, float) else x for x in leaves]
        slow, (slow_weights, slow_leaves) = gradients(defined, (weights, leaves))
        fast, (fast_weights, fast_forest) = eqx.filter_jit(lambda x: gradients(compiled, x), compiler_options=QUICKLY)(
            (weights, forest)
        )
        assert all(jnp.all(jnp.isfinite(x)) for x in jax.tree.leaves(slow_weights))
        close(fast, slow, 1e-10)
        close(fast_weights, slow_weights, 1e-10)
        for i, (column, row) in payload_places(forest, trees).items():
            if slow_leaves[i] is not None:
                close(fast_forest.payload[column][row], slow_leaves[i], 1e-10)


class Root(eqx.Module):
    w: jax.Array


class Beside(Algebra[Any, tuple[jax.Array, jax.Array]]):
    """The second number of a value is read by no one, and its slope is infinite at 0."""

    cells: Any

    def __call__(self, layer: Any) -> tuple[jax.Array, jax.Array]:
        w = jnp.sqrt(self.cells[type(layer)].w)
        match layer:
            case Word(weight, _):
                return w[0] * weight, jnp.sqrt(weight * w[1])
            case This(left, right) | That(left, right):
                return jnp.tanh(w @ left[0]) + right[0], jnp.sqrt(w @ left[0])
        raise AssertionError(layer)


def test_a_stack_has_more_constructors_than_the_forest_where_some_values_are_not_read():
    with jax.enable_x64(True):
        net = Beside(stacked(KindsF, lambda key: Root(jr.uniform(key, (2, 2), float) + 0.1), key=jr.key(0)))
        trees = [This(Word(0.5, 1), ZERO), This(That(Word(0.3, 1), ZERO), Word(0.7, 1))]
        forest = pack(KindsF, trees)
        fast = eqx.filter_grad(lambda net: fold(net, forest)[0].sum())(net)
        slow = eqx.filter_grad(lambda net: sum(cata(net)(tree)[0].sum() for tree in trees))(net)
        close(fast.cells.cells.w, slow.cells.cells.w, 1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("made", [anew, by_constructor], ids=["by index", "by constructor"])
@pytest.mark.parametrize("way", WAYS)
def test_the_bits_of_rows_change_no_other_gradient(way, made, monkeypatch):
    """Also where all that is computed is read, and no bits are needed."""
    monkeypatch.setattr(_activity.Activity, "_needed", lambda self: True)
    with made(), jax.enable_x64(True):
        agreement.agrees(forest_of(indexed_cells.TREES), indexed_cells.TREES, reader(jr.key(0), way), 1e-10)


class Pairs:
    """The name of a functor."""


class One(Base[Pairs, Never]):
    """A constant."""


class Two(Base[Pairs, Never]):
    """Another, of the same weights."""


class Over(Base[Pairs, X], Generic[X]):
    of: X


class Under(Base[Pairs, X], Generic[X]):
    of: X


class Both(Base[Pairs, X], Generic[X]):
    left: X
    right: X


TwoF = Union[One, Two, Over[X], Under[X], Both[X]]


class OfTwo(Algebra[Any, Any]):
    """Each has two numbers, of which one is read on either side."""

    w: Any

    def __call__(self, layer: Any) -> Any:
        match layer:
            case Both(left, right):
                return left[0], 2 * right[1]
            case Over(of) | Under(of):
                return jnp.tanh(self.w**3 * of[0]), jnp.sqrt(self.w) * self.w * of[1]
        return jnp.sqrt(self.w) * self.w, 3 * self.w**2


CONSTANTS = [Both(One(), Two()), Both(Two(), Both(Two(), Two()))]
NESTED = [Both(Over(One()), Under(Two())), Both(One(), Both(Under(Two()), Under(Under(One()))))]


@pytest.mark.parametrize(
    ("trees", "part"), [(CONSTANTS, [Both(Two(), Two())]), (NESTED, [Both(One(), Under(Two()))])], ids=["leaf", "node"]
)
def test_constructors_that_share_all_their_weights_are_read_each_for_itself(trees, part):
    forest = pack(TwoF, trees)
    for some in (trees, part):
        slow = jax.grad(lambda w, some=some: sum(sum(cata(OfTwo(w))(tree)) for tree in some))(2.0)
        own = pack(TwoF, some, bucket=forest.bucket)
        fast = jax.grad(lambda w, own=own: sum(x.sum() for x in fold(OfTwo(w), own)))(2.0)
        assert jnp.allclose(slow, fast)
        assert slow > 20
