"""kfac-jax at digits, in the environment that it is installed in: `python _kfac_jax.py '[0, 8, 30, 1]'`.

Prints the loss before each step and at the end, and the median of the milliseconds of a step.
"""

import json
import sys
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from sklearn.datasets import load_digits


def main() -> None:
    import kfac_jax

    seed, width, steps, damping = json.loads(sys.argv[1])
    data: Any = load_digits()
    pixels = data.images[:256].reshape(-1, 4, 2, 4, 2).mean((2, 4)).reshape(-1, 16) / 16
    batch = jnp.asarray(pixels), jnp.asarray(data.target[:256]), jnp.eye(10)[data.target[:256]]

    def layer(key: Any, n: int, m: int) -> Any:
        """The numbers that `eqx.nn.Linear` starts from."""
        draw = lambda key, shape: jax.random.uniform(key, shape, minval=-(n**-0.5), maxval=n**-0.5)
        one, two = jax.random.split(key)
        return draw(one, (n, m)), draw(two, (m,))

    def loss(params: Any, batch: Any) -> Any:
        (w, b), (v, c) = params
        scores = jnp.tanh(batch[0] @ w + b) @ v + c
        kfac_jax.register_softmax_cross_entropy_loss(scores, batch[1])
        return jnp.mean(jnp.log(jnp.sum(jnp.exp(scores), 1)) - jnp.sum(scores * batch[2], 1))

    optimiser = kfac_jax.Optimizer(
        value_and_grad_func=jax.value_and_grad(loss),
        l2_reg=0.0,
        use_adaptive_learning_rate=True,
        use_adaptive_momentum=True,
        use_adaptive_damping=True,
        initial_damping=damping,
        num_burnin_steps=0,
        multi_device=False,
    )
    key = jax.random.PRNGKey(seed)
    one, two = jax.random.split(key)
    params = [layer(one, 16, width), layer(two, width, 10)]
    state, losses, took = optimiser.init(params, key, batch), [], []
    for i in range(steps):
        began = time.perf_counter()
        params, state, told = optimiser.step(params, state, key, batch=batch, global_step_int=i)
        losses.append(float(told["loss"]))
        took.append(1e3 * (time.perf_counter() - began))
    print(json.dumps({"losses": [*losses, float(loss(params, batch))], "ms": float(np.median(took))}))


if __name__ == "__main__":
    main()
