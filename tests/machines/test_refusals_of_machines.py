"""What is no machine, state, input or automaton is refused with its shapes or name: a table."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from refused_calls import each, refused, table

import cdl
from cdl import (
    ana,
    Automaton,
    CdlError,
    choose,
    feedback,
    fold,
    follow,
    Fork,
    Leaf,
    MealyF,
    MooreF,
    pack,
    parallel,
    run,
    Seq,
    series,
    TreeF,
)
from cdl.errors import CarrierMismatch, ForeignLayer, PayloadMismatch, SignatureError, TreeTooLarge
from cdl.machines import as_mealy, delay, distinguish, respond, start, stateless, tabulate


CELL = eqx.nn.GRUCell(2, 6, key=jax.random.key(0))
LINEAR = eqx.nn.Linear(2, 2, key=jax.random.key(0))
BATCH = Seq(jnp.zeros((4, 7, 2)), jnp.array([7, 3, 1, 0]))
PARITY = Automaton([[0, 1], [1, 0]], [False, True])
WORD = jnp.zeros(3)
SIX, WEIGHT = jnp.zeros(6), jnp.ones((3, 3))


def mealy(h: Any) -> MealyF[Any, Any, Any]:
    return MealyF(lambda x: (CELL(x, h), CELL(x, h)))


def add(s: Any) -> MealyF[Any, Any, Any]:
    return MealyF(lambda x: (s + x, s + x))


def weighted(s: Any) -> MealyF[Any, Any, Any]:
    return MealyF(lambda i: (s, jnp.tanh(WEIGHT @ s + i)))


def halves(s: Any) -> Any:
    return choose(jnp.stack([s[0], s[1]]), Leaf(s[0]), Fork(0.5 * s, 0.5 * s))


def answering(layer: Any) -> Any:
    """A run of a machine that gives this of its state."""
    return run(lambda s: layer(s), 0.0, WORD)


def tabulated(*outputs: Any) -> Any:
    return tabulate(lambda s: MooreF(outputs[s], lambda i: 1 - s), 0, [0, 1])


@cdl.algebra
def wider(layer: cdl.ListF[Any, Any]) -> Any:
    return jnp.zeros(5) if isinstance(layer, cdl.Nil) else SIX


silent: Any = cdl.algebra(lambda layer: 0)

adder = stateless(lambda pair: (pair[0] + pair[1],) * 2)
put: Any = (
    as_mealy,
    feedback,
    lambda m: feedback(delay, m),
    lambda m: series(m, delay),
    lambda m: parallel(delay, m),
)


@table(
    # A step that is none of a coalgebra.
    (
        lambda: run(lambda s: MealyF(lambda i: (i, SIX)), jnp.zeros(5), WORD),
        CarrierMismatch,
        "f32[5] f32[6].",
    ),
    (lambda: answering(lambda s: MooreF(s, lambda i: i > 3)), CarrierMismatch, "f32[] bool[]"),
    (
        lambda: start(lambda s: MealyF(lambda i: (s, i)), 0.0).step(1.0)[1].step(True),
        CarrierMismatch,
        "bool[]",
    ),
    (lambda: answering(lambda s: MealyF(lambda i: s)), CarrierMismatch, "`step` `MealyF` pair"),
    (lambda: answering(lambda s: None), ForeignLayer, "`NoneType` `MealyF"),
    (
        lambda: answering(lambda s: MealyF(lambda i: ("yes", s))),
        PayloadMismatch,
        "answer 'yes' number",
    ),
    (lambda: run(add, "a word", WORD), PayloadMismatch, "state 'a word':"),
    (
        lambda: fold(wider, Seq(jnp.zeros((1, 2)), [2])),
        CarrierMismatch,
        "`wider` `Nil` f32[5], `Cons` f32[6]",
    ),
    (lambda: fold(silent, Seq(jnp.zeros((1, 2)), [2])), SignatureError, "`ListF[E,"),
    # States and inputs.
    (lambda: run(add, 0.0, BATCH), CdlError, "states leading"),
    (lambda: start(add, 0.0).out, CdlError, "Mealy"),
    (lambda: run(weighted, jnp.zeros(2), jnp.ones((5, 3))), TypeError, "dot_general"),
    (lambda: run(mealy, jnp.zeros((4, 6)), BATCH.values), TypeError, "time `Seq(values,"),
    (lambda: run(add, 0.0, jnp.ones((2, 3))), CdlError, "f32[] f32[3]. time `Seq(values,"),
    (lambda: run(CELL, SIX, jnp.zeros((7, 2))), CdlError, "`GRUCell` `lambda h: MooreF(h,"),
    (lambda: run(mealy, BATCH, jnp.zeros((4, 6))), CdlError, "`run(machine, state, inputs)`"),
    (lambda: run(mealy, SIX, BATCH), CdlError, "`jnp.broadcast_to(state, (4,"),
    (lambda: run(mealy, SIX, {"x": [1.0, 2.0]}), CdlError, "list `jnp.array([…])`"),
    (
        lambda: follow(halves, jnp.zeros((1, 4)), pack(TreeF, [Leaf(1.0)])),
        CdlError,
        "`follow(coalg, forest,",
    ),  # type: ignore[call-overload]
    # Machines put together.
    *each(
        (lambda x: 2 * x, jnp.tanh),
        lambda f: run(series(add, f), (0.0, ()), WORD),
        CdlError,
        "`stateless(f)`",
    ),
    (
        lambda: respond(ana(as_mealy(stateless(lambda x: x)))(()), [1]),
        CdlError,
        "`as_mealy` Moore `Stateless`",
    ),
    (lambda: run(feedback(adder), (), WORD), CdlError, "`Stateless` Mealy"),
    (
        lambda: run(feedback(adder, stateless(lambda x: x)), ((), ()), WORD),
        CdlError,
        "`g`, `Stateless`",
    ),
    (lambda: run(parallel(delay, adder), (0.0, ()), (WORD, WORD)), CdlError, "`MooreF` `MealyF`"),
    *each(put, lambda of: of(LINEAR), CdlError, "machine `Linear`"),
    *each(put[:2], lambda of: of(delay(0.0)), CdlError, "machine `Moore`"),
    *each(put[:2], lambda of: of(lambda: None), CdlError, "machine `<lambda>` state"),
    *each(
        ((1,), 3),
        lambda x: respond(ana(parallel(delay, delay))((0, 0)), [x]),
        CdlError,
        "`parallel` pair",
    ),
    # Tables.
    (
        lambda: tabulate(lambda n: MooreF(0, lambda i: n + 1), 0, [0], max_states=10),
        TreeTooLarge,
        "10 states 0;",
    ),
    (lambda: tabulated(1, "1"), CdlError, "output 1 '1'"),
    (lambda: run(Automaton([[0]], [2**40]), 0, np.array([0])), CdlError, "1099511627776 int32"),
    (lambda: run(Automaton([[0]], ["yes"]), 0, np.array([0])), CdlError, "<U3"),
    (lambda: Automaton([[0.0]], [1]), CdlError, "`next` float64[1, integer"),
    (lambda: Automaton(PARITY.next, [1, 2, 3]), CdlError, "`outputs` (3,): `next` (2,)"),
    (lambda: Automaton([[0, 1], [1, 2]], [1, 2]), CdlError, "`next` 2, 0 1"),
    (lambda: Automaton(PARITY.next, [[1, 2], [1]]), CdlError, "`outputs` rows"),
    (lambda: distinguish(PARITY, Automaton([[0, 0]], [[0, 0]])), CdlError, "Moore, Mealy,"),
    (lambda: run(PARITY, 0, np.array([0, 2])), CdlError, "letter 2: 2,"),
    (lambda: run(PARITY, 7, np.array([0, 1])), CdlError, "state 7:"),
)
def test_machines_refuse(call, error, words):
    refused(call, error, words)


def test_run_takes_a_cell_as_errors_tell_to_write_it():
    out, last = run(lambda h: MooreF(h, lambda x: CELL(x, h)), SIX, jnp.ones((3, 2)))
    state = SIX
    for _ in range(3):
        state = CELL(jnp.ones(2), state)
    assert jnp.allclose(last, state, atol=1e-6)
    assert out.shape == (4, 6)
    assert run(mealy, jnp.broadcast_to(SIX, (4, 6)), BATCH)[1].shape == (4, 6)
