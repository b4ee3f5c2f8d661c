"""Numbers that a user gives stay the same numbers where their type holds them; `test_refusals` has the others."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cdl import ana, choose, Leaf, MealyF, Packed, run, Seq, unfold


@pytest.mark.parametrize(
    "enter",
    [
        lambda x: Seq(x[None], [2]).values[0],
        lambda x: Packed.of([x]).padded().values[0],
        lambda x: run(lambda state: MealyF(lambda y: (y, state)), x[:1], x[:, None])[0][:, 0],
        lambda x: unfold(Leaf, x, 1).payload[0][:, 0],
    ],
)
def test_numbers_at_the_ends_of_their_type_stay_the_same(enter):
    ends = np.array([2**31 - 1, -(2**31)])
    assert np.array_equal(enter(ends), ends)
    with np.errstate(over="ignore"):
        assert np.array_equal(enter(np.array([1 / 3, np.inf])), np.array([1 / 3, np.inf], np.float32))
    with jax.enable_x64(True):
        wide = np.array([2**40 + 3, 5])
        assert np.array_equal(enter(wide), wide)


def test_choose_draws_by_integer_scores_as_by_floats():
    whole = lambda seed: choose(jnp.array([2, 1]), Leaf(seed), Leaf(seed + 1))
    real = lambda seed: choose(jnp.array([2.0, 1.0]), Leaf(seed), Leaf(seed + 1))
    keys = [jax.random.key(i) for i in range(8)]
    drawn = [[float(ana(g, key=k)(jnp.array(0.0)).label) for k in keys] for g in (whole, real)]
    assert drawn[0] == drawn[1]
    assert set(drawn[0]) == {0.0, 1.0}
