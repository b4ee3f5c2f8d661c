"""The derivative of `run`, in both modes, against that of the definition; and where its products are made."""

import itertools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from agreement import close
from few import few
from programs import equations, primitives

from cdl import MealyF, MooreF, run, Seq
from cdl._engine.jaxprs._parts import Part, trace
from cdl._engine.jaxprs._turned import turned


SIZE, READS = 3, 2


class Net(eqx.Module):
    """A machine with a step of a certain kind, on a state of real numbers and a count."""

    read: jax.Array
    turn: jax.Array
    kind: str = eqx.field(static=True)
    moore: bool = eqx.field(static=True)

    def __call__(self, state: Any, *, key: Any = None) -> Any:
        hidden, count = state

        def after(x: Any) -> Any:
            noise = 0.0 if key is None else jr.normal(key, (SIZE,), x.dtype)
            return KINDS[self.kind](self, hidden, x) + noise, count + 1

        def answer(x: Any) -> Any:
            new = after(x)
            return {"sum": jnp.sum(new[0] * hidden), "count": new[1], "input": x}, new

        return MooreF({"state": hidden**2, "count": count}, after) if self.moore else MealyF(answer)


def cell(net: Net, h: Any, x: Any) -> Any:
    return jnp.tanh(net.turn @ h + net.read @ x)


def looped(net: Net, h: Any, x: Any) -> Any:
    return jax.lax.fori_loop(0, 2, lambda _, s: cell(net, s, x), h)


def chosen(net: Net, h: Any, x: Any) -> Any:
    return jax.lax.cond(x[0] > 0, lambda h: cell(net, h, x), lambda h: h * jnp.sum(net.turn), h)


def divided(net: Net, h: Any, x: Any) -> Any:
    return cell(net, h, x) + 1e-3 / x[0] + eqx.error_if(h, x[0] > 1e9, "too large")


KINDS = {
    "cell": cell,
    "looped": looped,
    "chosen": chosen,
    "divided": divided,
    "still": lambda net, h, x: h,
}


def case(kind: str, moore: bool, lengths: list[int], time: int, seed: int) -> tuple[Any, ...]:
    keys = iter(jr.split(jr.key(seed), 5))
    net = Net(jr.normal(next(keys), (SIZE, READS)), 0.5 * jr.normal(next(keys), (SIZE, SIZE)), kind, moore)
    states = jr.normal(next(keys), (len(lengths), SIZE)), jnp.zeros(len(lengths), jnp.int32)
    inputs = 1 + jr.uniform(next(keys), (len(lengths), time, READS))
    past = np.arange(time) >= np.array(lengths)[:, None]
    return net, states, jnp.where(past[..., None], jnp.nan, inputs)


def by_definition(net: Any, states: Any, inputs: Any, lengths: list[int], key: Any = None) -> Any:
    """The outputs and states of each sequence, a step at a time, by what is real; and the last states."""
    found = []
    for b, length in enumerate(lengths):
        keys = None if key is None else jr.fold_in(key, b)
        state = jax.tree.map(lambda s: s[b], states)  # noqa: B023
        outputs, every = [], [state]
        for t in range(length + 1):
            layer = net(state, key=None if key is None else jr.fold_in(keys, t))
            if net.moore:
                outputs.append(layer.out)
            if t < length:
                after = layer.step(inputs[b, t])
                if not net.moore:
                    out, after = after
                    outputs.append(out)
                state = after
                every.append(state)
        found.append((outputs, every, state))
    return [x for x in jax.tree.leaves(found) if jnp.issubdtype(x.dtype, jnp.inexact)]


def as_run(net: Any, states: Any, inputs: Any, lengths: list[int], key: Any = None) -> Any:
    """The same by `run`, taken apart."""
    outputs, last, every = run(net, states, Seq(inputs, lengths), states=True, key=key)
    row: Any = lambda tree, b, t: jax.tree.map(lambda x: x[b, t], tree)
    found = []
    for b, length in enumerate(lengths):
        answers = [row(outputs.values, b, t) for t in range(length + net.moore)]
        found.append((answers, [row(every.values, b, t) for t in range(length + 1)]))
        found[-1] += (jax.tree.map(lambda x: x[b], last),)  # noqa: B023
    return [x for x in jax.tree.leaves(found) if jnp.issubdtype(x.dtype, jnp.inexact)]


def both(kind: str, moore: bool, lengths: list[int], time: int, seed: int, keyed: bool) -> None:
    """Value, gradient and tangent of a random linear function, of `run` and of the definition."""
    net, (hidden, count), inputs = case(kind, moore, lengths, time, seed)
    key = jr.key(seed) if keyed else None
    dynamic, static = eqx.partition(net, eqx.is_array)

    def of(which: Any) -> Any:
        def total(dynamic: Any, hidden: Any, inputs: Any) -> Any:
            found = which(eqx.combine(dynamic, static), (hidden, count), inputs, lengths, key)
            return sum(jnp.sum(jnp.cos(i + jnp.arange(x.size)) * x.reshape(-1)) for i, x in enumerate(found))

        return total

    given = dynamic, hidden, inputs
    moved = jax.tree.map(lambda x: jnp.cos(jnp.arange(x.size, dtype=x.dtype)).reshape(x.shape), given)
    moved = (*moved[:2], jnp.where(jnp.isnan(inputs), 0, moved[2]))
    for derivative in (jax.value_and_grad, lambda f, argnums: lambda *x: jax.jvp(f, x, moved)):
        found, wanted = (derivative(of(w), argnums=(0, 1, 2))(*given) for w in (as_run, by_definition))
        close(found, wanted, 1e-9)


