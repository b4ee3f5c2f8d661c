"""Functions on the points of a cube, and on its rotations: exact permutations, dimensions, and a network."""

from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import pytest

from cdl import CdlError
from cdl.symmetry import hom
from cdl_arch.symmetry import CORNERS, EDGES, FACES, on_group, on_points, patterns, POINTS, Spherical
from cdl_arch.train import train


@pytest.mark.parametrize(("points", "count"), [(FACES, 6), (CORNERS, 8), (EDGES, 12), (POINTS, 26)])
def test_a_first_layer_has_one_number_for_each_point(points, count):
    sphere, group = on_points(points), on_group()
    assert sphere.shape == (count,)
    assert group.shape == (24,)
    assert hom(sphere, group).dimension == hom(group, sphere).dimension == count
    assert sphere.holds(("about_x",) * 4, ())
    assert sphere.holds(("about_x", "about_z") * 3, ())


def test_the_rotations_of_a_cube_are_24_and_have_the_maps_that_burnside_counts():
    group = on_group()
    assert hom(group, group).dimension == 24
    # the mean over the rotations of the squared number of fixed points
    assert [hom(on_points(p), on_points(p)).dimension for p in (FACES, CORNERS, EDGES)] == [3, 4, 7]
    assert hom(on_points(), on_points().trivial()).dimension == 3


def defect(net: Spherical, x: jax.Array) -> float:
    sphere, group = on_points(), on_group()
    y = net.body(x)
    gaps = [net.body(sphere(g, x)) - group(g, y) for g in sphere.names]
    reads = [net(sphere(g, x)) - net(x) for g in sphere.names]
    return max(float(jnp.max(jnp.abs(gap))) for gap in [*gaps, *reads]) / float(jnp.max(jnp.abs(y)))


@pytest.mark.slow
def test_a_spherical_network_commutes_with_rotations_and_learns_patterns_whatever_their_rotation(getkey):
    net = Spherical(POINTS, (1, 8, 8), 4, key=getkey())
    xs, ys = patterns(4, 512, key=getkey())
    assert defect(net, xs[0]) <= 1e-6

    def loss(net: Spherical, batch: Any, key: Any) -> jax.Array:
        xs, ys = batch
        return jnp.mean(optax.softmax_cross_entropy_with_integer_labels(jax.vmap(net)(xs), ys))

    run = train(
        net, lambda _: [(xs, ys)] * 100, loss, lambda _: 0.0, optimiser=optax.adam(1e-2), epochs=1, key=getkey()
    )
    net = run.model
    xs, ys = patterns(4, 256, key=getkey())
    assert jnp.mean(jnp.argmax(jax.vmap(net)(xs), -1) == ys) > 0.9
    assert defect(net, xs[0]) <= 1e-6


def test_patterns_are_turned_by_all_the_rotations():
    xs, ys = patterns(1, 600, noise=0.0, key=jr.key(0))
    assert not jnp.any(ys)
    seen = {tuple(x.tolist()) for x in np.asarray(xs[:, 0])}
    sphere = on_points()
    assert len(seen) == 24
    assert {tuple(np.asarray(sphere("about_x", jnp.asarray(x, jnp.float32))).tolist()) for x in seen} == seen


def test_points_that_are_rotated_away_are_refused():
    with pytest.raises(CdlError, match=r"`about_x` rotates a point to \(0, 0, 1\), which is not among the points"):
        on_points(np.array([[0, 1, 0]]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Spherical(FACES, (1,), 2, key=jr.key(0)), r"channels \(1,\) are asked for: give those that go in"),
        (lambda: on_points(np.array([[1, 0], [0, 1]])), r"points are an array `\[n, 3\]`, .* this is one of \(2, 2\)"),
        (lambda: on_points(FACES[:0]), r"one of \(0, 3\)"),
        (lambda: on_points(np.concatenate([FACES, FACES])), "12 points are listed, and 6 of them are different"),
    ],
)
def test_a_sphere_that_is_none_is_refused(make, message):
    with pytest.raises(CdlError, match=message):
        make()


def test_patterns_have_the_default_float():
    with jax.enable_x64(True):
        assert patterns(2, 3, FACES, key=jr.key(0))[0].dtype == jnp.float64
