"""What is not a tree, a layer, a monad or a monoid is refused at the door."""

import operator

import pytest
from alone import run_alone
from doors import an_algebra, refused
from returns.maybe import Some

import cdl
from cdl.functors import NatF
from cdl.monads import (
    bind,
    Cofree,
    duplicate,
    EilenbergMoore,
    extend,
    extract,
    final_chain,
    FreeMonad,
    initial_chain,
    interpret,
    ListMonad,
    map_cofree,
    map_free,
    MaybeMonad,
    Monoid,
    observe,
    one_step,
    Pure,
    Writer,
)  # fmt: skip
from cdl.monoids import check_monoid, linear_recurrence, matrices, max_plus, min_plus, transitions, with_resets


SUM = Monoid(0, operator.add)
TREE = cdl.Cons(1.0, Pure(2.0))
EVERYWHERE = Cofree(0, cdl.Cons(1.0, Cofree(0, cdl.Nil())))
NOT_A_SIGNATURE = ("None", "a text", "a whole number", "a list", "a tree")
NUMBERS = ("a negative number", "a text")


def doors() -> list[str]:
    each = [(ListMonad(), (1,)), (MaybeMonad(), Some(1)), (Writer(SUM), (0, 1)), (FreeMonad(cdl.ListF), TREE)]
    return [
        *refused(bind, TREE, Pure),
        *refused(interpret, lambda a: a, an_algebra),
        *refused(map_free, lambda a: a, TREE),
        *refused(one_step, cdl.Cons(1.0, 2)),
        *refused(extract, EVERYWHERE),
        *refused(extend, lambda c: c.head),
        *refused(duplicate, EVERYWHERE),
        *refused(observe, lambda s: s, lambda s: cdl.Nil()),
        *refused(map_cofree, lambda a: a, EVERYWHERE),
        *refused(Monoid, 0, operator.add),
        *refused(EilenbergMoore, ListMonad(), sum),
        *refused(Writer, SUM),
        *refused(FreeMonad, cdl.ListF, wrong={0: NOT_A_SIGNATURE}),
        *refused(ListMonad().algebra, SUM),
        *refused(Writer(SUM).algebra, lambda m, a: a),
        *refused(FreeMonad(cdl.ListF).algebra, an_algebra),
        *(line for monad, _ in each for line in refused(monad.structure, EilenbergMoore(monad, lambda x: 0))),
        *(line for monad, value in each for line in refused(monad.map, lambda a: a, value)),
        *refused(initial_chain, NatF, 2, wrong={0: NOT_A_SIGNATURE}),
        *refused(final_chain, NatF, 2, wrong={0: NOT_A_SIGNATURE}),
        *refused(check_monoid, SUM, [1, 2], 1e-5),
        *refused(with_resets, SUM),
        *refused(linear_recurrence, (2,)),
        *refused(matrices, 2, wrong={0: NUMBERS}),
        *refused(max_plus, 2, wrong={0: NUMBERS}),
        *refused(min_plus, 2, wrong={0: NUMBERS}),
        *refused(transitions, 2, wrong={0: NUMBERS}),
    ]


def every_wrong_kind_of_argument():
    found = doors()
    assert found == [], "\n".join(found)


@pytest.mark.slow
def test_every_wrong_kind_of_argument_is_refused_at_the_door():
    run_alone(every_wrong_kind_of_argument)
