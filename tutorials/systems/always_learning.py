"""Is a system that goes on learning better on streams that drift? Prints two tables.

Each way forecasts the next value, then is told it, and those that learn do so. A number is the mean absolute error over
that of persistence, from the end of the first third of the stream on. In the second table it is counted for the stream
with a change alone, before and after that.
"""

import argparse
from typing import Any

import jax.numpy as jnp
import jax.random as jr
import numpy as np

from cdl.errors import CdlError
from page_tables.markdown import spread
from page_tables.results import arguments, Program, Table

from . import _baselines
from ._baselines import Forecast, scale_of
from ._online import forecasts, LAGS, network, trained
from ._streams import carbon_dioxide, changed, drifting, Stream, sunspots


RATE = 0.003
RATES = (0.0, 0.0003, 0.003, 0.03)
SOON = 100  # steps after a change


def ways(width: int, steps: int) -> dict[str, Forecast]:
    """All ways to forecast, by name."""

    def online(rates: tuple[float, ...], first: bool) -> Forecast:
        """A system of cdl: trained on the first third before it begins, or begun at the first value."""

        def forecast(stream: Stream, seed: int) -> np.ndarray:
            xs, scale, model = jnp.asarray(stream.values, jnp.float32), scale_of(stream), network(jr.key(seed), width)
            if first:
                model, xs = trained(model, xs[: stream.cut], scale, steps), xs[stream.cut - LAGS :]
            return np.asarray(forecasts(model, rates, xs, scale), np.float64)[-(len(stream.values) - stream.cut) :]

        return forecast

    return {
        "persistence": _baselines.persistence,
        "seasonal naive": _baselines.seasonal,
        "AR, fitted on the first third": _baselines.fitted,
        "AR, recursive least squares": _baselines.recursive,
        "network, trained on the first third, frozen": online((0.0,), True),
        "the same, always learning": online((RATE,), True),
        "a committee of four, which rewires": online(RATES, True),
        "network, always learning, not trained before": online((RATE,), False),
        "river: linear regression": _baselines.linear,
        "river: adaptive random forest": _baselines.forest,
        "river: Holt–Winters": _baselines.holt_winters,
    }


def errors(stream: Stream, forecast: Forecast, seed: int) -> np.ndarray:
    """The absolute error of each forecast, over the mean of persistence's."""
    wanted = stream.values[stream.cut :]
    usual = np.abs(wanted - _baselines.persistence(stream, seed)).mean()
    return np.abs(wanted - forecast(stream, seed)) / usual


def measured(options: argparse.Namespace) -> dict[str, Table]:
    """Both tables."""
    streams: dict[str, Any] = {"sunspots": _shipped(sunspots), "CO₂": _shipped(carbon_dioxide)}
    streams["a change"] = [changed(seed, options.length) for seed in range(options.seeds)]
    streams["a slow drift"] = [drifting(seed, options.length) for seed in range(options.seeds)]
    rows, spans = [], []
    for name, forecast in ways(options.width, options.steps).items():
        row, span = [name], [name]
        for stream in streams.values():
            try:
                found = [errors(one, forecast, seed) for seed, one in enumerate(_each(stream, options.seeds))]
            except CdlError as why:
                row.append(str(why))
                continue
            row.append(_shown([one.mean() for one in found]))
            if isinstance(stream, list) and stream[0].change is not None:
                at = stream[0].change - stream[0].cut
                parts = (slice(0, at), slice(at, at + SOON), slice(at + SOON, None))
                span += [_shown([one[part].mean() for one in found]) for part in parts]
        rows.append(row)
        spans.append(span if len(span) == 4 else [name, *["–"] * 3])
    head = ["before the change", f"the {SOON} steps after it", "later"]
    return {
        "always-learning": Table(["one step ahead", *streams], rows),
        "after-a-change": Table(["a change", *head], spans),
    }


def _shipped(load: Any) -> Any:
    """A stream that statsmodels ships, or why it is not there."""
    try:
        return load()
    except CdlError as why:
        return why


def _each(stream: Any, seeds: int) -> list[Stream]:
    """The stream of each seed. **Raises:** why there is none."""
    if isinstance(stream, CdlError):
        raise stream
    return stream if isinstance(stream, list) else [stream] * seeds


def _shown(values: list[float]) -> str:
    """A number alone where all seeds agree: there is no chance in it."""
    values = [round(value, 9) for value in values]
    return spread(values[:1] if len(set(values)) == 1 else values, 3)


PROGRAM = Program("systems.always_learning", arguments(__doc__, seeds=5, length=2000, width=16, steps=300), measured)

if __name__ == "__main__":
    print(PROGRAM.main())
