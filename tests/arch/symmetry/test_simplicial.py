"""Simplicial complexes and the networks on them: boundaries, holes, labels and orientations."""

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import pytest
from equivariant import unchecked

from cdl import CdlError
from cdl.symmetry import groups, hom, Pointwise
from cdl_arch.symmetry import closed, Complex, flows, maps, SimplicialLayer, SimplicialNetwork
from cdl_arch.train import train


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


@pytest.mark.slow
def test_a_network_commutes_with_labels_and_orientations_and_learns_the_flow_round_a_hole(getkey):
    complex = annulus()
    net = SimplicialNetwork([(1, 1, 1), (8, 8, 8), (8, 8, 8), (8, 8, 8), (1, 1, 1)], key=getkey())
    assert defect(net, complex, getkey()) <= 1e-6
    own, (xs, ys) = maps(complex, 3), flows(complex, 256, key=getkey())
    assert jnp.max(jnp.abs(ys @ np.float32(complex.boundary(1).T))) < 1e-5

    def loss(net: SimplicialNetwork, batch: Any, key: Any) -> jax.Array:
        xs, ys = batch
        blank = [jnp.zeros((1, complex.size(k))) for k in (0, 2)]
        read = jax.vmap(lambda x: net(own, [blank[0], x[None], blank[1]])[1][0])
        return jnp.mean((read(xs) - ys) ** 2) / jnp.mean(ys**2)

    run = train(
        net, lambda _: [(xs, ys)] * 150, loss, lambda _: 0.0, optimiser=optax.adam(1e-2), epochs=1, key=getkey()
    )
    net = run.model
    assert loss(net, flows(complex, 64, key=getkey()), None) < 0.1
    assert defect(net, complex, getkey()) <= 1e-6


def test_the_five_maps_are_all_that_commute_with_the_symmetries_of_a_whole_simplex():
    complex = Complex(closed([range(5)]))
    n = groups.permutations(5)
    moves = {name: [int(np.argmax(n[name].dense[:, i])) for i in range(5)] for name in n.names}
    actions = [complex.action(k, **moves) for k in range(3)]
    layer = {(k, j): hom(actions[j], actions[k]).dimension for k in range(3) for j in range(3)}
    assert layer == {(0, 0): 2, (1, 1): 2, (2, 2): 2, (0, 1): 1, (1, 0): 1, (1, 2): 1, (2, 1): 1, (0, 2): 0, (2, 0): 0}
    for k in range(1, 3):
        tying, down = hom(actions[k], actions[k]), complex.laplacians(k)
        basis = tying.basis.reshape(tying.dimension, -1)
        for matrix in (np.eye(complex.size(k)), *down):
            found = np.linalg.lstsq(basis.T, matrix.ravel(), rcond=None)[0]
            assert np.allclose(found @ basis, matrix.ravel(), atol=1e-9)


def test_an_even_function_at_the_edges_is_refused():
    edges = Complex(closed([range(3)])).action(1, swap=[1, 0, 2])
    Pointwise(jnp.tanh, edges)
    with pytest.raises(CdlError, match=r"`relu` does not commute .* `swap` .* an odd function, such as `jnp.tanh`"):
        Pointwise(jax.nn.relu, edges)


TRIANGLE = Complex(closed([(0, 1, 2)]))


def test_vertices_and_labels_may_be_whole_numbers_of_numpy():
    with unchecked():
        ours = Complex(closed(np.array([[0, 1, 2]])))
        turned = TRIANGLE.action(1, turn=np.array([1, 2, 0]))
    assert ours.simplices == TRIANGLE.simplices
    assert turned == TRIANGLE.action(1, turn=[1, 2, 0])
    assert [len(x) for x in TRIANGLE.move(TRIANGLE, 5)] == [0, 0]


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_a_network_has_the_dtype_of_its_parameters(dtype):
    with jax.enable_x64(dtype == "float64"):
        net = SimplicialNetwork([(1, 1, 1), (2, 2, 2), (1, 1, 1)], dtype=dtype, key=jr.key(0))
        numbers = [jnp.ones((1, TRIANGLE.size(k)), dtype) for k in range(3)]
        assert {str(y.dtype) for y in net(maps(TRIANGLE, 3), numbers)} == {dtype}
        if dtype == "float64":
            assert maps(TRIANGLE, 3)[1][1].dtype == jnp.float64
            assert {x.dtype for x in flows(annulus(), 2, key=jr.key(0))} == {jnp.dtype("float64")}


