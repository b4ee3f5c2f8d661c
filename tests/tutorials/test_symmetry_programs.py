"""The programs of the tables about symmetry: each in a small size, and the parts that they are made of."""

import re

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from few import few
from table_rows import rows


@pytest.mark.slow
def test_the_table_beyond_groups_has_a_row_for_each_layer(monkeypatch):
    from symmetry import beyond_groups

    monkeypatch.setattr(beyond_groups, "MACHINES", beyond_groups.MACHINES[1:2])
    table = rows(beyond_groups.PROGRAM.main("--seeds 1 --samples 24 --steps 100".split()))
    assert table[0] == [
        "learnt",
        "the layer knows",
        "parameters",
        "error",
        "error at twice the size",
    ]
    assert [row[0] for row in table[2:]] == [*["reset"] * 3, *["shortest paths"] * 3]
    assert [row[2] for row in table[2:]] == ["6", "6", "12", "49", "49", "49"]
    monoid, group, _ = (float(row[3]) for row in table[2:5])
    assert monoid < group


def test_group_of_a_machine_has_its_letters_and_parameters():
    from cdl.symmetry import hom
    from cdl_arch.symmetry.futures import futures, units
    from symmetry.beyond_groups import MACHINES

    for machine in MACHINES:
        assert machine.group.names == machine.monoid.names
        assert units(machine.group) == machine.group
        for X in (machine.monoid, machine.group):
            assert hom(X, futures(X)).dimension == machine.monoid.size


def test_walks_lose_no_state_and_values_are_of_the_action():
    from symmetry._walks import values, walks
    from symmetry.beyond_groups import MACHINES

    for machine in MACHINES:
        X, worth = machine.monoid, np.random.default_rng(1).normal(size=machine.monoid.size)
        words = walks(machine, np.random.default_rng(0), 20, 6)
        assert max(len(w.before) for w in words) <= 6
        for word, value in zip(words, values(machine, words, worth), strict=True):
            end = X((*word.after, *word.before), jnp.eye(X.size)[0])
            assert float(jnp.sum(end)) == 1
            assert float(end @ jnp.asarray(worth, jnp.float32)) == pytest.approx(float(value), rel=1e-5)


@pytest.mark.slow
def test_how_equivariant_has_every_network_and_operation(monkeypatch):
    from symmetry import how_equivariant

    monkeypatch.setattr(how_equivariant, "NETS", {"CNN": lambda key: how_equivariant.Cnn(key=key, width=4)})
    tables = how_equivariant.PROGRAM.main("--seeds 1 --samples 8 --steps 3 --side 16".split()).split("\n\n")
    nets, parts, photograph = map(rows, tables)
    assert nets[0][3:] == ["translation", "rotation", "scaling", "right, %"]
    assert [row[1] for row in nets[2:]] == ["untrained", "trained", "trained, augmented"]
    assert all(float(cell) > 0 for row in nets[2:] for cell in row[3:])
    for row in parts[2:]:
        assert sum(map(float, row[1:])) == pytest.approx(100, abs=0.2)
    periodic = {row[0]: float(row[1]) for row in photograph[2:]}
    assert max(periodic["blur, periodic"], periodic["edges across, periodic"]) < 1e-9
    assert (
        min(
            periodic["relu"],
            periodic["blur, zeros outside"],
            periodic["blur with stride 2, periodic"],
        )
        > 1e-3
    )


@pytest.mark.parametrize("name", few(["CNN", "mixer", "transformer"], 1))
def test_a_classifier_learns_from_one_batch(name):
    from symmetry._fitting import cross_entropy, fitted
    from symmetry.how_equivariant import NETS

    images, labels = jr.normal(jr.key(0), (6, 8, 8)), jnp.arange(6)
    net = NETS[name](key=jr.key(1))
    after = fitted(net, cross_entropy, [images, labels], steps=20, batch=6, rate=5e-3, seed=0)
    before, now = (float(cross_entropy(one, (images, labels), jr.key(0))) for one in (net, after))
    assert now < 0.8 * before


