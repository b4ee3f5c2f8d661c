"""A field's trajectory, with steps that adapt: by diffrax, where it is installed."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.core import Tracer
from jaxtyping import Array, Float

from .._functors.usage import with_types
from .._functors.words import short
from ..errors import CdlError
from ._clock import begins, expect_smooth
from ._field import expect_rates, Field, Values
from ._numbers import known


MOST = 100_000  # steps


@with_types
def solve(
    field: Field, state: Values, times: Float[Array, " times"], *, rtol: float = 1e-6, atol: float = 1e-6
) -> Values:
    """The values of each variable at some times, by steps whose errors are below a bound.

    diffrax takes the steps, with the fifth-order method of Tsitouras. It is the extra `continuous`, or `pip install
    diffrax`. The values are differentiable in reverse mode, and not in forward mode. Numbers of less than 32 bits are
    computed in 32, and given back in the type of their variable.

    **Arguments:** `field`: without inputs. `state`: the values at the first time. `times`: at least one time, all
    finite, none earlier than the one before it. `rtol`, `atol`: the bound of the error, relative to the values and
    absolute; one of them may be 0.

    **Returns:** for each variable its values, with an axis of times in front.

    **Raises:** `CdlError` where diffrax is not installed, for a field that has inputs or variables of whole numbers,
    for other times and bounds, and where the solution takes more than 100,000 steps or no step is small enough, as
    where a value goes to infinity before the last time. A compiled program raises Equinox's error when it runs, for the
    times and for the steps. `PortMismatch` where the state is not one of the field, or its rates are not those of its
    variables.

    Examples:
        >>> decay = cdl.system.field(lambda s: {"n": -s["n"]}, {"n": float})
        >>> end = cdl.system.solve(decay, {"n": 1.0}, jnp.array([0.0, 1.0]))["n"][-1]
        >>> bool(jnp.allclose(end, jnp.exp(-1.0), rtol=1e-3))
        True
    """
    try:
        import diffrax
    except ImportError as error:
        raise CdlError(
            "`solve` is by diffrax, which is not installed: `pip install diffrax`, or take steps of one "
            "length with `discretise`."
        ) from error
    if expect_rates(field).inputs:
        raise CdlError(
            f"`{field.name}` has the inputs {short(list(field.inputs))}, and `solve` has none to give: make it a "
            "system with `discretise`, which holds an input for a step."
        )
    expect_smooth("solve", field)
    rtol, atol = known("`rtol` of `solve`", rtol, zero=True), known("`atol` of `solve`", atol, zero=True)
    if not rtol + atol:
        raise CdlError("`rtol` and `atol` of `solve` are both 0, and no step is so exact: give one that is positive.")
    times, begin = _in_order(times), begins(field, state)
    found: Any = diffrax.diffeqsolve(
        diffrax.ODETerm(lambda t, s, _: field.rate(s, {})),
        diffrax.Tsit5(),
        t0=times[0],
        t1=times[-1],
        dt0=None,
        y0=jax.tree.map(lambda x: x.astype(jnp.float32) if x.dtype.itemsize < 4 else x, begin),
        saveat=diffrax.SaveAt(ts=times),
        stepsize_controller=diffrax.PIDController(rtol=rtol, atol=atol),
        max_steps=MOST,
        throw=False,
    )
    ends = _expect_solved(field, found, times)
    values: Values = jax.tree.map(lambda x, own: x.astype(own.dtype), ends, begin)
    return values


def _expect_solved(field: Field, found: Any, times: Any) -> Any:
    """The values. **Raises:** `CdlError` where diffrax gave up before the last time."""
    import diffrax

    lost = found.result != diffrax.RESULTS.successful
    words = (
        f"`solve` did not get to the last time of `{field.name}`: the bounds `rtol` and `atol` take more than {MOST:,} "
        "steps, or no step is small enough. Do the values go to infinity before? End earlier, give greater bounds, or "
        "take steps of one length with `discretise`."
    )
    if isinstance(lost, Tracer):
        return eqx.error_if(found.ys, lost, words)
    if lost:
        raise CdlError(words)
    return found.ys


def _in_order(times: Any) -> Any:
    """**Raises:** `CdlError` for no times, and for some that are not finite or go back."""
    words = "give `times` of `solve` that are finite, none before the one in front of it, and one at least"
    if not len(times):
        raise CdlError(f"there are no times: {words}.")
    wrong = ~(jnp.all(jnp.isfinite(times)) & jnp.all(times[1:] >= times[:-1]))
    if isinstance(times, Tracer):
        return eqx.error_if(times, wrong, words)
    if wrong:
        raise CdlError(f"the times are {short(times)}: {words}.")
    return jnp.asarray(times)
