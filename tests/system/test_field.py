"""Vector fields that share variables: sums, as by hand; composed first, and then discretised."""

import sys
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from equivariant import unchecked

import cdl
from cdl.errors import CdlError
from cdl.system import discretise, Field, field, share, solve


class Rate(eqx.Module):
    """A quantity that grows, or decays, in proportion to itself."""

    k: Any

    def __call__(self, s: dict[str, Any]) -> dict[str, Any]:
        return {"n": self.k * s["n"]}


class Hunt(eqx.Module):
    """Prey is lost, and predators are gained, in proportion to both."""

    lost: Any
    gained: Any

    def __call__(self, s: dict[str, Any]) -> dict[str, Any]:
        both = s["prey"] * s["predator"]
        return {"prey": -self.lost * both, "predator": self.gained * both}


ENDS = {"R": ["growth.n", "hunt.prey"], "F": ["hunt.predator", "decay.n"]}
BEGIN = {"R": 10.0, "F": 5.0}


def parts(a: Any = 1.1, b: Any = 0.4, c: Any = 0.1, d: Any = 0.4) -> dict[str, Field]:
    hunt = field(Hunt(b, c), {"prey": float, "predator": float})
    return {"growth": field(Rate(a), {"n": float}), "hunt": hunt, "decay": field(Rate(-d), {"n": float})}


@pytest.fixture
def precise():
    with jax.enable_x64(True):
        yield


def trajectory(f: Field, n: int, until: float = 20.0) -> dict[str, np.ndarray]:
    system = discretise(f, BEGIN, step=until / n)
    return {key: np.asarray(x) for key, x in cdl.run(system, system.state, jnp.arange(n))[0].items()}


@pytest.mark.usefixtures("precise")
def test_growth_predation_and_decay_are_lotka_and_volterra():
    shared = share(parts(), ENDS)

    def monolith(s: dict[str, Any]) -> dict[str, Any]:
        return {"R": 1.1 * s["R"] - 0.4 * (s["R"] * s["F"]), "F": 0.1 * (s["R"] * s["F"]) - 0.4 * s["F"]}

    found, whole = trajectory(shared, 500), trajectory(field(monolith, {"R": float, "F": float}), 500)
    for key in "RF":
        np.testing.assert_allclose(found[key], whole[key], rtol=0, atol=1e-12 * 20)


@pytest.mark.usefixtures("precise")
def test_the_method_is_of_its_order_and_ends_where_an_adaptive_one_does():
    shared, exact = share(parts(), ENDS), {"R": 10.2141106587, "F": 1.3338083108}
    errors = [abs(trajectory(shared, n)["R"][-1] - exact["R"]) for n in (500, 1000)]
    assert 12 < errors[0] / errors[1] < 18
    found = trajectory(shared, 2000)
    assert {key: found[key][-1] for key in "RF"} == pytest.approx(exact, abs=1e-9)
    kept = 0.1 * found["R"] - 0.4 * np.log(found["R"]) + 0.4 * found["F"] - 1.1 * np.log(found["F"])
    assert kept[0] == pytest.approx(0.30858426, abs=1e-8)
    assert np.ptp(kept) < 1e-8
    for method, order in (("euler", 1), ("midpoint", 2)):
        ends = []
        for n in (4000, 8000):
            system = discretise(shared, BEGIN, step=20 / n, method=method)  # type: ignore[arg-type]
            ends.append(abs(float(cdl.run(system, system.state, jnp.arange(n))[0]["R"][-1]) - exact["R"]))
        assert ends[0] / ends[1] == pytest.approx(2**order, rel=0.35)


@pytest.mark.usefixtures("precise")
def test_steps_that_adapt_end_at_the_same_place():
    found = solve(share(parts(), ENDS), BEGIN, jnp.array([0.0, 10.0, 20.0]), rtol=1e-10, atol=1e-10)
    assert (found["R"][-1], found["F"][-1]) == pytest.approx((10.2141106587, 1.3338083108), abs=1e-7)


def test_without_diffrax_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "diffrax", None)
    with pytest.raises(CdlError, match="pip install diffrax"):
        solve(share(parts(), ENDS), BEGIN, jnp.array([0.0, 1.0]))


@pytest.mark.usefixtures("precise")
def test_nested_is_flat():
    each = parts()
    inner = share({x: each[x] for x in ("growth", "hunt")}, {"prey": ENDS["R"], "predator": ["hunt.predator"]})
    nested = share({"inner": inner, "decay": each["decay"]}, {"R": ["inner.prey"], "F": ["inner.predator", "decay.n"]})
    one, other = trajectory(nested, 100), trajectory(share(each, ENDS), 100)
    assert all((one[key] == other[key]).all() for key in "RF")


