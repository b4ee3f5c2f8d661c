"""`fmap`, strength, and the places of a layer.

| the mathematics                     | here                                                     |
| ----------------------------------- | -------------------------------------------------------- |
| `F f : F X → F Y`                   | `fmap(f, layer)`                                         |
| `σ : P × F X → F (P × X)`           | `strength(p, layer)`                                     |
| the places of a layer, and refilling| `holes(layer)`, `fill(layer, values)`                    |

Several sorts take several functions: `fmap((f, g), layer)`. A place under a function (`Exp`) is lazy: it is mapped
when the function is called.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast, overload, TypeVar

from ..errors import CdlError, ForeignLayer
from .base import Base, rebuild, T
from .many import Many
from .poly import Const, Exp, Id, Inj, ListOf, ManyOf, Maybe, Poly, Product, Record, Sum, walk
from .read import cached, layout
from .values import getter
from .words import an, number_of, short


A = TypeVar("A")
B = TypeVar("B")
P = TypeVar("P")


@overload
def fmap(f: Callable[[A], B], layer: Base[T, A]) -> Base[T, B]: ...
@overload
def fmap(f: tuple[Callable[[Any], Any], ...], layer: Base[T, tuple[Any, ...]]) -> Base[T, tuple[Any, ...]]: ...
def fmap(f: Any, layer: Base[T, Any]) -> Base[T, Any]:
    """`F f`: the function at every recursive place of a layer, payloads as they are.

    Goes round the constructor's own checks, because a layer of batched fields is a layer too. For a signature of
    several sorts, `f` is a tuple of functions, one for each.

    **Arguments:** `f`: a function, or a tuple of functions, one for each sort. `layer`: a layer with any values at its
    places.

    **Raises:** `ForeignLayer` for anything other than a layer, `CdlError` for anything other than functions.

    Examples:
        >>> cdl.fmap(len, cdl.Fork("two", "three"))
        Fork(3, 5)
    """
    return cast("Base[T, Any]", fmap_term(layout(_kind(layer)), f, layer))


def strength(p: P, layer: Base[T, A]) -> Base[T, tuple[P, A]]:
    """`σ : P × F X → F (P × X)`: the parameter copied to every recursive place.

    Each polynomial functor of sets has this one strength, natural in both arguments; `cdl.laws.strength` checks
    its two axioms.

    **Arguments:** `p`: the parameter. `layer`: a layer with any values at its places.

    **Raises:** `ForeignLayer` for anything other than a layer.

    Examples:
        >>> cdl.functors.strength("weights", cdl.Fork(1, 2))
        Fork(('weights', 1), ('weights', 2))
    """
    return fmap(lambda x: (p, x), layer)


def fmap_term(term: Poly, f: Any, value: Any) -> Any:
    """`F f` for a functor given as a term.

    **Arguments:** `term`: as `functor` gives it. `f`: from what stands at a place to what is to stand there. `value`:
    of the functor.

    Examples:
        >>> cdl.functors.fmap_term(cdl.functor(cdl.TreeF), lambda x: 10 * x, cdl.Fork(1, 2))
        Fork(10, 20)
    """
    return _mapped(term, (f,) if callable(f) else _one_of_each(f), value)


def _mapped(term: Poly, functions: Any, value: Any) -> Any:
    try:
        marked = [functions[sort](x) for sort, x in _each(term, value)]
    except IndexError as error:
        if not isinstance(functions, tuple) or all(sort < len(functions) for sort, _ in _each(term, value)):
            raise
        raise CdlError(
            f"`fmap` was given {number_of('function', len(functions))}, and the layer has children of more sorts: give "
            "one for each sort, in a tuple, in the order of the sorts."
        ) from error
    return _refill(term, value, iter(marked), functions)


def _one_of_each(f: Any) -> tuple[Callable[[Any], Any], ...]:
    """**Raises:** `CdlError` where it is not a tuple of functions."""
    if not isinstance(f, list | tuple) or not all(map(callable, f)):
        raise CdlError(
            f"`fmap` takes a function, and was given {short(f)}: give a function of what stands at a place; for a "
            "signature of several sorts, a tuple of functions, one for each sort."
        )
    return tuple(f)


def holes(layer: Any) -> tuple[Any, ...]:
    """What stands at the strict recursive places of a layer, in the order of its fields.

    **Raises:** `ForeignLayer` for anything other than a layer.

    Examples:
        >>> cdl.functors.holes(cdl.Fork("left", "right"))
        ('left', 'right')
    """
    return _reader(_kind(layer))(layer)


def sorted_holes(layer: Any) -> list[tuple[int, Any]]:
    """The same with the sort of each place."""
    return list(_each(layout(_kind(layer)), layer))


def fill(layer: Any, values: Iterable[Any], later: Any = ()) -> Any:
    """The layer with other values at its strict places, and `later[sort]` composed after each lazy one."""
    kind = _kind(layer)
    plain = _plain(kind)
    if plain is None:
        return _refill(layout(kind), layer, iter(values), later)
    payloads, places = plain
    fields = {n: getattr(layer, n) for n in payloads}
    fields.update(zip(places, values, strict=True))
    return rebuild(kind, fields)


def _kind(layer: Any) -> type[Any]:
    if not isinstance(layer, Base):
        raise ForeignLayer(
            f"`{short(layer)}` is not a layer: it is {an(type(layer).__name__)}, not an instance of `Base`."
        )
    return type(layer)


@cached
def _plain(kind: type[Any]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The payloads and the places of a constructor all of whose fields are one or the other; `None` for the rest."""
    record = layout(kind)
    if not all(isinstance(term, Id | Const) for term in record.factors):
        return None
    place = [isinstance(term, Id) for term in record.factors]
    rest = tuple(n for n, p in zip(record.names, place, strict=True) if not p)
    return rest, tuple(n for n, p in zip(record.names, place, strict=True) if p)


