"""Families: the functors of the signatures that `pack` and `Corpus` are given, checked."""

from typing import Any

from ..._functors import functor
from ..._functors.poly import Id, Poly, Product, Record, Sum
from ..._functors.read import signature_name, sorts
from ...errors import SignatureError
from ._refuse import expect_several, expect_signature


def family(of: str, signature: Any) -> tuple[Sum, ...]:
    """The functors of a signature, one for each of its sorts. `of`: the function that was given it."""
    expect_signature(of, signature)
    found = functor(signature if isinstance(signature, tuple) else (signature,))
    every = [c for f in found for c in f.constructors]
    if len(found) > 1:
        expect_several(of, every)
    for constructor in every:
        if sorts(constructor) not in (0, len(found)):
            _refuse_sorts(of, constructor, len(found))
        if every.count(constructor) > 1:
            raise SignatureError(f"`{constructor.__name__}` is in two of the signatures: write a constructor for each.")
    finite: set[int] = set()
    while more := {s for s, f in enumerate(found) if not all(_needs(term, finite) for term in f.summands)} - finite:
        finite |= more
    for s, f in enumerate(found):
        if s not in finite:
            order = ", ".join(f"`{signature_name(g.constructors)}`" for g in found)
            raise SignatureError(
                f"every constructor of `{f}` needs an `X`, so that the signature has no finite value: "
                "give it a constructor without a recursive place, or make a place `X | None`"
                + (
                    f"; or were the sorts given in another order than the family's tuple has ({order})?"
                    if len(found) > 1
                    else "."
                )
            )
    return found


def _needs(term: Poly, finite: set[int]) -> bool:
    """Whether each value of a term has a recursive place that is filled, of a sort not known to be finite."""
    if isinstance(term, Id):
        return term.sort not in finite
    return isinstance(term, Product | Record) and any(_needs(f, finite) for f in term.factors)


def _refuse_sorts(of: str, constructor: type[Any], count: int) -> None:
    """Says of a constructor that it has fewer sorts, or more, than there are signatures."""
    given = "one signature" if count == 1 else f"{count} signatures"
    name = f"`{constructor.__name__}`"
    if sorts(constructor) == 1:
        raise SignatureError(
            f"{name} has one sort, as `Base[T, X]`, and `{of}` was given {given}: give one signature. If trees have "
            f"{count} sorts, write `Base[T, tuple[X, …]]`, with `Never` for a sort that has no place in it."
        )
    raise SignatureError(
        f"{name} is of a family of {sorts(constructor)} sorts, and `{of}` was given {given}: "
        "give one for each sort, in the order of the tuple in `Base[T, tuple[…]]`."
    )
