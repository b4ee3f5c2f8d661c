"""A machine explained: `γ : P × S → F S`, run on a word, or grown for a few outputs.

| the law                                      | what is run                                                        |
| -------------------------------------------- | ------------------------------------------------------------------ |
| `run γ s = respond (ana γ s)`                | the compiled scan and the definition, input by input               |
| `start γ s`, fed one by one, is `run γ s`    | the stepper                                                        |
| `unfold γ s = take n (ana γ s)`              | the same for a stream, which has no input                          |
| `∇ run = Σ ∇ untied`                         | a copy of the weights for each step                                |
| one program for every length                 | the operations of the program, counted at two lengths              |
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._drawing.trees import power
from .._engine import run, start, unfold
from .._functors import functor, MealyF, MooreF, respond, StreamF, take
from .._functors.words import number_of
from .._para import Para
from .._para.uses import used_by
from .._schemes import ana
from .._schemes.compose import term_of
from .._terms import numbers, real
from ._measure import equations, gradient, law, shapes, summed, total, weights
from ._page import Checked, Explanation
from ._para import written
from ._sorts import Sorts


STEPS = 4  # of a stream, how many outputs are taken


def explain_machine(machine: Any, kind: type[Any], state: Any, word: Any, allowed: float | None) -> Explanation:
    """The page of a machine, its laws run from a state on a word of inputs."""
    state, word = (jax.tree.map(_array, x) for x in (state, word))
    many = numbers(machine)
    n = STEPS if kind is StreamF else jax.tree.leaves(word)[0].shape[0]
    inputs = [None] * n if kind is StreamF else [jax.tree.map(lambda x, t=t: x[t], word) for t in range(n)]
    formula = str(functor(kind))
    checks = _of_stream(machine, state, allowed) if kind is StreamF else _of_run(machine, state, word, inputs, allowed)
    if many:
        checks.append(_of_tying(machine, kind, state, word, inputs, allowed))
    checks.append(_of_length(machine, kind, state, word, n))
    out, _ = _step(machine(state), inputs[0])
    where = [f"P = {real(many)}"] if many else []
    where.append(f"S = {shapes(state)}")
    if kind is not StreamF:
        where.append(f"I = {shapes(inputs[0])}")
    shown = functor(kind).constructors[0]
    return Explanation(
        name=written(term_of(machine)),
        kind={MooreF: "a Moore machine", MealyF: "a Mealy machine", StreamF: "a coalgebra of streams"}[shown],
        functors=(formula,),
        type=f"γ : {'P × ' if many else ''}S → {formula.replace('X', 'S')}",
        where=(*where, f"O = {shapes(out)}", *Sorts(((shown,),)).constructors()),
        parameters=weights(machine),
        tying=_tying(machine, kind, state, inputs) if many else (),
        laws=tuple(checks),
        execution=_execution(machine, kind, state, word, n),
    )


def _of_run(machine: Any, state: Any, word: Any, inputs: list[Any], allowed: float | None) -> list[Checked]:
    outputs, _ = run(machine, state, word)
    defined = respond(ana(machine)(state), inputs)
    moore = len(defined) > len(inputs)
    given = _rows(outputs, len(defined))
    found = [law(f"run γ s = respond (ana γ s), on {number_of('input', len(inputs))}", given, defined, allowed)]
    stepper, answers = start(machine, state), []
    answers += [stepper.out] if moore else []
    for x in inputs:
        out, stepper = stepper.step(x)
        answers.append(out)
    found.append(law("start γ s, fed one by one = run γ s", answers, given, allowed))
    return found


def _of_stream(machine: Any, state: Any, allowed: float | None) -> list[Checked]:
    grown = unfold(machine, jax.tree.map(lambda x: x[None], state), STEPS)
    outputs = jax.tree.map(lambda x: x[0], grown)
    defined = take(STEPS, ana(machine)(state))
    return [law(f"unfold γ s = take {STEPS} (ana γ s)", _rows(outputs, len(defined)), defined, allowed)]


def _of_tying(
    machine: Any, kind: type[Any], state: Any, word: Any, inputs: list[Any], allowed: float | None
) -> Checked:
    """The gradient of the compiled form, and those of a copy of the weights at each step, added up."""
    para = Para.of(machine)
    n = len(inputs) + (kind is MooreF)

    def untied(copies: Any) -> Any:
        outputs, at = [], state
        for params, given in zip(copies, [*inputs, None], strict=False):
            layer = para.fn(params, at)
            if kind is MooreF and given is None:
                outputs.append(layer.out)
            else:
                out, at = _step(layer, given)
                outputs.append(out)
        return total(jax.tree.map(lambda *xs: jnp.stack(xs), *outputs))

    def tied(machine: Any) -> Any:
        return total(_outputs(machine, kind, state, word))

    each, once = gradient(untied, (para.params,) * n), gradient(tied, machine)
    form = "unfold" if kind is StreamF else "run"
    return law(f"∇ ({form} γ) = Σ ∇ (untied γ), along Δ : P → {power(n)}", once, summed(each), allowed)


def _of_length(machine: Any, kind: type[Any], state: Any, word: Any, n: int) -> Checked:
    twice = word if kind is StreamF else jax.tree.map(lambda x: jnp.concatenate([x, x]), word)
    short, long = _operations(machine, kind, state, word, n), _operations(machine, kind, state, twice, 2 * n)
    return Checked(f"as many operations for {n} steps as for {2 * n}", float(abs(short - long)), 0.0)


def _tying(machine: Any, kind: type[Any], state: Any, inputs: list[Any]) -> tuple[str, ...]:
    """What of the weights the output uses, and what the next state does."""
    para = Para.of(machine)
    names = [w.name for w in weights(machine)]
    lines = []
    for part, i in (("the output", 0), ("the next state", 1)):
        used = used_by(lambda params: _step(para.fn(params, state), inputs[0])[i], para.params)  # noqa: B023
        lines.append(f"{part}: {', '.join(names[j] for j in sorted(used)) or 'no weight'}")
    return (f"over {number_of('step', len(inputs))}, Δ : P → {power(len(inputs) + (kind is MooreF))}", *lines)


def _execution(machine: Any, kind: type[Any], state: Any, word: Any, n: int) -> tuple[str, ...]:
    form = f"`unfold` of {n} outputs" if kind is StreamF else f"`run` on {n} inputs"
    return (f"{form}: one scan, {_operations(machine, kind, state, word, n)} operations in all",)


def _operations(machine: Any, kind: type[Any], state: Any, word: Any, n: int) -> int:
    form: Callable[..., Any]
    if kind is StreamF:
        form = lambda s: unfold(machine, jax.tree.map(lambda x: x[None], s), n)
        return equations(form, state)
    return equations(lambda s, w: run(machine, s, w), state, word)


def _outputs(machine: Any, kind: type[Any], state: Any, word: Any) -> Any:
    if kind is StreamF:
        grown = unfold(machine, jax.tree.map(lambda x: x[None], state), STEPS)
        return jax.tree.map(lambda x: x[0], grown)
    return run(machine, state, word)[0]


def _step(layer: Any, given: Any) -> tuple[Any, Any]:
    """The output of a layer, and the next state."""
    if isinstance(layer, StreamF):
        return layer.head, layer.tail()
    return (layer.out, layer.step(given)) if isinstance(layer, MooreF) else layer.step(given)


def _array(x: Any) -> Any:
    """A number as an array, whose type is that of others."""
    return x if isinstance(x, jax.Array) else jnp.asarray(np.asarray(x))


def _rows(values: Any, n: int) -> list[Any]:
    """A value for each step: `n` of them where no array gives their number."""
    first = next(iter(jax.tree.leaves(values)), None)
    return [jax.tree.map(lambda x, t=t: x[t], values) for t in range(n if first is None else first.shape[0])]
