"""What networks as diagrams answer to wrong names, rates and values."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cdl.errors import CdlError
from cdl_arch.system.cells import as_diagram, as_network, cell
from cdl_arch.system.neurons import from_mlp, levels
from cdl_arch.system.talk import peers


MLP = eqx.nn.MLP(2, 2, 4, 1, key=jax.random.key(0))
LEVEL = levels(MLP, 0.1)[0]


@pytest.mark.parametrize("rate", [-1.0, np.nan, np.inf, True])
def test_a_rate_is_a_finite_number_of_at_least_zero(rate):
    for make in (lambda: from_mlp(MLP, rate), lambda: peers(LEVEL, jnp.zeros((2, 2)), rate)):
        with pytest.raises(CdlError, match=r"`rate`, of gradient descent, is .*: give a number that is at least 0"):
            make()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: as_diagram(LEVEL, ["a", "a"]), "`cells` has 'a' twice: give each box another name"),
        (lambda: as_network(LEVEL, ["a", "a"]), "`cells` has 'a' twice"),
        (lambda: as_diagram(LEVEL, "ab"), "`cells` is the text 'ab': give a list of names"),
        (lambda: from_mlp(MLP, 0.1, ["a", "a"]), "`names` has 'a' twice"),
        (lambda: from_mlp(MLP, 0.1, "ab"), "`names` is the text 'ab'"),
        (lambda: cell(jnp.ones(0)), "`cell` was given no values"),
    ],
)
def test_names_are_distinct_and_a_cell_has_a_value(make, words):
    with pytest.raises(CdlError, match=words):
        make()


def test_a_network_of_a_diagram_takes_a_value_of_each_cell():
    names = ["a", "b"]
    network: Any = as_network(as_diagram(LEVEL, names), names)
    np.testing.assert_array_equal(network(jnp.ones(2)), LEVEL(jnp.ones(2)))
    for wrong in (jnp.ones(3), jnp.ones(1), jnp.array(1.0)):
        with pytest.raises(CdlError, match="is the shape of what 2 cells are to show: give a value for each"):
            network(wrong)
