"""Co-Kleisli maps of `P × −`: a category in which parameters are shared, and its comparison with `Para`, both ways."""

import re
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import pytest
from agreement import close
from hypothesis import given, settings, strategies as st
from planted import breaks

import cdl.laws._cokleisli
from cdl import cata, laws, Para
from cdl.errors import LawBroken
from cdl.functors import to_snoc
from cdl.para import CoKleisli, parameter_space
from cdl_arch.folding import elman


numbers, few = st.integers(-9, 9), settings(max_examples=20)
MAPS: list[CoKleisli[Any, int, int]] = [
    CoKleisli(lambda p, x: p[0] * x + p[1]),
    CoKleisli(lambda p, x: x - p[0] * p[1]),
    CoKleisli(lambda p, x: x * x + p[0]),
]


@few
@given(st.tuples(numbers, numbers), numbers)
def test_maps_that_read_one_parameter_are_a_category_and_compare_with_para(p, x):
    laws.co_kleisli(*MAPS, p, x)
    laws.co_kleisli(*(CoKleisli.of(f.para(p)) for f in MAPS), p, x)


@few
@given(numbers, st.text("ab", max_size=3), numbers)
def test_a_composite_of_para_is_co_kleisli_for_the_product(p, q, x):
    laws.from_para(Para(p, lambda p, x: p * x + 1), Para(q, lambda q, x: f"{x}{q}"), x)


@few
@given(numbers, numbers, numbers)
def test_the_comonad_is_that_of_pairs(p, x, k):
    """Counit and comultiplication, by which a composite is `g ∘ (P × f) ∘ δ`; and `P × −` is a comonad."""
    f, g = (lambda p, x: p * x + k), (lambda p, y: y - p)
    copied = (p, (p, x))
    by_the_book = g(copied[0], f(*copied[1]))
    assert (CoKleisli(f) >> CoKleisli(g))(p, x) == by_the_book == CoKleisli(g)(*CoKleisli(f).extend(p, x))
    assert CoKleisli.identity()(p, x) == x
    assert (CoKleisli.pure(str) >> CoKleisli.pure(len))(p, x) == len(str(x))
    assert (CoKleisli(f) @ CoKleisli(g))(p, (x, k)) == (f(p, x), g(p, k))
    assert CoKleisli(f).along(abs)(p, x) == f(abs(p), x)
    assert parameter_space((1, "a")) == parameter_space((p, "b")) != parameter_space((2.0, "b"))


def layer(seed: int) -> Para[Any, Any, Any]:
    w, b = jr.normal(jr.key(seed), (3, 3)), jr.normal(jr.key(seed + 50), (3,))
    return Para((w, b), lambda p, x: jnp.tanh(p[0] @ x + p[1]))


def test_smooth_maps_obey_the_laws_also_where_parameters_are_modules():
    x = jnp.array([0.3, -1.0, 0.7])
    f, g = layer(0), layer(1)
    maps = [CoKleisli.of(f), CoKleisli(lambda p, x: p[0].T @ x), CoKleisli(lambda p, x: x * p[1])]
    laws.co_kleisli(*maps, f.params, x, tolerance=1e-6)
    laws.from_para(f, g, x, tolerance=1e-6)
    assert (maps[0] >> maps[1].along(lambda p: p)).space == maps[0].space
    laws.from_para(Para.of(eqx.nn.Linear(3, 2, key=jr.key(0))), Para.of(eqx.nn.Linear(2, 4, key=jr.key(1))), x)


def test_the_gradient_of_what_is_shared_is_the_sum_over_the_copies():
    """`Δ` after the composite of `Para`: the parts of its gradient add up to the co-Kleisli composite's."""
    f, x = layer(0), jnp.array([0.3, -1.0, 0.7])
    shared = CoKleisli.of(f) >> CoKleisli.of(f) >> CoKleisli.of(f)
    slope = jax.grad(lambda p: jnp.sum(jnp.sin(shared(p, x))))(f.params)
    apart = (f >> f) >> f
    (first, second), third = jax.grad(lambda p: jnp.sum(jnp.sin(apart.fn(p, x))))(apart.params)
    close(slope, jax.tree.map(lambda *parts: sum(parts), first, second, third), 1e-6)


def test_a_recurrent_network_is_a_co_kleisli_composite_of_its_cell():
    """Reading a list is a composite of maps of states that all read one parameter: that is what ties them."""
    net = elman(2, 3, key=jr.key(1))
    word = jr.normal(jr.key(2), (4, 2))
    para = Para.of(net)
    step = lambda letter: CoKleisli(lambda p, state: eqx.combine(p, net).cell(letter, state))
    read: Any = CoKleisli.identity()
    for letter in word:
        read = read >> step(letter)
    close(read(para.params, net.init), cata(net)(to_snoc(list(word))), 1e-6)


