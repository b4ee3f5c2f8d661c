"""What must not type-check: both checkers must refuse each line that ends in `# error`, and no other.

`# error: mypy` is for mypy alone: where two functors meet, pyright takes their union for the one that is wanted, as do
both where no carrier tells them apart (`product(depth, total)`). At run time each of these raises.
"""

from collections.abc import Callable

from good import (
    Add,
    at_once,
    beside,
    by,
    chosen,
    countdown,
    counted,
    couples,
    dense,
    depth,
    Expr,
    ExprF,
    fibonacci,
    grow_stmt,
    grow_term,
    in_pairs,
    insert,
    kept,
    label,
    Lam,
    learner,
    Lit,
    longest,
    measure,
    Minus,
    Neg,
    net,
    Num,
    numbers,
    of_part,
    OfStmt,
    OfTerm,
    one,
    program,
    reader,
    reads,
    recurrence,
    Return,
    rows,
    seeds,
    several,
    shards,
    signed,
    some_terms,
    spell,
    sprout,
    Stmt,
    StmtF,
    sums,
    Term,
    term,
    TermF,
    total,
    tree,
    Vector,
    vectors,
    While,
    written,
)

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
    fold,
    follow,
    Grown,
    hylo,
    likelihood,
    List,
    ListF,
    Many,
    MealyF,
    MooreF,
    Nil,
    Node,
    Optic,
    Para,
    parallel,
    ParaOptic,
    refold,
    reverse,
    Rose,
    run,
    series,
    supervised,
    unfold,
    unroll,
)
from cdl.compiled import Bracketing, Levels, Scan, shard_mean
from cdl.functors import Fix1of2, Fix2of2
from cdl.learning import dream, losses, optimisers
from cdl.machines import as_mealy, start
from cdl.monads import Cofree, Free
from cdl.optics import D, R, SmoothMap, to_lens, z2
from cdl.para import square
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


# Signatures and algebras.
@algebra
def forgets_a_constructor(layer: ExprF[int]) -> int:  # error
    match layer:  #
        case Lit():
            return 0
        case Neg(arg):
            return arg


@algebra
def counts_wrong(layer: ExprF[int]) -> int:  # error
    match layer:
        case Lit():
            return 0
        case Neg(arg, _):  # error
            return arg
        case Add(left, right):
            return left + right


@algebra
def misreads_a_payload(layer: ExprF[int]) -> str:
    match layer:
        case Lit(value):
            return value.upper()  # error
        case _:
            return ""


class OfAnotherFunctor(Algebra[ExprF[Vector], Vector]):
    def __call__(self, layer: ListF[Vector, Vector]) -> Vector:  # error
        raise NotImplementedError


class Forgot(Algebra[ExprF[Vector], Vector]):
    pass


@algebra
def of_strings(layer: ExprF[str]) -> int:
    return 0


Forgot()  # error
one.value = 2.0  # error
Lit("a")  # error
ill_formed: Fix[Expr] = Add(one, 3)  # error
too_many: Fix[Expr] = Neg(one, one)  # error
of_texts: Fix[List[float]] = Cons("a", Nil())  # error
foreign = Add(Neg(numbers), one)
cata(depth)(foreign)  # error
one_child: Fix[Rose[str]] = Node("a", Node("b", Many()))  # error

# Folds.
cata(of_strings)  # error
cata(total)(tree)  # error
wrong_result: str = cata(depth)(tree)  # error


@algebra
def para_of_strings(layer: ListF[float, tuple[Fix[List[float]], str]]) -> int:
    return 0


@algebra
def value_first(layer: ListF[float, tuple[int, Fix[List[float]]]]) -> int:
    return 0


para(para_of_strings)  # error
para(value_first)  # error
para(total)  # error
para(longest)(tree)  # error
zygo(written, signed)  # error
zygo(depth, signed)(numbers)  # error
mutu(depth, signed)  # error
mutu(signed, counted)  # error
mutu(counted, signed)(numbers)  # error


@algebra
def histo_of_strings(layer: ListF[float, Cofree[List[float], str]]) -> int:
    return 0


histo(histo_of_strings)  # error
histo(total)  # error
histo(fibonacci)(tree)  # error


def to_lists(layer: Base[Expr, int]) -> Base[List[float], int]:
    return Nil()


prepro(to_lists, depth)  # error
decorate(of_strings)  # error
decorate(depth)(numbers)  # error
wrong_values: Cofree[Expr, str] = decorate(depth)(tree)  # error
product(depth, of_strings)  # error
cata(product(depth, written))(numbers)  # error


