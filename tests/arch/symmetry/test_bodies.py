"""Rigid bodies as trees, and a fold that reads them alike however they are rotated."""

import jax.numpy as jnp
import numpy as np
import pytest

from cdl import algebra, cata, pack
from cdl_arch.symmetry.bodies import (
    bodies,
    BodyF,
    check,
    free,
    gyration,
    Mass,
    predict,
    Rod,
    rotated,
    Turning,
)
from symmetry._bodies import targets


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
def test_turning_commutes_with_rotations_and_free_does_not(getkey):
    net = Turning(3, 2, 2, key=getkey())
    assert off(net, 4) <= 1e-6
    assert check(net) <= 1e-6
    assert off(free(net, key=getkey()), 4) > 1e-2
