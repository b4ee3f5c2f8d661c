"""What a fold has side by side on an accelerator: columns of one type in one table, and sums over the same edges."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from agreement import agrees, close, differentiated
from families import algebras, FAMILY, ROOTS, TREES
from indexed_cells import Bare, H, KindsF, More, Some, That, This, TREES as KINDS_TREES, Word

import cdl
from cdl._engine.folds._program import Program
from cdl._engine.folds._slabs import Slabs
from cdl._engine.folds._together import side_by_side, together
from cdl._engine.folds.case import read, Reading


class Cell(eqx.Module):
    """The weights of one constructor."""

    w: jax.Array
    v: jax.Array
    b: jax.Array


class Wide(cdl.Algebra[Any, Any]):
    """To a vector, a matrix, a whole number and a truth. The vector is an output that another is computed from, and the
    sums and means over the edges are of several types, of which one waits for another."""

    cells: dict[str, Cell]

    def __call__(self, layer: Any) -> Any:
        cell = self.cells[type(layer).__name__]
        match layer:
            case Bare():
                c, n = jnp.sin(cell.b), jnp.int32(1)
            case Word(weight, number):
                c, n = jnp.tanh(cell.b * weight), number + jnp.int32(1)
            case This((c, m, n, yes), (d, k, i, no)) | That((c, m, n, yes), (d, k, i, no)):
                c, n = jnp.where(yes & no, cell.w @ c + d, m @ c + k @ cell.b), n + 2 * i
            case Some(items) | More(items):
                none = jnp.zeros(H)
                h = jnp.sin(items.map(lambda x: x[0]).sum(none))
                f = items.map(lambda x: jax.nn.sigmoid(cell.v @ x[0] + cell.b) * (x[1] @ x[0])).sum(none)
                n = items.map(lambda x: x[2]).sum(jnp.int32(0)) + items.count
                some = items.map(lambda x: jnp.tanh(cell.w @ h) * x[0]).mean(none)
                c = f + jnp.sin(cell.w @ h) * some
        return jnp.tanh(c), jnp.outer(jnp.sin(cell.w @ jnp.tanh(c)), cell.b), n, c[0] > 0


def wide() -> Wide:
    names = [kind.__name__ for kind in (Bare, Word, This, That, Some, More)]
    draw = lambda key: Cell(
        *(jr.normal(k, shape) for k, shape in zip(jr.split(key, 3), [(H, H), (H, H), (H,)], strict=True))
    )
    return Wide({name: draw(key) for name, key in zip(names, jr.split(jr.key(5), len(names)), strict=True)})


def test_columns_of_several_types_are_those_of_the_definition(accelerator):
    with jax.enable_x64(True):
        agrees(cdl.pack(KindsF, KINDS_TREES), KINDS_TREES, wide(), 1e-10)


def test_sorts_whose_values_differ_lie_side_by_side(accelerator):
    def defined(algs: Any, _: Any) -> Any:
        pairs = zip(cdl.cata(*algs), ROOTS, strict=True)
        return tuple(jax.tree.map(lambda *xs: jnp.stack(xs), *(read(TREES[i]) for i in some)) for read, some in pairs)

    with jax.enable_x64(True):
        algs = algebras(jnp.float64)
        slow, (slow_algs, _) = differentiated(defined)(algs, jnp.zeros(()))
        fast, (fast_algs, _) = eqx.filter_jit(differentiated(cdl.fold))(algs, cdl.pack(FAMILY, TREES))
        close(fast, slow, 1e-10)
        close(fast_algs, slow_algs, 1e-10)


@pytest.mark.slow
def test_values_at_all_nodes_are_those_of_a_cpu(request):
    with jax.enable_x64(True):
        cases = (algebras(jnp.float64), FAMILY, TREES), (wide(), KindsF, KINDS_TREES)
        each = lambda: [eqx.filter_jit(differentiated(cdl.annotate))(a, cdl.pack(f, t)) for a, f, t in cases]
        here = each()
        request.getfixturevalue("accelerator")
        for (values, (of_algs, _)), (others, (of_others, _)) in zip(here, each(), strict=True):
            close(others, values, 1e-10)
            close(of_others, of_algs, 1e-10)


LEAVES = [
    jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in [((3,), "float32"), ((), "int32"), ((2, 2), "float32")]
]


@pytest.mark.parametrize("joined", [True, False])
def test_what_is_put_into_slabs_is_read_again(joined):
    slabs = Slabs(LEAVES, joined)
    assert len(slabs.columns) == (2 if joined else 3)
    values = {
        c: jnp.arange(5 * int(np.prod(x.shape)), dtype=x.dtype).reshape(5, *x.shape) for c, x in enumerate(LEAVES)
    }
    tables = [slabs.rows(values, 5)[s] for s in range(len(slabs.columns))]
    for c, x in values.items():
        np.testing.assert_array_equal(slabs.read(tables, c, jnp.array([4, 0])), x[jnp.array([4, 0])])
    assert (
        not slabs.pick(2, slabs.rows({0: values[0]}, 5)[0]).any()
        if joined
        else slabs.rows({0: values[0]}, 5).keys() == {0}
    )


def test_sums_that_do_not_wait_for_each_other_stand_side_by_side():
    forest = cdl.pack(KindsF, [Some(cdl.Many([Bare()]))])
    _, programs, _ = read(Reading((wide(),), forest.bucket, None))
    (program,) = (p for p in programs if p.variant.manys)
    assert sums_of(program, together) == [5, 1]
    assert sums_of(program, lambda jaxpr: jaxpr) == [1, 3, 2]


def sums_of(program: Program, turned: Any) -> list[int]:
    """How many sums are made at once."""
    eqns = turned(program.case.jaxpr).eqns
    return [
        len(some) for some in side_by_side(eqns) if hasattr(getattr(some[0].params.get("rule"), "rule", None), "step")
    ]
