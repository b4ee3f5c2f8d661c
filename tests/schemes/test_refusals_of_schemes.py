"""What a case, a coalgebra or a machine does that no scheme takes is refused: a table."""

from typing import Any, Generic, Never

import jax
import jax.numpy as jnp
from first_day import (
    Add,
    Box,
    ExprF,
    forest,
    handed,
    KEY,
    Lit,
    net,
    seeds,
    seq,
    spoilt,
    sprout,
    X,
)
from refused_calls import each, refused, table

from cdl import (
    algebra,
    ana,
    annotate,
    Base,
    cata,
    CdlError,
    choose,
    Cons,
    fold,
    inherit,
    Leaf,
    ListF,
    Many,
    MealyF,
    MooreF,
    Nil,
    pack,
    refold,
    RoseF,
    run,
    schemes,
    to_list,
    unfold,
)
from cdl.errors import CarrierMismatch, ForeignLayer, PayloadMismatch, SignatureError, TreeTooLarge
from cdl.functors import NatF, Succ, Zero
from cdl.monads import Monoid


@algebra
def total(layer: ListF[Any, Any]) -> Any:
    return 0 if isinstance(layer, Nil) else layer.head + layer.tail


@algebra
def looks_back(layer: NatF[Any]) -> Any:
    return jnp.array(0) if isinstance(layer, Zero) else schemes.past(layer.pred, (0,), 1)


@algebra
def of_rose(layer: RoseF[float, Any]) -> Any:
    return layer.label


def reading(read: Any) -> Any:
    @algebra
    def case(layer: ExprF[Any]) -> Any:
        match layer:
            case Lit(value):
                return read(value)
            case Add(left, right):
                return left + right

    return case


BOX = Box(1.0, Many([Box(2.0, Many())]))
BOXES = pack(Box[Any], [BOX])


def over_boxes(read: Any) -> Any:
    return fold(algebra(read), BOXES)


MISUSES = (
    lambda box: sum(kid for kid in box.kids),
    lambda box: box.kids[0],
    lambda box: len(box.kids) * box.label,
    lambda box: box.label if box.kids else 0.0,
    lambda box: jnp.stack(box.kids),
)
CYCLIC = Cons(1, Cons(2, Nil()))
object.__setattr__(CYCLIC.tail, "tail", CYCLIC)


class Program: ...


class Number(Base[Program, Never]):
    value: float


class If(Base[Program, X], Generic[X]):
    then: X
    other: X | None


@algebra
def forgets(layer: Any) -> Any:
    return layer.value if isinstance(layer, Number) else layer.then + layer.other


@algebra
def positive(layer: ListF[Any, Any]) -> Any:
    return 0.0 if isinstance(layer, Nil) or layer.head < 0 else layer.tail


def downwards(value: Any, layer: Any) -> Any:
    return handed(value if value > 0 else -value, layer)


BRANCH = If(Number(1.0), None)
BAD = jnp.array([3.0, -1.0])
one: Any = 1
three: Any = 3


