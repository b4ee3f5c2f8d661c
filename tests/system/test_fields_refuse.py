"""What fields answer to wrong or odd input, and the types of what they give."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from alone import run_alone

from cdl.errors import CdlError
from cdl.system import discretise, field, solve


def decay(kind: Any = float, **options: Any) -> Any:
    return field(lambda v: {"x": -v["x"]}, {"x": kind}, **options)


def ticks() -> None:
    for step in (np.inf, np.nan, np.True_, True, 0, -1.0, 10**400, jnp.array(jnp.inf), 1j, "x"):
        with pytest.raises(CdlError, match=r"`step` of `discretise` is .*(: give a number that is positive|must be)"):
            discretise(decay(), {"x": 1.0}, step=step)  # type: ignore[arg-type]
    with pytest.raises(CdlError, match="`step` of `discretise` is known only when the program runs"):
        jax.jit(lambda step: discretise(decay(), {"x": 1.0}, step=step).state)(0.1)
    for step in (np.float32(0.5), jnp.array(0.5), jnp.bfloat16(0.5), np.array(0.5), 0.5):
        assert discretise(decay(), {"x": 1.0}, step=step).machine.step == 0.5  # type: ignore[arg-type, attr-defined]


def test_a_tick_is_as_long_as_a_positive_finite_number_that_is_known():
    run_alone(ticks)


@pytest.mark.parametrize("times", [[], [1.0, 0.0], [0.0, 2.0, 1.0], [0.0, np.nan], [0.0, np.inf]])
def test_times_are_finite_and_in_order(times):
    with pytest.raises(CdlError, match=r"give `times` of `solve` that are finite, none before the one in front of it"):
        solve(decay(), {"x": 1.0}, jnp.array(times))


def test_times_may_come_again_and_are_looked_at_when_the_program_runs():
    run = jax.jit(lambda times: solve(decay(), {"x": 1.0}, times)["x"])
    np.testing.assert_allclose(run(jnp.array([1.0, 1.0, 2.0])), np.exp([0.0, 0.0, -1.0]), rtol=1e-5)
    with pytest.raises(Exception, match="none before the one in front of it"):
        jax.block_until_ready(run(jnp.array([0.0, 2.0, 1.0])))


@pytest.mark.parametrize("name", ["rtol", "atol"])
def test_a_bound_is_a_finite_number_of_at_least_zero(name):
    times: Any = jnp.array([0.0, 1.0])
    for wrong in (-1.0, np.nan, np.inf, True):
        with pytest.raises(CdlError, match=f"`{name}` of `solve` is .*: give a number that is at least 0 and finite"):
            solve(decay(), {"x": 1.0}, times, **{name: wrong})
    with pytest.raises(CdlError, match="`rtol` and `atol` of `solve` are both 0"):
        solve(decay(), {"x": 1.0}, times, rtol=0.0, atol=0.0)


def test_values_have_the_types_of_their_variables_and_whole_numbers_are_refused():
    times = jnp.array([0.0, 1.0])
    for kind in (jnp.bfloat16, jnp.float16, jnp.float32):
        found = solve(decay(kind), {"x": 1.0}, times)["x"]
        assert found.dtype == kind
        assert float(found[1]) == pytest.approx(np.exp(-1), rel=max(1e-5, float(jnp.finfo(kind).eps)))


@pytest.mark.parametrize("kind", [int, jnp.uint8, bool, jax.random.key(0)])
def test_variables_that_are_not_moved_by_fractions_are_refused(kind):
    counts = field(lambda v: v, {"x": kind}, name="field")
    for of, use in (
        ("solve", lambda: solve(counts, {"x": 1}, jnp.array([0.0, 1.0]))),
        ("discretise", lambda: discretise(counts, {"x": 1}, step=0.1)),
    ):
        with pytest.raises(
            CdlError, match=f"`x` of `field` is .*, and `{of}` moves it by fractions: make it a `float`"
        ):
            use()


@pytest.mark.parametrize("state", [{"k": 1.0}, [1.0], None])
def test_a_state_of_another_structure_is_refused(state):
    words = r"the state at `x` is .*, and its variable is f32\[\]: give that"
    with pytest.raises(CdlError, match=words):
        discretise(decay(), {"x": state}, step=0.1)
    with pytest.raises(CdlError, match=words):
        solve(decay(), {"x": state}, jnp.array([0.0, 1.0]))


@pytest.mark.parametrize(
    ("rate", "inputs", "words"),
    [
        (lambda: {"x": 1.0}, None, "does not take its arguments: write a function of the values of its variables, or"),
        (lambda v, u: v, None, "does not take its arguments: write a function of the values of its variables, or"),
        (lambda v: v, {"u": float}, "does not take its arguments: write a function of the values and the inputs"),
        (lambda v: {"x": v["y"]}, None, r"looks up 'y', and there are \['x'\]"),
        (lambda v, i: {"x": i["y"]}, {"u": float}, r"looks up 'y', and there are \['x', 'u'\]"),
    ],
)
def test_a_rate_takes_the_values_and_looks_up_what_there_is(rate, inputs, words):
    with pytest.raises(CdlError, match=words):
        field(rate, {"x": float}, inputs=inputs)


def test_a_look_up_of_the_rates_own_is_not_called_one_of_a_variable():
    with pytest.raises(KeyError):
        field(lambda v: {"x": {"k": 1.0}["x"]}, {"x": float})


@pytest.mark.parametrize(("kind", "value"), [(jnp.float16, jnp.array(100_000)), (jnp.float16, 1e9), (float, 2**24 + 1)])
def test_a_state_that_a_variable_does_not_hold_is_refused(kind, value):
    with pytest.raises(CdlError, match=r"the state at `x` is .*, its type, does not hold it: it would be another"):
        discretise(decay(kind), {"x": value}, step=0.1)


def test_a_rate_may_be_a_number_of_python():
    clock = field(lambda v: {"t": 1.0}, {"t": float})
    np.testing.assert_allclose(solve(clock, {"t": 0.0}, jnp.array([0.0, 2.0]))["t"], [0.0, 2.0], rtol=1e-6)
    np.testing.assert_allclose(discretise(clock, {"t": 0.0}, step=0.5)({"t": jnp.array(1.0)}).step({})["t"], 1.5)
    with pytest.raises(CdlError, match=r"a rate is {'t': 'x'}: each leaf must be a number"):
        field(lambda v: {"t": "x"}, {"t": float})
