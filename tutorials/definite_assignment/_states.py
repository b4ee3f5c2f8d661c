"""The same question answered without tables, by the collecting semantics: to hold the exact algebra to.

`outcomes` runs a statement on *sets* of concrete states, along every way through it, until nothing new is found.

| the mathematics                                  | here                                           |
| ------------------------------------------------ | ---------------------------------------------- |
| a set of states, each "the name is bound" or not | `frozenset[bool]`; empty where nothing arrives |
| where a set arrives, by each exit                | `Outcomes(after, at_break, at_continue)`       |
"""

from typing import NamedTuple, TypeAlias

from cdl_arch.demo import BOUND, MAYBE, signature as sig, Tree, UNREACHABLE


States: TypeAlias = frozenset[bool]

_NONE: States = frozenset()


class Outcomes(NamedTuple):
    """The states in which a statement is left, by each of its exits."""

    after: States = _NONE
    at_break: States = _NONE
    at_continue: States = _NONE

    def joined(self, other: "Outcomes") -> "Outcomes":
        """Either of two."""
        return Outcomes(*(x | y for x, y in zip(self, other, strict=True)))


def state_after(tree: Tree) -> int:
    """`UNREACHABLE`, `BOUND` or `MAYBE` after a statement that begins with the name unbound."""
    after = outcomes(tree, frozenset([False])).after
    return MAYBE if False in after else BOUND if after else UNREACHABLE


def outcomes(tree: Tree, before: States) -> Outcomes:
    """Where a statement, block, list of handlers or list of cases arrives from a set of states."""
    joined = Outcomes()
    match tree:
        case sig.Bind():
            return Outcomes(frozenset(True for _ in before))
        case sig.Return() | sig.Raise():
            return Outcomes()
        case sig.Break():
            return Outcomes(at_break=before)
        case sig.Continue():
            return Outcomes(at_continue=before)
        case sig.Then():
            while isinstance(tree, sig.Then):
                here = outcomes(tree.statement, before)
                before, joined = here.after, joined.joined(here._replace(after=_NONE))
                tree = tree.rest
            return joined.joined(Outcomes(before))
        case sig.With(items, body):
            return outcomes(body, outcomes(items, before).after)
        case sig.If(test, then, orelse):
            before = outcomes(test, before).after
            return outcomes(then, before).joined(outcomes(orelse, before))
        case sig.For() | sig.While() | sig.WhileTrue():
            return _loop(tree, before)
        case sig.Try():
            return _try(tree, before)
        case sig.Except():
            while isinstance(tree, sig.Except):
                joined, tree = joined.joined(outcomes(tree.body, before)), tree.rest
            return joined
        case sig.NoMore():
            return joined
        case sig.Match(cases):
            return outcomes(cases, before)
        case sig.Case() | sig.CaseAny():
            while isinstance(tree, sig.Case | sig.CaseAny):
                joined = joined.joined(outcomes(tree.body, outcomes(tree.pattern, before).after))
                before, tree = (_NONE if isinstance(tree, sig.CaseAny) else before), tree.rest
            return joined.joined(Outcomes(before))
        case _:
            return Outcomes(before)


def _loop(tree: sig.For[Tree] | sig.While[Tree] | sig.WhileTrue[Tree], before: States) -> Outcomes:
    """A loop, until no round begins in a new state."""
    while True:
        head = outcomes(tree.target if isinstance(tree, sig.For) else tree.test, before).after
        once = outcomes(tree.body, head)
        again = before | once.after | once.at_continue
        if again == before:
            break
        before = again
    ended = _NONE if isinstance(tree, sig.WhileTrue) else before if isinstance(tree, sig.For) else head
    return outcomes(tree.orelse, ended).joined(Outcomes(once.at_break))


def _try(tree: sig.Try[Tree], before: States) -> Outcomes:
    """A `try`: its body may raise at once; its `finally` is run at every exit, and at a raise that goes on."""
    tried = outcomes(tree.body, before)
    left = outcomes(tree.orelse, tried.after).joined(tried._replace(after=_NONE))
    left = left.joined(outcomes(tree.handlers, before))
    finals = [outcomes(tree.finalbody, states) for states in (*left, before)]
    joined = Outcomes(*(final.after for final in finals[:3]))
    for final in finals:
        joined = joined.joined(final._replace(after=_NONE))
    return joined
