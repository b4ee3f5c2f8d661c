"""Values of a list fold that nothing reads have no gradient, also where their slope is infinite."""

import itertools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from agreement import close, QUICKLY
from few import few

from cdl import Algebra, cata, Cons, fold, ListF, Nil, Seq, to_list
from cdl.compiled import Packed, Scan
from cdl.functors import Lin, Snoc, SnocF, to_snoc


State = dict[str, jax.Array]
OTHERS = [[0.5], [], [0.3, 0.2, 0.7, 0.1]]
LATER = [0.4, 0.0, 0.4]
ZEROS = {"side": [0.0, 0.0, 0.4], "rest": LATER, "compared": LATER, "weights": LATER, "crossed": [0.0, 0.4, 0.0]}
WEIGHTS = {"w": jnp.array([0.4, 0.7]), "v": jnp.array(0.3), "zero": jnp.array(0.0)}


class Step:
    """The next state: `side` has an infinite slope at an element of 0, and `how` says what is not read."""

    def next(self, w: dict[str, jax.Array], how: str, x: Any, state: State) -> State:
        root = jnp.sqrt(x * w["v"])
        match how:
            case "side":
                return {"main": jnp.sin(w["w"] * x + state["main"]), "side": root + state["side"]}
            case "weights":
                return {"main": jnp.sin(w["w"] * x + state["main"]), "side": jnp.sqrt(w["zero"]) + state["side"]}
            case "rest":
                return {"main": w["w"] * (x + root), "side": root}
            case "compared":
                return {"main": w["w"] * (root + (state["main"] > 0.1).astype(float)), "side": root}
        return {"main": w["w"] * x + state["side"], "side": jnp.sqrt(state["main"][0]) + root}  # each the other's

    def start(self, w: dict[str, jax.Array]) -> State:
        return {"main": w["w"], "side": w["v"]}


class FromTheEnd(Step, Algebra[ListF[float, State], State]):
    w: dict[str, jax.Array]
    how: str = eqx.field(static=True)

    def __call__(self, layer: ListF[float, State]) -> State:
        match layer:
            case Nil():
                return self.start(self.w)
            case Cons(head, tail):
                return self.next(self.w, self.how, head, tail)


class FromTheStart(Step, Algebra[SnocF[float, State], State]):
    w: dict[str, jax.Array]
    how: str = eqx.field(static=True)

    def __call__(self, layer: SnocF[float, State]) -> State:
        match layer:
            case Lin():
                return self.start(self.w)
            case Snoc(init, last):
                return self.next(self.w, self.how, last, init)


HOWS = {"in blocks": Scan(), "in segments": Scan(segment=2)}


WAYS = list(itertools.product(ZEROS, (FromTheEnd, FromTheStart), HOWS, (Seq.of, Packed.of)))


@pytest.mark.parametrize(("how", "step", "scan", "lists"), few(WAYS, 0, 5, 10, 15, 16, 21, 26, 31, 34, 37))
def test_what_no_one_reads_in_a_list_has_no_gradient(how, step, scan, lists):
    with jax.enable_x64(True):
        weights = jax.tree.map(lambda x: x.astype(float), WEIGHTS)
        elements = [np.array(x) for x in (ZEROS[how], *OTHERS)]
        as_tree, data = to_list if step is FromTheEnd else to_snoc, lists(elements)

        def defined(inputs: Any) -> Any:
            weights, more = inputs
            return sum(read(cata(step(weights, how))(as_tree(list(xs + more)))) for xs in elements)

        def compiled(inputs: Any) -> Any:
            weights, more = inputs
            moved = eqx.tree_at(lambda d: d.values, data, data.values + more)
            return read(fold(step(weights, how), moved, how=HOWS[scan]))

        slow, of_slow = eqx.filter_value_and_grad(defined)((weights, jnp.array(0.0)))
        fast, of_fast = eqx.filter_jit(eqx.filter_value_and_grad(compiled), compiler_options=QUICKLY)(
            (weights, jnp.array(0.0))
        )
        assert all(jnp.all(jnp.isfinite(x)) for x in jax.tree.leaves(of_slow))
        close(fast, slow, 1e-10)
        close(of_fast, of_slow, 1e-10)


def read(state: State) -> jax.Array:
    return jnp.sum(jnp.sin(state["main"]))
