"""Parametric maps, squares and co-Kleisli maps that do not fit are refused by name."""

from collections.abc import Callable, Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import pytest
from equivariant import unchecked
from test_double_cells import FOUR, line, Scale
from test_unrolled_coalgebras import countdown, counter, lamp, sequence, Sprout

from cdl import CdlError, Fork, Leaf, Many, Node, Para, to_list, unroll
from cdl.errors import ForeignLayer, PortMismatch
from cdl.para import CoKleisli, DoubleCell, swap, unroll_coalgebra, unroll_machine
from cdl.para.two_cells import gather, same


LIST_OF, MACHINE, ONE = Para(1, countdown), Para(1, counter), Para(1, lambda p, x: p + x)
READS_TWO = CoKleisli.of(Para(jnp.zeros(2), lambda p, x: x))
READS_THREE = CoKleisli.of(Para(jnp.zeros(3), lambda p, x: x))
A, _, _, D = FOUR
STILL = DoubleCell.still
TREE = Fork(Fork(Leaf(1.0), Leaf(2.0)), Leaf(3.0))
MOODS = Para(1, lambda p, n: sequence(p, n) if n < 2 else lamp(p, n))
WIDE = Para(2, lambda p, n: Node(n, Many([n - 1] * min(p, n))))


def scaled(by: Any) -> DoubleCell[Any, Any, Any, Any, Any, Any]:
    here = Para((), lambda p, x: x)
    return DoubleCell(here, here, Scale(by), Scale(by), same)


def sprouted() -> Any:
    grown = lambda net: unroll_coalgebra(Para.of(net), jnp.zeros(3), 2)()
    with jax.enable_x64(True):
        return jax.eval_shape(grown, eqx.filter_eval_shape(Sprout, jr.key(0)))


ROWS: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: unroll_coalgebra(countdown, 3, 2), CdlError, "Para countdown"),
    (lambda: unroll_coalgebra(LIST_OF, 3, -1), CdlError, "depth -1"),
    (lambda: unroll_coalgebra(MACHINE, 3, 2), CdlError, "MealyF unroll_machine"),
    (lambda: unroll_coalgebra(LIST_OF, 1, to_list([0, 0])), ForeignLayer, "Cons Nil"),
    (lambda: unroll_coalgebra(WIDE, 2, 9).at((1, 2, 2, 2, 2)), ForeignLayer, "Node 2 1 place"),
    (sprouted, CdlError, "scores traced"),
    (lambda: unroll_machine(3, 3, [2]), CdlError, "Para 3"),
    (lambda: unroll_machine(LIST_OF, 3, [1]), ForeignLayer, "Cons unroll_coalgebra"),
    (lambda: unroll_machine(MACHINE, 3, 3), CdlError, "MealyF inputs 3"),
    (lambda: unroll_machine(Para(1, sequence), 3, [3]), CdlError, "stream list number"),
    (lambda: unroll_machine(MOODS, 0, 4)(), ForeignLayer, "StreamF MooreF 2"),
    (lambda: unroll(ONE, TREE).at((1.0,) * 4), CdlError, "5 copies at"),
    (lambda: gather((0, 2))(("p", "q")), CdlError, "index 2"),
    (lambda: (ONE @ ONE)((1, 2, 3)), CdlError, "pair tuple"),
    (lambda: swap()({0: 1, 1: 2}), CdlError, "pair tuple"),
    (lambda: READS_TWO >> READS_THREE, PortMismatch, "f32[2] f32[3]"),
    (lambda: READS_TWO(jnp.zeros(3), 1), PortMismatch, "f32[2] f32[3]"),
    (lambda: Para(1, 2), CdlError, "fn 2 arguments"),
    (lambda: Para.of(eqx.nn.Linear), CdlError, "module Linear(…)"),
    (lambda: A >> D, PortMismatch, "right left Move"),
    (lambda: A.above(STILL(Para((1, 1), lambda p, x: x))), PortMismatch, "bottom line <lambda>"),
    (lambda: A.above(STILL(Para((1.0, 0.0), line))), PortMismatch, "(int, int) (float, float)"),
    (lambda: scaled(jnp.array([2.0])) >> scaled(jnp.array([3.0])), PortMismatch, "Scale"),
    (lambda: jax.eval_shape(lambda x, y: scaled(x) >> scaled(y), 1.0, 1.0), PortMismatch, "Scale"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _unchecked() -> Iterator[None]:
    """Without the suite's check of types, as users call it."""
    with unchecked():
        yield


@pytest.mark.parametrize(("call", "error", "words"), ROWS, ids=[words for *_, words in ROWS])
def test_para_refuses(call: Callable[[], object], error: type[Exception], words: str) -> None:
    with pytest.raises(error) as told:
        call()
    assert [word for word in words.split() if word not in str(told.value)] == []
