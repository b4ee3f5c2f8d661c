"""What an architecture is an algebra or a coalgebra of: the constructors of each sort, and the functors they make.

It is read off annotations, or off what comes back; one sort is a family of one.
"""

from types import FunctionType
from typing import Any, get_origin

from .._functors import Base, constructors, MealyF, MooreF, StreamF
from .._functors.poly import by_sort, lettered, subscript, Sum
from .._para.family import Kinds
from .._schemes.algebras import algebra, reads
from .._schemes.expect import returned
from .._schemes.likelihoods import of_sorts
from .._schemes.unfolds import Choice
from ..errors import SignatureError


MACHINES = (MooreF, MealyF, StreamF)


def formulas(functors: tuple[Sum, ...]) -> tuple[str, ...]:
    """The functor of each sort in mathematics."""
    letters = by_sort("X", len(functors))
    return tuple(str(lettered(f, letters)) for f in functors)


def equations(found: tuple[str, ...]) -> tuple[str, ...]:
    """`F X = A + X²`, or for a family `F₀(X₀, X₁) = …` of each sort."""
    if len(found) < 2:
        return tuple(f"F X = {formula}" for formula in found)
    places = ", ".join(by_sort("X", len(found)))
    return tuple(f"F{subscript(sort)}({places}) = {formula}" for sort, formula in enumerate(found))


def read_by(x: Any, signature: Any) -> Any:
    """Plain functions as algebras, where a signature says what they read; of a family, each of the tuple."""
    if isinstance(x, tuple) and not isinstance(signature, type) and signature is not None:
        return tuple(read_by(one, signature) for one in x)
    return algebra(x) if signature is not None and isinstance(x, FunctionType) else x


def kinds_of(algs: tuple[Any, ...], signature: Any = None) -> Kinds:
    """The constructors that the algebra of each sort reads: those of the signature given, or those of its annotations.

    An algebra that is made for a signature, and so cannot be annotated, has them as `__reads__`.

    **Raises:** `SignatureError` where neither tells, and where there are not as many signatures as algebras.
    """
    signatures = signature if isinstance(signature, tuple) else (signature,) * len(algs)
    if len(signatures) != len(algs):
        raise SignatureError(
            f"there are {len(algs)} algebras for {len(signatures)} signatures: give one for each sort, "
            "in a tuple, in the same order."
        )
    return tuple(_read(alg, given) for alg, given in zip(algs, signatures, strict=True))


def machine_kind(machine: Any, state: Any = None) -> type[Any] | None:
    """The functor of a machine, from its annotations, or from what it gives at a state; `None` for no machine."""
    if isinstance(machine, type) or not callable(machine):
        return None
    found: Any = type(machine(state)) if state is not None else returned(machine)
    found = get_origin(found) or found
    return found if found in MACHINES else None


def grown_kinds(coalgs: tuple[Any, ...], seed: Any = None) -> Kinds | None:
    """The constructors of what the coalgebra of each sort grows, from its annotations, or from what it gives at a seed.

    Of a family, `seed` is a tuple of one for each sort. `None` for what is not a coalgebra, or does not tell.

    **Raises:** `SignatureError` where there are not as many seeds as coalgebras.
    """
    seeds = (seed,) if len(coalgs) == 1 else of_sorts(coalgs, (None,) * len(coalgs) if seed is None else seed)[1]
    found = []
    for coalg, at in zip(coalgs, seeds, strict=True):
        kinds = _grown(coalg, at)
        if kinds is None:
            return None
        found.append(kinds)
    return tuple(found)


def _read(alg: Any, signature: Any) -> tuple[type[Any], ...]:
    found = constructors(signature) if signature is not None else reads(alg) or getattr(alg, "__reads__", None)
    if found is None:
        raise SignatureError(
            f"`{type(alg).__name__}` does not say which signature it reads: give the signature, or annotate the "
            "algebra as `Algebra[ExprF[A], A]`."
        )
    return found


def _grown(coalg: Any, seed: Any) -> tuple[type[Any], ...] | None:
    if isinstance(coalg, type) or not callable(coalg):
        return None
    try:
        return constructors(returned(coalg))
    except SignatureError:
        if seed is None:
            return None
    given = coalg(seed)
    layers = given.layers if isinstance(given, Choice) else (given,)
    return tuple(dict.fromkeys(map(type, layers))) if all(isinstance(x, Base) for x in layers) else None
