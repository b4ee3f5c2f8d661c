"""The programs of the tables about systems that always learn: each in a small size, and the parts they are made of."""

import importlib

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from table_rows import rows


@pytest.fixture
def bare(monkeypatch):
    """As where neither statsmodels nor river is installed."""
    known = importlib.import_module

    def found(name):
        if name.split(".")[0] in ("statsmodels", "river"):
            raise ImportError(name)
        return known(name)

    monkeypatch.setattr(importlib, "import_module", found)


@pytest.mark.slow
def test_always_learning_has_a_row_for_each_way(bare):
    from systems import always_learning

    arguments = "--seeds 1 --length 260 --width 3 --steps 5".split()
    whole, change = map(rows, always_learning.PROGRAM.main(arguments).split("\n\n"))
    names = list(always_learning.ways(3, 5))
    assert whole[0] == ["one step ahead", "sunspots", "CO₂", "a change", "a slow drift"]
    assert [row[0] for row in whole[2:]] == [row[0] for row in change[2:]] == names
    assert {cell for row in whole[2:] for cell in row[1:3]} == {"statsmodels is not installed"}
    for name, *_, oscillation, drift in whole[2:]:
        if name.startswith("river"):
            assert oscillation == drift == "river is not installed"
        else:
            assert float(oscillation) > 0
            assert drift == "no season" if name == "seasonal naive" else float(drift) > 0
    assert whole[2][3:] == ["1.00", "1.00"]
    assert [row[1:] for row in change[-3:]] == [["–"] * 3] * 3


def test_a_stream_changes_in_its_middle_and_no_sooner():
    from systems._streams import changed, drifting

    stream = changed(0, 600)
    assert (stream.change, stream.cut) == (300, 200)
    rng = np.random.default_rng(0)
    noise = np.array([rng.normal() for _ in range(598)])
    x = stream.values
    for period, part in ((20, slice(0, 298)), (7, slice(298, None))):
        rest = x[2:] - 2 * 0.97 * np.cos(2 * np.pi / period) * x[1:-1] + 0.97**2 * x[:-2]
        assert np.allclose(rest[part], noise[part])
    assert -0.2 < drifting(0, 600).values.min() < drifting(0, 600).values.max() < 1.1


def made(width=4, length=40):
    from systems._baselines import scale_of
    from systems._online import network
    from systems._streams import changed

    stream = changed(1, length)
    return network(jr.key(0), width), jnp.asarray(stream.values, jnp.float32), scale_of(stream)


def test_a_frozen_forecaster_is_its_network_at_each_window():
    from systems._online import features, forecasts, LAGS

    model, xs, scale = made()
    found = forecasts(model, (0.0,), xs, scale)
    assert len(found) == len(xs) - LAGS
    for t, guess in enumerate(found):
        change = model(features(xs[t : t + LAGS], scale)[None])[0, 0]
        assert float(guess) == pytest.approx(float(xs[t + LAGS - 1] + scale.change * change), rel=1e-4, abs=1e-4)


def test_a_forecaster_is_tested_before_it_is_trained():
    from systems._online import forecasts, LAGS

    model, xs, scale = made()
    still, learning = (forecasts(model, (rate,), xs, scale) for rate in (0.0, 0.01))
    assert learning[0] == still[0]
    assert jnp.abs(learning[1:] - still[1:]).max() > 1e-3
    later = forecasts(model, (0.01,), xs.at[LAGS + 5 :].add(1.0), scale)
    assert jnp.allclose(later[:6], learning[:6])
    assert not jnp.allclose(later[6:], learning[6:])


def test_autoregressions_find_the_law_of_a_stream_without_change():
    from systems import _baselines
    from systems._streams import Stream

    t = np.arange(300.0)
    stream = Stream("waves", np.sin(t / 3) + 0.5 * np.sin(t / 7) + 2)
    for forecast in (_baselines.fitted, _baselines.recursive):
        assert np.abs(forecast(stream, 0) - stream.values[100:]).max() < 1e-3
    assert np.array_equal(_baselines.persistence(stream, 0), stream.values[99:-1])
    assert np.array_equal(_baselines.seasonal(stream._replace(season=5), 0), stream.values[95:-5])


