"""Arrays of NumPy in static fields, which are no inputs of a compiled form: seen when they change, or refused."""

import types
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from cdl import Algebra, annotate, cata, CdlError, fmap, fold, Fork, inherit, Leaf, MealyF, pack, run, TreeF


pytestmark = pytest.mark.filterwarnings("ignore:A JAX array is being set as static")


class Fixed(eqx.Module):
    """A number times what is fixed."""

    held: Any = eqx.field(static=True)

    def __call__(self, x: Any) -> Any:
        return x * first(self.held)


class Inside(Algebra[Any, Any]):
    """An algebra that has a static field in a module."""

    part: Any

    def __call__(self, layer: Any) -> Any:
        return self.part(layer.label) if isinstance(layer, Leaf) else layer.left + layer.right


def first(held: Any) -> Any:
    """The first number that is held."""
    if isinstance(held, dict | types.SimpleNamespace):
        held = held["numbers"] if isinstance(held, dict) else held.numbers
    held = held[0] if isinstance(held, tuple) else held
    return np.ravel(held)[0]


FOREST = pack(TreeF, [Fork(Leaf(1.0), Leaf(2.0))])


def every_form(part: Fixed) -> list[float]:
    """A number that each compiled form gives."""
    alg = Inside(part)
    down = inherit(lambda x, layer: fmap(lambda _: part(x), layer), FOREST, jnp.ones(1))
    return [
        float(fold(alg, FOREST)[0]),
        float(annotate(alg, FOREST)[0]),
        float(down[1]) * 3,
        float(run(lambda s: MealyF(lambda x: (part(x), s)), 0.0, jnp.ones(2))[0][0]) * 3,
    ]


def test_an_array_in_a_static_field_is_seen_when_it_changes():
    held = np.array([2.0, 5.0], np.float32)
    part = Fixed(held)
    assert every_form(part) == [6.0] * 4
    held[0] = 3.0
    assert every_form(part) == [float(cata(Inside(part))(Fork(Leaf(1.0), Leaf(2.0))))] * 4 == [9.0] * 4


@pytest.mark.parametrize(
    "hold",
    [
        lambda x: x,
        lambda x: {"numbers": x},
        lambda x: (x,),
        lambda x: types.SimpleNamespace(numbers=x),
    ],
    ids=["an array", "a dict", "a tuple", "an object"],
)
def test_what_jax_cannot_compare_is_named(hold):
    """One network, and then another of the same form."""
    with pytest.raises(CdlError, match=r"`Inside` holds an array, .* in a static field .* not static"):
        pytest.fail(f"gives {[fold(Inside(Fixed(hold(np.array([n, 0.0])))), FOREST) for n in (2.0, 3.0, 4.0)]}")


def test_an_object_that_is_no_pytree_is_named():
    held = types.SimpleNamespace(numbers=np.array([2.0]))
    with pytest.raises(CdlError, match=r"`Inside` holds .* in an object that is no pytree"):
        fold(Inside(held), FOREST)
