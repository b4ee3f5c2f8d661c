"""Streams of numbers whose law changes: two that statsmodels ships, and two that a seed draws.

| the stream     | its law                                                                                  |
| -------------- | ---------------------------------------------------------------------------------------- |
| sunspots       | yearly numbers, 1700–2008; cycles of about 11 years, of several heights                  |
| CO₂            | monthly means at Mauna Loa, 1958–2001; a year's wave on a trend that becomes steeper     |
| a change       | `x′ = 2 r cos(2π / T) x − r² x″ + noise`, `r = 0.97`; `T` goes from 20 to 7 in the middle |
| a slow drift   | `x′ = a sin(π x) + noise`; `a` goes from 0.75 to 0.97, evenly                            |
"""

import importlib
from typing import Any, NamedTuple

import numpy as np

from cdl.errors import CdlError


class Stream(NamedTuple):
    """Numbers in the order of time.

    `season`: how many steps a season has, if there is one. `level`: whether a learner reads the last value itself, and
    not only the differences from it; it does not where the values leave their first range for ever. `change`: where
    the law changes at once.
    """

    name: str
    values: np.ndarray
    season: int | None = None
    level: bool = True
    change: int | None = None

    @property
    def cut(self) -> int:
        """Where the first third ends: errors are counted from here on."""
        return len(self.values) // 3


def sunspots() -> Stream:
    """Yearly sunspot numbers. **Raises:** `CdlError` where statsmodels is not installed."""
    data = _dataset("sunspots")
    return Stream("sunspots", np.asarray(data["SUNACTIVITY"], np.float64), season=11)


def carbon_dioxide() -> Stream:
    """Monthly means of CO₂; a month without a value has the one before. **Raises:** `CdlError` as `sunspots` does."""
    monthly = _dataset("co2")["co2"].resample("MS").mean().ffill()
    return Stream("CO₂", np.asarray(monthly, np.float64), season=12, level=False)


def changed(seed: int, steps: int) -> Stream:
    """A noisy oscillation, whose period is shorter from the middle on."""
    rng, middle, r = np.random.default_rng(seed), steps // 2, 0.97
    x = np.zeros(steps)
    for t in range(2, steps):
        period = 20 if t < middle else 7
        x[t] = 2 * r * np.cos(2 * np.pi / period) * x[t - 1] - r**2 * x[t - 2] + rng.normal()
    return Stream("a change", x, season=20, change=middle)


def drifting(seed: int, steps: int) -> Stream:
    """A noisy map of the interval, that becomes steeper."""
    rng = np.random.default_rng(seed)
    x = np.full(steps, 0.3)
    for t in range(1, steps):
        a = 0.75 + 0.22 * t / steps
        x[t] = a * np.sin(np.pi * x[t - 1]) + 0.02 * rng.normal()
    return Stream("a slow drift", x)


def _dataset(name: str) -> Any:
    try:
        found = importlib.import_module(f"statsmodels.datasets.{name}")
    except ImportError as error:
        raise CdlError("statsmodels is not installed") from error
    return found.load_pandas().data
