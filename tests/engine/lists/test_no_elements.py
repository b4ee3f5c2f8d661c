"""Where all lists are empty, or no sequence takes a step, what is computed all the same has no gradient."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import cdl
from cdl.compiled import Scan
from cdl.functors import Cons, Lin, ListF, Nil, Snoc, SnocF


def further(w, a, b, x):
    return a + w * jnp.log(x), jnp.sqrt(x) * jnp.log(b - b)


class FromStart(cdl.Algebra[SnocF[Any, Any], Any]):
    w: Any

    def __call__(self, layer):
        match layer:
            case Lin():
                return self.w, 3 * self.w
            case Snoc((a, b), x):
                return further(self.w, a, b, x)


class FromEnd(cdl.Algebra[ListF[Any, Any], Any]):
    w: Any

    def __call__(self, layer):
        match layer:
            case Nil():
                return self.w, 3 * self.w
            case Cons(x, (a, b)):
                return further(self.w, a, b, x)


ALL: list[Any] = [Scan(), Scan(bulk=False), Scan(segment=2)]


@pytest.mark.parametrize("how", ALL, ids=["bulk", "not in bulk", "segments"])
@pytest.mark.parametrize("kind", [FromStart, FromEnd])
def test_empty_lists_have_the_gradient_of_their_value(kind, how):
    def total(w, x):
        seq = cdl.Seq(x, np.array([0, 0]))
        return sum(map(jnp.sum, cdl.fold(kind(w), seq, how=how))) + jnp.sum(
            cdl.annotate(kind(w), seq, how=how).values[0]
        )

    to_weight, to_elements = jax.grad(total, (0, 1))(jnp.array(2.0), jnp.ones((2, 4)))
    assert to_weight == 8  # 1 and 3, of each of two lists
    assert not jnp.any(to_elements)


@pytest.mark.parametrize(("moore", "wanted"), [(False, 0), (True, 6)])
def test_run_of_no_steps_has_the_gradient_of_what_it_shows(moore, wanted):
    def machine(w):
        further = lambda s: lambda x: s + w * jnp.log(x)
        if moore:
            return lambda s: cdl.MooreF(s * w, further(s))
        return lambda s: cdl.MealyF(lambda x: (w * jnp.log(x), further(s)(x)))

    def total(w, s):
        answers, last = cdl.run(machine(w), s, cdl.Seq(jnp.ones((2, 4)), np.array([0, 0])))
        return jnp.sum(answers.values) + jnp.sum(last)

    to_weight, to_state = jax.grad(total, (0, 1))(jnp.array(2.0), jnp.full(2, 3.0))
    assert to_weight == wanted
    assert to_state.tolist() == [1 + 2 * moore] * 2
