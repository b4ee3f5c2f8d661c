"""Spaces of architectures: codes and mixtures, the closed forms of δ, and signatures as real functors."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest


def space(**options):
    from cdl_arch.search import Blocks

    return Blocks((4, 4, 1), 3, **{"width": 6, "depth": 3, **options})


def code_of(space, **wanted):
    """The code with these choices in every block."""
    names = [(name.split(".")[-1], choices) for name, choices in space.places]
    return jnp.array([choices.index(wanted[name]) for name, choices in names], jnp.int32)


def test_a_space_counts_and_describes_its_codes():
    some = space(minimum=2)
    assert some.sizes == (4, 5, 2, 4) * 3 + (2,)
    assert some.count == 160**3 * 2
    assert some.described(np.zeros(13, int))["2.skip"] == "no skip"
    assert some.described(np.ones(13, int))["depth"] == "3"


def test_drawn_codes_are_in_the_space_and_a_mutation_differs_at_one_place(getkey):
    some = space(minimum=2)
    codes = some.drawn(some.level(), 200, getkey())
    assert (codes.max(0) == jnp.array(some.sizes) - 1).all()
    mutated = jax.vmap(some.mutated)(codes, jr.split(getkey(), 200))
    assert ((mutated != codes).sum(1) == 1).all()
    assert (mutated < jnp.array(some.sizes)[None]).all()


@pytest.mark.parametrize("block", ["dense", "conv"])
def test_a_mixture_that_is_a_corner_is_the_code(block, getkey):
    from cdl_arch.search._space import simplex

    some = space(minimum=1, block=block)
    params, x = some.init(getkey()), jr.normal(getkey(), (2, 4, 4, 1))
    code = some.drawn(some.level(), 1, getkey())[0]
    corner = jax.nn.one_hot(code, max(some.sizes))
    apply = jax.jit(some.apply)
    assert jnp.allclose(apply(params, code, x), apply(params, corner, x), atol=1e-4)
    assert jnp.isfinite(apply(params, simplex(some.level()), x)).all()


def test_a_block_that_is_left_out_changes_nothing(getkey):
    some = space(minimum=1)
    code = code_of(some, activation="relu", skip="x + f", norm="none", gain="1", depth="1")
    params, x = some.init(getkey()), jr.normal(getkey(), (2, 4, 4, 1))
    other = params._replace(matrices=params.matrices.at[1:].set(7.0))
    assert (some.apply(params, code, x) == some.apply(other, code, x)).all()


def test_the_isometry_score_has_its_closed_forms():
    """Linear blocks `x ↦ a x + b W x`, 12 of them; δ is `L |log (a² + b²)| + log (1 + L κ)`, in the mean."""
    from cdl_arch.search import isometry, Part, scored, Task

    wide = space(width=400, depth=12)
    none = Part(jnp.zeros((1, 4, 4, 1)), jnp.zeros(1, jnp.int32))
    codes = [code_of(wide, activation="none", skip=skip, norm="none", gain="1") for skip in wide.skips]
    found = scored(isometry, Task(wide, none, none, none), jnp.stack(codes), jr.key(0), 4)
    assert jnp.allclose(found, jnp.array([2.56, 10.6, 2.30, 1.07, 0.33]), rtol=0.1)


@pytest.fixture(scope="module")
def signatures():
    from cdl_arch.search import Signatures

    return Signatures(width=3)


def test_a_candidate_is_an_algebra_of_its_signature_read_along_the_renaming(signatures, getkey):
    import cdl
    from cdl_arch.search._signatures import Candidate
    from cdl_arch.search._trees import A, B, grown, Leaf, WRITTEN

    code = jnp.array([2, 0, 2, 2, 1, 0, 0, 1], jnp.int32)
    trees, labels = grown(6, 3, [0])
    assert labels.sum() == 3
    params = signatures.init(getkey())
    w = params.places

    @cdl.algebra
    def own(layer):
        match layer:
            case Leaf(value):
                return jnp.tanh(params.leaf[0] + value * params.leaf[1])
            case A(left, right):
                return jnp.tanh((left + right) @ w[2, 0] + params.bias[2])
            case B(left, right):
                return jnp.tanh(left @ w[0, 0] + right @ w[0, 1] + params.bias[0])

    signature = signatures.signature(code)
    assert {kind.__name__ for kind in cdl.functors.constructors(signature)} == {"Leaf", "A", "B"}
    renamed = cdl.pack(signature, [signatures.renamed(code, tree) for tree in trees])
    read = cdl.fold(Candidate(params, code), cdl.pack(WRITTEN, trees))
    assert jnp.allclose(read, cdl.fold(own, renamed), atol=1e-5)


def test_there_are_94_signatures_and_one_is_right(signatures):
    from cdl_arch.search import RIGHT

    codes = signatures.codes()
    assert len(codes) == 2 + 7 * 4 + 6 * 8 + 16  # by the number of constructors: ways to have them, times their cells
    assert list(RIGHT) in codes.tolist()
    assert signatures.canonical(np.array([3, 3, 1, 1, 0, 1, 1, 0])) == RIGHT
