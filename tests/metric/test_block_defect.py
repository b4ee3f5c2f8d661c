"""A module's own gradient beside that of the whole; no architecture is told apart by the pentagon and the triangle."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from cdl import laws
from cdl.categories import PARA
from cdl.metric import block_defect, costate_losses, costates
from cdl.para import Para


class Layer(eqx.Module):
    weight: jax.Array
    smooth: bool = eqx.field(static=True)

    def __call__(self, x):
        y = x @ self.weight.T
        return jnp.tanh(y) if self.smooth else y


def layers(seed):
    first, second = jr.split(jr.key(seed))
    return Layer(jr.normal(first, (5, 4)) / 2, True), Layer(jr.normal(second, (3, 5)) / 5**0.5, False)


KEYS = jr.split(jr.key(9), 2)


def data():
    return jr.normal(KEYS[0], (8, 4)), jr.normal(KEYS[1], (8, 3))


def error(y):
    return lambda out: jnp.mean((out - y) ** 2)


def step(losses, modules, rate=0.1):
    """Each module by its own loss, at once."""
    grads = [eqx.filter_grad(loss)(modules)[i] for i, loss in enumerate(losses)]
    return tuple(jax.tree.map(lambda p, g: p - rate * g, m, g) for m, g in zip(modules, grads, strict=True))


@eqx.filter_jit
def runs(modules, head):
    """End to end, by costates, by costates of the step before, and greedily: the parameters of each after one step and
    after twenty, flat; and the defects at the start of costates and of the greedy losses."""
    x, y = data()
    loss = error(y)
    whole = lambda m: loss(m[1](m[0](x)))
    greedy = [lambda m: loss(m[0](x) @ head.T), lambda m: loss(m[1](jax.lax.stop_gradient(m[0](x))))]

    def advance(carry, _):
        ends, late = carry
        now = ends["delayed"]
        fresh = costates(ends["costates"], loss, x)
        after = {
            "end to end": step([whole, whole], ends["end to end"]),
            "costates": step(costate_losses(fresh, x), ends["costates"]),
            "delayed": step(costate_losses(late, x), now),
            "greedy": step(greedy, ends["greedy"]),
        }
        flat = {name: jnp.concatenate([p.ravel() for p in jax.tree.leaves(m)]) for name, m in after.items()}
        return (after, costates(now, loss, x)), flat

    ends = dict.fromkeys(["end to end", "costates", "delayed", "greedy"], modules)
    path = jax.lax.scan(advance, (ends, costates(modules, loss, x)), length=20)[1]
    exact = block_defect(costate_losses(costates(modules, loss, x), x), whole, modules)
    first, last = ({name: flat[place] for name, flat in path.items()} for place in (0, -1))
    return first, last, exact, block_defect(greedy, whole, modules)


def trained(seed):
    return runs(layers(seed), jr.normal(jr.key(seed + 100), (3, 5)) / 5**0.5)


def far(flat, name):
    return float(jnp.linalg.norm(flat[name] - flat["end to end"]) / jnp.linalg.norm(flat["end to end"]))


def test_from_fifty_initialisations_modules_train_as_the_whole_by_costates_of_the_same_step_alone():
    for seed in range(50):
        first, flat, exact, greedy = trained(seed)
        assert jnp.array_equal(first["end to end"], first["costates"])
        assert exact.tolist() == [0.0, 0.0]
        assert far(flat, "costates") < 1e-12
        assert 1e-3 < far(flat, "delayed") < 0.05
        assert 0.5 < greedy[0] < 4
        assert greedy[1] == 0
        assert far(flat, "greedy") > 2 * far(flat, "delayed")


class Times(eqx.Module):
    by: jax.Array

    def __call__(self, x):
        return self.by * x


def test_two_numbers_in_a_row_have_one_gradient_end_to_end_and_another_by_themselves():
    """`θ₂ (z − t) x = −3.068`, and `(y − t₁) x = 0.8`: the defect is their distance over the first."""
    modules = Times(jnp.array(0.7)), Times(jnp.array(1.3))
    whole = lambda m: 0.5 * (m[1](m[0](2.0)) - 3.0) ** 2
    own = lambda m: 0.5 * (m[0](2.0) - 1.0) ** 2
    assert float(eqx.filter_grad(whole)(modules)[0].by) == pytest.approx(-3.068, abs=1e-12)
    assert float(eqx.filter_grad(own)(modules)[0].by) == pytest.approx(0.8, abs=1e-12)
    found = block_defect([own, whole], whole, modules)
    assert np.allclose(found, [(0.8 + 3.068) / 3.068, 0], atol=1e-12, rtol=0)
    for f in (Para(0.7, lambda p, x: p * x), Para(1.3, lambda p, x: p * x)):
        laws.bicategory(f, f, f, f, 2.0)  # and still the pentagon and the triangle commute


class Attention(eqx.Module):
    weight: jax.Array

    def __call__(self, x):
        scores = jnp.outer(x, self.weight @ x)
        return jax.nn.softmax(scores, axis=-1) @ x


def candidates():
    """Good and bad: badly scaled, and that lose their input."""
    keys = iter(jr.split(jr.key(0), 8))
    linear = lambda: eqx.nn.Linear(3, 3, key=next(keys))
    return {
        "linear": linear(),
        "exploding": Times(jnp.full(3, 1e3)),
        "constant": Times(jnp.zeros(3)),
        "attention": Attention(jr.normal(next(keys), (3, 3))),
        "mlp": eqx.nn.MLP(3, 3, 4, 1, key=next(keys)),
    }


def test_the_pentagon_and_the_triangle_commute_for_every_architecture_and_prune_none():
    """A theorem about composition: what is composed does not matter. So they are no criterion to search by."""
    with jax.enable_x64(True):
        nets = {name: Para.of(net) for name, net in candidates().items()}
        x, pruned = jnp.array([0.3, -0.2, 0.5]), []
        for (name, f), g in zip(nets.items(), [*nets.values()][1:] + [*nets.values()][:1], strict=True):
            try:
                laws.bicategory(f, g, f, g, x, tolerance=1e-9)
            except ValueError:
                pruned.append(name)
        assert pruned == []
        f, g, h = (PARA.arrow(nets[name], x) for name in ("exploding", "attention", "mlp"))
        laws.symmetric_monoidal(PARA, f, g, h, tolerance=1e-9)


def test_where_the_whole_has_no_gradient_a_module_has_all_of_it_or_none():
    modules = (Times(jnp.array(2.0)), Times(jnp.array(0.0)))
    whole = lambda m: m[1](m[0](3.0))
    own = lambda m: m[0](3.0)
    assert block_defect([own, whole], whole, modules).tolist() == [np.inf, 0.0]
    assert block_defect([whole, whole], whole, modules).tolist() == [0.0, 0.0]


def test_whole_numbers_have_no_costate():
    pair = (lambda x: (x, 3), lambda both: both[0] * both[1])
    first = costate_losses(costates(pair, jnp.sum, jnp.ones(2)), jnp.ones(2))[0]
    assert first(pair) == 6.0
