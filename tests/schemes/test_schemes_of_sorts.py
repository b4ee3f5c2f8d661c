"""Folds and unfolds of two sorts, with keys and with choices; what no scheme takes is refused with a message."""

import sys
import types
from typing import Any, Generic, Never, TypeAlias, TypeVar, Union

import jax.numpy as jnp
import jax.random as jr
import pytest

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
    hylo,
    inherited,
    Leaf,
    ListF,
    Many,
    MealyF,
    Nil,
    to_list,
    TreeF,
)
from cdl.errors import CarrierMismatch, ForeignLayer, PayloadMismatch, SignatureError, TreeTooLarge
from cdl.schemes import histo, para, product


@algebra
def total(layer: ListF[int, int]) -> int:
    match layer:
        case Nil():
            return 0
        case Cons(head, rest):
            return head + rest


@algebra
def length(layer: ListF[int, int]) -> int:
    match layer:
        case Nil():
            return 0
        case Cons(_, rest):
            return 1 + rest


def countdown(n: int) -> ListF[int, int]:
    return Nil() if n == 0 else Cons(n, n - 1)


# Keys, and choices.
def test_keys_are_numbered_in_pre_order():
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


def test_a_coalgebra_gets_keys_along_the_path_at_every_call():
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


def test_a_place_under_a_function_has_one_path_however_often_and_in_whatever_order_it_is_met():
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

    assert ana(flip)(3) == to_list([3, 2, 1])
    assert ana(flip, key=jr.key(0))(3) == to_list([3, 2, 1])

    def fair(n: int) -> ListF[int, int]:
        return Nil() if n == 0 else choose(jnp.zeros(2), Nil(), Cons(n, n - 1))

    lengths = [cata(length)(ana(fair, key=jr.key(i))(6)) for i in range(12)]
    assert len(set(lengths)) > 2
    assert lengths[0] == cata(length)(ana(fair, key=jr.key(0))(6))


def test_choose_wants_a_score_for_each_layer():
    with pytest.raises(PayloadMismatch, match=r"`choose` has scores of shape \(3,\) for 2 layers"):
        choose(jnp.zeros(3), Nil(), Cons(1, 2))


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


def test_two_sorts_are_read_by_two_algebras():
    expr, stmt = cata(of_expr, of_stmt)
    loop = While(Minus(Num(1)), Many([Return(Num(2)), Return(Lam(Many([Return(Num(3))])))]))
    assert stmt(loop) == "while -1: return 2;return 9;"
    assert expr(Lam(Many([loop]))) == len("while -1: return 2;return 9;")


def test_two_sorts_grow_from_two_coalgebras():
    def grow_expr(n: int) -> ExprF[int, str]:
        return Num(n) if n < 2 else Lam(Many(["x" * (n - 1)] * 2))

    def grow_stmt(text: str) -> StmtF[int, str]:
        return Return(len(text)) if len(text) < 2 else While(0, Many([text[1:]]))

    grown_expr, grown_stmt = ana(grow_expr, grow_stmt)
    assert grown_stmt("ab") == While(Num(0), Many([Return(Num(1))]))
    assert grown_expr(2) == Lam(Many([Return(Num(1)), Return(Num(1))]))


def test_sorts_in_the_wrong_order_are_refused_by_name():
    stmt, _ = cata(of_stmt, of_expr)
    expected = r"an `Expr` \(`Num`\) stands at a place of sort 0, which is `Stmt`"
    with pytest.raises(TypeError, match=expected):
        stmt(Return(Num(1)))
    with pytest.raises(SignatureError, match=expected):
        stmt(Num(1))


def test_one_algebra_does_not_read_two_sorts():
    expected = r"a place of sort 1 has a `Return`, and the number of algebras is 1: give one for each sort"
    with pytest.raises(SignatureError, match=expected):
        cata(of_expr)(Lam(Many([Return(Num(1))])))


@pytest.mark.parametrize(
    ("run", "what"),
    [
        (lambda: ana(lambda n: Lam(Many([n])))(1), "coalgebras"),
        (lambda: inherited(lambda value, layer: layer, 0)(Lam(Many([Return(Num(1))]))), "steps"),
    ],
)
def test_one_function_does_not_go_through_two_sorts(run, what):
    with pytest.raises(
        SignatureError, match=rf"there is a place of sort 1, and the number of {what} is 1: give one for"
    ):
        run()


def test_a_family_has_any_number_of_sorts():
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


# What is refused.
def test_a_constructor_without_a_case_is_refused():
    @algebra
    def forgetful(layer: ListF[int, int]) -> int:  # type: ignore[return]
        match layer:
            case Cons(head, tail):
                return head + tail

    with pytest.raises(CarrierMismatch, match="`forgetful` gives nothing for `Nil`: its `match` has no case for it"):
        cata(forgetful)(to_list([1]))


@pytest.mark.parametrize("read", [cata, para, histo, decorate], ids=lambda f: f.__name__)
def test_a_foreign_subtree_is_refused(read):
    expected = r"`Leaf` of `Tree` is not a constructor of the signature of `List` \(Nil, Cons\)"
    with pytest.raises(ForeignLayer, match=expected):
        read(total)(Cons(1, Leaf(2)))
    with pytest.raises(ForeignLayer, match="`2` stands where a tree belongs of `List`"):
        read(total)(Cons(1, 2))


def test_a_coalgebra_that_gives_no_layer_is_refused():
    with pytest.raises(ForeignLayer, match="a coalgebra gave an `int`, which is not a layer"):
        ana(lambda n: n)(3)


def test_functors_that_meet_and_differ_are_refused_when_they_run():
    @algebra
    def leaves(layer: TreeF[int, int]) -> int:  # type: ignore[return]
        match layer:
            case Leaf():
                return 1
            case Fork(left, right):
                return left + right

    for meeting in (lambda: hylo(leaves, countdown)(2), lambda: cata(product(total, leaves))(to_list([1]))):
        with pytest.raises(CarrierMismatch, match="`leaves` gives nothing for `Nil`"):
            meeting()


def test_a_cyclic_tree_is_refused():
    tree = Cons(1, Cons(2, Nil()))
    object.__setattr__(tree.tail, "tail", tree)
    with pytest.raises(TreeTooLarge, match="the tree is cyclic: a `Cons` is inside itself, 2 nodes below the root"):
        cata(total)(tree)


def test_sharing_is_expanded_up_to_a_bound(monkeypatch):
    monkeypatch.setattr(sys.modules["cdl._functors.recursion"], "MAX_NODES", 1_000)

    @algebra
    def leaves(layer: TreeF[int, int]) -> int:
        match layer:
            case Leaf():
                return 1
            case Fork(left, right):
                return left + right

    tree = Leaf(0)
    for _ in range(8):
        tree = Fork(tree, tree)
    assert cata(leaves)(tree) == 256
    with pytest.raises(TreeTooLarge, match="more than 1,000 nodes once its shared parts are written out"):
        cata(leaves)(Fork(tree, Fork(tree, tree)))