def grid(seed=0, many=6):
    from systems._grids import drawn

    return drawn(np.random.default_rng(seed), many)


def test_value_iteration_counts_the_steps_of_a_shortest_path():
    from systems._grids import path, worlds
    from systems._planners import table

    some = grid()
    V, _ = table(worlds(some), jnp.ones((len(some), 64, 4)))
    for (walls, start, goal), found in zip(some, V, strict=True):
        assert float(found[start]) == len(path(walls, start, goal)) >= 8


def test_a_plan_is_executed_to_the_goal_in_as_many_steps():
    from systems import plans
    from systems._grids import worlds
    from systems._planners import table

    world = worlds(grid())
    V, _ = table(world, jnp.ones(world.next.shape))
    noise = jnp.full((40, 6, 2), 0.5)
    for way in (plans.to_its_end, plans.again, plans.learning, plans.knowing):
        there, steps = plans.episodes(way, world, world, 0.0, noise)
        assert there.all()
        assert steps.tolist() == plans._at(V, world.start).astype(int).tolist()


def test_episodes_find_the_wall_that_a_plan_does_not_know():
    from systems import plans
    from systems._grids import closed, path, worlds

    some = grid()
    more = [(closed(np.random.default_rng(1), *one), *one[1:]) for one in some]
    assert all(path(*one) for one in more)
    assert [int(b[0].sum() - a[0].sum()) for a, b in zip(some, more, strict=True)] == [1] * 6
    noise = jnp.full((60, 6, 2), 0.5)
    stuck, _ = plans.episodes(plans.again, worlds(more), worlds(some), 0.0, noise)
    found, _ = plans.episodes(plans.learning, worlds(more), worlds(some), 0.0, noise)
    assert found.all()
    assert not stuck.all()


@pytest.mark.slow
def test_the_table_of_plans_has_a_row_for_each_way():
    from systems import plans

    table = rows(plans.PROGRAM.main("--seeds 1 --worlds 3 --limit 20".split()))
    assert [row[0] for row in table[2:]] == list(plans.WAYS)
    assert table[2][1:3] == ["100", "1.00"]


def test_peers_are_the_loop_written_by_hand():
    from systems._peers import others, Peers

    net, xs = Peers(3, 5, others, key=jr.key(0)), jr.normal(jr.key(1), (4, 3))
    states = jnp.zeros((3, 5))
    for x in xs:
        said = jnp.stack([jnp.tanh(peer.says(s)) for peer, s in zip(net.peers, states, strict=True)])
        heard = (said.sum(0, keepdims=True) - said) / 2
        states = jnp.stack(
            [
                jnp.tanh(peer.inner(s) + peer.seen(x[k]) + peer.heard(heard[k]))
                for k, (peer, s) in enumerate(zip(net.peers, states, strict=True))
            ]
        )
    assert jnp.allclose(net(xs), net.readout(states.ravel()), atol=1e-6)


@pytest.mark.slow
def test_talking_has_equal_parameters_and_balanced_tasks():
    from systems import talking

    table = rows(talking.PROGRAM.main("--seeds 2 --steps 2 --width 3".split()))
    assert [row[0] for row in table[2:]] == list(talking.VERSIONS)
    assert len({row[1] for row in table[2:]}) == 1
    bits = talking.drawn(jr.key(0), 4000)
    assert abs(float(talking.agree(bits).mean())) < 0.05
    assert float(talking.parts(bits).std()) == pytest.approx(1, abs=0.05)
    assert set(jax.device_get(talking.agree(bits)).tolist()) == {-1.0, 1.0}


def test_a_move_that_slips_goes_to_one_of_its_sides():
    from systems._grids import CELLS, worlds
    from systems._planners import Executor

    world = worlds([(np.zeros(CELLS, bool), 27, 0)] * 3)
    executor = Executor(world, 0.2, lambda state: jnp.zeros(3, jnp.int32))  # up
    noise = jnp.array([[0.1, 0.1], [0.1, 0.9], [0.9, 0.1]])
    cells, _ = executor(executor.begin()).step(noise)
    assert sorted(cells.tolist()[:2]) == [26, 28]
    assert cells[2] == 19
