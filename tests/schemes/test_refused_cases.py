"""What a case, a coalgebra or a machine does that a compiled program cannot is refused, and the refusal names it."""

import math
from typing import Any, Generic, Never

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from first_day import (
    Add,
    bare,
    Box,
    ExprF,
    forest,
    handed,
    KEY,
    listed,
    Lit,
    net,
    refused,
    seeds,
    seq,
    spoilt,
    sprout,
    tree,
    X,
)

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
    ListF,
    Many,
    MealyF,
    MooreF,
    Nil,
    pack,
    refold,
    run,
    unfold,
)
from cdl._functors.base import rebuild
from cdl.functors import Lin, Snoc
from cdl.monads import Monoid


@pytest.mark.parametrize("given", [(1.0, 2.0), (tree,), (tree, tree)], ids=str)
def test_a_many_takes_its_children_in_a_list(given):
    many = lambda *given: bare(Many.__init__)(object.__new__(Many), *given)
    refused(r"`Many` takes its children in a list, and was given .*: write `Many\(\[x, y\]\)`", lambda: many(*given))


MISUSES = {
    "looped over": lambda box: sum(kid for kid in box.kids),
    "unpacked": lambda box: jnp.stack([*box.kids]),
    "indexed": lambda box: box.kids[0],
    "measured": lambda box: len(box.kids) * box.label,
    "searched": lambda box: 1.0 * (3.0 in box.kids),
    "reversed": lambda box: list(reversed(box.kids)),
    "taken for true": lambda box: box.label if box.kids else 0.0 * box.label,
    "stacked": lambda box: jnp.stack(box.kids),
}


@pytest.mark.parametrize("misuse", MISUSES.values(), ids=MISUSES)
def test_a_many_that_is_taken_for_a_list_is_refused_by_fold_and_by_cata_alike(misuse):
    @algebra
    def reads(layer: Box[Any]) -> Any:
        return misuse(layer)

    box = Box(1.0, Many([Box(2.0, Many())]))
    words = r"a `Many` is not a sequence.* Use `map` and a reduction .* `count` .* annotate the field `tuple\[X, ...\]`"
    refused(words, lambda: cata(reads)(box))
    refused(words, lambda: fold(reads, pack(Box[Any], [box])))


def test_a_many_says_what_it_has_and_how_it_is_reduced():
    with pytest.raises(AttributeError, match=r"a `Many` has no `sort`: use `top\(k\)`"):
        Many([1]).sort()
    with pytest.raises(AttributeError, match=r"a `Many` has no `median`: it has `map`, .* the reductions"):
        Many([1.0]).median()
    refused(r"missing a required argument: 'score': write `Many.attend\(score, zero", lambda: Many([1.0]).attend())
    assert Many([1.0]).items == (1.0,)


def test_a_division_by_the_count_of_no_child_is_told_and_the_mean_is_not_one():
    mean = algebra(lambda box: box.label + box.kids.sum(0.0) / box.kids.count)
    with pytest.raises(ZeroDivisionError):
        cata(mean)(Box(1.0, Many()))
    refused(r"divides by zero at `Box`.* `mean\(zero\)` of a `Many`", lambda: fold(mean, pack(Box, [Box(1.0, Many())])))
    read = algebra(lambda box: box.label + box.kids.mean(0.0))
    assert cata(read)(Box(1.0, Many([Box(2.0, Many())]))) == 3.0


@pytest.mark.parametrize("read", [cata, lambda alg: lambda box: fold(alg, pack(Box[Any], [box]))], ids=["cata", "fold"])
def test_a_reduction_without_a_value_for_no_child_says_which_it_takes(read):
    alone = algebra(lambda box: box.kids.sum())
    refused(r"write `sum\(zero\)`, with a `zero` of the shape of one child", lambda: read(alone)(Box(1.0, Many())))


def reading(read: Any) -> Any:
    @algebra
    def case(layer: ExprF[Any]) -> Any:
        match layer:
            case Lit(value):
                return read(value)
            case Add(left, right):
                return left + right

    return case


@pytest.mark.parametrize("wrong", [Monoid(0.0, max), lambda x, y: x + y, bare], ids=["monoid", "binary", "snoc"])
def test_many_fold_says_which_algebras_it_takes(wrong):
    @algebra
    def from_start(layer: Any) -> Any:
        match layer:
            case Lin():
                return 0.0
            case Snoc(rest, x):
                return rest + x

    wrong = from_start if wrong is bare else wrong

    @algebra
    def reads(layer: Box[Any]) -> Any:
        return bare(Many.fold)(layer.kids, wrong)

    words = r"`(Monoid|<lambda>|from_start)` gives nothing for `Nil`: `Many.fold` takes an algebra of lists .* end"
    refused(words, lambda: cata(reads)(Box(1.0, Many())))
    refused(words, lambda: fold(reads, pack(Box[Any], [Box(1.0, Many())])))


