"""Which networks keep lengths, as they are initialised? Prints two tables.

The first has the isometry defect of networks of 1, 4 and 16 layers, levels of a tree, or steps of a sequence, as the
means over seeds: 0 where the Jacobian keeps all lengths. The second has residual linear blocks beside the closed form.
"""

import argparse
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from cdl.metric import isometry_defect, residual_isometry_defect
from page_tables.markdown import spread
from page_tables.results import arguments, Program, Table

from ._nets import Made, NETS


DEPTHS = 1, 4, 16
PROBES = 32
SCALES = {
    "0, 1, 4": (0.0, 1.0, 4),
    "0, 1, 12": (0.0, 1.0, 12),
    "1, 1, 12": (1.0, 1.0, 12),
    "√½, √½, 12": (0.5**0.5, 0.5**0.5, 12),
    "√(11/12), √(1/12), 12": ((11 / 12) ** 0.5, (1 / 12) ** 0.5, 12),
    "1, 0.1, 12": (1.0, 0.1, 12),
}


def defects(made: Made, depth: int, seeds: int) -> Any:
    """Of one input and one initialisation for each seed."""

    def one(key: Any) -> Any:
        net, x = made(key, depth)
        return isometry_defect(net, x, jr.fold_in(key, 3), probes=PROBES)

    return jax.jit(jax.vmap(one))(jr.split(jr.key(depth), seeds))


def linear(a: float, b: float, depth: int, width: int, key: Any) -> Any:
    """The defect of residual linear blocks."""
    weights = jr.normal(key, (depth, width, width)) / width**0.5
    step = lambda h, W: (a * h + b * W @ h, None)
    return isometry_defect(lambda x: jax.lax.scan(step, x, weights)[0], jnp.ones(width))


def measured(options: argparse.Namespace) -> dict[str, Table]:
    """The two tables."""
    with jax.enable_x64(True):
        rows = [[name, *(_shown(defects(net, d, options.seeds)) for d in DEPTHS)] for name, net in NETS.items()]
        forms = []
        for name, (a, b, depth) in SCALES.items():
            run: Any = jax.jit(lambda key, a=a, b=b, d=depth: linear(a, b, d, options.width, key))
            found = [float(run(jr.key(seed))) for seed in range(options.draws)]
            forms.append([name, f"{residual_isometry_defect(a, b, depth):.3g}", spread(found, 3)])
    return {
        "metric-lengths": Table(["the defect `δ` of a network", *(f"depth {d}" for d in DEPTHS)], rows),
        "metric-closed-forms": Table(["`a`, `b`, `L`", "closed form", "measured"], forms),
    }


def _shown(values: Any) -> str:
    found = np.asarray(values, float)
    if not np.isfinite(found).all():
        return "not finite"
    return "0" if found.max() < 1e-9 else spread([float(x) for x in found], 2)


PROGRAM = Program("metric.lengths", arguments(__doc__, seeds=5, width=300, draws=3), measured)

if __name__ == "__main__":
    print(PROGRAM.main())
