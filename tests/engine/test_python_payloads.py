"""Payloads that are Python's numbers: each operator gives what it gives in the definition, or is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from few import few
from operators import case, in_both

from cdl import algebra, cata, CdlError, fold, Fork, inherit, Leaf, MealyF, pack, run, TreeF


OPERATORS = "> >= < <= == != + - * / // % & | ^ << >> **".split()
OTHERS = "3", "-1", "1.5", "-1.5", "0.5", "2.0", "2j", "True", "np.float32(1.5)", "jnp.float32(1.5)", "np.int32(3)", "v"
OF_ONE = (
    "-v ~v abs(v) +v round(v) round(v,1) round(v,0) round(v,-1) divmod(v,3) divmod(9,v) pow(v,2) v.real v.imag "
    "v.conjugate() abs(v)**0.5 (v*v+1)**0.5 (v*v-9)**0.5 (v+0.0)**1.5 (2*v)**(1/3) jnp.sqrt(v) jnp.power(v,0.5) "
    "jnp.sin(v)**0.5 jnp.round(v,0) (v==v)**0.5 -abs(v)**2 (-abs(v))**0.5 abs(v)**v (v**2)**0.25 (v**3)**0.5"
).split()
EACH = [f"v {sign} {other}" for sign in OPERATORS for other in OTHERS] + OF_ONE
EACH += [f"({other}) {sign} v" for sign in OPERATORS for other in OTHERS[:-1]]
VALUES = [[True], [5, 2, -3], [2.5, -1.25, 0.15, 3.0], [1 + 2j, -1.5j]]


@pytest.mark.parametrize("values", few(VALUES, 2), ids=["bool", "int", "float", "complex"])
def test_each_operator_gives_what_it_gives_in_the_definition_or_is_refused(values):
    leaves = [Leaf(x) for x in values]
    near = lambda text: "//" in text or "%" in text or "divmod" in text  # they jump, where a number is rounded
    with jax.numpy_dtype_promotion("standard"), np.errstate(all="ignore"):
        for text, leaf, x, y in in_both(EACH, leaves):
            is_same = np.allclose(complex(x), complex(y), 1e-4, 1e-5, equal_nan=True)
            assert is_same or (near(text) and leaf.label == 0.15), f"{text} of {leaf}: {x!r} and {y!r}"


REFUSED = {
    "v**0.5": (2.0, r"raises a number of Python's to the power of 0.5 at `Leaf`: Python gives a complex number where a "
    r"negative one .* and JAX gives NaN.*Write `jnp.power\(a, b\)` for `a\*\*b`, or `jnp.sqrt\(a\)`"),
    "v**(1/3)": (2, "raises a number of Python's to the power of 0.333"),
    "(-2.0)**v": (2.5, "raises -2.0 to a power that may not be whole at `Leaf`"),
    "v**v": (2.5, "raises a number of Python's to a power that may not be whole"),
    "pow(2*v-1, 0.5)": (2.5, "raises a number of Python's to the power of 0.5"),
    "round(v, 1)": (0.15, r"rounds a number of Python's to 1 digits at `Leaf`: Python gives the decimal fraction that "
    r"is nearest, and JAX rounds `10 \* v`.*Write `jnp.round\(v, 1\)`"),
    "round(v)": (True, r"rounds a truth value at `Leaf`.*write `1 \* v`"),
    "v.round()": (np.True_, "rounds a truth value"),
    "round(v, -1)": (14, r"rounds a whole number to -1 digits at `Leaf`.*write `10 \* jnp.round\(v / 10\)"),
    "v.round(-2)": (np.int32(14), r"rounds a whole number to -2 digits at `Leaf`.*`100 \* jnp.round\(v / 100\)"),
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_powers_and_roundings_that_python_gives_otherwise_are_refused(text):
    value, words = REFUSED[text]
    with jax.numpy_dtype_promotion("standard"), pytest.raises(CdlError, match=words):
        fold(case(text), pack(TreeF, [Leaf(value)]))


def test_what_a_refusal_says_to_write_is_the_same_in_both():
    texts = "jnp.power(v, 0.5)", "jnp.sqrt(v)", "abs(v)**0.5", "jnp.round(v, 1)"
    for value in (2.0, -2.0, 0.15):
        slow, fast = cata(case(*texts))(Leaf(value)), fold(case(*texts), pack(TreeF, [Leaf(value)]))
        np.testing.assert_allclose(np.array(slow), np.array(fast)[:, 0], rtol=1e-6)
    tens = case("10 * jnp.round(v / 10).astype(int)", "round(1 * v)")
    assert [x[0] for x in fold(tens, pack(TreeF, [Leaf(15)]))] == [*cata(tens)(Leaf(15))] == [round(15, -1), 15]


def test_states_steps_and_machines_refuse_a_root_of_a_number_of_python():
    root = algebra(lambda layer: layer.label if isinstance(layer, Leaf) else (layer.left - layer.right) ** 0.5)
    forest = pack(TreeF, [Fork(Leaf(1.0), Leaf(2.0))])
    for form in (
        lambda: fold(root, forest),
        lambda: inherit(lambda x, layer: Fork(x, layer.left**0.5), forest, jnp.ones(1), values=jnp.full(64, 0.5)),
        lambda: run(lambda s: MealyF(lambda x: (s**0.5, s)), 1.0, jnp.zeros(2)),
    ):
        with pytest.raises(CdlError, match=r"raises a number of Python's to the power of 0.5"):
            form()