@pytest.mark.slow
def test_the_table_of_bodies_has_a_row_for_each_fold():
    from symmetry import rotated_bodies

    table = rows(rotated_bodies.PROGRAM.main("--seeds 1 --steps 1 --bodies 32".split()))
    assert [row[0] for row in table[2:]] == [
        "commutes with rotations",
        "free",
        "free, trained on rotated bodies",
    ]
    here, turned, beyond, beyond_turned = map(float, table[2][2:])
    assert (here, beyond) == pytest.approx((turned, beyond_turned), abs=0.02)


@pytest.mark.slow
def test_what_structure_buys_has_a_row_for_each_reader(tmp_path):
    from symmetry import karate_club, what_structure_buys

    arguments = f"--seeds 2 --steps 3 --width 4 --sizes 20 40 --mnist {tmp_path}"
    pictures = rows(what_structure_buys.PROGRAM.main(arguments.split()))
    club = rows(karate_club.PROGRAM.main("--seeds 2 --steps 3".split()))
    assert pictures[0][3:] == ["20 pictures", "40 pictures"]
    assert [row[0] for row in pictures[2:]] == ["digits"] * 4 + ["MNIST"]
    assert re.match(r"not there: .* has no file `train-images-idx3-ubyte`", pictures[-1][1])
    assert [row[0] for row in club[2:]] == ["graph network", "label propagation"]
    for cell in (cell for row in [*pictures[2:6], *club[2:]] for cell in row[3:]):
        assert 0 <= float(cell.split(" ± ")[0]) <= 100


@pytest.mark.parametrize(("side", "width"), few([(8, 32), (28, 8), (9, 6)], 2))
def test_readers_are_of_nearly_one_size(side, width):
    from symmetry._fitting import parameters
    from symmetry.what_structure_buys import readers

    made = {name: make(jr.key(0)) for name, make in readers(side, width).items()}
    sizes = [parameters(net) for net in made.values()]
    assert max(sizes) - min(sizes) < 0.1 * min(sizes)
    for net in made.values():
        assert net(jnp.ones((side, side))).shape == (10,)


def test_untied_layers_with_equal_weights_are_a_convolution():
    from symmetry._readers import Untied

    kernel = jr.normal(jr.key(0), (3, 2, 3, 3))
    x = jr.normal(jr.key(1), (2, 8, 8))
    for stride in (1, 2):
        layer = Untied(2, 3, 8, stride, key=jr.key(2))
        same = jnp.broadcast_to(kernel.reshape((3, 18)), layer.weight.shape)
        tied = eqx.tree_at(lambda made: made.weight, layer, same)
        wanted = jax.lax.conv_general_dilated(x[None], kernel, (stride, stride), [(1, 1), (1, 1)])[0]
        assert jnp.allclose(tied(x), wanted, atol=1e-4)


def test_propagated_finds_the_sides_from_two_leaders():
    from symmetry import _club

    leaders = np.array([0, 33])
    assert _club.right(_club.propagated(leaders), leaders) > 0.9
    known = _club.drawn(np.random.default_rng(0), 8)
    assert len(set(known.tolist())) == 8
    assert _club.right(_club.propagated(np.arange(33)), np.arange(33)) == 1


def test_moved_shifts_an_image_and_leaves_it_without_a_motion(monkeypatch):
    from symmetry import how_equivariant

    image = jr.normal(jr.key(0), (8, 8))
    for down in (0, 1):
        drawn = jnp.asarray([down, 0.0, 0.0, 0.0])
        monkeypatch.setattr(how_equivariant.jr, "uniform", lambda key, shape, minval, drawn=drawn: drawn)
        moved = how_equivariant._moved(image, jr.key(1))
        assert jnp.allclose(moved[down:], image[: 8 - down], atol=1e-5)
