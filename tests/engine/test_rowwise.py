"""What a case may do for one node and not for many rows is refused by name, in every compiled form."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bushes import Bud, bushes, BushF, twig
from jax.experimental import checkify, io_callback

from cdl import (
    algebra,
    annotate,
    cata,
    CdlError,
    choose,
    fmap,
    fold,
    Fork,
    inherit,
    Leaf,
    ListF,
    MealyF,
    Nil,
    pack,
    run,
    Seq,
    TreeF,
    unfold,
)
from cdl.machines import start


ONE = jax.ShapeDtypeStruct((), jnp.float32)
double = lambda x: np.float32(2) * np.asarray(x)
low = lambda x: eqx.error_if(x, x < 5, "below five")


def host(x: Any, **how: Any) -> Any:
    return io_callback(double, ONE, x, **how)


def check(x: Any) -> Any:
    checkify.check(x > 0, "not above zero")
    return x


REFUSED = {
    "pure_callback": (lambda x: jax.pure_callback(double, ONE, x), "for many rows at once: .*vmap_method=.sequential."),
    "ordered": (lambda x: host(x, ordered=True), r"`io_callback` with `ordered=True`.*write `ordered=False`"),
    "checkify": (check, r"`checkify.check` in .*write `eqx.error_if"),
    "argmax": (lambda x: 1.0 * jnp.argmax(x + 1j), r"`argmax` takes complex numbers .*`jnp.argmax\(jnp.abs\(x\)\)`"),
    "argmin": (lambda x: 1.0 * jnp.argmin(jnp.stack([x, x]) * 1j), r"`argmin` takes complex numbers"),
    "draws": (
        lambda x: x + jax.random.normal(jax.random.key(x.astype(int), impl="rbg")),
        r"drawn .* of a `key<rbg>`.* give `key=jax.random.key\(0, impl=.threefry2x32",
    ),
    "bits": (
        lambda x: 1.0 * jax.lax.rng_bit_generator(jnp.stack([x, x, x, x]).astype(jnp.uint32), ())[1],
        "random numbers are drawn",
    ),
    "a branch": (lambda x: jax.lax.cond(x > 0, low, jnp.sin, x), "`eqx.error_if` is in a branch of `jax.lax.cond`"),
    "a host's": (lambda x: jax.lax.cond(x > 0, host, jnp.sin, x), "`io_callback` is in a branch of `jax.lax.cond`"),
    "a loop": (lambda x: jax.lax.while_loop(lambda y: y < 9, low, x), "`eqx.error_if` is in a branch.*, or in a loop"),
    "under jit": (jax.jit(lambda x: jax.lax.cond(x > 0, low, jnp.sin, x)), "`eqx.error_if` is in a branch"),
}  # fmt: skip


def every_form(case: Any) -> list[Any]:
    """Compiled forms in which a case is run."""
    leaf = algebra(lambda x: case(jnp.float32(x.label)) if isinstance(x, Leaf) else x.left + x.right)
    listed = algebra(lambda layer: jnp.float32(0) if isinstance(layer, Nil) else case(layer.head) + layer.tail)
    listed.fn.__annotations__ = {"layer": ListF[Any, Any]}
    forest = pack(TreeF, [Fork(Leaf(1.0), Leaf(2.0))])
    return [
        lambda: fold(leaf, forest),
        lambda: annotate(leaf, forest),
        lambda: fold(bushes(lambda kids: kids.map(case).sum(jnp.float32(0))), pack(BushF, [twig(Bud(1.0))])),
        lambda: inherit(lambda x, layer: fmap(lambda _: case(x), layer), forest, jnp.ones(1)),
        lambda: fold(listed, Seq(jnp.ones((1, 2)), jnp.array([2]))),
        lambda: run(lambda s: MealyF(lambda x: (case(x), s)), jnp.float32(0), jnp.ones(2)),
    ]


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_done_for_many_rows_is_refused(name):
    case, words = REFUSED[name]
    with jax.numpy_dtype_promotion("standard"):
        for form in every_form(case):
            with pytest.raises(CdlError, match=words):
                pytest.fail(f"gives {form()}")


GIVEN = {
    "how": lambda x: jax.pure_callback(double, ONE, x, vmap_method="sequential"),
    "in no order": host,
    "a branch that all nodes take": lambda x: jax.lax.cond(jnp.all(jnp.arange(3) < 5), lambda y: y, low, x),
    "outside of a branch": lambda x: jax.lax.cond(x > 0, jnp.cos, jnp.sin, eqx.error_if(x, (x > 9) & (x < 5), "no")),
    "as many times for all": lambda x: jax.lax.fori_loop(
        0, jnp.argmax(jnp.arange(3)), lambda i, y: eqx.error_if(y + 1, y > 90, "no"), x
    ),
    "of what is known": lambda x: x + jax.pure_callback(double, ONE, jnp.float32(3)),
}


@pytest.mark.parametrize("name", GIVEN)
def test_what_can_be_done_for_many_rows_is_as_in_the_definition(name):
    alg = algebra(lambda x: GIVEN[name](jnp.float32(x.label)) if isinstance(x, Leaf) else x.left + x.right)
    tree = Fork(Leaf(1.0), Leaf(2.0))
    np.testing.assert_allclose(fold(alg, pack(TreeF, [tree]))[0], cata(alg)(tree), rtol=1e-6)


def test_an_error_in_a_list_fold_of_children_is_not_in_a_branch():
    each = algebra(lambda x: jnp.float32(0) if isinstance(x, Nil) else eqx.error_if(x.head + x.tail, x.head > 9, "no"))
    alg = bushes(lambda kids: kids.fold(each))
    assert fold(alg, pack(BushF, [twig(Bud(1.0), Bud(2.0))])).tolist() == [3]


@pytest.mark.parametrize("derive", [lambda f, x: jax.jvp(f, (x,), (x,))[1], lambda f, x: jax.jacfwd(f)(x)])
def test_a_derivative_through_a_many_inside_a_case_is_refused(derive):
    """`jax.grad` and `jax.linearize` are refused where a case is traced; these are seen in its jaxpr."""
    alg = bushes(lambda kids: derive(lambda r: kids.map(lambda x: jnp.sin(x * r)).sum(jnp.float32(0)), jnp.float32(2)))
    with pytest.raises(CdlError, match=r"a derivative .*through a `Many`.*tuple\[X, ...\]"):
        fold(alg, pack(BushF, [twig(Bud(1.0))]))


def noisy(x: Any, key: Any) -> Any:
    return 0.0 if key is None else x + jax.random.normal(key)


def with_a_key(key: Any) -> dict[str, Any]:
    """Compiled forms that are given a key, and draw with it for many rows at once."""
    leaf = algebra(lambda x, *, key=None: noisy(x.label, key) if isinstance(x, Leaf) else x.left + x.right)
    listed = algebra(lambda x, *, key=None: jnp.float32(0) if isinstance(x, Nil) else noisy(x.head, key) + x.tail)
    listed.fn.__annotations__ = {"x": ListF[Any, Any]}
    grow = lambda s, *, key=None: choose(jnp.stack([jax.random.normal(key), 0.0]), Leaf(s), Fork(s, s))
    machine = lambda s, *, key=None: MealyF(lambda x: (noisy(x, key), s))
    forest, twice = pack(TreeF, [Fork(Leaf(1.0), Leaf(2.0))]), Seq(jnp.ones((2, 3)), jnp.array([3, 2]))
    return {
        "fold": lambda: fold(leaf, forest, key=key),
        "annotate": lambda: annotate(leaf, forest, key=key),
        "a fold of a Seq": lambda: fold(listed, twice, key=key),
        "unfold": lambda: unfold(grow, jnp.ones(2), 3, key=key).count,
        "run": lambda: run(machine, jnp.zeros(2), twice, key=key)[0].values,
    }


@pytest.mark.parametrize("name", ["fold", "annotate", "a fold of a Seq", "unfold", "run"])
def test_a_key_of_which_many_rows_draw_others_than_each_alone_is_refused(name):
    for impl in ("rbg", "unsafe_rbg"):
        with pytest.raises(CdlError, match=f"`key` is one of `{impl}`.*threefry2x32"):
            with_a_key(jax.random.key(0, impl=impl))[name]()
    assert jnp.all(with_a_key(jax.random.key(0))[name]() == with_a_key(jax.random.PRNGKey(0))[name]())
    with pytest.raises(CdlError, match=r"`key` is .*, and a key comes from JAX"):
        with_a_key(jax.random.key_data(jax.random.key(0, impl="rbg")))[name]()


def test_a_machine_that_runs_alone_draws_with_any_key():
    machine = lambda s, *, key=None: MealyF(lambda x: (noisy(x, key), s))
    key = jax.random.key(0, impl="rbg")
    outputs, _ = run(machine, jnp.float32(0), jnp.ones(3), key=key)
    stepper = start(machine, jnp.float32(0), key=key)
    for found in outputs:
        answer, stepper = stepper.step(jnp.float32(1))
        assert answer == found
