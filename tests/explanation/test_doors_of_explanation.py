"""What cannot be explained, or drawn, is refused at the door."""

import pathlib

import jax.numpy as jnp
import pytest
from alone import run_alone
from doors import a_machine, an_algebra, refused, WRONG

import cdl
from cdl.drawing import draw, to_discopy
from cdl.explanation import explain
from cdl.machines import as_mealy, delay, feedback, parallel, series, stateless
from cdl.para import Para


NOT_DRAWN = tuple(WRONG.keys() - {"a tree", "an algebra", "a machine"})
NOT_EXPLAINED = tuple(WRONG.keys() - {"an algebra"})
NOT_A_MACHINE = tuple(WRONG.keys() - {"a machine", "a class", "a function of nothing"})
NOT_TREES = ("a text", "a whole number", "a dictionary", "an array", "an object")
NOT_A_WORD = ("a text", "an object", "a whole number", "None")
NOT_A_SIGNATURE = ("a text", "a whole number", "a list", "a tree", "a machine", "an array")
TREE = cdl.Cons(1.0, cdl.Nil())


def doors() -> list[str]:
    machine = {0: NOT_A_MACHINE, 1: NOT_A_MACHINE}
    return [
        *refused(draw, an_algebra, wrong={0: NOT_DRAWN}),
        *refused(draw, an_algebra, TREE, wrong={1: NOT_A_SIGNATURE[:3]}),
        *refused(draw, an_algebra, signature=cdl.ListF, wrong={"signature": NOT_A_SIGNATURE}),
        *refused(draw(cdl.ListF).save, pathlib.Path("drawn.txt")),
        *refused(to_discopy, Para(jnp.ones(2), lambda p, x: p * x)),
        *refused(explain, an_algebra, [TREE], wrong={0: NOT_EXPLAINED, 1: NOT_TREES}),
        *refused(explain, an_algebra, [TREE], signature=cdl.ListF, wrong={"signature": NOT_A_SIGNATURE}),
        *refused(explain, an_algebra, [TREE], tolerance=0.1),
        *refused(explain, a_machine, jnp.ones(3), state=0.0, wrong={1: NOT_A_WORD, "state": ("None",)}),
        *refused(series, a_machine, a_machine, wrong=machine),
        *refused(parallel, a_machine, a_machine, wrong=machine),
        *refused(feedback, delay, wrong=machine),
        *refused(as_mealy, a_machine, wrong=machine),
        *refused(stateless, jnp.tanh),
    ]  # fmt: skip


def every_wrong_kind_of_argument():
    found = doors()
    assert found == [], "\n".join(found)


@pytest.mark.slow
def test_every_wrong_kind_of_argument_is_refused_at_the_door(tmp_path):
    run_alone(every_wrong_kind_of_argument, tmp_path)
