"""The stage of each node: held to the rule in plain Python; after its children, before its parent, and few in all."""

import random
from typing import Any, Generic, Never, TypeVar

import jax.numpy as jnp
import numpy as np
import pytest

import cdl
from cdl._engine.forests import _stages
from cdl._engine.forests._family import family
from cdl._engine.forests._flatten import flatten
from cdl._engine.forests._stages import MOST, stages


X = TypeVar("X", covariant=True)


class Term: ...


class Num(cdl.Base[Term, Never]):
    value: float


class Neg(cdl.Base[Term, X], Generic[X]):
    of: X


class Inv(cdl.Base[Term, X], Generic[X]):
    of: X


class Add(cdl.Base[Term, X], Generic[X]):
    left: X
    right: X


class Sum(cdl.Base[Term, X], Generic[X]):
    terms: cdl.Many[X]


TermF = Num | Neg[X] | Inv[X] | Add[X] | Sum[X]
EXAMPLE = [Neg(Add(Neg(Num(1.0)), Num(2.0))), Neg(Add(Num(1.0), Num(2.0))), Add(Num(1.0), Num(2.0))]


def grown(draw: random.Random, height: int) -> Any:
    """A random term, at most this high: of every constructor, and of sums without terms."""
    if height == 0 or draw.random() < 0.1:
        return Num(draw.random())
    below = lambda: grown(draw, height - 1)
    make = draw.choice([Neg, Inv, Add, Sum])
    if make is Sum:
        return Sum(cdl.Many([below() for _ in range(draw.randrange(4))]))
    return make(below(), below()) if make is Add else make(below())


def chain(height: int, kinds: Any = (Neg, Inv)) -> Any:
    term: Any = Num(1.0)
    for i in range(height):
        term = kinds[i % len(kinds)](term)
    return term


def below(term: Any) -> list[Any]:
    return list(cdl.functors.holes(term))


def by_definition(trees: list[Any]) -> list[int]:
    """The stages of all nodes in pre-order, by the rule."""
    nodes: list[dict[str, Any]] = []

    def visit(term: Any, depth: int, above: int) -> int:
        at = len(nodes)
        nodes.append({"kind": (type(term), bool(below(term))), "depth": depth, "above": above, "below": [], "stage": 0})
        nodes[at]["below"] = [visit(child, depth + 1, at) for child in below(term)]
        nodes[at]["height"] = 1 + max((nodes[i]["height"] for i in nodes[at]["below"]), default=-1)
        return at

    for tree in trees:
        visit(tree, 0, -1)
    last = max(node["height"] for node in nodes)
    done = {i for i, node in enumerate(nodes) if not node["below"]}
    for stage in range(1, last + 1):
        ready = [i for i, n in enumerate(nodes) if i not in done and done.issuperset(n["below"])]
        due = {nodes[i]["kind"] for i in ready if nodes[i]["depth"] + stage == last}
        for i in ready:
            if nodes[i]["kind"] in due:
                nodes[i]["stage"] = stage
                done.add(i)
    assert len(done) == len(nodes)
    return [node["stage"] for node in nodes]


def table(trees: list[Any]) -> Any:
    return flatten(family("pack", TermF), trees)


@pytest.fixture(autouse=True)
def small_forests_wait_as_well(monkeypatch):
    monkeypatch.setattr(_stages, "FEW", 0)


def found(flat: Any, which: Any = None) -> list[int]:
    """The stages of the nodes of some trees of a table, in the order of these."""
    which = np.arange(len(flat.start) - 1) if which is None else np.asarray(which)
    length = flat.start[which + 1] - flat.start[which]
    node = np.concatenate([np.arange(flat.start[i], flat.start[i + 1]) for i in which])
    return stages(flat, node, np.cumsum(length) - length, length).tolist()


@pytest.mark.parametrize("seed", range(12))
def test_stages_are_those_of_the_rule(seed):
    draw = random.Random(seed)
    trees = [grown(draw, draw.choice([0, 1, 3, 7])) for _ in range(draw.randrange(1, 12))]
    assert found(table(trees)) == by_definition(trees)


def test_those_of_some_trees_of_a_corpus_are_those_of_these_trees():
    draw = random.Random(0)
    trees = [grown(draw, 6) for _ in range(9)]
    which = [7, 2, 2, 0]
    assert found(table(trees), which) == by_definition([trees[i] for i in which])


def test_stages_of_few_kinds_or_many_levels_are_heights(monkeypatch):
    for trees in ([chain(4, [Neg]), chain(2, [Neg])], [chain(MOST + 1), chain(3)], [Num(1.0), Num(2.0)]):
        flat = table(trees)
        assert found(flat) == flat.height.tolist()
    tall = table([chain(MOST), chain(3, [Inv])])
    assert found(tall) != tall.height.tolist()
    monkeypatch.setattr(_stages, "FEW", 16)
    assert found(tall) == tall.height.tolist()


def test_a_forest_of_nodes_that_wait_is_folded_as_by_cata():
    draw = random.Random(2)
    trees = [grown(draw, draw.choice([0, 1, 4, 8])) for _ in range(10)] + [chain(11), chain(10, [Inv, Neg, Neg])]

    @cdl.algebra
    def value(t: Any) -> Any:
        match t:
            case Num(v):
                return jnp.asarray(v, jnp.float32)
            case Neg(x):
                return -x
            case Inv(x):
                return jnp.cos(x)
            case Add(x, y):
                return jnp.sin(x) + 2.0 * y
            case Sum(terms):
                return 0.5 * terms.map(jnp.sin).sum(0.0)

    corpus = cdl.Corpus(TermF, trees)
    every = np.array([cdl.cata(value)(t) for t in trees])
    which = draw.choices(range(len(trees)), k=40)
    np.testing.assert_allclose(cdl.fold(value, corpus[which]), every[which], rtol=1e-5, atol=1e-6)
    nodes = cdl.annotate(value, corpus[which])
    np.testing.assert_allclose(nodes[corpus[which].roots], every[which], rtol=1e-5, atol=1e-6)