@table(
    # Children of a `Many`.
    (lambda: Many(one, 2.0), CdlError, "`Many([x, y])`"),
    *each(MISUSES, over_boxes, CdlError, "`Many` sequence `map`"),
    (lambda: Many([1]).sort(), AttributeError, "`sort` `top(k)`"),
    (lambda: Many([one]).attend(), CdlError, "'score' `Many.attend(score, zero"),
    (
        lambda: over_boxes(lambda box: box.kids.sum(0.0) / box.kids.count),
        ZeroDivisionError,
        "zero `Box(",
    ),
    (lambda: over_boxes(lambda box: box.kids.sum()), CdlError, "`sum(zero)`"),
    (
        lambda: over_boxes(lambda box: box.kids.fold(Monoid(0.0, max))),
        CdlError,
        "`Monoid` `Nil` `Many.fold`",
    ),
    # A case that a program cannot run.
    (lambda: annotate(reading(lambda x: x if x > 0 else -x), forest), TypeError, "boolean `case` `Lit("),
    (lambda: refold(reading(float), sprout, seeds, 9), TypeError, "`float` `case` `Lit("),
    (
        lambda: fold(algebra(forgets.fn), pack(Number | If, [BRANCH])),
        CdlError,
        "`forgets` `If` `other`",
    ),
    (lambda: fold(reading(lambda x: "a"), forest), CdlError, "`case` `'a'` `Lit` `cata`"),
    (lambda: fold(positive, seq), TypeError, "boolean `positive` `Cons("),
    (lambda: inherit(downwards, forest, seeds), TypeError, "boolean `downwards` `Add`"),
    (
        lambda: run(lambda s: MooreF(s, lambda i: s if i > 0 else -s), 0.0, seeds),
        TypeError,
        "boolean `<lambda>` state input",
    ),
    (lambda: fold(Monoid(0.0, max), seq), TypeError, "boolean `max` elements"),
    (lambda: unfold(lambda n: Lit([1.0, 2.0][n.astype(int)]), seeds, 9), TypeError, "seed `choose("),
    (lambda: run(lambda s: MealyF(lambda i: s), 0.0, seeds), CdlError, "array pair"),
    # Choices.
    (lambda: choose(jnp.zeros(3), Nil(), Cons(1, 2)), PayloadMismatch, "(3,) 2 layers"),
    (lambda: choose(jnp.zeros(2), Lit(1.0), Cons(1, 2)), CdlError, "`Lit` `Expr` `Cons` `List`"),
    (lambda: choose(jnp.zeros(1), choose(jnp.zeros(1), Lit(1.0))), CdlError, "another `choose`"),
    (lambda: ana(spoilt, key=KEY)(jnp.float32(-1)), CdlError, "NaN Lit Add"),
    (lambda: unfold(spoilt, BAD, 9, key=KEY), CdlError, "NaN Lit Add"),
    (lambda: refold(net, spoilt, BAD, 9), CdlError, "NaN Lit Add"),
    (
        lambda: jax.block_until_ready(jax.jit(lambda s: unfold(spoilt, s, 9).count)(BAD)),
        Exception,
        "NaN",
    ),
    # Trees and layers.
    (
        lambda: cata(algebra(lambda layer: None))(to_list([1])),
        CarrierMismatch,
        "`<lambda>` nothing `Nil`",
    ),
    (lambda: cata(total)(Cons(1, Leaf(2))), ForeignLayer, "`Leaf` `Tree` `List` (Nil, Cons)"),
    (lambda: cata(total)(Cons(1, 2)), ForeignLayer, "`2` tree `List`"),
    (lambda: ana(lambda n: n)(3), ForeignLayer, "`int` layer"),
    (lambda: cata(total)(CYCLIC), TreeTooLarge, "cyclic `Cons` 2"),
    (lambda: schemes.hoist(lambda layer: None)(to_list("a")), ForeignLayer, "`None` layer"),
    (
        lambda: schemes.elgot(total, lambda n: Nil())(1),
        CdlError,
        "`elgot` `Left(value)` `Right(layer)`",
    ),
    (
        lambda: schemes.apo(lambda n: Cons(n, three))(3),
        CdlError,
        "`apo` `Left(tree)` `Right(seed)`",
    ),
    # Folds that are algebras.
    (lambda: schemes.histo_algebra(of_rose, 1), SignatureError, "`Node` window"),
    (lambda: schemes.prepro_algebra(lambda layer: layer, total, 0), CdlError, "`depth` 0"),
    (
        lambda: fold(schemes.histo_algebra(looks_back, 0), pack(NatF, [Succ(Succ(Zero()))])),
        CdlError,
        "(0,) history",
    ),
    # Other kinds of arguments.
    (lambda: schemes.product(total, three), CdlError, "`product` `3`"),
    (lambda: schemes.hoist(three), CdlError, "`transform` `hoist`"),
    (lambda: schemes.dyna(total, three), CdlError, "`dyna` coalgebra"),
    (lambda: schemes.elgot(total, three), CdlError, "`Left(value)`"),
)
def test_schemes_refuse(call, error, words):
    refused(call, error, words)


def positive_part(value: Any) -> Any:
    return value if value > 0 else 0.0


def test_unfold_takes_nan_below_a_seed_where_no_tree_grows():
    never = lambda n: choose(jnp.stack([1.0 - n, jnp.sqrt(n)]), Lit(n), Add(n - 1.0, n - 1.0))
    assert unfold(never, jnp.array([0.0]), 9).count.tolist() == [1]
