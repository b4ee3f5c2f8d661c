"""Families grown and followed: `unfold`, `refold`, `follow` of a coalgebra for each sort, beside their definitions."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from agreement import as_defined, close, differentiated, QUICKLY
from any_coalgebra import of_layer, on_paths, parts, quickly
from families import algebras, Block, BLOCKS, coalgebras, Lit, Neg, Return, seeds, Then
from hlo import copies_in_loops

from cdl import ana, cata, choose, follow, likelihood, pack, refold, unfold
from cdl._functors.mapping import sorted_holes


NODES = 40
EXPRS, STMTS = 2, 2


def row(seeds: Any, t: int) -> Any:
    return jax.tree.map(lambda x: x[t], seeds)


def distance(proposed: Any, true: Any) -> Any:
    return -((proposed.value - true.value) ** 2) if isinstance(true, Lit) else 0.0


EMPTY = Block((), Lit(0.3))
EXPR = Block((Return(Neg(Lit(0.2))), Then(Return(Lit(-0.5)), EMPTY)), Neg(Lit(1.5)))
MIXED: list[Any] = [Neg(EXPR), Then(Return(EMPTY), Lit(2.0)), Return(Lit(0.4)), EMPTY]
PLACES = [(0, 0), (1, 0), (1, 1), (0, 1)]  # of which sort each is, and of which of its seeds


def test_follow_of_a_family_is_likelihood_with_gradients():
    with jax.enable_x64(True):
        coalgs, given = coalgebras(jnp.float64, many=False), seeds(jnp.float64, EXPRS, STMTS)
        forest = pack(BLOCKS, MIXED)

        def defined(coalgs, given):
            found = []
            for (sort, t), tree in zip(PLACES, MIXED, strict=True):
                own = tuple(row(given[s], t if s == sort else 0) for s in range(2))
                found.append(likelihood(coalgs, own, payload=distance)[sort](tree))
            return jnp.stack(found)

        as_defined(defined, lambda coalgs, given: follow(coalgs, forest, given, payload=distance), coalgs, given)


def test_a_family_is_followed_where_one_sort_has_no_root():
    coalgs, given = coalgebras(jnp.float32, many=False), seeds(jnp.float32, 2, 0)
    trees: list[Any] = [Lit(0.5), Lit(1.0)]
    found = follow(coalgs, pack(BLOCKS, trees), given)
    slow = [likelihood(coalgs, (row(given[0], t), None))[0](tree) for t, tree in enumerate(trees)]
    close(found, jnp.stack(slow), 1e-5)


def numbers(coalgs: Any, sort: int, seed: Any, key: Any) -> list[Any]:
    """Of each node of one tree, breadth first: its number among all candidates, its log-probability and its payload."""
    first = (0, 4)
    found: list[Any] = []
    todo = [((sort, seed), key)]
    while todo:
        (sort, seed), path = todo.pop(0)
        scores, layers = parts(coalgs[sort], seed)
        c = int(jr.categorical(of_layer(path), scores))
        payload = layers[c].value if isinstance(layers[c], Lit) else None
        found.append((first[sort] + c, jax.nn.log_softmax(scores)[c], payload))
        todo.extend(on_paths(sorted_holes(layers[c]), path))
    return found


def test_unfolding_a_family_is_ana_by_key_in_value_and_gradient():
    key = jr.key(11)
    with jax.enable_x64(True):
        coalgs, given = coalgebras(jnp.float64, many=True), seeds(jnp.float64, EXPRS, STMTS)
        weight = np.random.default_rng(0).normal(size=(2, EXPRS + STMTS, NODES))

        def compiled(inputs: Any) -> Any:
            both = unfold(*inputs, NODES, key=key, lanes=2)
            chance, payload = (
                jnp.concatenate(x) for x in zip(*((g.log_prob, g.payload[0]) for g in both), strict=True)
            )
            return jnp.sum(weight[0] * chance + weight[1] * payload), both

        (total, both), slopes = eqx.filter_jit(eqx.filter_value_and_grad(compiled, has_aux=True))((coalgs, given))
        keys = [jr.fold_in(key, t) for t in range(EXPRS + STMTS)]
        roots = [(0, 0), (0, 1), (1, 0), (1, 1)]
        sizes = []
        for (sort, t), k in zip(roots, keys, strict=True):
            tree = ana(*map(quickly, coalgs), key=k)[sort](row(given[sort], t))
            close(both[sort].results()[t].unwrap(), jax.tree.map(jnp.asarray, tree), 1e-10)
            sizes.append(int(both[sort].count[t]))
        assert sum(sizes) > 15

        def defined(inputs: Any) -> Any:
            coalgs, given = inputs
            total = jnp.zeros(())
            for i, ((sort, t), k) in enumerate(zip(roots, keys, strict=True)):
                nodes = numbers(coalgs, sort, row(given[sort], t), k)
                assert [c for c, _, _ in nodes] == both[sort].choice[t, : sizes[i]].tolist()
                for n, (_, chance, payload) in enumerate(nodes):
                    total = total + weight[0, i, n] * chance + (0 if payload is None else weight[1, i, n] * payload)
            return total

        close((total, slopes), eqx.filter_value_and_grad(defined)((coalgs, given)), 1e-10)


def test_refold_of_a_family_is_cata_after_ana_with_gradients():
    with jax.enable_x64(True):
        algs, coalgs = algebras(jnp.float64), coalgebras(jnp.float64, many=True)
        given = seeds(jnp.float64, EXPRS, STMTS)

        def defined(models: Any, given: Any) -> Any:
            algs, coalgs = models
            grow, read = ana(*coalgs), cata(*algs)
            found = [[read[s](grow[s](row(given[s], t))) for t in range(n)] for s, n in enumerate((EXPRS, STMTS))]
            return tuple(jax.tree.map(lambda *xs: jnp.stack(xs), *values) for values in found)

        def compiled(models: Any, given: Any) -> Any:
            (exprs, _), (stmts, waiting) = refold(*models, given, NODES, lanes=2)
            return exprs, stmts, waiting

        slow, slow_gradients = differentiated(defined)((algs, coalgs), given)
        (exprs, stmts, waiting), gradients = eqx.filter_jit(differentiated(compiled), compiler_options=QUICKLY)(
            (algs, coalgs), given
        )
        assert not waiting.any()
        close((exprs, stmts), slow, 1e-10)
        close(gradients, slow_gradients, 1e-10)


def test_trees_of_a_family_that_are_cut_are_told_by_sort():
    def more(seed: jax.Array) -> Any:
        return choose(jnp.stack([seed, -seed]), Neg(seed - 1), Lit(seed))

    def block(seed: tuple[jax.Array]) -> Any:
        return Then((seed[0] - 1,), seed[0])

    exprs, stmts = unfold((more, block), (jnp.array([0.5, 9.0]), (jnp.ones(1),)), 4)
    assert (exprs.count.tolist(), exprs.waiting.tolist()) == ([2, 4], [0, 1])
    assert (stmts.count.tolist(), stmts.waiting.tolist()) == ([4], [4])
    assert repr(stmts) == "Grown trees of Expr and Stmt: 1, with 4 nodes, at most 4 each; 1 unfinished"


def test_a_sort_is_never_computed_at_a_seed_that_is_none():
    def expr(seed: jax.Array) -> Any:
        return Lit(jnp.log(seed))  # infinite at zero, and so is its slope

    def stmt(seed: tuple[jax.Array]) -> Any:
        return Return(jnp.exp(seed[0]))

    def total(given: Any) -> Any:
        exprs, stmts = unfold((expr, stmt), given, 2)
        return exprs.payload[0].sum() + stmts.payload[0].sum()

    value, slopes = jax.value_and_grad(total)((jnp.array([2.0]), (jnp.array([3.0, 4.0]),)))
    close((value, slopes), (jnp.log(2.0) + 7.0, (jnp.array([0.5]), (jnp.ones(2),))), 1e-6)


@pytest.mark.slow  # that of `unfold` is read in the suite
def test_refold_of_a_family_copies_no_table_in_loops():
    models = algebras(jnp.float32), coalgebras(jnp.float32, many=True), seeds(jnp.float32, 3, 2)
    arrays, rest = eqx.partition(models, eqx.is_inexact_array)

    def total(arrays: Any) -> Any:
        values = refold(*eqx.combine(arrays, rest), 37, lanes=24)
        return sum(x.sum() for x in jax.tree.leaves([value for value, _ in values]))

    compiled = jax.jit(jax.grad(total)).lower(arrays).compile()
    assert copies_in_loops(compiled.as_text(), {5 * 37, 5 * 37 + 24}) == []
