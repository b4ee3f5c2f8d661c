"""What is not an optic, a lens or a map with a derivative is refused at the door."""

import jax.numpy as jnp
import pytest
from alone import run_alone
from doors import refused

from cdl.optics import Lens, Optic, ParaOptic, SmoothMap, z2, Z2Map
from cdl.para import Para


ONE, TWO = lambda x: x, lambda x, dy: dy
F = Optic.iso(ONE, ONE)
L = Lens(ONE, TWO)
M = ParaOptic.of(Para(jnp.ones(2), lambda p, x: p * x))
S = SmoothMap(2, 2, ONE)
X = z2.variables(2)[0]
NEGATIVE = {0: ("a negative number",)}


def doors() -> list[str]:
    return [
        *refused(F.__rshift__, F),
        *refused(F.__matmul__, F),
        *refused(F.named, "f"),
        *refused(Lens, ONE, TWO),
        *refused(L.__rshift__, L),
        *refused(L.__matmul__, L),
        *refused(ParaOptic, jnp.ones(2), F),
        *refused(M.named, "f"),
        *refused(M.__rshift__, M),
        *refused(M.__matmul__, M),
        *refused(M.reparametrise, F, jnp.ones(2)),
        *refused(M.batched, 2, wrong=NEGATIVE),
        *refused(SmoothMap, 2, 2, ONE),
        *refused(S.__rshift__, S),
        *refused(S.__and__, S),
        *refused(S.__add__, S),
        *refused(S.__matmul__, S, wrong={0: ("None", "a text", "a number", "an algebra")}),
        *refused(SmoothMap.pick, 2, [0, 1], wrong=NEGATIVE),
        *refused(Z2Map, 2, X.rows),
        *refused(X.__rshift__, z2.one(1)),
        *refused(X.__and__, X),
        *refused(X.__add__, X),
        *refused(X.__mul__, X),
        *refused(Z2Map.pick, 2, [0, 1], wrong=NEGATIVE),
        *refused(z2.variables, 2, wrong=NEGATIVE),
    ]


def every_wrong_kind_of_argument():
    found = doors()
    assert found == [], "\n".join(found)


@pytest.mark.slow
def test_every_wrong_kind_of_argument_is_refused_at_the_door():
    run_alone(every_wrong_kind_of_argument)
