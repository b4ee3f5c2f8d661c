"""A seed that a child does not read has no gradient, as by the definition: where its slope is infinite, none is NaN."""

import importlib
from collections.abc import Iterator
from typing import Any, Generic, Never, TypeVar, Union

import jax
import jax.numpy as jnp
import pytest
from made import anew, by_constructor

from cdl import Base, choose, fmap, follow, Fork, inherit, Leaf, likelihood, Many, Node, pack, RoseF, TreeF
from cdl.functors import holes


E = TypeVar("E", covariant=True)
S = TypeVar("S", covariant=True)


class Expr: ...


class Stmt: ...


class Num(Base[Expr, Never]):
    value: float


class Do(Base[Expr, tuple[E, S]], Generic[E, S]):
    first: S
    value: E


class Twice(Base[Expr, tuple[E, S]], Generic[E, S]):
    first: S
    value: E


class Pass(Base[Stmt, Never]):
    pass


FAMILY = (Union[Num, Do[E, S], Twice[E, S]], Pass)
TREES = [Do(Pass(), Twice(Pass(), Num(0.0))), Num(1.0), Twice(Pass(), Do(Pass(), Num(2.0)))]
TREE = Fork(Leaf(1.0), Fork(Leaf(2.0), Leaf(3.0)))
BUSH = Node(1.0, Many([Node(2.0, Many()), Node(3.0, Many([Node(1.0, Many())]))]))
WAYS = ["together", "apart"]
W = jnp.array([0.7, 0.4])


@pytest.fixture
def programs(request: pytest.FixtureRequest) -> Iterator[None]:
    """Constructors that differ in weights alone are computed together, or each by itself."""
    with by_constructor() if request.param == "apart" else anew():
        yield


def is_same(found: Any, wanted: Any) -> None:
    for x, y in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        assert jnp.isfinite(y).all()
        assert jnp.allclose(x, y, atol=1e-6)


@pytest.mark.parametrize("programs", WAYS, indirect=True)
def test_a_sort_that_does_not_read_its_seed(programs: None):
    def coalgebras(w: Any) -> Any:
        def expr(n: Any) -> Any:
            scores = jnp.stack([0.5 - n * w[0], n * w[1], n])
            root, other = (jnp.sqrt(x * n) for x in w)  # of an infinite slope where `n` is 0
            return choose(scores, Num(n), Do(root, n * 0.5), Twice(other, n * w[1]))

        return expr, lambda _: Pass()

    forest = pack(FAMILY, TREES)
    fast = lambda w, n: follow(coalgebras(w), forest, (n, jnp.zeros(0))).sum()
    slow = lambda w, n: sum(likelihood(coalgebras(w), (n[i], 0.0))[0](tree) for i, tree in enumerate(TREES))
    seeds = jnp.array([0.0, 1.0, 0.0])
    is_same(jax.value_and_grad(fast, (0, 1))(W, seeds), jax.value_and_grad(slow, (0, 1))(W, seeds))


def test_a_part_of_a_seed_that_nothing_reads():
    def grows(w: Any) -> Any:
        def grow(seed: Any) -> Any:
            left = {"read": jnp.cos(seed["read"] * w[0]), "unread": jnp.sqrt(seed["unread"])}
            right = {"read": seed["read"] * w[1], "unread": seed["unread"] * w[1]}
            return choose(jnp.stack([seed["read"] * w[0], 1 - seed["read"]]), Leaf(seed["read"]), Fork(left, right))

        return grow

    forest = pack(TreeF, [TREE])
    seed = {"read": jnp.array([0.3]), "unread": jnp.array([0.0])}
    fast = lambda w, seed: follow(grows(w), forest, seed).sum()
    slow = lambda w, seed: likelihood(grows(w), jax.tree.map(lambda x: x[0], seed))(TREE)
    is_same(jax.value_and_grad(fast, (0, 1))(W, seed), jax.value_and_grad(slow, (0, 1))(W, seed))


@pytest.mark.parametrize(("signature", "tree"), [(TreeF, TREE), (RoseF, BUSH)], ids=["slots", "many"])
def test_of_what_is_inherited_only_a_part_is_asked_for(signature: Any, tree: Any):
    """The other part goes from the root down, and nothing is made of it."""

    def step(w: Any) -> Any:
        return lambda pair, layer: fmap(lambda _: (jnp.cos(pair[0] * w[0]), jnp.sqrt(pair[1] * w[1])), layer)

    def slow(w: Any, top: Any) -> Any:
        def go(x: Any, node: Any) -> Any:
            return x + sum(go(jnp.cos(x * w[0]), child) for child in holes(node))

        return go(top[0][0], tree)

    forest = pack(signature, [tree])
    fast = lambda w, top: inherit(step(w), forest, top)[0][forest.mask].sum()
    top = jnp.array([0.3]), jnp.array([0.0])
    is_same(jax.value_and_grad(fast, (0, 1))(W, top), jax.value_and_grad(slow, (0, 1))(W, top))


def test_what_goes_along_some_edges_is_read_though_other_children_do_not():
    """A `Many` with a child that reads its seed, and one that does not: the gradient is that of the first."""

    class Read(Base[Any, E], Generic[E]):
        value: float
        many: Many[E]

    class Skip(Base[Any, E], Generic[E]):
        value: float
        many: Many[E]

    tree = Read(1.0, Many([Skip(1.0, Many([Skip(2.0, Many())])), Read(1.0, Many()), Skip(3.0, Many())]))
    forest = pack(Union[Read[E], Skip[E]], [tree])

    def step(w: Any) -> Any:
        def go(x: Any, layer: Any) -> Any:
            handed = w[0] * x if isinstance(layer, Read) else w[1] * jnp.ones_like(x)
            return fmap(lambda _: handed, layer)

        return go

    def slow(w: Any, top: Any) -> Any:
        def go(x: Any, node: Any) -> Any:
            handed = w[0] * x if isinstance(node, Read) else w[1]
            return x + sum(go(handed, child) for child in node.many.items)

        return go(top[0], tree)

    fast = lambda w, top: inherit(step(w), forest, top)[forest.mask].sum()
    is_same(jax.grad(fast, (0, 1))(W, jnp.array([0.5])), jax.grad(slow, (0, 1))(W, jnp.array([0.5])))


def test_where_every_seed_is_read_no_bits_are_carried(monkeypatch: pytest.MonkeyPatch):
    """At leaves for certain, and so above them; a whole number has no gradient, and is not asked about."""
    activity = importlib.import_module("cdl._engine.descents._activity").Activity
    carried: list[Any] = []
    start = activity.start
    monkeypatch.setattr(activity, "start", lambda self: carried.append(start(self)) or carried[-1])

    def grows(w: Any, leaf: Any) -> Any:
        def grow(seed: Any) -> Any:
            h, n = seed
            below = (jnp.tanh(w[0] * h), n - 1), (jnp.tanh(w[1] * h), n - 1)
            return choose(jnp.stack([1 - 2 * n, 2 * n - 1]).astype(jnp.float32), Leaf(leaf(h)), Fork(*below))

        return grow

    forest = pack(TreeF, [TREE])
    seeds = jnp.array([0.3]), jnp.array([2], jnp.int32)
    score = lambda mine, tree: -((mine.label - tree.label) ** 2) if isinstance(tree, Leaf) else 0.0
    for leaf, bits in ((lambda h: h, False), (lambda h: 1.0, True)):
        jax.grad(lambda w, leaf=leaf: follow(grows(w, leaf), forest, seeds, payload=score).sum())(W)
        assert (carried.pop() is not None) == bits