def test_a_field_that_is_given_twice_has_its_parameters_once_also_inside_of_others():
    rate = field(Rate(jnp.array(-0.4)), {"n": float})
    inner = share({"p": rate, "q": rate}, {"a": ["p.n"], "b": ["q.n"]})
    whole = share(
        {"inner": inner, "r": rate, "s": parts()["decay"]}, {"a": ["inner.a", "s.n"], "b": ["inner.b", "r.n"]}
    )
    alike = share({"inner": whole, "again": rate}, {"a": ["inner.a"], "b": ["inner.b", "again.n"]})
    for shared, uses in ((inner, 1), (whole, 2), (alike, 3)):
        assert len(jax.tree.leaves(eqx.filter(shared, eqx.is_array))) == 1
        found = eqx.filter_grad(lambda f: f.rate({"a": jnp.array(3.0), "b": jnp.array(5.0)}, {})["b"])(shared)
        assert jax.tree.leaves(eqx.filter(found, eqx.is_array)) == [pytest.approx(5.0 * uses)]
    trained = jax.tree.map(lambda x: 2 * x if eqx.is_array(x) else x, discretise(alike, {"a": 1.0, "b": 1.0}, step=0.1))
    assert trained.machine.field.rate({"a": jnp.array(1.0), "b": jnp.array(1.0)}, {})["b"] == pytest.approx(-2.4)


@pytest.mark.usefixtures("precise")
def test_discretise_has_the_gradient_of_finite_differences():
    @jax.jit
    def loss(p: Any) -> Any:
        system = discretise(share(parts(*p), ENDS), BEGIN, step=0.05)
        return sum(jnp.mean(jnp.sin(x)) for x in cdl.run(system, system.state, jnp.arange(50))[0].values())

    at, eps = jnp.array([1.0, 0.5, 0.12, 0.35]), 1e-6
    moved = [(loss(at + eps * e) - loss(at - eps * e)) / (2 * eps) for e in jnp.eye(4)]
    np.testing.assert_allclose(jax.grad(loss)(at), jnp.stack(moved), rtol=1e-6)


@pytest.mark.usefixtures("precise")
def test_a_plant_and_its_controller_share_what_is_measured_and_what_is_driven():
    load = 0.75
    plant = field(
        lambda s, i: {"y": -s["y"] + s["u"] + i["load"], "u": 0.0 * s["u"]},
        {"y": float, "u": float},
        inputs={"load": float},
    )
    control = field(lambda s: {"y": 0.0 * s["y"], "u": 2.0 * (1.0 - s["y"])}, {"y": float, "u": float})
    loop = discretise(
        share({"plant": plant, "control": control}, {"y": ["plant.y", "control.y"], "u": ["plant.u", "control.u"]}),
        {"y": 0.0, "u": 0.0},
        step=0.01,
    )
    outputs, _ = cdl.run(loop, loop.state, {"load": jnp.full(1000, load)})
    # y'' + y' + 2 y = 2, y(0) = 0, y'(0) = load
    t, w = np.arange(1001) * 0.01, np.sqrt(7) / 2
    exact = 1 + np.exp(-t / 2) * (-np.cos(w * t) + (load - 0.5) / w * np.sin(w * t))
    np.testing.assert_allclose(outputs["y"], exact, atol=1e-8)
    assert outputs["u"][-1] == pytest.approx(1 - load, abs=0.02)


def test_discretise_takes_steps_of_every_type():
    still = field(lambda v: v, {"x": float})
    with unchecked():
        for step in (np.float32(0.5), jnp.array(0.5), jnp.bfloat16(0.5)):
            made: Any = discretise(still, {"x": 1.0}, step=step)  # type: ignore[arg-type]
            assert made.machine.step == 0.5


def test_solve_takes_times_again_and_checks_them_in_programs():
    decay = field(lambda v: {"x": -v["x"]}, {"x": float})
    run = jax.jit(lambda times: solve(decay, {"x": 1.0}, times)["x"])
    np.testing.assert_allclose(run(jnp.array([1.0, 1.0, 2.0])), np.exp([0.0, 0.0, -1.0]), rtol=1e-5)
    with pytest.raises(Exception, match="times"):
        jax.block_until_ready(run(jnp.array([0.0, 2.0, 1.0])))


def test_solve_gives_values_of_the_types_of_variables():
    kind = jnp.bfloat16
    found = solve(field(lambda v: {"x": -v["x"]}, {"x": kind}), {"x": 1.0}, jnp.array([0.0, 1.0]))["x"]
    assert found.dtype == kind
    assert float(found[1]) == pytest.approx(np.exp(-1), rel=float(jnp.finfo(kind).eps))


def test_solve_refuses_what_goes_to_infinity():
    square = field(lambda s: {"n": s["n"] ** 2}, {"n": float}, name="square")
    until = lambda end: solve(square, {"n": 1.0}, jnp.array([0.0, end]))["n"]
    compiled = jax.jit(until)
    assert compiled(0.5)[1] == pytest.approx(2.0, rel=1e-4)
    for run in (until, compiled):
        with pytest.raises(Exception, match=r"`square`(.|\n)*infinity"):
            jax.block_until_ready(run(2.0))


def test_rates_may_be_numbers_of_python():
    clock = field(lambda v: {"t": 1.0}, {"t": float})
    np.testing.assert_allclose(discretise(clock, {"t": 0.0}, step=0.5)({"t": jnp.array(1.0)}).step({})["t"], 1.5)