BRANCHES = {
    "if": (
        lambda x: x if x > 0 else -x,
        r"`case` asks for the value of a number at `Lit`.* `jnp.where\(x > 0, a, b\)`, or",
    ),
    "float": (lambda x: float(x), r"asks for the value of a number at `Lit`.* write `jnp.asarray\(x, float\)` for"),
    "math": (lambda x: math.sqrt(x), r"asks for the value of a number at `Lit`.* and `jnp.sqrt\(x\)` for `math"),
    "int": (lambda x: int(x), r"asks for the value of a number at `Lit`.* write `jnp.asarray\(x, int\)` for"),
    "index": (
        lambda x: [1.0, 2.0][x.astype(int)],
        r"asks for the value of a number at `Lit`.* `jnp.asarray\(xs\)\[i\]`",
    ),
    "dict": (lambda x: {1.0: 2.0}[x], r"hashes a number at `Lit`.* `jnp.array\(\[…\]\)\[x\]`"),
    "set": (lambda x: 1.0 * (x in {1.0}), "hashes a number at `Lit`"),
    "mask": (lambda x: jnp.ones(3)[x > 0], r"indexes an array with a truth value at `Lit`.* `jnp.asarray\(x, int\)`"),
    "numpy": (lambda x: np.tanh(x), "gives NumPy a traced array at `Lit`.* write `jnp` for `np`"),
}


@pytest.mark.parametrize(("read", "words"), BRANCHES.values(), ids=BRANCHES)
def test_a_case_that_asks_for_a_value_is_named_with_its_constructor(read, words):
    for compiled in (fold, annotate):
        refused(words, lambda compiled=compiled: compiled(reading(read), forest))
    refused(words, lambda: refold(reading(read), sprout, seeds, 9))


@algebra
def sign(layer: ExprF[Any]) -> Any:
    match layer:
        case Lit(value):
            if value > 0:
                return value
            return -value
        case Add(left, right):
            return left + right


def test_the_line_that_asks_for_a_value_is_shown():
    number = sign.fn.__code__.co_firstlineno + 4
    said = rf"`sign` asks for the value of a number at `Lit`, in `if value > 0:` at line {number}, and one compiled"
    with pytest.raises(CdlError, match=said) as refusal:
        fold(sign, forest)
    assert refusal.value.__notes__[0] == f"It is line {number} of {__file__}: `if value > 0:`."


def test_a_line_that_cannot_be_read_is_told_by_its_number_alone():
    made: dict[str, Any] = {}
    exec("def odd(x):\n    return x if x > 0 else -x\n", made)
    with pytest.raises(CdlError, match=r"at `Lit`, as in `if x > 0:` or `float\(x\)`, and one compiled") as refusal:
        fold(reading(made["odd"]), forest)
    assert refusal.value.__notes__[0] == "It is line 2 of <string>."


class Program: ...


class Number(Base[Program, Never]):
    value: float


class If(Base[Program, X], Generic[X]):
    then: X
    other: X | None


@pytest.mark.parametrize(
    "used", [lambda x: 1.0 + x, lambda x: x.sum(), lambda x: jnp.add(x, 1.0)], ids=["+", ".", "jnp"]
)
def test_a_case_that_forgets_none_is_told_the_place(used):
    @algebra
    def forgets(layer: Any) -> Any:
        return layer.value if isinstance(layer, Number) else layer.then + used(layer.other)

    @algebra
    def knows(layer: Any) -> Any:
        other = 0.0 if layer.other is None else layer.other
        return layer.then + other

    tree = If(Number(1.0), None)
    words = r"`forgets` fails on an `If` that has `None` at `other` \(.*NoneType.*\): say .*, `case If\(other=None\)`"
    refused(words, lambda: cata(forgets)(tree))
    refused(words, lambda: fold(forgets, pack(Number | If, [tree, If(Number(1.0), Number(2.0))])))
    with pytest.raises(TypeError, match="NoneType"):  # nothing is at fault but the case
        cata(algebra(lambda layer: None + 1))(Number(1.0))


