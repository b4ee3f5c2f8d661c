"""Forecasts one step ahead that are not cdl's: by hand, and by river where it is installed.

Each is a function of a stream and a seed, and gives a forecast for each value from `stream.cut` on.
"""

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from cdl.errors import CdlError

from ._online import features, LAGS, Scale
from ._streams import Stream


def scale_of(stream: Stream) -> Scale:
    """What makes the numbers of a stream small, from its first third."""
    first = stream.values[: stream.cut]
    found = (first.mean(), first.std(), np.diff(first).std(), float(stream.level))
    return Scale(*(np.float32(x) for x in found))


def persistence(stream: Stream, seed: int) -> np.ndarray:
    """The value before."""
    return stream.values[stream.cut - 1 : -1]


def seasonal(stream: Stream, seed: int) -> np.ndarray:
    """The value a season before. **Raises:** `CdlError` where there is no season."""
    if stream.season is None:
        raise CdlError("no season")
    return stream.values[stream.cut - stream.season : -stream.season]


def fitted(stream: Stream, seed: int) -> np.ndarray:
    """An autoregression, fitted on the first third by least squares."""
    rows, x = _rows(stream), stream.values
    weights = np.linalg.lstsq(rows[: stream.cut - LAGS], x[LAGS : stream.cut], rcond=None)[0]
    return rows[stream.cut - LAGS :] @ weights


def recursive(stream: Stream, seed: int, forgetting: float = 0.99) -> np.ndarray:
    """An autoregression that learns from every value: recursive least squares, which forgets."""
    rows, mean, size = _rows(stream), stream.values[: stream.cut].mean(), stream.values[: stream.cut].std()
    rows[:, :LAGS] = (rows[:, :LAGS] - mean) / size
    wanted = (stream.values[LAGS:] - mean) / size
    P, w, found = 1e3 * np.eye(LAGS + 1), np.zeros(LAGS + 1), np.zeros(len(wanted))
    for t, (row, x) in enumerate(zip(rows, wanted, strict=True)):
        found[t] = row @ w
        gain = P @ row / (forgetting + row @ P @ row)
        w = w + gain * (x - found[t])
        P = (P - np.outer(gain, row @ P)) / forgetting
    return (mean + size * found)[stream.cut - LAGS :]


def linear(stream: Stream, seed: int) -> np.ndarray:
    """river's linear regression, on what the networks read."""
    return _regression(stream, river("linear_model").LinearRegression())


def forest(stream: Stream, seed: int) -> np.ndarray:
    """river's adaptive random forest, on what the networks read."""
    return _regression(stream, river("forest").ARFRegressor(seed=seed))


def holt_winters(stream: Stream, seed: int) -> np.ndarray:
    """river's Holt–Winters smoothing, with its season where there is one."""
    seasons = {} if stream.season is None else {"gamma": 0.3, "seasonality": stream.season}
    model = river("time_series").HoltWinters(alpha=0.3, beta=0.1, **seasons)
    found = np.zeros(len(stream.values))
    for t, x in enumerate(stream.values.tolist()):
        if t >= stream.cut:
            found[t] = model.forecast(horizon=1)[0]
        model.learn_one(x)
    return found[stream.cut :]


def river(module: str) -> Any:
    """A module of river. **Raises:** `CdlError` where it is not installed."""
    try:
        return importlib.import_module(f"river.{module}")
    except ImportError as error:
        raise CdlError("river is not installed") from error


Forecast = Callable[[Stream, int], np.ndarray]


def _regression(stream: Stream, model: Any) -> np.ndarray:
    """Test, then train: forecasts of a model of river behind its scaler."""
    model, scale = river("preprocessing").StandardScaler() | model, scale_of(stream)
    found = []
    for seen, last, x in _steps(stream, scale):
        found.append(last + scale.change * model.predict_one(seen))
        model.learn_one(seen, (x - last) / scale.change)
    return np.asarray(found, np.float64)[stream.cut - LAGS :]


def _steps(stream: Stream, scale: Scale) -> Iterator[tuple[dict[int, float], float, float]]:
    """For each value after the first window: what is read, the value before, and the value."""
    windows = jnp.asarray(_windows(stream), jnp.float32)
    seen = np.asarray(jax.vmap(lambda window: features(window, scale))(windows)).tolist()
    x = stream.values.tolist()
    for row, last, value in zip(seen, x[LAGS - 1 : -1], x[LAGS:], strict=True):
        yield dict(enumerate(row)), last, value


def _rows(stream: Stream) -> np.ndarray:
    """For each value after the first window the window, and a 1."""
    windows = _windows(stream)
    return np.concatenate([windows, np.ones((len(windows), 1))], 1)


def _windows(stream: Stream) -> np.ndarray:
    return np.lib.stride_tricks.sliding_window_view(stream.values, LAGS)[:-1]
