"""Machines in series, in parallel and in loops are machines, and obey their laws: exactly, on finite machines."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from agreement import close, differentiated
from hypothesis import given, settings, strategies as st
from test_automaton import answers, automata

from cdl import ana, feedback, MealyF, MooreF, parallel, run, series
from cdl.machines import as_mealy, bisimilar, delay, respond, stateless, tabulate


WORDS = st.lists(st.integers(0, 1), max_size=6)


class Plain:
    """An automaton on Python's numbers, whose states hash: to be tabulated again."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __call__(self, s: int) -> Any:
        t = self.table
        after = lambda i: int(t.next[s, i])
        return MealyF(lambda i: (int(t.outputs[s, i]), after(i))) if t.is_mealy else MooreF(int(t.outputs[s]), after)


def table(machine: Any, start: Any, letters: Any = (0, 1)) -> Any:
    return tabulate(machine, start, letters)[0]


@settings(max_examples=25)
@given(automata(), automata(), automata())
def test_series_is_associative_up_to_bisimulation(a, b, c):
    f, g, h = map(Plain, (a, b, c))
    left = table(series(series(f, g), h), ((a.start, b.start), c.start))
    right = table(series(f, series(g, h)), (a.start, (b.start, c.start)))
    assert bisimilar(left, right)


@settings(max_examples=25)
@given(automata())
def test_the_identity_is_a_unit_of_series(a):
    same = stateless(lambda i: i)
    assert bisimilar(table(series(same, Plain(a)), ((), a.start)), a)
    assert bisimilar(table(series(Plain(a), same), (a.start, ())), a)


@settings(max_examples=25)
@given(automata(), automata(), WORDS)
def test_a_series_answers_as_one_machine_after_the_other(a, b, word):
    both = respond(ana(series(Plain(a), Plain(b)))((a.start, b.start)), word)
    after = answers(b, answers(a, word))
    assert both == (after if a.is_mealy or b.is_mealy else after[:-1])


@settings(max_examples=25)
@given(st.booleans(), st.data(), st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), max_size=6))
def test_machines_side_by_side_answer_in_pairs(mealy, data, word):
    a, b = (data.draw(automata(mealy=mealy)) for _ in "ab")
    both = respond(ana(parallel(Plain(a), Plain(b)))((a.start, b.start)), word)
    assert both == list(zip(answers(a, [i for i, _ in word]), answers(b, [j for _, j in word]), strict=True))


@settings(max_examples=25)
@given(st.data())
def test_parallel_of_series_is_series_of_parallel(data):
    mealy = data.draw(st.booleans())
    a, b, c, d = (data.draw(automata(mealy=mealy, most=3)) for _ in "abcd")
    f, g, h, k = map(Plain, (a, b, c, d))
    pairs, one = [(i, j) for i in (0, 1) for j in (0, 1)], stateless(lambda o: 2 * o[0] + o[1])
    left = series(series(parallel(f, g), parallel(h, k)), one)
    right = series(parallel(series(f, h), series(g, k)), one)
    assert bisimilar(
        table(left, (((a.start, b.start), (c.start, d.start)), ()), pairs),
        table(right, (((a.start, c.start), (b.start, d.start)), ()), pairs),
    )


@settings(max_examples=25)
@given(automata(mealy=False), WORDS)
def test_as_mealy_loses_the_first_output(a, word):
    assert respond(ana(as_mealy(Plain(a)))(a.start), word) == answers(a, word)[1:]


def test_a_delay_gives_its_inputs_one_step_later():
    assert respond(ana(delay)(0), [1, 2, 3]) == [0, 1, 2, 3]


def test_a_loop_through_a_delay_is_a_memory():
    adder = stateless(lambda pair: (pair[0] + pair[1],) * 2)
    total = feedback(adder, delay)
    assert respond(ana(total)(((), 0)), [1, 2, 3]) == [1, 3, 6]
    outputs, (_, last) = run(total, ((), 0.0), jnp.array([1.0, 2.0, 3.0]))
    assert outputs.tolist() == [1, 3, 6]
    assert last == 6


def test_a_moore_machine_loops_by_itself():
    """Two registers that hand each other their contents, with an input to the first: Fibonacci's recurrence."""
    pair = lambda s: MooreF((s[0], s), lambda i: (s[1], i[0] + i[1][0] + i[1][1]))
    assert respond(ana(feedback(pair))((0, 1)), [0] * 7) == [0, 1, 1, 2, 3, 5, 8, 13]


class Gated(eqx.Module):
    """A cell from pairs to pairs."""

    weight: jax.Array

    def __call__(self, state: Any) -> Any:
        def step(i: Any) -> Any:
            new = jnp.tanh(self.weight @ jnp.stack([state, *i]))
            return (new[0], new[1]), new[2]

        return MealyF(step)


def test_run_of_a_composite_is_its_definition_and_gradient(getkey):
    with jax.enable_x64(True):
        cells = Gated(jr.normal(getkey(), (3, 3))), Gated(jr.normal(getkey(), (3, 3)))
        inputs = jr.normal(getkey(), (4,))

        def machine(cells: Any) -> Any:
            return series(feedback(cells[0], delay), feedback(cells[1], series(delay, delay)))

        start = (0.1, 0.2), (0.3, (0.4, 0.5))
        fast = lambda cells, inputs: run(machine(cells), start, inputs)[0]
        slow = lambda cells, inputs: jnp.stack(respond(ana(machine(cells))(start), list(inputs)))
        found, wanted = (eqx.filter_jit(differentiated(f))(cells, inputs) for f in (fast, slow))
        close(found, wanted, 1e-10)
