"""Folds and unfolds of two sorts, with keys and with choices."""

import sys
import types
from typing import Any, Generic, Never, TypeAlias, TypeVar, Union

import jax.numpy as jnp
import jax.random as jr
import pytest
from refused_calls import refused, table

from cdl import (
    algebra,
    ana,
    Base,
    cata,
    choose,
    Cons,
    decorate,
    fmap,
    Fork,
    inherited,
    Leaf,
    ListF,
    Many,
    MealyF,
    Nil,
    to_list,
    TreeF,
)
from cdl.errors import SignatureError, TreeTooLarge


@algebra
def length(layer: ListF[int, int]) -> int:
    match layer:
        case Nil():
            return 0
        case Cons(_, rest):
            return 1 + rest


# Keys, and choices.
def test_cata_numbers_keys_in_pre_order():
    @algebra
    def drawn(layer: TreeF[int, tuple[Any, ...]], *, key: Any = None) -> tuple[Any, ...]:
        match layer:
            case Leaf():
                return (key,)
            case Fork(left, right):
                return (key, *left, *right)

    key = jr.key(0)
    tree = Fork(Fork(Leaf(0), Leaf(0)), Leaf(0))
    found = cata(drawn, key=key)(tree)
    wanted = [jr.fold_in(key, i) for i in range(5)]
    assert [jr.key_data(k).tolist() for k in found] == [jr.key_data(k).tolist() for k in wanted]
    assert jr.key_data(decorate(drawn, key=key)(tree).tail.right.head[0]).tolist() == jr.key_data(wanted[4]).tolist()


def test_ana_gives_keys_along_the_path_at_every_call():
    drawn = []

    def grow(n: int, *, key: Any = None) -> TreeF[int, int]:
        drawn.append(jr.key_data(key).tolist())
        return Leaf(n) if n < 2 else Fork(1, n - 1)

    key = jr.key(1)
    grower = ana(grow, key=key)
    grower(3)
    left, right = jr.fold_in(key, 1), jr.fold_in(key, 2)
    paths = [key, left, right, jr.fold_in(right, 1), jr.fold_in(right, 2)]
    wanted = [jr.key_data(jr.fold_in(path, 0)).tolist() for path in paths]
    assert drawn == wanted
    grower(3)
    assert drawn == wanted * 2


def test_ana_gives_a_place_under_a_function_one_path():
    shown = lambda key: jr.key_data(key).tolist()

    def grow(n: int, *, key: Any = None) -> MealyF[int, Any, int]:
        return MealyF(lambda i: ((n, i, shown(key)), n + i))

    key = jr.key(1)
    machine = ana(grow, key=key)(0)
    assert machine.step(7)[0] == (0, 7, shown(jr.fold_in(key, 0)))
    for i in (1, 2, 1):
        assert machine.step(i)[1].step(0)[0] == (i, 0, shown(jr.fold_in(key, 1)))


def test_choose_takes_the_best_and_draws_with_a_key():
    def flip(n: int) -> ListF[int, int]:
        stop = -100.0 if n else 100.0
        return choose(jnp.asarray([stop, 0.0]), Nil(), Cons(n, n - 1))

    for key in (None, jr.key(0)):
        assert ana(flip, key=key)(3) == to_list([3, 2, 1])

    def fair(n: int) -> ListF[int, int]:
        return Nil() if n == 0 else choose(jnp.zeros(2), Nil(), Cons(n, n - 1))

    lengths = [cata(length)(ana(fair, key=jr.key(i))(6)) for i in range(12)]
    assert len(set(lengths)) > 2
    assert lengths[0] == cata(length)(ana(fair, key=jr.key(0))(6))


# Two sorts.
E = TypeVar("E", covariant=True)
S = TypeVar("S", covariant=True)


class Expr:
    pass


class Stmt:
    pass


class Num(Base[Expr, Never]):
    value: int


class Minus(Base[Expr, tuple[E, Never]], Generic[E]):
    arg: E


class Lam(Base[Expr, tuple[E, S]], Generic[E, S]):
    body: Many[S]


class Return(Base[Stmt, tuple[E, Never]], Generic[E]):
    value: E


class While(Base[Stmt, tuple[E, S]], Generic[E, S]):
    test: E
    body: Many[S]


