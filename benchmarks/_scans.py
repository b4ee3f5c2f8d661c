"""The ways to bracket a product, at several lengths: which one is the fastest here?"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr

import cdl
from cdl._engine.lists._monoid import operations
from cdl.compiled import Bracketing

from ._clock import compiled, Entry, in_turn
from ._problems import loss


MATRIX = 64
WAYS = ("scan", "associative", "chunked", "halving")


def scans(name: str, length: int, rounds: int) -> dict[str, Any]:
    """All prefixes, or the product of all alone, forward and with the elements' gradient."""
    keys = jr.split(jr.key(0))
    if name == "max-plus, total":
        monoid: Any = cdl.monoids.max_plus(3)
        values: Any = jr.normal(keys[0], (1, length, 3, 3))
    elif name == "max-plus":
        monoid, values = cdl.monoids.max_plus(3), jr.normal(keys[0], (1, length, 3, 3))
    elif name.startswith("matrices"):
        monoid, values = cdl.monoids.matrices(MATRIX), jnp.linalg.qr(jr.normal(keys[0], (1, length, MATRIX, MATRIX)))[0]
    else:
        shape = (1, length, 64)
        monoid = cdl.monoids.linear_recurrence((64,))
        values = (jr.uniform(keys[0], shape), jr.normal(keys[1], shape))
    total = name.endswith("total")
    seq = cdl.Seq(values, [length])

    def run(values: Any, how: str) -> Any:
        data = eqx.tree_at(lambda s: s.values, seq, values)
        if total:
            return cdl.fold(monoid, data, how=how and Bracketing(how))
        return jax.tree.leaves(cdl.annotate(monoid, data, how=how and Bracketing(how)).values)[-1]

    forward, both = [], []
    for how in WAYS if total else WAYS[:3]:
        f = lambda values, how=how: run(values, how)
        g = jax.value_and_grad(lambda values, how=how: loss(run(values, how)))
        for made, entries in ((f, forward), (g, both)):
            _, program = compiled(made, values)
            entries.append(Entry(how, lambda p=program: p(values), rounds))
    one = forward[0].run()
    for other in forward[1:]:
        assert jnp.allclose(one, other.run(), rtol=1e-3, atol=1e-3 * float(jnp.abs(one).max())), other.name
    cost = operations(monoid.combine, jax.tree.map(lambda x: x[0, 0], values))
    return {"forward": in_turn(forward), "both": in_turn(both), "operations": cost}
