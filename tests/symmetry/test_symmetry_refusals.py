"""What actions, layers, laws and measures refuse: a row for each, with words to be told."""

import functools
from typing import Any, Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from equivariant import unchecked

from cdl import Base, Leaf, Nil, TreeF
from cdl.errors import CdlError
from cdl.monads import Monoid, Writer
from cdl.symmetry import (
    Action,
    attributed,
    chain,
    Distributive,
    Equivariant,
    fields,
    flow,
    hom,
    hom_defect,
    is_hom,
    lie_error,
    monoid_error,
    moved,
    NormGate,
    Pointwise,
)
from cdl.symmetry.groups import (
    cyclic,
    permutations,
    regular,
    rotations,
    scalings,
    signed_permutations,
    so,
    truncated_translations,
)
from cdl.symmetry.monoids import flip_flop, idempotent


KEY = jr.key(0)
S, RING, TURN, SHIFT = permutations(3), cyclic(3), so(2), truncated_translations(3)
SIGNED, FLIP = signed_permutations(3), Action().signed([0], [-1], "flip")
XS, X3 = jnp.ones((3, 2)), jnp.ones(3)


def scaled(*factors: float) -> Action:
    return Action(len(factors)).signed(np.arange(len(factors)), factors, "scale")


def layer(X: Any = S, Y: Any = None, *channels: Any, **options: Any) -> Any:
    return Equivariant(X, X if Y is None else Y, *channels, **{"key": KEY, **options})


def same(x: Any) -> Any:
    return x


def first(x: Any) -> Any:
    return x[:1]


def law(given: Any = FLIP, kind: Any = Leaf, signature: Any = TreeF) -> Any:
    return Distributive(signature, {kind: given})


def stepped(at_leaf: Any, X: Any = FLIP, value: Any = 0.5, carrier: Any = None) -> Any:
    step: Any = lambda l: at_leaf(l.label) if isinstance(l, Leaf) else l.left + l.right
    return law(X).check(step, X if carrier is None else carrier, [Leaf(jnp.asarray(value))])


T = TypeVar("T", covariant=True)


class Body: ...


class Ball(Base[Body, T], Generic[T]):
    place: jax.Array
    mass: float


FIRST = functools.partial(S, "cycle")
PLUS, TIMES = (Writer(Monoid(u, f)).algebra(f) for u, f in ((0.0, max), (1.0, min)))

