"""Symmetry: how long `hom` takes, and a layer that it ties beside a dense one and beside a projection."""

import json
import pathlib
import subprocess
import sys
import tempfile
import venv
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from cdl.symmetry import Action, Equivariant, hom
from cdl.symmetry._hom import _solved
from cdl.symmetry.groups import cyclic, permutations
from cdl_arch.symmetry import Convolution

from ._clock import Entry, in_turn, seconds
from ._problems import loss


LONG = 0.05  # seconds of calls, in one measurement: a single call is too short for the clock
MINUTES = 6  # that an installation and the other library may take, each
ACTIONS = {"C_n": cyclic, "S_n": permutations}


def negacyclic(n: int) -> Action:
    """A shift round a circle, where the number that passes the end changes its sign."""
    return Action(n).signed(np.roll(np.arange(n), -1), np.where(np.arange(n) == n - 1, -1.0, 1.0), "shift")


def solving(n: int, rounds: int) -> dict[str, Any]:
    """Milliseconds of `hom(X, X)` on `n` places, the best and the median; the actions are made beforehand."""
    made = {name: make(n) for name, make in (*ACTIONS.items(), ("signed shift", negacyclic))}
    found: dict[str, Any] = {}
    for name, X in made.items():
        taken = []
        for _ in range(rounds):
            _solved.cache_clear()
            taken.append(1e3 * seconds(lambda X=X: hom(X, X).dimension)[0])
        found[name] = {"best": min(taken), "median": float(np.median(taken)), "dimension": hom(X, X).dimension}
    return found


def emlp(sizes: list[int]) -> dict[str, Any]:
    """The same of EMLP, in a virtual environment that is made for it and thrown away; or why that could not be."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(pathlib.Path(folder) / "bin" / "python")
        install = [python, "-m", "pip", "install", "--quiet", "emlp", "six"]  # which its objax imports, undeclared
        script = [python, str(pathlib.Path(__file__).with_name("_emlp.py")), json.dumps(sizes)]
        try:
            subprocess.run(install, check=True, capture_output=True, timeout=60 * MINUTES)
            done = subprocess.run(script, check=True, capture_output=True, text=True, timeout=60 * MINUTES)
        except (subprocess.SubprocessError, OSError) as error:
            print(f"EMLP: {error}", file=sys.stderr)
            return {"installed": False}
        return {"installed": True, **json.loads(done.stdout.splitlines()[-1])}


class Projected(eqx.Module):
    """A dense matrix of parameters, projected to the equivariant ones at each call: `Q Qᵀ w`, as EMLP does."""

    weight: jax.Array
    bias: jax.Array
    basis: jax.Array

    def __call__(self, x: jax.Array) -> jax.Array:
        basis = jax.lax.stop_gradient(self.basis)
        return (basis @ (basis.T @ self.weight)).reshape((len(x), -1)) @ x + self.bias


def tied(n: int, batch: int, rounds: int) -> dict[str, Any]:
    """One layer from `n` numbers to `n`: forward, and with the gradient of the parameters, at a batch."""
    found = {}
    for name, make in ACTIONS.items():
        X = make(n)
        ours = Equivariant(X, X, key=jr.key(0))
        basis = np.linalg.qr(hom(X, X).basis.reshape((ours.theta.size, -1)).T)[0]
        layers: dict[str, Any] = {
            "tied": ours,
            "dense": eqx.nn.Linear(n, n, key=jr.key(0)),
            "projected": Projected(ours.weight.ravel(), jnp.zeros(n), jnp.asarray(basis, jnp.float32)),
        }
        xs = jr.normal(jr.key(1), (batch, n))
        assert jnp.allclose(jax.vmap(ours)(xs), jax.vmap(layers["projected"])(xs), atol=1e-3)
        if name == "C_n":
            layers["convolution"] = _lowered(ours, n)
            assert jnp.allclose(jax.vmap(ours)(xs), _by_channels(layers["convolution"], xs), atol=1e-4)
        forward, both = (_entries(layers, xs, rounds, gradient=g) for g in (False, True))
        found[name] = {"forward": in_turn(forward), "both": in_turn(both)}
    return found


def _lowered(layer: Equivariant, n: int) -> Convolution:
    """The same circulant matrix as a convolution with a kernel as wide as the circle."""
    made = Convolution((n,), 1, 1, (n,), key=jr.key(0))
    kernel = layer.theta[made.orbits][None, None]
    assert isinstance(made, Convolution)
    return eqx.tree_at(lambda c: c.kernel, made, kernel)


def _by_channels(layer: Any, xs: jax.Array) -> jax.Array:
    return jax.vmap(layer)(xs[:, None])[:, 0] if isinstance(layer, Convolution) else jax.vmap(layer)(xs)


def _entries(layers: dict[str, Any], xs: jax.Array, rounds: int, *, gradient: bool) -> list[Entry]:
    entries = []
    for name, layer in layers.items():
        arrays, rest = eqx.partition(layer, eqx.is_inexact_array)
        run: Any = lambda arrays, xs, rest=rest: _by_channels(eqx.combine(arrays, rest), xs)
        slope: Any = jax.value_and_grad(lambda arrays, xs, run=run: loss(run(arrays, xs)))
        program = jax.jit(
            slope if gradient else run
        )  # as it is called in use: other ways to call cost more than the layer
        took = min(seconds(lambda p=program, a=arrays: p(a, xs))[0] for _ in range(5))
        calls = max(1, int(LONG / took))
        entries.append(Entry(name, lambda p=program, a=arrays, n=calls: _often(n, p, a, xs), rounds, 1 / calls))
    return entries


def _often(calls: int, program: Any, *given: Any) -> Any:
    """The last of many outputs. The others are let go: memory that is asked for anew each time would be measured."""
    for _ in range(calls):
        out = program(*given)
    return out
