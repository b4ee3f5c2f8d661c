"""Functions at each place are checked as they are called, with their channels, and at values of all kinds."""

import jax
import jax.numpy as jnp
import pytest

from cdl.errors import CdlError
from cdl.symmetry import Action, Pointwise
from cdl.symmetry.groups import cyclic


@pytest.mark.parametrize("axis", [0, -1])
def test_a_function_along_the_places_is_refused_whichever_axis_it_names(axis):
    """A batch has an axis in front, where `axis=0` would do no harm; what the layer is called with has none."""
    with pytest.raises(CdlError, match=r"does not commute with the generator `shift`"):
        Pointwise(lambda x: jnp.cumsum(x, axis), cyclic(5))


def test_with_channels_the_first_axis_is_theirs():
    over_channels = Pointwise(lambda x: jax.nn.softmax(x, 0), cyclic(5), 3)
    x = jnp.arange(15.0).reshape(3, 5)
    assert jnp.allclose(over_channels(x), jax.nn.softmax(x, 0))
    with pytest.raises(CdlError, match=r"does not commute with the generator `shift`"):
        Pointwise(lambda x: jnp.cumsum(x, 1), cyclic(5), 3)


def test_a_function_that_is_not_a_number_at_other_places_is_refused():
    """`log` of a negative number: the two sides are not numbers at different places."""
    turned = Action(3).signed([0, 1, 2], [-1.0, 1.0, 1.0])
    with pytest.raises(CdlError, match=r"differ by inf"):
        Pointwise(jnp.log, turned)
    assert Pointwise(jnp.log, cyclic(3))  # and at the same places, where places are moved