ROWS: list[tuple[Any, type[Exception], str]] = [
    # generators
    (lambda: Action(3).perm([0, 0, 1]), CdlError, "0 twice permutation"),
    (lambda: Action(2).perm([1, -1]), CdlError, "loses permutation"),
    (lambda: Action(3).push([0, 1]), CdlError, "(2,) 3 places"),
    (lambda: Action(2).push([0.0, 1.0]), CdlError, "float64 whole"),
    (lambda: Action(3).matrix(np.eye(2)), CdlError, "(2, 2) 3 × 3"),
    (lambda: Action(1).matrix([[1j]]), CdlError, "complex128"),
    (lambda: RING.matrix("shift"), CdlError, "'shift' `X.element(word)`"),
    (lambda: Action(1).lie([[np.inf]]), CdlError, "infinite"),
    (lambda: Action(2).signed([1, 0], [1]), CdlError, "scales int64[1]"),
    (lambda: Action(2, S.generators), CdlError, "`cycle` 3 (2,)"),
    (lambda: idempotent(2 * np.eye(2)), CdlError, "`P`"),
    (lambda: RING & cyclic(2), CdlError, "`X` (3,) `Y` (2,)"),
    # words, times and numbers
    (lambda: S((1,), X3), CdlError, "word"),
    (lambda: RING("shift", jnp.zeros(4)), CdlError, "(4,) (3,)"),
    (lambda: moved("turn01", (None, TURN), (X3, XS[0])), CdlError, "`flow(actions, t)`"),
    (lambda: flow(TURN, np.inf), CdlError, "`flow` finite inf"),
    (lambda: jax.jit(lambda t: flow(TURN, t)("turn01", XS[0]))(1.0), CdlError, "`flow` time"),
    *[
        (lambda take=take, x=x: take(x), CdlError, words)
        for take in (lambda x: S("cycle", x), layer(), fields.translation)
        for x, words in (
            (np.array([2**40, 7, 3]), "changed"),
            (np.array([1e300, 1.0, 1.0]), "infinite"),
            ([None, 1, 2], "array numbers"),
        )
    ],
    (lambda: scaled(1e200).power(2), CdlError, "beyond `float64`"),
    (lambda: scaled(1e200).element(("scale", "scale")), CdlError, "word beyond"),
    (lambda: scaled(1e5)("scale", jnp.ones(1, jnp.float16)), CdlError, "100000 `float16`"),
    (lambda: scaled(4.0)("scale", jnp.asarray([2**30])), CdlError, "4.29e+09 `int32`"),
    (lambda: regular(scaled(1 / 49)), CdlError, "0.0204082 rounded"),
    # linear maps
    (lambda: hom(S, RING), CdlError, "`X` 2 cycle `Y` 1 shift"),
    (lambda: hom(Action(2).lie(np.eye(2)), Action(2).matrix(np.eye(2))), CdlError, "`g1` Lie"),
    (lambda: hom(RING, RING).weight(np.zeros((2, 4))), CdlError, "3 (2, 4)"),
    # layers
    (lambda: layer(S, S, 2, 3)(X3), CdlError, "(2, 3) (3,)"),
    (lambda: layer()(jnp.zeros((7, 3))), CdlError, "`jax.vmap`"),
    (lambda: layer(SIGNED, SIGNED.trivial()), CdlError, "zero commutes"),
    (lambda: layer(key=0), CdlError, "key=jax.random.key(0)"),
    (lambda: chain(layer(S, S, 2, 3), layer(S, S, 2, 3)), CdlError, "3 channels `Equivariant` 2"),
    (lambda: chain([layer(), layer()]), CdlError, "`list` chain(*maps)"),
    (lambda: chain(layer(), eqx.nn.LayerNorm(3)), CdlError, "`LayerNorm` parameters use_weight"),
    (lambda: chain(layer(), eqx.nn.Linear(3, 4, key=KEY)), CdlError, "`Linear`"),
    (lambda: chain(layer(), eqx.nn.Dropout(0.5)), CdlError, "`Dropout` random key"),
    (lambda: Pointwise(jnp.sum, S), CdlError, "place"),
    (lambda: Pointwise(jnp.tanh, 3), CdlError, "Pointwise actions"),
    (lambda: Pointwise(lambda x: jnp.cumsum(x, 0), RING), CdlError, "`shift`"),
    (lambda: Pointwise(jnp.log, scaled(-1.0, 1.0)), CdlError, "inf"),
    (lambda: Pointwise(jax.nn.relu, SIGNED), CdlError, "`relu` `negate` odd"),
    (lambda: Pointwise(lambda x: jnp.where(x > 3e5, 0, x), SIGNED), CdlError, "`negate`"),
    (lambda: Pointwise(jnp.tanh, scalings(2)), CdlError, "`tanh` `scale`"),
    (lambda: Pointwise(jax.nn.sigmoid, SHIFT), CdlError, "f(0) = 0"),
    (lambda: Pointwise(jax.nn.relu, flip_flop()), CdlError, "pull `X.transposed`"),
    (lambda: Pointwise(jnp.tanh, TURN), CdlError, "`NormGate` length"),
    (lambda: NormGate(scalings(2), key=KEY), CdlError, "`scale` orthogonal"),
    # laws and maps
    (lambda: law(TURN, Ball, Ball[T]), CdlError, "`Ball` `place`, `mass`"),
    (lambda: law({"place": so(3), "mass": FLIP}, Ball, Ball[T]), CdlError, "`X` 1 flip `Y` 3"),
    (lambda: law(TURN)("turn01", Leaf(XS[0])), CdlError, "`turn01`"),
    (lambda: law().check(len, None, []), CdlError, "none"),
    (lambda: stepped(same, carrier=(FLIP, FLIP)), CdlError, "structure"),
    (lambda: stepped(abs), CdlError, "`Leaf` `flip`"),
    (lambda: stepped(jnp.round, TURN, [0.4, 0.8]), CdlError, "`Leaf` `turn01`"),
    (lambda: is_hom(same, PLUS, TIMES, [(1.0, 2.0)]), CdlError, "one monad same"),
    (lambda: is_hom(lambda x: x.none(), RING, RING, ["ab"]), CdlError, "`f` 'ab' 'none'"),
    (lambda: hom_defect(same, (None, S), S, [X3]), CdlError, "`hom_defect` `tuple`"),
    # measures
    (lambda: monoid_error(same, same, first, XS), CdlError, "sides shapes"),
    (lambda: lie_error(same, first, same, XS), CdlError, "sides shapes"),
    (lambda: monoid_error(same, S, FIRST, XS.T), CdlError, "functools.partial(X,"),
    (lambda: lie_error(lambda x, y: x, FIRST, FIRST, jnp.ones((2, 3))), CdlError, "one argument"),
    *[
        (lambda xs=xs: lie_error(same, same, same, xs), CdlError, words)
        for xs, words in (
            (jnp.ones((0, 2)), "0 examples"),
            ((XS, jnp.ones((2, 2))), "2 3 examples"),
        )
    ],
    (lambda: fields.translation(jnp.zeros((5, 5), jnp.int32)), ValueError, "int32[5, 5]"),
    (lambda: RING("turn", X3), CdlError, "`turn` `shift`"),
    (lambda: attributed([jnp.square], [same], XS), CdlError, "1 maps 1 fields"),
    (lambda: chain(layer(), layer(permutations(4))), CdlError, "Action(3; Action(4;"),
    (lambda: layer(dtype=int), CdlError, "`int64` gradient"),
    (lambda: layer(S, S, 0, 1), CdlError, "0 channels"),
    (lambda: hom(cyclic(4), rotations(2)), CdlError, "`shift` `turn` `Y.named"),
    (lambda: law(TURN, Nil), CdlError, "`Nil` (Leaf, Fork)"),
    (lambda: law()("flip", Nil()), CdlError, "`Nil` (Leaf, Fork)"),
    (lambda: is_hom(same, S, S, []), CdlError, "none"),
]


@pytest.mark.parametrize(("call", "error", "words"), ROWS, ids=[words for _, _, words in ROWS])
def test_refusals(call, error, words):
    with unchecked(), pytest.raises(error) as told:
        call()
    assert all(word in str(told.value) for word in words.split()), told.value
