"""Monoids over sequences: every way to bracket a product gives the sequential one, in value and in gradient."""

import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from agreement import close, differentiated, QUICKLY

import cdl
from cdl import annotate, fold, Packed, Seq
from cdl._engine.arrays._platform import ACCELERATOR, taken_for
from cdl._engine.lists._monoid import FULL, SHORT, way_for
from cdl._engine.lists._scan_track import track
from cdl.compiled import Bracketing
from cdl.monads import Monoid


LENGTHS = [4, 0, 7, 1]
TIME = max(LENGTHS)
INSTANCES: dict[str, Any] = {
    "recurrence": (lambda: cdl.monoids.linear_recurrence((2,)), ((2,), (2,))),
    "matrices": (lambda: cdl.monoids.matrices(2), (2, 2)),
    "max-plus": (lambda: cdl.monoids.max_plus(3), (3, 3)),
    "min-plus": (lambda: cdl.monoids.min_plus(3), (3, 3)),
}


def sample(shape: Any, key: Any, *axes: int) -> Any:
    shapes = shape if isinstance(shape[0], tuple) else (shape,)
    leaves = [jr.normal(jr.fold_in(key, i), (*axes, *s), jnp.float32) for i, s in enumerate(shapes)]
    return tuple(leaves) if isinstance(shape[0], tuple) else leaves[0]


def defined(monoid: Any, rows: list[Any]) -> tuple[Any, Any]:
    """The product of each list, and of each prefix, one element after another."""
    roots, every = [], []
    for row, n in zip(rows, LENGTHS, strict=True):
        each = [jax.tree.map(lambda x, t=t: x[t], row) for t in range(n)]
        prefixes = [functools.reduce(monoid.combine, each[: t + 1]) for t in range(n)]
        unit = jax.tree.map(jnp.asarray, monoid.unit)
        roots.append(prefixes[-1] if n else unit)
        every.append(
            jax.tree.map(lambda *xs: jnp.stack(xs), *prefixes, *[jax.tree.map(jnp.zeros_like, unit)] * (TIME - n))
        )
    stacked = lambda trees: jax.tree.map(lambda *xs: finite(jnp.stack(xs)), *trees)
    return stacked(roots), stacked(every)


def finite(x: Any) -> Any:
    """Numbers that can be compared: the units of `max_plus` and `min_plus` are not finite."""
    return jnp.where(jnp.isfinite(x), x, jnp.sign(x) * 100) if jnp.issubdtype(x.dtype, jnp.inexact) else x


@functools.cache
def expected(name: str) -> Any:
    make, shape = INSTANCES[name]
    rows = [sample(shape, jr.key(i), n) for i, n in enumerate(LENGTHS)]
    found = eqx.filter_jit(differentiated(lambda _, rows: defined(make(), rows)), compiler_options=QUICKLY)(0, rows)
    return make(), rows, jax.tree.map(np.asarray, found)


@pytest.mark.parametrize(
    ("name", "how", "kind"),
    [
        *(("recurrence", how, "padded") for how in ("scan", "associative", "chunked", "halving")),
        *(("matrices", how, "packed") for how in ("scan", "halving")),
        ("max-plus", "associative", "padded"),
        ("max-plus", "halving", "padded"),
        ("min-plus", "chunked", "padded"),
        ("min-plus", "associative", "packed"),
    ],
)
def test_every_bracketing_gives_the_sequential_product(name, how, kind):
    monoid, rows, (value, (_, slopes)) = expected(name)
    data: Any = Seq.of(rows) if kind == "padded" else Packed.of(rows, lanes=2)
    own = data.mask
    poisoned = lambda x: jnp.where(own.reshape(own.shape + (1,) * (x.ndim - 2)), x, jnp.nan)
    data = eqx.tree_at(lambda d: d.values, data, jax.tree.map(poisoned, data.values))

    def run(_: Any, data: Any) -> Any:
        every = annotate(monoid, data, how=Bracketing("scan" if how == "halving" else how))
        found = fold(monoid, data, how=Bracketing(how)), (every.padded(TIME) if kind == "packed" else every).values
        return jax.tree.map(finite, found)

    found, (_, slope) = eqx.filter_jit(differentiated(run), compiler_options=QUICKLY)(0, data)
    close(found, value, 1e-4)
    rows_of = eqx.tree_at(lambda d: d.values, data, slope.values)
    padded = rows_of.padded().values if kind == "packed" else rows_of.values
    for i, n in enumerate(LENGTHS):
        if n:
            close(jax.tree.map(lambda x, i=i, n=n: x[i, :n], padded), slopes[i], 1e-4)


def test_words_act_on_the_states_of_an_automaton():
    # 1 mod 3 in binary: state s goes to 2 s + bit
    letters = np.array([[(2 * s + bit) % 3 for s in range(3)] for bit in (0, 1)])
    words = ["101", "", "1111", "0"]
    seq = Seq.of([letters[[int(c) for c in w]].reshape(-1, 3).astype(np.int32) for w in words])
    for how in ("scan", "halving"):
        ends = fold(cdl.monoids.transitions(3), seq, how=Bracketing(how))[:, 0]
        assert ends.tolist() == [int(w or "0", 2) % 3 for w in words]


@pytest.mark.parametrize("name", INSTANCES)
def test_instances_are_monoids_and_stay_so_with_resets(name):
    make, shape = INSTANCES[name]
    samples = [sample(shape, jr.key(i)) for i in range(4)]
    cdl.monoids.check_monoid(make(), samples)
    flags = [jnp.array(b) for b in (True, False, False, True)]
    cdl.monoids.check_monoid(cdl.monoids.with_resets(make()), list(zip(flags, samples, strict=True)))


def test_a_reset_begins_anew():
    elements = (jnp.array([[False, True, False]]), jnp.array([[2.0, 3.0, 5.0]]))
    flag, value = fold(cdl.monoids.with_resets(Monoid(1.0, lambda x, y: x * y)), Seq(elements, [3]))
    assert (flag.tolist(), value.tolist()) == ([True], [15.0])


def test_the_way_is_chosen_by_device_length_and_cost():
    def way(monoid: Any, shape: Any, lists: int, length: int, *, total: bool = False) -> str:
        seq = jax.eval_shape(lambda: Seq(sample(shape, jr.key(0), lists, length), jnp.full(lists, length)))
        return (
            jax.eval_shape(lambda seq: found.append(way_for(monoid.combine, track(seq, end=False), total=total)), seq)
            or found[-1]
        )

    found: list[str] = []
    recurrence, shape = cdl.monoids.linear_recurrence((64,)), ((64,), (64,))
    assert way(recurrence, shape, 8, 4096) == "scan"
    with taken_for(ACCELERATOR):
        assert way(recurrence, shape, 8, 4096) == "associative"
        assert way(recurrence, shape, 8, 4096, total=True) == "halving"
        assert way(recurrence, shape, 8, SHORT - 1) == "scan"
        assert way(cdl.monoids.matrices(64), (64, 64), FULL // (2 * 64**3), 4096) == "scan"
