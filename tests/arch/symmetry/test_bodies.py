"""Rigid bodies as trees, and a fold that reads them alike however they are rotated."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from cdl import algebra, cata, CdlError, pack
from cdl_arch.symmetry.bodies import (
    bodies,
    BodyF,
    CARRIER,
    check,
    free,
    gyration,
    LAW,
    Mass,
    parameters,
    predict,
    Rod,
    rotated,
    Turning,
)
from symmetry._bodies import error, learnt, targets


@algebra
def places(layer):
    """The masses, each with its place."""
    match layer:
        case Mass(mass, arm):
            return [(mass, np.asarray(arm, np.float64))]
        case Rod(near, far, rod):
            return [*near, *((mass, place + np.asarray(rod, np.float64)) for mass, place in far)]


def test_the_radius_of_gyration_is_that_of_all_pairs_of_masses():
    for body in bodies(5, (2, 9), 3):
        found = cata(places)(body)
        masses = np.array([mass for mass, _ in found])
        gaps = np.array([[np.sum((x - y) ** 2) for _, x in found] for _, y in found])
        pairs = masses @ gaps @ masses / (2 * masses.sum() ** 2)
        assert np.isclose(gyration(body), pairs, rtol=1e-9)


def test_bodies_are_rotated_as_wholes():
    some = bodies(4, (3, 6), 1)
    assert np.allclose(targets(rotated(some, 2)), targets(some), atol=1e-5)
    x, y = (np.stack([place for _, place in cata(places)(tree)]) for tree in (some[0], rotated(some, 2)[0]))
    assert not np.allclose(x, y, atol=0.1)
    assert np.allclose(x @ x.T, y @ y.T, atol=1e-4)


def off(net, count):
    """How far what is said of bodies is from what is said of them rotated, over the greatest number."""
    some = bodies(count, (2, 6), 8)
    said = predict(net, pack(BodyF, some))
    return float(jnp.max(jnp.abs(said - predict(net, pack(BodyF, rotated(some, 9))))) / jnp.max(jnp.abs(said)))


@pytest.mark.slow
def test_a_fold_that_commutes_with_rotations_learns_from_bodies_that_lie_one_way(getkey):
    net = Turning(6, 3, 4, key=getkey())
    trees, tests = bodies(64, (2, 4), 0), bodies(100, (2, 4), 1)
    before = error(net, tests)
    assert off(net, 20) <= 1e-6
    net = learnt(net, trees, steps=100, seed=0, batch=64, peak=1e-2)
    assert off(net, 20) <= 1e-6
    assert check(net) <= 1e-6
    assert error(net, tests) < 0.7 * before
    assert abs(error(net, rotated(tests, 3)) - error(net, tests)) < 1e-4


@pytest.mark.slow
def test_the_free_network_has_as_many_parameters_and_tells_rotations_apart(getkey):
    net = Turning(6, 3, 4, key=getkey())
    other = free(net, key=getkey())
    assert abs(parameters(other) - parameters(net)) <= 0.03 * parameters(net)
    assert other.mass.out_size == 6 + 3 * 3
    assert off(other, 10) > 1e-2


@pytest.mark.slow
def test_a_network_with_a_step_that_does_not_commute_is_refused_by_name(getkey):
    net = Turning(6, 3, 4, key=getkey())
    skew = jnp.arange(3.0)

    @algebra
    def wrong(layer):
        scalars, vectors = net(layer)
        return (scalars, vectors + skew[None]) if isinstance(layer, Rod) else (scalars, vectors)

    with pytest.raises(CdlError, match="the step of `wrong` at `Rod` does not commute with the generator `turn01`"):
        LAW.check(wrong, CARRIER, LAW.layers(wrong, bodies(1, (2, 2), 0)))


@pytest.mark.slow
def test_a_step_has_the_dtype_of_its_parameters():
    (body,) = bodies(1, (2, 2), 0)
    with jax.enable_x64(True):
        turning = Turning(2, 2, 3, key=jr.key(0))
        for net in (turning, free(turning, key=jr.key(0))):
            assert net.root(cata(net)(body)).dtype == jnp.float64
