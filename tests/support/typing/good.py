"""What must type-check: signatures, algebras and coalgebras as users write them, with every scheme. Run by no one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, assert_type, Generic, Never, TypeAlias, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from cdl import (
    Algebra,
    algebra,
    ana,
    annotate,
    Base,
    cata,
    choose,
    Cons,
    decorate,
    feedback,
    Fix,
    fmap,
    fold,
    follow,
    Forest,
    Grown,
    hylo,
    Lens,
    likelihood,
    List,
    ListF,
    Many,
    MealyF,
    MooreF,
    Nil,
    Node,
    Optic,
    pack,
    Packed,
    Para,
    parallel,
    ParaOptic,
    refold,
    reverse,
    Rose,
    run,
    Seq,
    series,
    supervised,
    to_list,
    to_optic,
    unfold,
    unroll,
)
from cdl.compiled import Bracketing, Levels, Lists, Scan, shard, shard_mean, Shards
from cdl.functors import Fix1of2, Fix2of2, Lin, Link, SnocF, StreamF, strength, take
from cdl.learning import dream, layers, losses, optimisers
from cdl.machines import as_mealy, respond, start, stateless
from cdl.monads import bind, Cofree, Free, interpret, ListMonad, Pure
from cdl.monoids import linear_recurrence
from cdl.optics import D, R, SmoothMap, to_lens, z2, Z2Map
from cdl.para import fanout, free_algebra, lax_algebra, LaxAlgebra, Square, square, two_cells, Untied
from cdl.schemes import (
    apo,
    chrono,
    coelgot,
    dyna,
    Either,
    elgot,
    futu,
    histo,
    Left,
    mutu,
    para,
    prepro,
    product,
    Right,
    zygo,
)
from cdl.trees import of_dataclasses


X = TypeVar("X", covariant=True)
E = TypeVar("E", covariant=True)
S = TypeVar("S", covariant=True)
A = TypeVar("A")


class Expr:
    """Arithmetic expressions."""


class Lit(Base[Expr, Never]):
    value: float


class Neg(Base[Expr, X], Generic[X]):
    arg: X


class Add(Base[Expr, X], Generic[X]):
    left: X
    right: X


ExprF: TypeAlias = Union[Lit, Neg[X], Add[X]]
Vector: TypeAlias = Float[Array, " n"]


class Net(Algebra[ExprF[Vector], Vector]):
    weight: Vector

    def __call__(self, layer: ExprF[Vector]) -> Vector:
        match layer:
            case Lit(value):
                return self.weight * value
            case Neg(arg):
                return -arg
            case Add(left, right):
                return left + right


@algebra
def depth(layer: ExprF[int]) -> int:
    match layer:
        case Lit():
            return 0
        case Neg(arg):
            return 1 + arg
        case Add(left, right):
            return 1 + max(left, right)


@algebra
def written(layer: ExprF[str]) -> str:
    match layer:
        case Lit(value):
            return str(value)
        case Neg(arg):
            return f"-{arg}"
        case Add(left, right):
            return f"({left} + {right})"


@algebra
def total(layer: ListF[float, float]) -> float:
    match layer:
        case Nil():
            return 0.0
        case Cons(head, rest):
            return head + rest


@algebra
def longest(layer: ListF[float, tuple[Fix[List[float]], int]]) -> int:
    match layer:
        case Nil():
            return 0
        case Cons(_, (_, n)):
            return n + 1


@algebra
def signed(layer: ExprF[tuple[int, str]]) -> str:
    match layer:
        case Lit(value):
            return str(value)
        case Neg((n, text)):
            return f"-{text}" if n else text
        case Add((_, left), (_, right)):
            return left + right


@algebra
def counted(layer: ExprF[tuple[int, str]]) -> int:
    match layer:
        case Lit():
            return 1
        case Neg((n, text)):
            return n + len(text)
        case Add((m, _), (n, _)):
            return m + n


@algebra
def fibonacci(layer: ListF[float, Cofree[List[float], int]]) -> int:
    match layer:
        case Cons(_, Cofree(one, Cons(_, Cofree(two, _)))):
            return one + two
        case Nil() | Cons():
            return 1


def countdown(n: int) -> ListF[float, int]:
    return Nil() if n == 0 else Cons(float(n), n - 1)


def insert(
    seed: tuple[float, Fix[List[float]]],
) -> ListF[float, Either[Fix[List[float]], tuple[float, Fix[List[float]]]]]:
    return Cons(seed[0], Left(seed[1]))


def in_pairs(n: int) -> ListF[float, Free[List[float], int]]:
    return Nil() if n == 0 else Cons(1.0, Cons(2.0, Pure(n - 1)))


def at_once(n: int) -> Either[float, ListF[float, int]]:
    return Left(0.0) if n > 9 else Right(countdown(n))


def beside(seed: int, layer: Base[List[float], str]) -> str:
    return f"{seed}{layer}"


def dropped(layer: Base[List[float], A]) -> Base[List[float], A]:
    return layer


def adder(state: float) -> MealyF[float, float, float]:
    return MealyF(lambda i: (state + i, state + i))


def counting(n: int) -> MooreF[bool, str, int]:
    return MooreF(str(n), lambda i: n + i)


def measured(state: str) -> MealyF[str, int, str]:
    return MealyF(lambda word: (len(word), word))


class Cell(eqx.Module):
    weight: Array

    def __call__(self, state: tuple[Array, Array]) -> MealyF[Array, dict[str, Array], tuple[Array, Array]]:
        return MealyF(lambda i: ({"seen": i}, state))


def gate(state: Array) -> MooreF[Array, Array, Array]:
    return MooreF(state, lambda i: i)


def ticking(n: int) -> StreamF[int, int]:
    return StreamF(n, lambda: n + 1)


def chosen(n: int) -> ListF[float, int]:
    return choose(jnp.zeros(2), Nil(), Cons(1.0, n))


@algebra
def children(layer: Node[str, int]) -> int:
    return 1 + layer.kids.sum(0)


@algebra
def last(layer: Link[int, int]) -> int:
    return layer.head if layer.tail is None else layer.tail


one = Lit(1.0)
bare = Add(one, Neg(one))
tree: Fix[Expr] = Add(Neg(one), bare)
numbers: Fix[List[float]] = Cons(1.0, Cons(2.0, Nil()))
rose: Fix[Rose[str]] = Node("a", Many([Node("b", Many(()))]))

assert_type(cata(depth), Callable[[Fix[Expr]], int])
assert_type(cata(depth)(tree), int)
assert_type(cata(depth)(bare), int)
assert_type(cata(written)(tree), str)
assert_type(cata(total)(numbers), float)
assert_type(cata(children)(rose), int)
assert_type(cata(Net(jnp.ones(3)))(tree).ndim, int)
assert_type(para(longest)(numbers), int)
assert_type(zygo(depth, signed)(tree), str)
assert_type(mutu(counted, signed)(tree), str)
assert_type(histo(fibonacci)(numbers), int)
assert_type(prepro(dropped, total)(numbers), float)
assert_type(decorate(depth)(tree), Cofree[Expr, int])
assert_type(cata(product(depth, written))(tree), tuple[int, str])
assert_type(ana(countdown), Callable[[int], Fix[List[float]]])
assert_type(ana(chosen)(3), Fix[List[float]])
assert_type(apo(insert)((1.0, numbers)), Fix[List[float]])
assert_type(futu(in_pairs)(3), Fix[List[float]])
assert_type(hylo(total, countdown)(4), float)
assert_type(dyna(fibonacci, countdown)(4), int)
assert_type(chrono(fibonacci, in_pairs)(4), int)
assert_type(elgot(total, at_once)(4), float)
assert_type(coelgot(beside, countdown)(4), str)
assert_type(respond(ana(adder)(0.0), [1.0]), list[float])
assert_type(respond(ana(counting)(0), [True]), list[str])
assert_type(take(3, ana(ticking)(0)), list[int])

# Machines, run and put together.
zeros = jnp.zeros(3)
cell = Cell(zeros)
assert_type(run(cell, (zeros, zeros), zeros), tuple[dict[str, Array], tuple[Array, Array]])
assert_type(run(gate, zeros, zeros, states=True), tuple[Array, Array, Array])
batch: Seq[Array] = Seq(jnp.zeros((1, 3)), [2])
assert_type(run(gate, zeros, batch), tuple[Seq[Array], Array])
assert_type(run(gate, zeros, batch, states=True), tuple[Seq[Array], Array, Seq[Array]])
answer, now = start(cell, (zeros, zeros)).step(zeros)
assert_type(answer, dict[str, Array])
assert_type(now.step(zeros)[0], dict[str, Array])
assert_type(series(counting, measured)((0, "")), MooreF[bool, int, tuple[int, str]])
assert_type(series(measured, stateless(str))(("", ())), MealyF[str, str, tuple[str, tuple[()]]])
assert_type(parallel(measured, adder)(("", 0.0)), MealyF[tuple[str, float], tuple[int, float], tuple[str, float]])
assert_type(as_mealy(counting)(0), MealyF[bool, str, int])


def looped(state: int) -> MooreF[tuple[str, bool], tuple[float, bool], int]:
    return MooreF((0.5, True), lambda pair: state)


def to_be_looped(state: int) -> MealyF[tuple[str, int], tuple[float, bool], int]:
    return MealyF(lambda pair: ((0.5, True), state))


def back(state: bytes) -> MooreF[bool, int, bytes]:
    return MooreF(0, lambda i: state)


assert_type(feedback(looped)(0), MooreF[str, float, int])
assert_type(feedback(to_be_looped, back)((0, b"")), MealyF[str, float, tuple[int, bytes]])
assert_type(to_list([1, 2]), Fix[List[int]])
assert_type(fmap(str, countdown(3)), Base[List[float], str])
assert_type(strength("p", countdown(3)), Base[List[float], tuple[str, int]])


# Two sorts: expressions hold statements and statements expressions.
class Term:
    """Expressions."""


class Stmt:
    """Statements."""


class Num(Base[Term, Never]):
    value: float


class Minus(Base[Term, tuple[E, Never]], Generic[E]):
    arg: E


class Lam(Base[Term, tuple[E, S]], Generic[E, S]):
    body: Many[S]


class Return(Base[Stmt, tuple[E, Never]], Generic[E]):
    value: E


class While(Base[Stmt, tuple[E, S]], Generic[E, S]):
    test: E
    body: Many[S]


TermF: TypeAlias = Union[Num, Minus[E], Lam[E, S]]
StmtF: TypeAlias = Union[Return[E], While[E, S]]


class OfTerm(Algebra[TermF[int, str], int]):
    def __call__(self, layer: TermF[int, str]) -> int:
        match layer:
            case Num():
                return 1
            case Minus(arg):
                return arg
            case Lam(body):
                return body.map(len).sum(0)


class OfStmt(Algebra[StmtF[int, str], str]):
    def __call__(self, layer: StmtF[int, str]) -> str:
        match layer:
            case Return(value):
                return str(value)
            case While(test, body):
                return str(test) + body.sum("")


def grow_term(n: int) -> TermF[int, str]:
    return Num(1.0) if n == 0 else Lam(Many(["s"] * n))


def grow_stmt(text: str) -> StmtF[int, str]:
    return Return(len(text) - 1)


of_term, of_stmt = cata(OfTerm(), OfStmt())
program: Fix2of2[Term, Stmt] = While(Num(1.0), Many([Return(Num(2.0))]))
term: Fix1of2[Term, Stmt] = Lam(Many([Return(Num(1.0))]))
assert_type(of_term(term), int)
assert_type(of_stmt(program), str)
grown_term, grown_stmt = ana(grow_term, grow_stmt)
assert_type(of_term(grown_term(2)), int)
likely_term, likely_stmt = likelihood((grow_term, grow_stmt), (2, "ab"))
assert_type(likely_term(term).ndim, int)
assert_type(likely_stmt(program).ndim, int)


def in_free(text: str) -> Free[List[float], int]:
    return Pure(len(text))


free: Free[List[float], str] = Cons(1.0, Pure("rest"))


def weigh(layer: Base[List[float], int]) -> int:
    return 1


assert_type(interpret(len, weigh)(free), int)
assert_type(bind(free, in_free), Free[List[float], int])


# Growing many, and many devices.
def sprout(seed: Vector) -> ExprF[Vector]:
    return choose(seed, Lit(1.0), Neg(seed), Add(seed, seed))


def of_part(net: Net, part: Forest) -> tuple[Vector, Vector]:
    return net.weight, net.weight


seeds = jnp.zeros((2, 3))
net = Net(jnp.ones(3))
shards = shard([pack(ExprF, [tree])], jax.make_mesh((1,), ("data",)))
assert_type(unfold(sprout, seeds, 9), Grown[Fix[Expr]])
assert_type(unfold(sprout, seeds, 9).trees(), list[Fix[Expr]])
assert_type(unfold(chosen, seeds, 9), Lists[float])
assert_type(unfold(ticking, seeds, 9), int)
assert_type(refold(total, chosen, seeds, 9)[0], float)
assert_type(refold(total, countdown, seeds), float)
assert_type(refold(net, sprout, seeds).ndim, int)
some_terms, some_stmts = unfold((grow_term, grow_stmt), (seeds, seeds), 9)
assert_type(some_terms.trees(), list[Fix1of2[Term, Stmt]])
assert_type(some_stmts.trees(), list[Fix2of2[Term, Stmt]])
(of_terms, undone), (of_stmts, _) = refold((OfTerm(), OfStmt()), (grow_term, grow_stmt), (seeds, seeds), 9)
assert_type(of_terms, int)
assert_type(of_stmts, str)
several = pack((TermF, StmtF), [term, program])
assert_type(follow((grow_term, grow_stmt), several, (2, "ab")).ndim, int)
assert_type(follow(sprout, several, seeds).ndim, int)
assert_type(shards, Shards[Forest])
assert_type(shard_mean(of_part)(net, shards).ndim, int)


class Last(Algebra[SnocF[Array, Array], Array]):
    start: Array

    def __call__(self, layer: SnocF[Array, Array]) -> Array:
        match layer:
            case Lin():
                return self.start
            case _:
                return layer.init + layer.last


class Sums(Algebra[ListF[tuple[Array, Array], tuple[Array, int]], tuple[Array, int]]):
    start: Array

    def __call__(self, layer: ListF[tuple[Array, Array], tuple[Array, int]]) -> tuple[Array, int]:
        match layer:
            case Nil():
                return self.start, 0
            case Cons((x, y), (so_far, count)):
                return so_far + x * y, count + 1


rows = jnp.zeros((4, 3))
reader, sums, recurrence = Last(rows[0]), Sums(rows[0]), linear_recurrence((3,))
vectors, couples = Seq.of([rows, rows]), Seq.of([(rows, rows)])
assert_type(vectors, Seq[Array])
assert_type(couples, Seq[tuple[Array, Array]])
assert_type(fold(reader, vectors), Array)
assert_type(fold(reader, Packed.of([rows]), how=Scan(unroll=2)), Array)
assert_type(annotate(reader, annotate(reader, vectors)), Seq[Array])
assert_type(annotate(reader, Packed.of([rows])), Packed[Array])
assert_type(fold(sums, couples, how=Scan(segment="sqrt")), tuple[Array, int])
assert_type(annotate(sums, couples), Seq[tuple[Array, int]])
assert_type(fold(recurrence, couples, how=Bracketing("scan")), tuple[Array, Array])
assert_type(annotate(recurrence, couples), Seq[tuple[Array, Array]])
assert_type(fold(reader, vectors, how=Scan(bulk=None, segment=2), key=jax.random.key(0)), Array)
assert_type(fold(net, pack(ExprF, [tree]), how=Levels(remat="all", forward=True), key=None).ndim, int)
assert_type(annotate((OfTerm(), OfStmt()), several, how=None), tuple[int, str])


# Maps with a way back, and learning.
def spell(n: int) -> str:
    return str(n)


def measure(word: str) -> float:
    return float(len(word))


def kept(n: int) -> tuple[str, int]:
    return str(n), n


def undoes(n: int, change: bytes) -> bool:
    return len(change) == n


def whole(x: float) -> int:
    return int(x)


def slope(x: float, change: int) -> float:
    return x * change


wave = reverse(spell) >> reverse(measure)
both = reverse(spell) @ reverse(measure)
odd = Optic.of(kept, undoes)
assert_type(wave, Optic[int, float])
assert_type(wave.put(3, 1.0), int)
assert_type(both, Optic[tuple[int, str], tuple[str, float]])
assert_type(odd, Optic[int, str, bool, bytes])
assert_type(to_optic(to_lens(odd)), Optic[int, str, bool, bytes])
assert_type(odd.named("odd"), Optic[int, str, bool, bytes])
assert_type(to_lens(wave) >> Lens(whole, slope), Lens[int, int, int, int])
assert_type(R(z2.variables(2)[0]), Z2Map)
assert_type(D(SmoothMap(1, 1, jnp.sin)), SmoothMap)

dense = layers.linear(2, 3, key=jax.random.key(0)) >> layers.bias(3)
scored = (jnp.ones(2), jnp.ones(3))
learner = supervised(dense, losses.mse(), optimisers.adam(0.1))
assert_type(dense, ParaOptic[tuple[Array, Array], Array, Array])
assert_type(dense.optic.put((dense.params, jnp.ones(2)), jnp.ones(3)), tuple[tuple[Array, Array], Array])
assert_type((dense @ dense).params, tuple[tuple[Array, Array], tuple[Array, Array]])
assert_type(dense.named("dense"), ParaOptic[tuple[Array, Array], Array, Array])
assert_type(dense >> layers.activation(jnp.tanh), ParaOptic[tuple[tuple[Array, Array], tuple[()]], Array, Array])
assert_type(learner.step(learner.state, scored)[1], Array)
assert_type(learner.params(learner.state), tuple[Array, Array])
assert_type(dream(dense, jnp.ones(2), losses.dot(), optimisers.descent(0.1)).params(scored), Array)


# Parametric maps, and tying.
def scaled(p: float, n: int) -> float:
    return p * n


def labelled(p: str, x: float) -> str:
    return p + str(x)


def pooled(p: float, xs: tuple[float, ...]) -> float:
    return sum(xs) + p


by, label, reads = Para(2.0, scaled), Para("kg", labelled), Para.of(net)
assert_type(by >> label, Para[tuple[float, str], int, str])
assert_type(by @ label, Para[tuple[float, str], tuple[int, float], tuple[float, str]])
assert_type(fanout(by, by), Para[tuple[float, float], int, tuple[float, float]])
assert_type(label.reparametrise(spell, at=3), Para[int, float, str])
assert_type(two_cells.delta(2)(1.0), tuple[float, float])
assert_type(Para.of(measure), Para[Any, str, float])
assert_type(reads, Para[Any, Base[Expr, Vector], Vector])
assert_type(unroll(reads, tree), Untied[Any, Vector])
assert_type(unroll(reads, tree)(), Vector)
assert_type(square(reads), Square[Any, tuple[Any, Any]])
assert_type(free_algebra(ExprF, reads), LaxAlgebra[Any, Vector])
assert_type(lax_algebra(ListMonad(), Para(1.0, pooled)), LaxAlgebra[float, float])


@dataclass
class Length:
    metres: float


derived = of_dataclasses(Length)


@algebra
def in_feet(layer: Any) -> float:
    match layer:
        case derived.constructors.Length(metres=metres):
            return 3.28 * float(metres)
        case _:
            return 0.0


assert_type(derived.constructors[Length], type[Any])
