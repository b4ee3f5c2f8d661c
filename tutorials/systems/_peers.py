"""Peers: cells with a state, each of which sees a part of the input and hears what the diagram sends it.

| the mathematics                                          | here                                                    |
| -------------------------------------------------------- | ------------------------------------------------------- |
| `sₖ′ = tanh(Wₖ sₖ + Uₖ xₖ + Qₖ hₖ + bₖ)`                 | `Peer`: a Moore machine, `k` of them                    |
| `mₖ = tanh(Pₖ sₖ)`                                       | what it says                                            |
| `hₖ = Σⱼ Aₖⱼ mⱼ`                                         | what it hears: the diagram                              |
| `A = 1`                                                  | no talk: each peer hears itself, a layer inside it      |
| `A = (1 − δ) / (k − 1)`                                  | talk: each hears the mean of the others                 |
| `A = softmax(m mᵀ)`                                      | talk that rewires: each hears those who say what it says |

The matrix is not learnt, so that all three have the same parameters. One readout is linear in the last states.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float

from cdl import MooreF, run
from cdl.system import box, rewire, rewiring


Mixing = Callable[[Float[Array, "peers width"]], Float[Array, "peers peers"]]


class Peer(eqx.Module):
    """One cell: what it says is a function of its state, and it hears before the next step."""

    inner: eqx.nn.Linear
    seen: eqx.nn.Linear
    heard: eqx.nn.Linear
    says: eqx.nn.Linear

    def __init__(self, width: int, *, key: Array) -> None:
        keys = jr.split(key, 4)
        self.inner = eqx.nn.Linear(width, width, key=keys[0])
        self.seen = eqx.nn.Linear("scalar", width, use_bias=False, key=keys[1])
        self.heard = eqx.nn.Linear(width, width, use_bias=False, key=keys[2])
        self.says = eqx.nn.Linear(width, width, use_bias=False, key=keys[3])

    def __call__(self, state: Float[Array, " width"]) -> MooreF[Any, Any, Any]:
        said = jnp.tanh(self.says(state))

        def step(i: Any) -> Array:
            return jnp.tanh(self.inner(state) + self.seen(i["sees"]) + self.heard(i["hears"]))

        return MooreF({"says": said, "state": state}, step)


class Peers(eqx.Module):
    """Peers in a diagram, and a readout: from `float[time, peers]` to a number."""

    peers: list[Peer]
    readout: eqx.nn.Linear
    mixing: Mixing = eqx.field(static=True)

    def __init__(self, many: int, width: int, mixing: Mixing, *, key: Array) -> None:
        *keys, last = jr.split(key, many + 1)
        self.peers = [Peer(width, key=key) for key in keys]
        self.readout = eqx.nn.Linear(many * width, "scalar", key=last)
        self.mixing = mixing

    def __call__(self, xs: Float[Array, "time peers"]) -> Float[Array, ""]:
        width = self.peers[0].inner.out_features
        names = [f"p{k}" for k in range(len(self.peers))]
        vector, start = {"says": jnp.zeros(width), "state": jnp.zeros(width)}, jnp.zeros(width)
        ports = {"sees": float, "hears": jnp.zeros(width)}
        cells = {n: box(peer, start, inputs=ports, outputs=vector) for n, peer in zip(names, self.peers, strict=True)}

        def back(_: Any, i: Any, d: Any) -> Any:
            said = jnp.stack([i[n]["says"] for n in names])
            heard = self.mixing(said) @ said
            return {n: {"sees": d["sees"][k], "hears": heard[k]} for k, n in enumerate(names)}

        shown = {"states": jnp.zeros(len(names) * width)}
        together = lambda _, i: {"states": jnp.concatenate([i[n]["state"] for n in names])}
        diagram = rewiring(together, back, lambda s, i, d: s, ())
        system = rewire(diagram, cells, shown, inputs={"sees": jnp.zeros(len(names))})
        states, _ = run(system, system.state, {"sees": xs})
        return self.readout(states["states"][-1])


def alone(said: Array) -> Array:
    """Each hears itself."""
    return jnp.eye(len(said))


def others(said: Array) -> Array:
    """Each hears the mean of the others."""
    return (1 - jnp.eye(len(said))) / (len(said) - 1)


def alike(said: Array) -> Array:
    """Each hears those who say what it says: who hears whom depends on what is said."""
    return jax.nn.softmax(said @ said.T, axis=1)
