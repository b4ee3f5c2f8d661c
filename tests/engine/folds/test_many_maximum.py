"""The gradient of `Many.max` is not lost where XLA computes a number twice, once with a fused multiply-add.

The programs are compiled as a user's are: with the options of this suite XLA does not compute such numbers twice.
"""

from typing import Any, Generic, Never, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from cdl import Algebra, Base, fold, Many, pack
from cdl.compiled import Levels


USUAL = {
    "xla_backend_optimization_level": 3,
    "xla_llvm_disable_expensive_passes": False,
    "xla_cpu_use_fusion_emitters": True,
}
X = TypeVar("X", covariant=True)


class Scaled:
    """Trees whose nodes have a number, and any number of children."""


class Tip(Base[Scaled, Never]):
    value: float


class Knot(Base[Scaled, X], Generic[X]):
    scale: float
    parts: Many[X]


ScaledF = Union[Tip, Knot[X]]


class Greatest(Algebra[ScaledF[jax.Array], jax.Array]):
    tip: jax.Array
    weight: jax.Array
    bias: jax.Array
    how: str = eqx.field(static=True)

    def __call__(self, layer: ScaledF[jax.Array]) -> jax.Array:
        match layer:
            case Tip(value):
                return self.tip * value
            case Knot(scale, parts):
                parts = parts.map(lambda x: self.weight @ x * scale + self.bias)
                return getattr(parts, self.how)(jnp.zeros_like(self.bias))


def gradient(f: Any, x: Any) -> Any:
    return eqx.filter_jit(eqx.filter_grad(f), compiler_options=USUAL)(x)


@pytest.mark.parametrize("how", ["max", "min"])
@pytest.mark.parametrize("width", [3])
@pytest.mark.parametrize("double", [False, True])
def test_many_max_gives_all_of_its_gradient_to_the_greatest(how, width, double, getkey):
    rng = np.random.default_rng(width)
    with jax.enable_x64(double):
        net = Greatest(*(jr.normal(getkey(), s) for s in ((width,), (width, width), (width,))), how)
        tips = lambda: Many([Tip(float(rng.normal())) for _ in range(rng.integers(1, 6))])
        forest = pack(ScaledF, [Knot(float(rng.normal()), tips()) for _ in range(400)])
        found = gradient(lambda net: fold(net, forest).sum(), net)
    assert found.bias.tolist() == [400.0] * width


@pytest.mark.parametrize("how", ["max", "min"])
def test_many_max_has_its_second_derivative(how):
    net = Greatest(jnp.array([0.5]), jnp.ones((1, 1)), jnp.zeros(1), how)
    forest = pack(ScaledF, [Knot(1.0, Many([Tip(1.0), Tip(3.0), Tip(2.0)]))])

    def squared(tip: jax.Array, forward: bool = False) -> jax.Array:
        alg = eqx.tree_at(lambda net: net.tip, net, tip)
        return (fold(alg, forest, how=Levels(forward=forward)) ** 2).sum()

    wanted = 2 * {"max": 3.0, "min": 1.0}[how] ** 2
    assert jax.hessian(squared)(net.tip).item() == wanted
    assert jax.jacfwd(jax.jacfwd(lambda tip: squared(tip, forward=True)))(net.tip).item() == wanted
