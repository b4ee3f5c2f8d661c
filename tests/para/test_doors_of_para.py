"""What is not a parametric map, a square or a cell is refused at the door."""

import jax.numpy as jnp
import pytest
from alone import run_alone
from doors import a_machine, an_algebra, refused

import cdl
from cdl.para import (
    CoKleisli,
    DoubleCell,
    Para,
    power,
    Square,
    square,
    two_cells,
    unroll,
    unroll_coalgebra,
    unroll_machine,
    Untied,
)  # fmt: skip
from cdl.para.actegory import Acted, Actegory, POWER


F = Para(jnp.ones(2), lambda p, x: p * x)
C = CoKleisli(lambda p, x: p * x)
D = DoubleCell.still(F)
G = Para.of(an_algebra)
TREE = cdl.Cons(1.0, cdl.Nil())
ONE = lambda x: x


def doors() -> list[str]:
    untied = unroll(G, TREE)
    number = ("a whole number", "None")
    return [
        *refused(Para, jnp.ones(2), lambda p, x: p),
        *refused(F.__rshift__, F),
        *refused(F.__matmul__, F),
        *refused(F.reparametrise, ONE, jnp.ones(2)),
        *refused(F.named, "f"),
        *refused(Untied, untied.para, untied.places),
        *refused(untied.at, untied.params, wrong={0: ("None", "an empty tuple", "a text")}),
        *refused(untied.tied, ONE),
        *refused(unroll_coalgebra, Para.of(grow), 2, 2, wrong={0: number, 2: ("None", "a text", "a number", "a set")}),
        *refused(
            unroll_machine, Para.of(a_machine), 0.0, [1.0], wrong={0: number, 2: ("None", "a set", "a dictionary")}
        ),
        *refused(Square, F, F, ONE),
        *refused(square(G).along, ONE),
        *refused(CoKleisli, lambda p, x: p, None),
        *refused(C.along, ONE),
        *refused(C.__rshift__, C),
        *refused(C.__matmul__, C),
        *refused(DoubleCell, F, F, ONE, ONE, ONE),
        *refused(D.__rshift__, DoubleCell.still(Para((), lambda p, x: x))),
        *refused(D.above, D),
        *refused(power, 2, wrong={0: ("a negative number",)}),
        *refused(two_cells.delta, 2, wrong={0: ("a negative number",)}),
        *refused(Acted, POWER, 2, ONE),
        *refused(Acted(POWER, 2, ONE).__rshift__, Acted(POWER, 2, ONE)),
        *refused(Actegory, POWER.on, POWER.times, POWER.split, 1, POWER.strip),
    ]


def grow(n):
    return cdl.Nil() if n == 0 else cdl.Cons(float(n), n - 1)


def every_wrong_kind_of_argument():
    found = doors()
    assert found == [], "\n".join(found)


@pytest.mark.slow
def test_every_wrong_kind_of_argument_is_refused_at_the_door():
    run_alone(every_wrong_kind_of_argument)
