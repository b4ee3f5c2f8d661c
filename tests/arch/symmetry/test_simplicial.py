"""Simplicial complexes and the networks on them: boundaries, holes, labels and orientations."""

import itertools

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from equivariant import unchecked

from cdl.symmetry import groups, hom
from cdl_arch.symmetry import closed, Complex, flows, maps, SimplicialNetwork


TORUS = [(i, (i + a) % 7, (i + 3) % 7) for i in range(7) for a in (1, 2)]  # with seven vertices
SHAPES = {
    "circle": (closed([(0, 1), (1, 2), (0, 2)]), (1, 1)),
    "sphere": (closed(itertools.combinations(range(4), 3)), (1, 0, 1)),
    "torus": (closed(TORUS), (1, 2, 1)),
    "two points": ([(0,), (5,)], (2,)),
    "a full tetrahedron": (closed([(0, 1, 2, 3)]), (1, 0, 0, 0)),
    "nothing": ([], ()),
}


def annulus() -> Complex:
    """A ring of triangles, with a hole."""
    return Complex(
        closed([t for i in range(8) for t in ((i, (i + 1) % 8, i + 8), ((i + 1) % 8, i + 8, 8 + (i + 1) % 8))])
    )


@pytest.mark.parametrize("name", SHAPES)
def test_a_complex_has_the_holes_that_it_has(name):
    simplices, betti = SHAPES[name]
    complex = Complex(simplices)
    assert complex.betti == betti
    for k, expected in enumerate(betti):
        values = np.linalg.eigvalsh(sum(complex.laplacians(k)))
        assert np.sum(np.abs(values) < 1e-9) == expected
        assert not np.any(complex.boundary(k) @ complex.boundary(k + 1))


def turned(complex: Complex, seed: int) -> tuple[Complex, list[int]]:
    """The complex with other labels and orientations, in another order."""
    rng = np.random.default_rng(seed)
    labels = [int(v) for v in 3 * rng.permutation(complex.size(0)) + 2]
    listed = [tuple(rng.permutation([labels[v] for v in s])) for some in complex.simplices for s in some]
    return Complex([listed[i] for i in rng.permutation(len(listed))]), labels


@pytest.mark.parametrize("name", ["sphere", "torus", "a full tetrahedron"])
def test_boundaries_commute_with_labels_and_orientations(name):
    complex = Complex(SHAPES[name][0])
    other, labels = turned(complex, 1)
    assert other.betti == complex.betti

    def matrix(k: int) -> np.ndarray:
        places, signs = complex.move(other, k, labels)
        found = np.zeros((complex.size(k),) * 2, int)
        found[places, np.arange(len(places))] = signs
        return found

    for k in range(1, len(complex.simplices)):
        assert np.array_equal(other.boundary(k) @ matrix(k), matrix(k - 1) @ complex.boundary(k))


def defect(net: SimplicialNetwork, complex: Complex, key: jax.Array) -> float:
    """How far the network of a turned complex, at turned numbers, is from what is turned of its output."""
    other, labels = turned(complex, 2)
    cochains = [jr.normal(jr.fold_in(key, k), (1, complex.size(k))) for k in range(3)]
    push = lambda k, x: (
        jnp.zeros_like(x)
        .at[:, complex.move(other, k, labels)[0]]
        .set(x * np.float32(complex.move(other, k, labels)[1])[None])
    )
    left = net(maps(other, 3), [push(k, x) for k, x in enumerate(cochains)])
    right = [push(k, y) for k, y in enumerate(net(maps(complex, 3), cochains))]
    size = max(float(jnp.max(jnp.abs(y))) for y in right)
    return max(float(jnp.max(jnp.abs(x - y))) for x, y in zip(left, right, strict=True)) / size


def test_simplicial_network_commutes_with_relabelling(getkey):
    net = SimplicialNetwork([(1, 1, 1), (3, 3, 3), (1, 1, 1)], key=getkey())
    assert defect(net, annulus(), getkey()) <= 1e-6


def test_flows_have_no_sources(getkey):
    _, ys = flows(annulus(), 8, key=getkey())
    assert jnp.max(jnp.abs(ys @ np.float32(annulus().boundary(1).T))) < 1e-5


def test_the_five_maps_are_all_that_commute_with_the_symmetries_of_a_whole_simplex():
    complex = Complex(closed([range(5)]))
    n = groups.permutations(5)
    moves = {name: [int(np.argmax(n[name].dense[:, i])) for i in range(5)] for name in n.names}
    actions = [complex.action(k, **moves) for k in range(3)]
    layer = {(k, j): hom(actions[j], actions[k]).dimension for k in range(3) for j in range(3)}
    assert layer == {(0, 0): 2, (1, 1): 2, (2, 2): 2, (0, 1): 1, (1, 0): 1, (1, 2): 1, (2, 1): 1, (0, 2): 0, (2, 0): 0}


TRIANGLE = Complex(closed([(0, 1, 2)]))


def test_vertices_and_labels_may_be_whole_numbers_of_numpy():
    with unchecked():
        ours = Complex(closed(np.array([[0, 1, 2]])))
        turned = TRIANGLE.action(1, turn=np.array([1, 2, 0]))
    assert ours.simplices == TRIANGLE.simplices
    assert turned == TRIANGLE.action(1, turn=[1, 2, 0])


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_a_network_has_the_dtype_of_its_parameters(dtype):
    with jax.enable_x64(dtype == "float64"):
        net = SimplicialNetwork([(1, 1, 1), (2, 2, 2), (1, 1, 1)], dtype=dtype, key=jr.key(0))
        numbers = [jnp.ones((1, TRIANGLE.size(k)), dtype) for k in range(3)]
        assert {str(y.dtype) for y in net(maps(TRIANGLE, 3), numbers)} == {dtype}
