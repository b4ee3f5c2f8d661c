"""Natural gradient: thirty steps beside kfac-jax, and a product with the Fisher metric beside a gradient."""

import json
import pathlib
import subprocess
import sys
import tempfile
import time
import venv
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax

from cdl.metric import Categorical, Cg, fisher, LevenbergMarquardt, natural, negative_log_likelihood
from metric._digits import digits, network, pixels
from metric.descent import trained

from ._clock import compiled, Entry, in_turn


CALLS = 5  # of a program, in one measurement
MINUTES = 6  # that an installation may take
DAMPINGS = (1.0, 0.1, 0.01)  # that kfac-jax may begin with: the best counts


def descents(seeds: int, width: int, steps: int) -> dict[str, Any]:
    """The losses of each way and seed, and milliseconds of a step."""
    found: dict[str, Any] = {}
    for seed in range(seeds):
        problem = digits(seed, width)
        ways = {
            "CG": natural(problem.model, 0.5, damping=1e-2, kl=0.15, how=Cg(10)),
            "Levenberg–Marquardt": natural(problem.model, damping=LevenbergMarquardt(), how=Cg(30)),
            "Adam": optax.adam(0.1),
        }
        for name, tx in ways.items():
            losses, took = trained(problem, tx, steps)
            found.setdefault(name, []).append({"losses": losses.tolist(), "ms": took})
        found.setdefault("K-FAC", []).append(_kfac(seed, width, steps))
    found["kfac-jax"] = _kfac_jax(seeds, width, steps)
    return found


def _kfac(seed: int, width: int, steps: int) -> dict[str, Any]:
    x, y = pixels()
    model = lambda net: Categorical(jax.vmap(net)(x))
    loss = lambda net: negative_log_likelihood(model(net), y)
    tx: Any = natural(model, 0.5, metric="kfac", damping=1e-2, kl=0.15)

    @eqx.filter_jit
    def step(net: Any, state: Any, key: Any) -> Any:
        value, g = eqx.filter_value_and_grad(loss)(net)
        change, state = tx.update(g, state, net, key=key)
        return eqx.apply_updates(net, change), state, value

    net = network(seed, width)
    state, losses, keys = tx.init(eqx.filter(net, eqx.is_inexact_array)), [], jr.split(jr.key(seed), steps)
    jax.block_until_ready(step(net, state, keys[0])[2])
    began = time.perf_counter()
    for key in keys:
        net, state, value = step(net, state, key)
        losses.append(float(value))
    took = (time.perf_counter() - began) / steps * 1e3
    return {"losses": [*losses, float(loss(net))], "ms": took}


def _kfac_jax(seeds: int, width: int, steps: int) -> list[dict[str, Any]] | None:
    """The same of kfac-jax, in a virtual environment that is made for it and thrown away; none, if that cannot be."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(pathlib.Path(folder) / "bin" / "python")
        script = str(pathlib.Path(__file__).with_name("_kfac_jax.py"))
        # kfac-jax 0.0.8 unpacks two values where newer versions of JAX give one
        install = [python, "-m", "pip", "install", "--quiet", "kfac-jax", "jax<0.8", "scikit-learn"]
        found = []
        try:
            subprocess.run(install, check=True, capture_output=True, timeout=60 * MINUTES)
            for seed in range(seeds):
                tried = []
                for damping in DAMPINGS:
                    command = [python, script, json.dumps([seed, width, steps, damping])]
                    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60 * MINUTES)
                    tried.append(json.loads(done.stdout.splitlines()[-1]))
                found.append(min(tried, key=lambda run: float(np.nan_to_num(run["losses"][-1], nan=np.inf))))
        except (subprocess.SubprocessError, OSError) as error:
            print(f"kfac-jax: {error}", file=sys.stderr)
            return None
        return found


def product(width: int, rounds: int) -> dict[str, Any]:
    """A product with the Fisher metric of a network of three hidden layers, at a batch of 256, beside a gradient."""
    x, y = jr.normal(jr.key(0), (256, 64)), jnp.arange(256) % 10
    params, rest = eqx.partition(eqx.nn.MLP(64, 10, width, 3, key=jr.key(1)), eqx.is_inexact_array)

    def model(params: Any) -> Categorical:
        return Categorical(jax.vmap(eqx.combine(params, rest))(x))

    ways = {
        "gradient": jax.grad(lambda p: negative_log_likelihood(model(p), y)),
        "product": lambda p: fisher(model, p).mv(p),
    }
    programs = {name: compiled(f, params)[1] for name, f in ways.items()}
    entries = [Entry(n, lambda p=p: [p(params) for _ in range(CALLS)], rounds, 1 / CALLS) for n, p in programs.items()]
    return {"times": in_turn(entries)}
