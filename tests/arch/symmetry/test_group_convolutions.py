"""Group convolutions of p4 and p4m: the dense layers of `hom`, the group itself, and a network that it leaves alone."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from equivariant import defect, same, trained
from few import few
from programs import primitives

from cdl.symmetry import hom
from cdl.symmetry.groups import p4, p4m
from cdl_arch.symmetry import gcnn, GroupConvolution, planes


GROUPS = {"p4": (p4, False), "p4m": (p4m, True)}


@pytest.mark.parametrize(
    ("name", "lifting", "dimension"),
    [
        ("p4", True, 16),
        ("p4m", True, 16),
        ("p4", False, 64),
        ("p4m", False, 128),
    ],
)
def test_there_are_as_many_maps_as_the_regular_action_has(name, lifting, dimension):
    make, mirrors = GROUPS[name]
    group = planes(4, mirrors)
    assert hom(make(4) if lifting else group, group).dimension == dimension


@pytest.mark.parametrize("lifting", [True, False])
@pytest.mark.parametrize(
    ("name", "side", "width"), [("p4", 4, 3), ("p4", 3, 3), ("p4m", 3, 3), ("p4m", 5, 3), ("p4", 5, 1)]
)
def test_a_group_convolution_is_the_dense_layer_of_hom_in_value_and_gradient(name, side, width, lifting):
    with jax.enable_x64(True):
        key, mirrors = jr.key(0), GROUPS[name][1]
        made = GroupConvolution(side, 2, 3, width, lifting=lifting, mirrors=mirrors, dtype=jnp.float64, key=key)
        x = jr.normal(jr.key(1), (2, *made.source.shape), jnp.float64)
        same(lambda f, x: f(x), lambda f, x: f.equivariant(x), made, x)
        if width == side:
            assert sorted(made.orbits.ravel()) == list(range(hom(made.source, made.target).dimension))


def test_it_is_lowered_to_one_convolution():
    made = GroupConvolution(5, 2, 3, 3, key=jr.key(0))
    found = primitives(jax.make_jaxpr(made)(jnp.ones((2, 4, 5, 5))))
    assert found["conv_general_dilated"] == 1
    assert "dot_general" not in found


@pytest.mark.parametrize("name", few(GROUPS, 1))
def test_each_layer_and_the_network_commute_before_and_after_training(name):
    mirrors = GROUPS[name][1]
    net = gcnn(5, (2, 3, 3), 4, mirrors=mirrors, function=jnp.tanh, key=jr.key(0))
    x = jr.normal(jr.key(1), (2, 5, 5))
    assert net(x).shape == (4,)
    for now in (net, trained(net, (x,))):
        assert defect(now, now.source, now.target, x) <= 1e-6
        y = x
        for layer in now.maps:
            assert defect(layer, layer.source, layer.target, y) <= 1e-6
            y = layer(y)


@pytest.mark.slow
def test_the_network_reads_a_turned_and_shifted_image_as_the_image():
    """Moved by NumPy's functions, not by our action; and a mirror image is another one to p4."""
    x = jr.normal(jr.key(1), (1, 7, 7))
    moved = jnp.roll(jnp.rot90(x, 1, (1, 2)), (2, 3), (1, 2))
    mirrored = jnp.flip(moved, 2)
    plain = gcnn(7, (1, 4, 4), 3, key=jr.key(0))
    both = gcnn(7, (1, 4, 4), 3, mirrors=True, key=jr.key(0))
    close = lambda a, b: bool(jnp.max(jnp.abs(a - b)) <= 1e-6 * jnp.max(jnp.abs(b)))
    assert close(plain(moved), plain(x))
    assert not close(plain(mirrored), plain(x))
    assert close(both(moved), both(x))
    assert close(both(mirrored), both(x))


def test_a_filter_is_turned_as_the_feature_maps_are():
    """A hot pixel at the filter's right end: the four planes see their input on four sides."""
    made = GroupConvolution(5, 1, 1, 3, lifting=True, bias=False, key=jr.key(0))
    made = eqx.tree_at(lambda f: f.kernel, made, jnp.zeros((1, 1, 3, 3)).at[0, 0, 1, 2].set(1.0))
    x = jnp.zeros((1, 5, 5)).at[0, 2, 2].set(1.0)
    found = [tuple(map(int, np.argwhere(plane)[0])) for plane in np.asarray(made(x)[0])]
    assert found == [(2, 1), (3, 2), (2, 3), (1, 2)]
