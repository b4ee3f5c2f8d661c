"""Functions on the points of a cube, and on its rotations: exact permutations, dimensions, and a network."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from cdl.symmetry import hom
from cdl_arch.symmetry import CORNERS, EDGES, FACES, on_group, on_points, patterns, POINTS, Spherical


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


def test_spherical_commutes_with_rotations(getkey):
    net = Spherical(POINTS, (1, 4, 4), 3, key=getkey())
    assert defect(net, jr.normal(getkey(), (1, len(POINTS)))) <= 1e-6


def test_patterns_are_turned_by_all_the_rotations():
    xs, ys = patterns(1, 600, noise=0.0, key=jr.key(0))
    assert not jnp.any(ys)
    seen = {tuple(x.tolist()) for x in np.asarray(xs[:, 0])}
    sphere = on_points()
    assert len(seen) == 24
    assert {tuple(np.asarray(sphere("about_x", jnp.asarray(x, jnp.float32))).tolist()) for x in seen} == seen