@cached
def _reader(kind: type[Any]) -> Callable[[Any], tuple[Any, ...]]:
    """`holes` of one constructor; plain fields are read in one call."""
    plain = _plain(kind)
    return (lambda layer: tuple(x for _, x in _each(layout(kind), layer))) if plain is None else getter(plain[1])


def pieces(term: Poly, value: Any) -> Iterator[tuple[Poly, Any]]:
    """What a value is made of, left to right: its payloads, places, `Many`s and functions, each with its term.

    An optional part and a list come as such too, before what is in them.
    """
    match term:
        case Record(_, names, factors):
            for name, factor in zip(names, factors, strict=True):
                yield from pieces(factor, getattr(value, name))
        case Product(factors):
            for factor, part in zip(factors, value, strict=True):
                yield from pieces(factor, part)
        case Sum():
            yield from pieces(*_summand(term, value))
        case Maybe(of):
            yield term, value
            if value is not None:
                yield from pieces(of, value)
        case ListOf(of):
            yield term, value
            for part in _tuple(value):
                yield from pieces(of, part)
        case Const() | Id() | ManyOf() | Exp():
            yield term, value


def _each(term: Poly, value: Any) -> Iterator[tuple[int, Any]]:
    """The strict places of a value, left to right, with their sorts."""
    for part, x in pieces(term, value):
        match part:
            case Id(sort):
                yield sort, x
            case ManyOf(of):
                for child in x.items if _many(x).listed else ():
                    yield from _each(of, child)


def _refill(term: Poly, value: Any, new: Iterator[Any], later: Any) -> Any:
    match term:
        case Const():
            return value
        case Id():
            return next(new)
        case Record(kind, names, factors):
            pairs = zip(names, factors, strict=True)
            return rebuild(kind, {n: _refill(f, getattr(value, n), new, later) for n, f in pairs})
        case Product(factors):
            return tuple(_refill(f, part, new, later) for f, part in zip(factors, value, strict=True))
        case Sum():
            summand, inner = _summand(term, value)
            filled = _refill(summand, inner, new, later)
            return Inj(value.index, filled) if isinstance(value, Inj) else filled
        case Maybe(of):
            return None if value is None else _refill(of, value, new, later)
        case ListOf(of):
            return tuple(_refill(of, part, new, later) for part in _tuple(value))
        case ManyOf(of):
            if not value.listed:
                return value.map(lambda x: _mapped(of, later, x))
            return Many([_refill(of, part, new, later) for part in value.items])
        case Exp(_, of):
            return lambda *i: _mapped(of, later, value(*i))


def _many(value: Any) -> Many[Any]:
    if not isinstance(value, Many):
        raise ForeignLayer(
            f"`{short(value)}` is {an(type(value).__name__)} where a `Many` belongs: write `Many([…])`, or annotate "
            "the field `tuple[X, ...]`."
        )
    return value


def _tuple(value: Any) -> tuple[Any, ...]:
    if not isinstance(value, tuple):
        raise ForeignLayer(
            f"`{short(value)}` is {an(type(value).__name__)} where a tuple belongs: write `(x, y)`, with one child "
            "`(x,)`, or annotate the field `Many[X]`."
        )
    return value


def _summand(term: Sum, value: Any) -> tuple[Poly, Any]:
    if isinstance(value, Inj):
        return term.summands[value.index], value.value
    for summand in term.summands:
        if isinstance(summand, Record) and type(value) is summand.constructor:
            return summand, value
    raise ForeignLayer(f"`{short(value)}` is not a value of `{term}`.")


def is_lazy(kind: type[Any]) -> bool:
    """Whether a constructor has a function in it."""
    return any(isinstance(t, Exp) for t in walk(layout(kind)))
