"""What bounds every contestant: how fast this machine multiplies matrices, and how fast it moves memory."""

import os
import pathlib
import platform
import time
from ctypes.util import find_library
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr

from ._clock import once


# The arrays of a program are one array of more than 32 MB, which the allocator of Linux asks of the system anew at each
# call and gives back after it: a page fault for each 4 kB. This one keeps the memory, where it is installed.
ALLOCATOR = find_library("tcmalloc_minimal")
SHAPES = [(1024, 1024, 1024), (2048, 2048, 2048), (4096, 256, 1024)]


def rates(rounds: int) -> dict[str, Any]:
    """The best matrix product (GFLOP/s) and the best pass over memory (GB/s), with the machine in words."""
    products = {f"{m}×{k}×{n}": product(m, k, n, rounds) for m, k, n in SHAPES}
    return {
        "cores": cores(),
        "processor": _processor(),
        "versions": {"Python": platform.python_version()}
        | {p: _version(p) for p in ("jax", "equinox", "torch", "flax")},
        "products": products,
        "peak": max(products.values()),
        "bandwidth": bandwidth(rounds),
    }


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def product(m: int, k: int, n: int, rounds: int, pieces: int = 1) -> float:
    """GFLOP/s of `(m, k) @ (k, n)`, at its best; of `pieces` of them one after another, inside one program."""
    xs, w = jr.normal(jr.key(0), (pieces, m, k)), jr.normal(jr.key(1), (k, n))
    run = jax.jit(lambda xs, w: jax.lax.map(lambda x: x @ w, xs) if pieces > 1 else xs[0] @ w)
    best = min(once(lambda: run(xs, w))[0] for _ in range(rounds + 1))
    return 2e-6 * pieces * m * k * n / best


def bandwidth(rounds: int) -> float:
    """GB/s read and written, in place, on an array larger than the caches of most machines."""
    x = jnp.zeros(1 << 27)
    run = jax.jit(lambda x: x + 1, donate_argnums=0)
    best = float("inf")
    for _ in range(rounds + 1):
        began = time.perf_counter()
        x = run(x).block_until_ready()
        best = min(best, time.perf_counter() - began)
    return 2e-9 * x.nbytes / best


def _processor() -> str:
    """Its widest vector instructions, which say more of its rate than its name."""
    try:
        flags = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.machine()
    widest = next((w for f, w in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if f in flags), "no wide vectors")
    return f"{platform.machine()}, {widest}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