# Unfolds.
def to_strings(n: int) -> ListF[float, str]:
    return Nil()


def to_nothing(n: int) -> int:
    return n


ana(to_strings)(3)  # error
ana(to_nothing)  # error
ana(countdown)("a")  # error
wrong_tree: Fix[Expr] = ana(countdown)(3)  # error


def leaves_out_either(n: int) -> ListF[float, int]:
    return Nil()


def swaps_sides(n: int) -> ListF[float, Either[int, Fix[List[float]]]]:
    return Nil()


apo(leaves_out_either)(3)  # error
apo(swaps_sides)(3)  # error
apo(insert)(3)  # error


def several_of_another(n: int) -> ListF[float, Free[Expr, int]]:
    return Nil()


futu(countdown)(3)  # error
futu(in_pairs)("a")  # error
wrong_choice: ListF[float, int] = choose([0.0], Nil(), Cons(1.0, "a"))  # error


def chooses_strings(n: int) -> ListF[float, str]:
    return choose(total, Nil(), Cons("a", "b"))  # error


# Refolds.
hylo(depth, countdown)  # error: mypy
hylo(total, to_strings)  # error
hylo(of_strings, countdown)  # error
hylo(total, countdown)("a")  # error
dyna(total, countdown)  # error
dyna(fibonacci, to_strings)  # error
chrono(fibonacci, countdown)  # error
chrono(total, in_pairs)  # error
chrono(fibonacci, several_of_another)  # error: mypy


def answers_with_strings(n: int) -> Either[str, ListF[float, int]]:
    return Left("a")


def answers_with_layers(n: int) -> ListF[float, int]:
    return Nil()


def answers_of_another(n: int) -> Either[int, ExprF[int]]:
    return Right(Lit(1.0))


elgot(total, answers_with_strings)  # error
elgot(total, answers_with_layers)  # error
elgot(total, answers_of_another)  # error: mypy
elgot(total, at_once)("a")  # error


def beside_a_string(seed: str, layer: Base[List[float], str]) -> str:
    return seed


coelgot(beside_a_string, countdown)  # error
coelgot(beside, to_strings)  # error
wrong_refold: int = coelgot(beside, countdown)(3)  # error


# Two sorts.
class Swapped(Algebra[StmtF[str, int], int]):
    def __call__(self, layer: StmtF[str, int]) -> int:
        return 0


class Confused(Algebra[StmtF[int, str], str]):
    def __call__(self, layer: StmtF[int, str]) -> str:
        match layer:
            case Return(value):
                return value  # error
            case While(_, body):
                return body.sum(0)  # error


class Unfinished(Algebra[TermF[int, str], int]):
    def __call__(self, layer: TermF[int, str]) -> int:  # error
        match layer:
            case Num():
                return 0
            case Minus(arg):
                return arg


cata(OfTerm(), Swapped())  # error
cata(OfStmt(), OfTerm())  # error
of_term, of_stmt = cata(OfTerm(), OfStmt())
of_stmt(term)  # error
of_term(program)  # error
expression_as_statement: Fix2of2[Term, Stmt] = While(Num(1.0), Many([Num(2.0)]))  # error
statement_as_expression: Fix2of2[Term, Stmt] = Return(Return(Num(1.0)))  # error
one_for_many: Fix1of2[Term, Stmt] = Lam(Return(Num(1.0)))  # error
many_of_the_wrong_sort: Fix1of2[Term, Stmt] = Lam(Many([Num(1.0)]))  # error
ana(grow_stmt, grow_term)  # error
wrong_sort: Callable[[int], Fix2of2[Term, Stmt]] = ana(grow_term, grow_stmt)[0]  # error
likelihood((grow_stmt, grow_term), (2, "ab"))  # error
likelihood((grow_term, grow_stmt), ("ab", 2))  # error
likelihood(grow_term, 2)  # error
likelihood((grow_term, grow_stmt), (2, "ab"))[0](program)  # error


# Machines.
def forgetful(state: float) -> MealyF[float, float, str]:
    return MealyF(lambda i: (i, "lost"))


def shows_strings(state: int) -> MooreF[int, str, int]:
    return MooreF(str(state), lambda i: i)


def wants_strings(state: int) -> MealyF[str, int, int]:
    return MealyF(lambda i: (len(i), state))


def wants_numbers(state: int) -> MealyF[int, int, int]:
    return MealyF(lambda i: (i, state))


def pairs(state: int) -> MealyF[tuple[int, str], tuple[int, str], int]:
    return MealyF(lambda i: (i, state))


