"""Several sorts in one forest: `pack` and `fold` beside `cata`, and sorts in the wrong order."""

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from agreement import close, differentiated
from families import algebras, Expr, FAMILY, Lam, Lit, Neg, OfStmt, Return, ROOTS, Stmt, StmtF, TREES, While

from cdl import annotate, cata, Corpus, fold, Many, pack
from cdl.errors import SignatureError


def defined(algs, _):
    readers = cata(*algs)
    pairs = zip(readers, ROOTS, strict=True)
    return tuple(jax.tree.map(lambda *xs: jnp.stack(xs), *(read(TREES[i]) for i in some)) for read, some in pairs)


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [pytest.param(jnp.float32, 1e-4, marks=pytest.mark.slow), (jnp.float64, 1e-10)]
)
def test_a_fold_of_two_sorts_is_cata_in_value_and_gradient(dtype, tolerance):
    with jax.enable_x64(dtype == jnp.float64):
        forest = pack(FAMILY, TREES)
        slow, (slow_algs, _) = differentiated(defined)(algebras(dtype), jnp.zeros(()))
        fast, (fast_algs, _) = eqx.filter_jit(differentiated(fold))(algebras(dtype), forest)
        close(fast, slow, tolerance)
        close(fast_algs, slow_algs, tolerance)


def test_sorts_whose_values_are_alike_share_their_room():
    from cdl._engine.folds.case import read, Reading

    storage, programs, _ = read(Reading(algebras(jnp.float32), pack(FAMILY, TREES).bucket, None))
    assert [x.shape for x in storage.leaves] == [(3,), (2,)]
    assert storage.columns(0) == (0,)
    assert storage.columns(1) == (0, 1)
    assert len(programs) == 7  # a `Many` with and without children are two


def test_values_at_nodes_of_both_sorts_lie_in_pre_order():
    algs, forest = algebras(jnp.float32), pack(FAMILY, TREES)
    exprs, (vectors, _) = annotate(algs, forest)
    readers = cata(*algs)
    at = forest.nodes(1)  # While(LAM, …): the statement, then the expression in it
    close(vectors[at][0], readers[1](TREES[1])[0], 1e-5)
    close(exprs[at][1], readers[0](TREES[0]), 1e-5)
    assert not exprs[at][0].any()
    assert not vectors[at][1].any()


def test_a_batch_of_a_corpus_has_the_roots_of_each_sort_in_order():
    corpus = Corpus(FAMILY, TREES)
    exprs, statements = fold(algebras(jnp.float32), corpus[[3, 2, 0]])
    readers = cata(*algebras(jnp.float32))
    close(exprs, jnp.stack([readers[0](TREES[3]), readers[0](TREES[0])]), 1e-5)
    close(statements[0], readers[1](TREES[2])[0][None], 1e-5)


def test_a_sort_without_a_node_has_no_values():
    exprs, statements = fold(algebras(jnp.float32), pack(FAMILY, [Lit(1.0), Neg(Lit(2.0))]))
    assert exprs.shape == (2, 3)
    assert statements is None


def test_signatures_in_the_wrong_order_are_refused_by_name():
    expected = r"in another order than the family's tuple has \(`Stmt`, `Expr`\)\?"
    with pytest.raises(SignatureError, match=expected):
        pack(FAMILY[::-1], TREES)


def test_algebras_in_the_wrong_order_are_refused_by_name():
    forest = pack(FAMILY, TREES)
    with pytest.raises(SignatureError, match="sort 0 of the forest is `Expr`, and `OfStmt` reads `Stmt`"):
        fold(algebras(jnp.float32)[::-1], forest)
    with pytest.raises(SignatureError, match="the forest has 2 sorts, and `fold` was given 1 algebra:"):
        fold(algebras(jnp.float32)[0], forest)


def test_a_node_at_a_place_of_another_sort_is_refused_by_name():
    expected = r"an `Expr` \(`Lit`, of sort 0\) stands at a place of sort 1, which is `Stmt`"
    with pytest.raises(SignatureError, match=expected):
        pack(FAMILY, [While(Lit(1.0), Many([Return(Lit(1.0)), Lit(2.0)]))])


def test_a_constructor_in_two_signatures_is_refused():
    with pytest.raises(SignatureError, match="`Lit` is in two of the signatures"):
        pack((FAMILY[0], FAMILY[0]), [])


def test_a_family_is_found_by_its_names():
    assert {Expr.__name__, Stmt.__name__} == {"Expr", "Stmt"}
    forest = pack(FAMILY, [Lam(Many([]))])
    assert repr(forest).startswith("Forest of float + E + Many(S) and E + E × Many(S) + S × E: 1 tree, 1 node")
    assert OfStmt is type(algebras(jnp.float32)[1])
    assert StmtF is FAMILY[1]
