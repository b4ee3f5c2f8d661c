"""Convolutions: what `lax.conv` gives and nothing else, and the same as the dense layers of `hom`."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from equivariant import defect, same, trained
from programs import primitives

from cdl.errors import CdlError
from cdl.symmetry import chain, hom
from cdl_arch.symmetry import Convolution


CASES = {
    "1-D": ((7,), (3,), False),
    "1-D, even": ((6,), (4,), False),
    "1-D, whole": ((5,), (5,), False),
    "2-D": ((5, 4), (3, 2), False),
    "3-D": ((3, 4, 3), (3, 1, 2), False),
    "causal": ((7,), (3,), True),
    "causal, whole": ((5,), (5,), True),
    "causal, 2-D": ((4, 5), (2, 3), True),
}


def layer(name, **how):
    shape, window, causal = CASES[name]
    made = Convolution(shape, 2, 3, window, causal=causal, key=jr.key(0), **how)
    return made, jr.normal(jr.key(1), (2, *shape), made.kernel.dtype)


@pytest.mark.parametrize("name", CASES)
def test_a_convolution_is_the_dense_layer_of_hom_in_value_and_gradient(name):
    with jax.enable_x64(True):
        made, x = layer(name, dtype=jnp.float64)
        same(lambda f, x: f(x), lambda f, x: f.equivariant(x), made, x)


@pytest.mark.parametrize("name", CASES)
def test_a_convolution_is_what_lax_gives(name):
    """Wrapped or padded by hand, and the output at each place summed by hand."""
    with jax.enable_x64(True):
        made, x = layer(name, dtype=jnp.float64)
        window = made.kernel.shape[2:]

        def by_hand(f, x):
            y = 0.0
            for at in np.ndindex(*window):
                moved = x
                for axis, (j, w) in enumerate(zip(at, window, strict=True), 1):
                    if f.causal:
                        lost = w - 1 - j
                        pads = [(lost, 0) if i == axis else (0, 0) for i in range(x.ndim)]
                        moved = jnp.pad(moved, pads)[tuple(slice(0, n) for n in x.shape)]
                    else:
                        moved = jnp.roll(moved, (w - 1) // 2 - j, axis)
                y = y + jnp.tensordot(f.kernel[(..., *at)], moved, 1)
            return y if f.beta is None else y + f.beta.reshape((-1, *(1 for _ in window)))

        same(lambda f, x: f(x), by_hand, made, x)


def test_a_causal_convolution_of_one_axis_is_a_call_of_lax_with_padding():
    made, x = layer("causal")
    expected = jax.lax.conv_general_dilated(x[None], made.kernel, (1,), [(2, 0)])[0]
    assert jnp.array_equal(made(x), expected)


@pytest.mark.parametrize("name", ["1-D, even", "2-D", "causal"])
def test_it_is_lowered_to_a_convolution_and_gathers_nothing(name):
    made, x = layer(name)
    found = primitives(jax.make_jaxpr(jax.grad(lambda f, x: f(x).sum()))(made, x))
    assert "conv_general_dilated" in found
    assert not {"gather", "scatter-add", "dot_general"} & set(found)


@pytest.mark.parametrize("name", ["1-D, even", "2-D", "causal"])
def test_it_commutes_before_and_after_training(name):
    shape, window, causal = CASES[name]
    made, x = layer(name)
    net = chain(made, jnp.tanh, Convolution(shape, 3, 2, window, causal=causal, key=jr.key(2)))
    assert defect(net, net.source, net.target, x) <= 1e-6
    net = trained(net, (x,))
    assert defect(net, net.source, net.target, x) <= 1e-6


def test_the_kernel_is_a_mask_on_the_orbits():
    """A whole window has each orbit once, and a small one some of them."""
    for name, orbits in (("1-D, whole", 5), ("causal, whole", 5)):
        made, _ = layer(name)
        assert hom(made.source, made.target).dimension == orbits
        assert sorted(made.orbits.ravel()) == list(range(orbits))
    made, _ = layer("2-D")
    assert hom(made.source, made.target).dimension == 20
    assert len(set(made.orbits.ravel())) == 6


def test_a_causal_convolution_reads_nothing_later_and_has_no_bias():
    made, x = layer("causal")
    assert made.beta is None
    assert jnp.array_equal(made(x)[:, :4], made(x.at[:, 4:].set(9.0))[:, :4])
    assert not jnp.array_equal(made(x)[:, 4:], made(x.at[:, 4:].set(9.0))[:, 4:])


def test_a_grid_may_be_larger_than_what_hom_can_solve():
    made = Convolution((512, 512), 1, 1, (3, 3), key=jr.key(0))
    assert jax.eval_shape(made, jnp.zeros((1, 512, 512))).shape == (1, 512, 512)
    with pytest.raises(CdlError, match="2³¹"):
        made.equivariant  # noqa: B018
