"""What is not a parametric map, a square or a cell is refused at the door."""

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
import pytest
from alone import run_alone
from doors import a_machine, an_algebra, refused

import cdl
from cdl.para import (
    change,
    CoKleisli,
    DoubleCell,
    fanout,
    free_algebra,
    lax_algebra,
    lift,
    Para,
    power,
    Square,
    square,
    TANGENT,
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
    monad = cdl.monads.ListMonad()
    number = ("a whole number", "None")
    return [
        *refused(Para, jnp.ones(2), lambda p, x: p),
        *refused(Para.of, ONE),
        *refused(F.__rshift__, F),
        *refused(F.__matmul__, F),
        *refused(F.reparametrise, ONE, jnp.ones(2)),
        *refused(F.named, "f"),
        *refused(fanout, F, F),
        *refused(lift, F),
        *refused(unroll, G, TREE),
        *refused(Untied, untied.para, untied.places),
        *refused(untied.at, untied.params, wrong={0: ("None", "an empty tuple", "a text")}),
        *refused(untied.tied, ONE),
        *refused(unroll_coalgebra, Para.of(grow), 2, 2, wrong={0: number, 2: ("None", "a text", "a number", "a set")}),
        *refused(
            unroll_machine, Para.of(a_machine), 0.0, [1.0], wrong={0: number, 2: ("None", "a set", "a dictionary")}
        ),
        *refused(square, G),
        *refused(Square, F, F, ONE),
        *refused(square(G).along, ONE),
        *refused(lax_algebra, monad, F),
        *refused(free_algebra, cdl.ListF, G, wrong={0: ("None", "a text", "a whole number")}),
        *refused(CoKleisli, lambda p, x: p, None),
        *refused(CoKleisli.of, F),
        *refused(CoKleisli.pure, ONE),
        *refused(C.along, ONE),
        *refused(C.__rshift__, C),
        *refused(C.__matmul__, C),
        *refused(DoubleCell, F, F, ONE, ONE, ONE),
        *refused(DoubleCell.still, F),
        *refused(DoubleCell.on, ONE),
        *refused(DoubleCell.of, square(G)),
        *refused(D.__rshift__, DoubleCell.still(Para((), lambda p, x: x))),
        *refused(D.above, D),
        *refused(change, TANGENT, F),
        *refused(power, 2, wrong={0: ("a negative number",)}),
        *refused(two_cells.horizontal, ONE, ONE),
        *refused(two_cells.delta, 2, wrong={0: ("a negative number",)}),
        *refused(two_cells.gather, (0, 1)),
        *refused(Acted, POWER, 2, ONE),
        *refused(Acted(POWER, 2, ONE).__rshift__, Acted(POWER, 2, ONE)),
        *refused(Actegory, POWER.on, POWER.times, POWER.split, 1, POWER.strip),
    ]


def grow(n):
    return cdl.Nil() if n == 0 else cdl.Cons(float(n), n - 1)


def refusal(call: Callable[[], object]) -> str:
    try:
        call()
    except cdl.CdlError as error:
        return str(error)
    raise AssertionError("it was taken")


def what_is_said() -> None:
    assert refusal(lambda: C >> 3) == "`g` of `f >> g` is 3, and must be `CoKleisli`."
    assert refusal(lambda: F @ None) == "`g` of `f @ g` is None, and must be `Para`."
    assert refusal(lambda: DoubleCell.still("f")) == "`f` of `DoubleCell.still` is 'f', and must be `Para`."
    assert refusal(lambda: DoubleCell(F, 3, ONE, ONE, ONE)) == "`bottom` of `DoubleCell` is 3, and must be `Para`."
    assert refusal(lambda: Para(1, 2)) == "`fn` of `Para` is 2, and must be a function of 2 arguments."
    make = "`module` of `Para.of` is the class `Linear`: make one, `Linear(…)`, and give that."
    assert refusal(lambda: Para.of(eqx.nn.Linear)) == make
    several = refusal(lambda: unroll_machine(Para.of(a_machine), 0.0, {1.0, 2.0}))
    assert (
        several
        == "`inputs` is {1.0, 2.0}, which has no items in an order: give a list, or an array with a row for each."
    )


def test_a_refusal_names_the_argument_and_what_it_is_to_be():
    run_alone(what_is_said)


def every_wrong_kind_of_argument():
    found = doors()
    assert found == [], "\n".join(found)


@pytest.mark.slow
def test_every_wrong_kind_of_argument_is_refused_at_the_door():
    run_alone(every_wrong_kind_of_argument)