run(forgetful, 0.0, 1.0)  # error
run(shows_strings, "seven", 3)  # error
run(wants_strings, 0, 3)  # error
run(countdown, 3, 3)  # error
start(wants_strings, 0).step(3)  # error
wrong_answer: str = start(wants_strings, 0).step("three")[0]  # error
series(shows_strings, wants_numbers)  # error
series(wants_strings, shows_strings)("first")  # error
parallel(shows_strings, wants_strings)  # error
feedback(pairs)  # error
feedback(pairs, wants_strings)  # error
as_mealy(wants_strings)  # error
MealyF(1)  # error


# Growing many, and many devices.
unfold(to_strings, seeds, 3)  # error
unfold(to_nothing, seeds, 3)  # error
unfold(countdown, "a", 3)  # error
wrong_grown: Grown[Fix[List[float]]] = unfold(sprout, seeds, 3)  # error
unfold(sprout, seeds).trees()  # error
refold(total, to_strings, seeds)  # error
refold(of_strings, countdown, seeds)  # error
refold(total, sprout, seeds)  # error: mypy
wrong_value: str = refold(total, countdown, seeds)  # error
wrong_pair: float = refold(total, chosen, seeds, 9)  # error
unfold((grow_stmt, grow_term), (seeds, seeds), 9)  # error
unfold((grow_term, grow_stmt), ("a", seeds), 9)  # error
unfold(grow_term, seeds, 9)  # error
grown_of_the_wrong_sort: list[Fix2of2[Term, Stmt]] = some_terms.trees()  # error
refold((OfStmt(), OfTerm()), (grow_term, grow_stmt), (seeds, seeds), 9)  # error
refold((OfTerm(), OfStmt()), (grow_stmt, grow_term), (seeds, seeds), 9)  # error
refold((OfTerm(), OfStmt()), (grow_term, grow_stmt), (seeds, seeds))  # error
follow((grow_stmt, grow_term), several, (2, "ab"))  # error
follow((grow_term, grow_stmt), several, 2)  # error
follow(to_strings, several, 2)  # error
shard_mean(of_part)(tree, shards)  # error
shard_mean(of_part)(net, seeds)  # error
shard_mean(sprout)  # error
fold(sums, vectors)  # error
fold(reader, couples)  # error
fold(depth, vectors)  # error
fold(reader, vectors, how=Bracketing("scan"))  # error
fold(recurrence, couples, how=Scan(bulk=True))  # error
fold(recurrence, vectors)  # error
fold(reader, [rows])  # error
annotate(depth, couples)  # error
fold(net, several, how=Scan(unroll=2))  # error
fold(net, several, how=Levels(remat="chep"))  # error
annotate(net, several, how=Levels(remat="sqrt"))  # error
annotate(reader, vectors, how=Levels(remat="cheap"))  # error
fold(recurrence, couples, how=Levels(forward=True))  # error
fold(net, several, quickly=True)  # error
fold(net, tree)  # error
unfold(sprout, seeds, 2.5)  # error
run(wants_numbers, 0, 3, quickly=True)  # error
len(Many([1]))  # error: pyright
Many([1])[0]  # error
[*Many([1])]  # error: pyright


# Maps with a way back, and learning.
def undoes(n: str, change: bytes) -> bool:
    return bool(change and n)


words = reverse(spell)
reverse(measure) >> reverse(spell)  # error
reverse(spell).put("three", "3")  # error
reverse(spell).put(3, 3)  # error
wrong_pair_of_optics: Optic[tuple[int, str], tuple[float, str]] = reverse(spell) @ reverse(measure)  # error
Optic.of(kept, undoes)  # error
to_lens(reverse(measure)) >> to_lens(reverse(spell))  # error
R(spell)  # error
wrong_derivative: SmoothMap = D(z2.variables(2)[0])  # error
dense >> ParaOptic.of(spell)  # error
supervised(dense, words, optimisers.adam(0.1))  # error
supervised(dense, losses.mse(), losses.rate(0.1))  # error
learner.step(learner.state, seeds)  # error
wrong_parameters: tuple[str, str] = learner.params(learner.state)  # error
dream(dense, "dream", losses.dot(), optimisers.adam(0.1))  # error


# Parametric maps, and tying.
by >> by  # error
by.reparametrise(spell, at=3)  # error
label.reparametrise(spell, at="three")  # error
wrong_parameters_of_two: Para[tuple[str, float], int, str] = by >> label  # error
unroll(reads, numbers)  # error
unroll(by, tree)  # error
square(label)  # error