def test_lists_passes_down_and_machines_that_ask_for_a_value_are_named_too():
    @algebra
    def listwise(layer: ListF[Any, Any]) -> Any:
        return 0.0 if isinstance(layer, Nil) else layer.tail if layer.head > 0 else -layer.tail

    def downwards(value: Any, layer: Any) -> Any:
        return handed(value if value > 0 else -value, layer)

    refused("`listwise` asks for the value of a number at `Cons`", lambda: fold(listwise, seq))
    refused("`downwards` asks for the value of a number at `Add`", lambda: inherit(downwards, forest, seeds))
    branches = lambda s: MooreF(s, lambda i: s if i > 0 else -s)
    refused("`<lambda>` asks for the value of a number in its step", lambda: run(branches, 0.0, seeds))
    refused("`max` asks for the value of a number in the product of", lambda: fold(Monoid(0.0, max), seq))
    refused("decides by a seed's value", lambda: unfold(lambda n: Lit([1.0, 2.0][n.astype(int)]), seeds, 9))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("a", r"`case` gives `'a'` at `Lit`, and a compiled carrier is made of numbers and arrays: .* with `cata`"),
        (jnp.sin, "gives the function `sin` at `Lit`"),
        (np.array(["a"]), r"gives an array of shape \(1,\) at `Lit`"),
        (None, "`case` gives nothing for `Lit`"),
        (object(), "gives an? `object` at `Lit`"),
    ],
)
def test_a_carrier_that_is_not_made_of_numbers_is_refused(value, words):
    refused(words, lambda: fold(reading(lambda x: value), forest))
    refused(words, lambda: refold(reading(lambda x: value), sprout, seeds, 9))


def test_a_step_that_is_not_a_function_is_refused():
    words = r"`<lambda>` gives a `M.*F` whose `step` is .*: it is a function of an input, as in `MealyF\(lambda i: "
    refused(words, lambda: run(lambda s: rebuild(MealyF, {"step": (s, s)}), 0.0, seeds))
    refused(words, lambda: run(lambda s: rebuild(MooreF, {"out": s, "step": s}), 0.0, seeds))
    refused("answers with an array of shape .* gives a pair", lambda: run(lambda s: MealyF(lambda i: s), 0.0, seeds))


def test_a_choice_is_of_layers_of_one_signature():
    refused(
        "a `Lit` of `Expr` and a `Cons` of `List`: a coalgebra gives layers of one",
        lambda: choose(jnp.zeros(2), Lit(1.0), Cons(1, 2)),
    )
    refused("`choose` was given `1.0` as a layer: write `choose", lambda: choose(jnp.zeros(1), 1.0))
    refused("`choose` was given no layer", lambda: choose(jnp.zeros(0)))
    refused("another `choose` as a layer", lambda: choose(jnp.zeros(1), choose(jnp.zeros(1), Lit(1.0))))
    refused(r"a tree of `Expr` as scores for 1 layers: give an array", lambda: bare(choose)(Lit(1.0), Lit(2.0)))


@pytest.mark.parametrize("key", [None, KEY], ids=["best", "drawn"])
def test_a_score_that_is_nan_is_an_error_and_not_the_first_layer(key):
    words = "gives `choose` a score that is NaN, for one of Lit, Add.* a logarithm of 0"
    bad = jnp.array([3.0, -1.0])
    refused(words, lambda: ana(spoilt, key=key)(jnp.float32(-1)))
    refused(words, lambda: unfold(spoilt, bad, 9, key=key))
    refused("score that is NaN, for one of Nil, Cons", lambda: unfold(listed, bad, 9, key=key))
    refused(words, lambda: jax.grad(lambda s: unfold(spoilt, s, 9, key=key).log_prob.sum())(bad))
    if key is None:
        refused(words, lambda: refold(net, spoilt, bad, 9))
        with pytest.raises(Exception, match="score that is NaN"):  # JAX's own kind, when the program runs
            jax.block_until_ready(jax.jit(lambda s: refold(net, spoilt, s, 9))(bad))
    with pytest.raises(Exception, match="score that is NaN"):
        jax.block_until_ready(jax.jit(lambda s: unfold(spoilt, s, 9, key=key).count)(bad))


def test_a_nan_below_a_seed_where_no_tree_grows_is_no_error():
    never = lambda n: choose(jnp.stack([1.0 - n, jnp.sqrt(n)]), Lit(n), Add(n - 1.0, n - 1.0))
    assert unfold(never, jnp.array([0.0]), 9).count.tolist() == [1]


def test_a_layer_is_printed_inside_a_case():
    printed: list[str] = []

    def read(box: Any) -> Any:
        printed.append(repr(box))
        return box.label + box.kids.sum(0.0)

    fold(algebra(read), pack(Box, [Box(1.0, Many([Box(2.0, Many())]))]))
    assert any("Many(<edges>)" in text for text in printed)
    assert any("Many([])" in text for text in printed)
