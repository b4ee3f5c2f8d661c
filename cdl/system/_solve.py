"""A field's trajectory, with steps that adapt: by diffrax, where it is installed."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from .._functors.usage import with_types
from .._functors.words import short
from ..errors import CdlError
from ._clock import begins
from ._field import Field, Values


@with_types
def solve(
    field: Field, state: Values, times: Float[Array, " times"], *, rtol: float = 1e-6, atol: float = 1e-6
) -> Values:
    """The values of each variable at some times, by steps whose errors are below a bound.

    By diffrax, with the fifth-order method of Tsitouras; differentiable. `pip install cdl-jax[continuous]`.

    **Arguments:** `field`: without inputs. `state`: the values at the first time. `times`: when to look, rising.
    `rtol`, `atol`: the bound, relative to the values and absolute.

    **Returns:** for each variable its values, with an axis of times in front.

    **Raises:** `CdlError` where diffrax is not installed, and for a field that has inputs; `PortMismatch` where the
    state is not one of the field.
    """
    try:
        import diffrax
    except ImportError as error:
        raise CdlError(
            "`solve` is by diffrax, which is not installed: `pip install cdl-jax[continuous]`, or take steps of one "
            "length with `discretise`."
        ) from error
    if field.inputs:
        raise CdlError(
            f"`{field.name}` has the inputs {short(list(field.inputs))}, and `solve` has none to give: make it a "
            "system with `discretise`, which holds an input for a step."
        )
    found: Any = diffrax.diffeqsolve(
        diffrax.ODETerm(lambda t, s, _: field.rate(s, {})),
        diffrax.Tsit5(),
        t0=times[0],
        t1=times[-1],
        dt0=None,
        y0=begins(field, state),
        saveat=diffrax.SaveAt(ts=jnp.asarray(times)),
        stepsize_controller=diffrax.PIDController(rtol=rtol, atol=atol),
        max_steps=100_000,
    )
    values: Values = found.ys
    return values