# Compositions with one mistake, which break the laws in which they are.
class Planted(CoKleisli[Any, Any, Any]):
    name: str = eqx.field(static=True, default="")
    mistake: str = eqx.field(static=True, default="")

    def __call__(self, params: Any, x: Any, /) -> Any:
        given = self.fn(params, x)
        return ("a mistake", given) if self.name == self.mistake else given

    def __rshift__(self, other: Any) -> Any:
        sign = getattr(other, "name", "id")
        return Planted((CoKleisli(self) >> other).fn, self.space, f"({self.name} >> {sign})", self.mistake)


@pytest.mark.parametrize(
    ("law", "mistake"),
    [
        ("`(f >> g) >> h = f >> (g >> h)`", "((f >> g) >> h)"),
        ("`(f >> g) >> h = f >> (g >> h)`", "(f >> (g >> h))"),
        ("`f >> id = f`", "(f >> id)"),
    ],
)
def test_a_mistake_in_one_composite_breaks_its_law_alone(law, mistake):
    f, g, h = (Planted(m.fn, None, name, mistake) for m, name in zip(MAPS, "fgh", strict=True))
    breaks(law, lambda: laws.co_kleisli(f, g, h, (2, 3), 5))


class Forgetful(CoKleisli[Any, Any, Any]):
    """A composite whose second part is handed another parameter than the first."""

    def __rshift__(self, other: Any) -> Any:
        return Forgetful(lambda p, x: other.fn((p[0], 0), self.fn(p, x)))


def test_a_composite_that_hands_its_parts_two_parameters_is_caught():
    f, g, h = (Forgetful(m.fn) for m in MAPS)
    with pytest.raises(LawBroken, match=re.escape("`ext (f >> g) = ext g ∘ ext f`")):
        laws.co_kleisli(f, g, h, (2, 3), 5)


CHECK = lambda: laws.co_kleisli(*MAPS, (2, 3), 5)
CHECK_PARA = lambda: laws.from_para(Para(2, lambda p, x: p * x), Para(3, lambda p, x: p + x), 5)
ANOTHER = CoKleisli(lambda p, x: ("another", p, x))


@pytest.mark.parametrize(
    ("law", "check", "where", "name", "wrong"),
    [
        ("`of (f.para(p)) = f`", CHECK, CoKleisli, "of", lambda para: ANOTHER),
        (
            "`(f >> g).para(p) = f.para(p) >> g.para(p)` along `Δ`",
            CHECK,
            cdl.laws._cokleisli,
            "delta",
            lambda n: lambda p: (p, (0, 0)),
        ),
        ("`id.para(p) = id` along `P → 1`", CHECK, cdl.laws._cokleisli, "identity", lambda: Para((), ANOTHER.fn)),
        ("`(of m).para(m.params) = m`", CHECK_PARA, CoKleisli, "para", lambda self, at: Para(at, ANOTHER.fn)),
        (
            "`of (m >> n) = of m` along `P × Q → P`, `>> of n` along `P × Q → Q`",
            CHECK_PARA,
            CoKleisli,
            "along",
            lambda self, r: CoKleisli(lambda pair, x: self.fn(pair[0], x)),
        ),
    ],
)
def test_a_comparison_with_one_mistake_breaks_one_law(law, check, where, name, wrong, monkeypatch):
    monkeypatch.setattr(where, name, staticmethod(wrong) if name == "of" else wrong)
    breaks(law, check)


def test_parameters_that_differ_are_caught_where_the_values_agree(monkeypatch):
    monkeypatch.setattr(CoKleisli, "para", lambda self, at: Para((at, at), lambda _, x: self.fn(at, x)))
    with pytest.raises(LawBroken, match=re.escape("`(of m).para(m.params) = m`, parameters")):
        CHECK_PARA()


def test_a_counit_that_is_not_one_is_caught(monkeypatch):
    one = CoKleisli.identity()
    moves = lambda self, p, x: ((0, 0) if self.fn is one.fn else p, self.fn(p, x))
    with monkeypatch.context() as patch:
        patch.setattr(CoKleisli, "extend", moves)
        breaks("`ext id = id`", CHECK)
    monkeypatch.setattr(CoKleisli, "identity", staticmethod(lambda: CoKleisli(lambda p, x: x + p[0])))
    with pytest.raises(LawBroken, match=re.escape("`id >> f = f`")):
        CHECK()