def test_numbers_that_are_not_at_the_simplices_are_refused():
    net = SimplicialLayer((1, 1, 1), (1, 1, 1), key=jr.key(0))
    numbers = [jnp.ones((1, TRIANGLE.size(k))) for k in range(3)]
    with pytest.raises(CdlError, match="a layer of 3 dimensions gets maps of 2 and numbers of 3"):
        net(maps(TRIANGLE, 2), numbers)
    with pytest.raises(CdlError, match=r"numbers of \(1, 3\) are expected at .* dimension 1, not \(1, 2\)"):
        net(maps(TRIANGLE, 3), [numbers[0], numbers[1][:, :2], numbers[2]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Complex([(0,), (1,), (0, 1), (1, 0)]), r"the simplex \(1, 0\) is listed twice"),
        (lambda: Complex([(0,), (0, 1)]), r"the simplex \(0, 1\) is listed without its vertex \(1,\): `closed` adds"),
        (lambda: Complex([(0,), (1,), (2,), (0, 1), (0, 2), (0, 1, 2)]), r"without its face \(1, 2\)"),
        (lambda: Complex([(0, 0)]), r"`\(0, 0\)` is not a simplex"),
        (lambda: Complex([()]), r"`\(\)` is not a simplex"),
        (lambda: Complex([(0,), (1,)]).move(Complex([(0,)]), 0), r"the simplex \(1,\) is not in the complex"),
        (lambda: SimplicialLayer((1, 1), (1,), key=jr.key(0)), "2 dimensions go in and 1 come out"),
        (lambda: SimplicialNetwork([(1, 1)], key=jr.key(0)), "a network of no layers"),
        (lambda: Complex([(0.5,), (1,)]), r"`0.5` is not a vertex: number the vertices, as in `\(0, 1, 2\)`"),
        (lambda: Complex([("a",)]), "`'a'` is not a vertex: number the vertices"),
        (lambda: Complex([(True,)]), "`True` is not a vertex"),
        (lambda: Complex([0, 1]), r"`0` is not a simplex: give a tuple of vertices"),
        (lambda: closed([(0, 1.5)]), "`1.5` is not a vertex"),
        (lambda: closed([(0, 0)]), r"`\(0, 0\)` is not a simplex"),
        (lambda: TRIANGLE.action(0, f=[0, 0, 2]), "the vertices 0 and 1 have one label, 0: give each its own"),
        (lambda: TRIANGLE.action(2, f=[0, 0, 2]), "the vertices 0 and 1 have one label, 0"),
        (lambda: TRIANGLE.action(1, f=[0, 1]), r"there are 2 labels, and none for the vertex 2: give `labels\[2\]`"),
        (lambda: TRIANGLE.action(1, f=[0, 1, 2.5]), "`2.5` is not a vertex"),
        (lambda: TRIANGLE.action(1, f=[0, 1, 7]), r"the simplex \(0, 7\) is not in the complex"),
        (lambda: TRIANGLE.action(3, f=[0, 1, 2]), "no simplices of dimension 3: there is nothing to act on"),
        (lambda: TRIANGLE.action(-1, f=[0, 1, 2]), "no simplices of dimension -1"),
        (lambda: Complex([(-1,)]).action(0, f=[-1]), r"none for the vertex -1"),
    ],
)
def test_a_complex_that_is_none_is_refused(make, message):
    with unchecked(), pytest.raises(CdlError, match=message):
        make()