ExprF: TypeAlias = Union[Num, Minus[E], Lam[E, S]]
StmtF: TypeAlias = Union[Return[E], While[E, S]]


@algebra
def of_expr(layer: ExprF[int, str]) -> int:
    match layer:
        case Num(value):
            return value
        case Minus(arg):
            return -arg
        case Lam(body):
            return body.map(len).sum(0)


@algebra
def of_stmt(layer: StmtF[int, str]) -> str:
    match layer:
        case Return(value):
            return f"return {value};"
        case While(test, body):
            return f"while {test}: {body.sum('')}"


def test_cata_reads_two_sorts_by_two_algebras():
    expr, stmt = cata(of_expr, of_stmt)
    loop = While(Minus(Num(1)), Many([Return(Num(2)), Return(Lam(Many([Return(Num(3))])))]))
    assert stmt(loop) == "while -1: return 2;return 9;"
    assert expr(Lam(Many([loop]))) == len("while -1: return 2;return 9;")


def test_ana_grows_two_sorts_from_two_coalgebras():
    def grow_expr(n: int) -> ExprF[int, str]:
        return Num(n) if n < 2 else Lam(Many(["x" * (n - 1)] * 2))

    def grow_stmt(text: str) -> StmtF[int, str]:
        return Return(len(text)) if len(text) < 2 else While(0, Many([text[1:]]))

    grown_expr, grown_stmt = ana(grow_expr, grow_stmt)
    assert grown_stmt("ab") == While(Num(0), Many([Return(Num(1))]))
    assert grown_expr(2) == Lam(Many([Return(Num(1)), Return(Num(1))]))


def test_schemes_take_a_family_of_any_number_of_sorts():
    count = 20
    letters = tuple(TypeVar(f"T{i}", covariant=True) for i in range(count))

    def sort(i: int) -> type[Any]:
        annotations = {"next": letters[(i + 1) % count] | None}
        bases = Base[type(f"Sort{i}", (), {}), tuple[letters]], Generic[letters]  # type: ignore[valid-type]
        return types.new_class(f"Node{i}", bases, exec_body=lambda ns: ns.update(__annotations__=annotations))

    kinds = [sort(i) for i in range(count)]

    def reader(i: int) -> Any:
        return algebra(lambda layer: i if layer.next is None else 2 * layer.next + i)

    def grower(i: int) -> Any:
        return lambda n: kinds[i](None if n == 0 else n - 1)

    step = lambda depth, layer: fmap((lambda _: depth + 1,) * count, layer)
    tree = ana(*map(grower, range(count)))[18](3)
    assert tree == kinds[18](kinds[19](kinds[0](kinds[1](None))))
    assert cata(*map(reader, range(count)))[18](tree) == 18 + 2 * (19 + 2 * (0 + 2 * 1))
    assert inherited((step,) * count, (5,) * count)[18](tree).tail.next.tail.next.head == 7


LAM: Any = Lam(Many([Return(Num(1))]))


@table(
    (lambda: cata(of_stmt, of_expr)[0](Return(Num(1))), TypeError, "`Expr` `Num` 0 `Stmt`"),
    (lambda: cata(of_stmt, of_expr)[0](Num(1)), SignatureError, "`Expr` `Num` 0 `Stmt`"),
    (lambda: cata(of_expr)(LAM), SignatureError, "1 `Return` algebras"),
    (lambda: ana(lambda n: Lam(Many([n])))(1), SignatureError, "1 coalgebras"),
    (lambda: inherited(lambda value, layer: layer, 0)(LAM), SignatureError, "1 steps"),
)
def test_schemes_of_sorts_refuse(call, error, words):
    refused(call, error, words)


def test_cata_expands_sharing_up_to_a_bound(monkeypatch):
    monkeypatch.setattr(sys.modules["cdl._functors.recursion"], "MAX_NODES", 1_000)
    leaves = algebra(lambda layer: 1 if isinstance(layer, Leaf) else layer.left + layer.right)
    tree = Leaf(0)
    for _ in range(8):
        tree = Fork(tree, tree)
    assert cata(leaves)(tree) == 256
    with pytest.raises(TreeTooLarge, match="1,000 nodes"):
        cata(leaves)(Fork(tree, Fork(tree, tree)))
