"""What a case prints is printed once for each node, and once for each child of a `Many`: as by the definition."""

from collections import Counter
from typing import Any, Generic, Never, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from cdl import (
    Algebra,
    algebra,
    annotate,
    Base,
    cata,
    CdlError,
    choose,
    Cons,
    fmap,
    fold,
    follow,
    Fork,
    inherit,
    Leaf,
    ListF,
    Many,
    Nil,
    Node,
    pack,
    refold,
    RoseF,
    Seq,
    TreeF,
    unfold,
)
from cdl.schemes import inherited, likelihood


X = TypeVar("X", covariant=True)


class Told:
    """What was printed, and how often."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, float]] = []

    def __call__(self, name: str, x: Any) -> None:
        jax.debug.callback(lambda x: self.lines.append((name, round(float(x), 3))), x)

    def by(self, run: Any) -> Counter[tuple[str, float]]:
        self.lines.clear()
        run()
        jax.effects_barrier()
        return Counter(self.lines)


TOLD = Told()


def total(layer: Any) -> Any:
    """A list algebra that prints."""
    TOLD("nil", 0.0) if isinstance(layer, Nil) else TOLD("cons", layer.tail)
    return 0.0 if isinstance(layer, Nil) else layer.head - layer.tail


def scored(x: Any) -> Any:
    TOLD("score", x)
    return x


def nested(kids: Any) -> Any:
    """For each child one line, and one for each pair of children."""

    def pairs(x: Any) -> Any:
        TOLD("outer", x)
        return kids.map(lambda y: (TOLD("inner", x - 2 * y), x * y)[1]).sum(0.0)

    return kids.map(pairs).sum(0.0)


REDUCED = {
    "sum": lambda kids: kids.sum(0.0),
    "min": lambda kids: kids.min(0.0),
    "mean": lambda kids: kids.mean(0.0),
    "prod": lambda kids: kids.prod(1.0),
    "var": lambda kids: kids.var(0.0),
    "attend": lambda kids: kids.attend(scored, 0.0),
    "softmax": lambda kids: kids.softmax(scored).map(lambda pair: pair[0] * pair[1]).sum(0.0),
    "fold": lambda kids: kids.fold(total),
    "never": lambda kids: 0.0,
    "counted": lambda kids: kids.count * 1.0,
    "twice": lambda kids: kids.sum(0.0) + kids.max(0.0),
    "nested": nested,
}


class Telling(Algebra[Any, jax.Array]):
    """Prints what it reads at a node, and at each child."""

    weight: jax.Array
    how: str = eqx.field(static=True)

    def __call__(self, layer: Any) -> Any:
        TOLD("node", layer.label)
        kids = layer.kids.map(lambda x: (TOLD("kid", x), jnp.sin(x * self.weight))[1])
        return layer.label + REDUCED[self.how](kids)


def leaf(x: float) -> Any:
    return Node(x, Many())


TREES = [
    Node(1.0, Many([leaf(2.0), Node(3.0, Many([leaf(4.0), leaf(5.0), leaf(6.0)]))])),
    leaf(7.0),
    Node(8.0, Many([leaf(9.0)])),
]
FOREST = pack(RoseF, TREES)


@pytest.mark.parametrize("how", REDUCED)
def test_a_case_with_many_children_prints_as_its_definition(how):
    alg = Telling(jnp.float32(0.5), how)
    want = TOLD.by(lambda: [cata(alg)(tree) for tree in TREES])
    assert sum(n for (name, _), n in want.items() if name == "kid") == 6
    assert TOLD.by(lambda: fold(alg, FOREST)) == want


def test_it_prints_once_in_a_gradient_and_in_annotate():
    alg = Telling(jnp.float32(0.5), "sum")
    want = TOLD.by(lambda: [cata(alg)(tree) for tree in TREES])
    assert TOLD.by(lambda: annotate(alg, FOREST)) == want
    assert TOLD.by(lambda: jax.jit(lambda alg: fold(alg, FOREST))(alg)) == want

    def loss(weight: Any) -> Any:
        return fold(Telling(weight, "sum"), FOREST).sum()

    assert TOLD.by(lambda: jax.grad(loss)(jnp.float32(0.5))) == want


class Bush: ...


class Bud(Base[Bush, Never]): ...


class Twig(Base[Bush, X], Generic[X]):
    left: X
    right: X


class Stem(Base[Bush, X], Generic[X]):
    below: X


def bushes() -> list[Any]:
    return [Twig(Bud(), Stem(Twig(Bud(), Bud()))), Bud(), Stem(Bud())]


class Grows(Algebra[Any, jax.Array]):
    """One cell for each constructor, of which those of two are one program; what it prints lies in a branch."""

    weights: jax.Array

    def __call__(self, layer: Any) -> Any:
        match layer:
            case Bud():
                TOLD("bud", 1.0)
                return jnp.ones(2)
            case Twig(left, right):
                return self.cell(self.weights[0], left + 2 * right)
            case _:
                return self.cell(self.weights[1], layer.below)

    def cell(self, weight: jax.Array, x: jax.Array) -> jax.Array:
        jax.lax.cond(x[0] > 1.5, lambda: TOLD("great", x[0]), lambda: None)
        jax.lax.fori_loop(0, 2, lambda i, _: TOLD("loop", x[0] + i), None)
        return jnp.tanh(weight @ x)


def test_branches_loops_and_nodes_without_payload_print_as_the_definition():
    trees, forest = bushes(), pack(Bud | Twig[X] | Stem[X], bushes())
    alg = Grows(jnp.array([[[0.5, 0.2], [0.1, 1.0]], [[1.0, 0.3], [0.0, 2.0]]]))
    want = TOLD.by(lambda: [cata(alg)(tree) for tree in trees])
    count = Counter(name for name, _ in want.elements())
    assert count == {"bud": 5, "great": 2, "loop": 8}
    assert TOLD.by(lambda: fold(alg, forest)) == want


def test_values_and_gradients_are_those_of_a_silent_case():
    def loss(tells: bool, weight: Any) -> Any:
        def alg(layer: Any) -> Any:
            if tells:
                TOLD("node", layer.label)
            kids = layer.kids.map(lambda x: (tells and TOLD("kid", x), x * weight)[1])
            return jnp.tanh(
                layer.label + kids.fold(total if tells else lambda l: 0.0 if isinstance(l, Nil) else l.head - l.tail)
            )

        return fold(alg, FOREST).sum()

    for told in (jax.value_and_grad(lambda w: loss(True, w)), jax.jit(jax.grad(lambda w: loss(True, w)))):
        found = jax.tree.leaves(told(jnp.float32(0.5)))
        assert jnp.allclose(found[-1], jax.grad(lambda w: loss(False, w))(jnp.float32(0.5)))


def test_a_step_downwards_prints_as_its_definition():
    def step(depth: Any, layer: Any) -> Any:
        return fmap(lambda _: (TOLD("below", depth), depth + 1)[1], layer)

    want = TOLD.by(lambda: [inherited(step, jnp.float32(0))(tree) for tree in TREES])
    assert TOLD.by(lambda: inherit(step, FOREST, jnp.zeros(3))) == want


def test_a_print_inside_a_function_with_a_derivative_rule_is_refused():
    @jax.custom_jvp
    def ruled(x: Any) -> Any:
        TOLD("ruled", x)
        return x

    ruled.defjvps(lambda t, _, x: t)
    with pytest.raises(CdlError, match=r"prints, by `jax.debug.print`.*rule for its derivative.*print outside"):
        fold(lambda layer: ruled(layer.label) + layer.kids.sum(0.0), FOREST)


def halves(tells: bool = True) -> Any:
    """A coalgebra that prints."""

    def coalg(n: Any) -> Any:
        if tells:
            TOLD("seed", n)
        return choose(jnp.stack([1.5 - n, n - 1.5]), Leaf(n), Fork(n / 2, n / 2))

    return coalg


def test_following_trees_prints_as_its_definition():
    trees = [Fork(Leaf(1.5), Leaf(1.5)), Leaf(1.0)]
    seeds = jnp.array([3.0, 1.0])
    want = TOLD.by(lambda: [likelihood(halves(), s)(tree) for s, tree in zip(seeds, trees, strict=True)])
    assert sum(want.values()) == 4
    assert TOLD.by(lambda: follow(halves(), pack(TreeF, trees), seeds)) == want


def down(n: Any) -> Any:
    TOLD("seed", n)
    return choose(jnp.stack([1.5 - n, n - 1.5]), Nil(), Cons(n, n / 2))


def read(layer: Any) -> Any:
    TOLD("layer", 1.0)
    return layer.label if isinstance(layer, Leaf) else layer.left + layer.right


@algebra
def at_the_end(layer: ListF[Any, Any]) -> Any:
    return (TOLD("nil", 0.0), 0.0)[1] if isinstance(layer, Nil) else layer.head + layer.tail


@algebra
def at_elements(layer: ListF[Any, Any]) -> Any:
    return 0.0 if isinstance(layer, Nil) else (TOLD("cons", layer.head), layer.head + layer.tail)[1]


REFUSED = {
    "unfold": ("coalg", "ana", lambda: unfold(halves(), jnp.array([3.0]), 7)),
    "unfold lists": ("down", "ana", lambda: unfold(down, jnp.array([3.0]), 7)),
    "refold": ("coalg", "ana", lambda: refold(lambda layer: layer.label, halves(), jnp.array([3.0]), nodes=7)),
    "refold by what prints": ("read", "hylo", lambda: refold(read, halves(False), jnp.array([3.0]), nodes=7)),
    "fold of a Seq": ("at_elements", "cata", lambda: fold(at_elements, Seq(jnp.ones((2, 3)), jnp.array([3, 1])))),
    "annotate of a Seq": ("at_the_end", "cata", lambda: annotate(at_the_end, Seq(jnp.ones((2, 3)), jnp.array([3, 1])))),
}


@pytest.mark.parametrize("form", REFUSED)
def test_what_is_not_printed_once_for_each_node_is_refused(form):
    name, instead, run = REFUSED[form]
    with pytest.raises(CdlError, match=rf"^`{name}` prints, by `jax.debug.print`.*by its definition, `{instead}`"):
        run()
