"""One way through a statement, at random, as an execution would take it: anything that runs may raise.

What walks find can happen, so it can only be less than what the exact algebra allows: a walk that ends normally with
the name unbound shows that "bound" would be wrong.
"""

import random
from typing import NamedTuple

from cdl_arch.demo import AFTER, BREAK, CONTINUE, signature as sig, Tree


RETURNED, RAISED = 3, 4  # the exits that a table does not show, beside `AFTER`, `BREAK` and `CONTINUE`

_RAISES = 0.15
_ROUNDS = 4


class Walk(NamedTuple):
    """By which exit a walk ended, and whether the name was bound then."""

    exit: int
    bound: bool


def walk(tree: Tree, chance: random.Random, bound: bool = False) -> Walk:
    """One walk through a statement, a block, handlers or cases."""
    match tree:
        case sig.Return():
            return Walk(RETURNED, bound)
        case sig.Raise() | sig.NoMore():
            return Walk(RAISED, bound)
        case sig.Break():
            return Walk(BREAK, bound)
        case sig.Continue():
            return Walk(CONTINUE, bound)
        case sig.Then():
            here = Walk(AFTER, bound)
            while isinstance(tree, sig.Then) and here.exit == AFTER:
                here, tree = walk(tree.statement, chance, here.bound), tree.rest
            return here
        case sig.If(test, then, orelse):
            return _in_turn(chance, bound, test, chance.choice((then, orelse)))
        case sig.With(items, body):
            return _in_turn(chance, bound, items, body)
        case sig.For() | sig.While() | sig.WhileTrue():
            return _loop(tree, chance, bound)
        case sig.Try():
            return _try(tree, chance, bound)
        case sig.Except():
            while isinstance(tree, sig.Except) and chance.random() < 0.5:
                tree = tree.rest
            return walk(tree.body if isinstance(tree, sig.Except) else tree, chance, bound)
        case sig.Match(cases):
            return walk(cases, chance, bound)
        case sig.Case() | sig.CaseAny():
            while isinstance(tree, sig.Case) and chance.random() < 0.5:
                tree = tree.rest
            if isinstance(tree, sig.Case | sig.CaseAny):
                return _in_turn(chance, bound, tree.pattern, tree.body)
            return Walk(AFTER, bound)
        case sig.Done() | sig.NoMatch():
            return Walk(AFTER, bound)
        case _:
            if chance.random() < _RAISES:
                return Walk(RAISED, bound)
            return Walk(AFTER, bound or isinstance(tree, sig.Bind))


def _in_turn(chance: random.Random, bound: bool, *trees: Tree) -> Walk:
    here = Walk(AFTER, bound)
    for tree in trees:
        if here.exit == AFTER:
            here = walk(tree, chance, here.bound)
    return here


def _loop(tree: sig.For[Tree] | sig.While[Tree] | sig.WhileTrue[Tree], chance: random.Random, bound: bool) -> Walk:
    """A few rounds; a `while True` that has not been left by then is interrupted."""
    head = tree.target if isinstance(tree, sig.For) else tree.test
    for _ in range(chance.randrange(_ROUNDS)):
        here = _in_turn(chance, bound, head, tree.body)
        if here.exit not in (AFTER, CONTINUE):
            return Walk(AFTER, here.bound) if here.exit == BREAK else here
        bound = here.bound
    match tree:
        case sig.For():
            return walk(tree.orelse, chance, bound)
        case sig.While():
            return _in_turn(chance, bound, head, tree.orelse)
        case sig.WhileTrue():
            return Walk(RAISED, bound)


def _try(tree: sig.Try[Tree], chance: random.Random, bound: bool) -> Walk:
    here = walk(tree.body, chance, bound)
    if here.exit == AFTER:
        here = walk(tree.orelse, chance, here.bound)
    elif here.exit == RAISED:
        here = walk(tree.handlers, chance, here.bound)
    last = walk(tree.finalbody, chance, here.bound)
    return Walk(here.exit, last.bound) if last.exit == AFTER else last
