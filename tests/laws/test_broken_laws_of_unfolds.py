"""Every law of unfolds and machines fails on an instance planted to break it, and it alone."""

from typing import Any

import pytest
from planted import breaks
from test_broken_laws import add, constant, remembered

from cdl import Cons, fmap, laws, ListF, MealyF, MooreF, Nil, run
from cdl.monads import Pure
from cdl.schemes import Left


def countdown(n: int) -> ListF[int, int]:
    return Nil() if n == 0 else Cons(n, n - 1)


def one_ahead(n: int) -> Any:
    return fmap(Pure, countdown(n))


def grows_less_when_asked_first() -> Any:
    answers = iter([Nil(), Cons(1, Nil())])
    return lambda coalg: lambda seed: (coalg(0), next(answers))[1]


UNFOLDS = [
    ("`F h ∘ γ = δ ∘ h`", lambda: laws.coalgebra_map(lambda n: n + 1, countdown, countdown, 1), 1, 2),
    # A map to another seed of the same tree, which no tree shows; an unfold that remembers that it was called.
    (
        "`F h ∘ γ = δ ∘ h`",
        lambda: laws.unfold_fusion(lambda n: -n if n == 2 else n, *[lambda n: countdown(abs(n))] * 2, 3),
        -2, 2,
    ),
    (
        "`ana γ = ana δ ∘ h`",
        lambda: laws.unfold_fusion(lambda n: n, countdown, countdown, 1, by=grows_less_when_asked_first()),
        "Nil()", "Cons(1, Nil())",
    ),
    (
        "`apo γ = ana [F Left ∘ out, γ] ∘ Right`",
        lambda: laws.apo(lambda n: Cons(n, Left(Nil())), 1, by=constant(Nil())),
        "Nil()", "Cons(1, Nil())",
    ),
    ("`futu γ = ana [γ, id] ∘ Pure`", lambda: laws.futu(one_ahead, 1, by=constant(Nil())), "Nil()", "Cons(1, Nil())"),
    ("`hylo α γ = cata α ∘ ana γ`", lambda: laws.hylo(add, countdown, 3, by=constant(0)), 0, 6),
    ("`dyna α γ = histo α ∘ ana γ`", lambda: laws.dyna(remembered, countdown, 3, by=constant(0)), 0, 3),
    ("`chrono α γ = histo α ∘ futu γ`", lambda: laws.chrono(remembered, one_ahead, 3, by=constant(0)), 0, 3),
]  # fmt: skip


def total(s: int) -> Any:
    return MealyF(lambda i: (s, s + i))


def backwards(machine: Any, state: Any, inputs: Any) -> Any:
    return run(machine, state, inputs[::-1])


MACHINES = [
    # A map that changes what is put out, and one that changes where the machine goes, of both kinds of machines.
    (
        "`F h ∘ γ = δ ∘ h`, outputs",
        lambda: laws.machine_map(lambda s: s, total, lambda s: MealyF(lambda i: (2 * s, s + i)), 1, [3, 4]),
        1, 2,
    ),
    (
        "`F h ∘ γ = δ ∘ h`, outputs",
        lambda: laws.machine_map(
            lambda s: 2 * s, lambda s: MooreF(s, lambda i: s + i), lambda s: MooreF(s, lambda i: s + 2 * i), 3, [4]
        ),
        3, 6,
    ),
    (
        "`F h ∘ γ = δ ∘ h`, next states",
        lambda: laws.machine_map(abs, *[lambda s: MealyF(lambda i: (0, s - i))] * 2, -2, [1, 1]),
        3, 1,
    ),
    (
        "`run γ s = respond (ana γ s)`",
        lambda: laws.run(total, 0, [1, 2, 5], by=backwards),
        "Array(5, dtype=int32)", 1,
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("law", "check", "left", "right"), [pytest.param(*case, id=case[0]) for case in [*UNFOLDS, *MACHINES]]
)
def test_an_instance_with_one_mistake_breaks_one_law_and_no_other(law, check, left, right):
    breaks(law, check, left, right)