@pytest.mark.parametrize(("kind", "moore"), few(itertools.product(KINDS, (False, True)), 0, 2, 5, 6, 9))
def test_both_modes_give_the_derivative_of_the_definition(kind, moore):
    with jax.enable_x64(True):
        both(kind, moore, [2, 0, 3], 4, 0, keyed=kind == "cell")


@pytest.mark.parametrize(
    ("lengths", "time", "moore", "keyed"),
    [
        ([0], 0, False, False),
        ([0, 0], 1, True, True),
        ([3], 3, False, True),
        ([1, 4, 1], 4, True, False),
    ],
    ids=str,
)
def test_lengths_of_any_kind(lengths, time, moore, keyed):
    with jax.enable_x64(True):
        both("cell", moore, lengths, time, len(lengths), keyed)


def test_run_takes_steps_that_are_not_whole_blocks():
    time = 67
    with jax.enable_x64(True):
        net, states, inputs = case("cell", False, [time], time, 1)

        def by_scan(net: Any) -> Any:
            step = lambda s, x: net(s).step(x)[::-1]
            return jax.lax.scan(step, jax.tree.map(lambda s: s[0], states), inputs[0])[1]["sum"]

        by_run = lambda net: run(net, states, Seq(inputs, [time]))[0].values["sum"][0]
        of = lambda which: eqx.filter_value_and_grad(lambda n: jnp.sum(jnp.cos(jnp.arange(time)) * which(n)))(net)
        close(of(by_run), of(by_scan), 1e-9)


@pytest.mark.slow
def test_higher_derivatives():
    with jax.enable_x64(True):
        net, states, inputs = case("cell", False, [3, 2], 3, 2)

        def total(which: Any, scale: Any) -> Any:
            scaled = eqx.tree_at(lambda n: n.turn, net, scale * net.turn)
            return sum(jnp.sum(x**2) for x in which(scaled, states, inputs, [3, 2]))

        wanted = jax.hessian(lambda s: total(by_definition, s))(1.0)
        for derivative in (
            jax.hessian,
            lambda f: jax.jacfwd(jax.jacfwd(f)),
            lambda f: jax.grad(jax.grad(f)),
        ):
            close(derivative(lambda s: total(as_run, s))(1.0), wanted, 1e-8)


@pytest.mark.parametrize(
    ("step", "slope"),
    [
        (lambda s: MealyF(lambda i: (2 * i, s + 1)), 2.0),
        (lambda s: MealyF(lambda i: (s, jnp.sign(i))), 0.0),
        (lambda s: MooreF(s, jax.lax.stop_gradient), 0.0),
    ],
    ids=["a count", "a sign", "a state that stops gradients"],
)
def test_a_step_whose_derivative_reads_nothing_has_one(step, slope):
    total = lambda s, xs: sum(x.sum() for x in run(step, s, xs))  # of the outputs, and of the last state
    found = jax.grad(total, (0, 1))(jnp.array(0.5), jnp.ones(70))  # a block of steps, and some more
    close(found, (jnp.array(1.0), jnp.full(70, slope)), 0.0)


@jax.custom_vjp
def tenfold(w: Any, x: Any) -> Any:
    return jnp.sin(w * x)


tenfold.defvjp(lambda w, x: (tenfold(w, x), (w, x)), lambda r, g: (10 * g * r[1], g * r[0]))


def test_a_reverse_rule_in_a_step_is_used():
    machine = lambda w: lambda s: MealyF(lambda x: (s, tenfold(w, s) + x))
    found = jax.grad(lambda w: jnp.sum(run(machine(w), 2.0, jnp.ones(2))[0]))(0.5)
    assert found == 10 * 2.0  # of the second output, `tenfold(w, 2) + 1`


def test_a_product_with_a_vector_keeps_what_it_is_asked_for():
    product = lambda w, x: [jnp.matmul(w, x, precision=("default", "highest"), preferred_element_type=jnp.float32)]
    part = turned(Part(trace(product, jnp.ones((3, 2), jnp.bfloat16), jnp.ones(2, jnp.bfloat16))[0].jaxpr, 1))
    (eqn,) = (e for e in equations(part.jaxpr) if e.primitive.name == "dot_general")
    assert [v.aval.shape for v in eqn.invars] == [(2,), (3, 2)]
    assert [str(p) for p in eqn.params["precision"]] == ["HIGHEST", "DEFAULT"]
    assert eqn.outvars[0].aval.dtype == jnp.float32


def test_what_a_step_prints_is_printed_under_a_gradient_too(capfd):
    def shown(state: Any) -> Any:
        def step(x: Any) -> Any:
            jax.debug.print("a step {x}", x=x)
            return state * x, state * x

        return MealyF(step)

    jax.grad(lambda x: jnp.sum(run(shown, 1.0, x)[0]))(jnp.ones(3)).block_until_ready()
    jax.effects_barrier()
    assert capfd.readouterr().out.count("a step") == 3


def test_no_gradient_of_a_weight_is_made_at_each_step():
    """The products in the innermost loops are two forward, and backward the one through the state."""
    net, states, inputs = case("cell", False, [64, 64], 64, 5)
    slope = eqx.filter_grad(lambda n: jnp.sum(run(n, states, Seq(inputs, [64, 64]))[1][0]))
    program = jax.make_jaxpr(lambda n: slope(n).turn)(net)
    loops = [e.params["jaxpr"] for e in equations(program) if e.primitive.name == "scan"]
    inner = [primitives(loop) for loop in loops if not primitives(loop)["scan"]]
    assert sorted(p["dot_general"] for p in inner if p["dot_general"]) == [1, 2]
