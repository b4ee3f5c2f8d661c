"""Algebras: how to read one layer.

| the mathematics                      | here                                                         |
| ------------------------------------ | ------------------------------------------------------------ |
| an algebra `(A, α : F A → A)`        | `Algebra[F[A], A]`: a class, whose arrays are its parameters |
| the same, from a function            | `@algebra`                                                   |
| the product `(A × B, ⟨α F π₁, β F π₂⟩)` | `product(a, b)`                                           |
| a coalgebra `γ : S → F S`            | a plain function `S -> Base[T, S]`                           |

An `Algebra` is an `eqx.Module`. It is a separate class, covariant in the layer it reads, because that is what lets
plain type checkers infer the functor: one of its kind is never mistaken for a function.
"""

import inspect
import typing
import weakref
from abc import abstractmethod
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, Generic, get_args, get_origin, TypeVar

import equinox as eqx
import jax
import typing_extensions

from .._functors import Base, constructors, fmap
from .._functors.base import anew
from .._functors.described import described
from .._functors.origin import not_yet_a_tree, of_constructors, origin_of
from .._functors.read import cached, cached_weakly, signature_name, tag, tag_name
from .._functors.usage import takes, with_usage
from .._functors.users_line import told
from .._functors.words import an, first_line
from ..errors import CarrierMismatch, CdlError, ForeignLayer, SignatureError
from ._own_classes import expect_constructors


T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")
FA_co = TypeVar("FA_co", covariant=True)


class Algebra(eqx.Module, Generic[FA_co, A]):
    """`α : F A → A`. Extend it as `class Net(Algebra[ExprF[H], H])` and write `__call__` on one layer.

    An algebra that wants randomness takes `__call__(self, layer, *, key=None)`.

    Examples:
        >>> from typing import Any
        >>> class Scaled(cdl.Algebra[cdl.TreeF[float, Any], Any]):
        ...     by: float
        ...
        ...     def __call__(self, layer):
        ...         return (
        ...             layer.label
        ...             if isinstance(layer, cdl.Leaf)
        ...             else self.by * (layer.left + layer.right)
        ...         )
        >>> cdl.cata(Scaled(0.5))(cdl.Fork(cdl.Leaf(1.0), cdl.Leaf(3.0)))
        2.0
    """

    @abstractmethod
    def __call__(self, layer: FA_co, /) -> A:  # type: ignore[misc]  # pyright: ignore[reportGeneralTypeIssues]
        """Reads one layer whose places hold values of the carrier."""


class algebra(Algebra[FA_co, A]):
    """A plain function as an algebra: `@algebra` above `def depth(layer: ExprF[int]) -> int`.

    Examples:
        >>> @cdl.algebra
        ... def size(layer: cdl.TreeF[str, int]) -> int:
        ...     return 1 if isinstance(layer, cdl.Leaf) else layer.left + layer.right
        >>> cdl.cata(size)(cdl.Fork(cdl.Leaf("a"), cdl.Leaf("b")))
        2
    """

    fn: Callable[[Any], A] = eqx.field(static=True)

    def __init__(self, fn: Callable[[FA_co], A]) -> None:
        if isinstance(fn, type) and any("__call__" in vars(kind) for kind in fn.__mro__):
            raise CdlError(
                f"`algebra` makes an algebra of a function, and was given the class `{fn.__name__}`, whose instances "
                "read layers: let it extend `cdl.Algebra`, and leave `@algebra` out."
            )
        if not callable(fn):
            raise CdlError(
                f"`algebra` makes an algebra of a function, and was given {described(fn)}: write a function that reads "
                "one layer."
            )
        if isinstance(fn, MethodType) and not isinstance(fn.__self__, eqx.Module):
            raise CdlError(
                f"`algebra` makes an algebra of a function, and was given the method `{fn.__name__}` of "
                f"{described(fn.__self__)}, whose attributes would be fixed at the first trace: let its class extend "
                "`cdl.Algebra`, or write a function that closes over its arrays."
            )
        if any(map(eqx.is_array, jax.tree.leaves(fn))):
            raise CdlError(
                f"`algebra` keeps what it is given as a constant, and `{name_of(fn)}` holds arrays, which would have "
                "no gradient and not be saved: let its class extend `cdl.Algebra`, and leave `algebra` out. "
                "Of another function with arrays, write one that calls it, `cdl.algebra(lambda layer: fn(layer))`."
            )
        self.fn = fn

    def __call__(self, layer: Any, /, **key: Any) -> A:
        return self.fn(layer, **key)

    @property
    def __called__(self) -> str:
        return name_of(self.fn)


class _Product(Algebra[Any, tuple[Any, Any]]):
    """Two algebras side by side."""

    first: Algebra[Any, Any]
    second: Algebra[Any, Any]

    def __call__(self, layer: Any, /, *, key: Any = None) -> tuple[Any, Any]:
        left, right = fmap(lambda pair: pair[0], layer), fmap(lambda pair: pair[1], layer)
        return apply(self.first, left, key), apply(self.second, right, key)


@with_usage
def product(
    first: Algebra[Base[T, A], A], second: Algebra[Base[T, B], B]
) -> Algebra[Base[T, tuple[A, B]], tuple[A, B]]:
    """The product algebra: one pass of it is a pass of each (banana-split).

    **Arguments:** `first`, `second`: algebras of one signature; the value is the pair of theirs.

    **Raises:** `CdlError` where one of them is not an algebra.

    Examples:
        >>> @cdl.algebra
        ... def size(layer):
        ...     return 1 if isinstance(layer, cdl.Leaf) else layer.left + layer.right
        >>> @cdl.algebra
        ... def depth(layer):
        ...     return 0 if isinstance(layer, cdl.Leaf) else 1 + max(layer.left, layer.right)
        >>> cdl.cata(cdl.schemes.product(size, depth))(
        ...     cdl.Fork(cdl.Leaf(3), cdl.Fork(cdl.Leaf(8), cdl.Leaf(2)))
        ... )
        (3, 2)
    """
    for alg in (first, second):
        if not callable(alg) or isinstance(alg, type):
            raise CdlError(
                f"`product` takes two algebras, and was given {described(alg)}: give what reads one layer, such as a "
                "function below `@algebra`."
            )
    return _Product(first, second)


def apply(alg: Callable[..., Any], layer: Any, key: Any = None) -> Any:
    """The algebra at a layer, with a key where one is given and wanted; never `None` by oversight.

    **Raises:** `CarrierMismatch` where nothing comes back: a `match` without a case for the constructor;
    `SignatureError` where it asks for a class of the user's own, and a layer is of the constructor derived from it;
    `CdlError` where it fails on a place that is `None`.
    """
    expect_no_own_classes(alg, layer)
    try:
        value = alg(layer, key=key) if key is not None and wants_key(alg) else alg(layer)
    except (TypeError, AttributeError) as error:
        if key is None and wants_key(alg) and not takes(alg.fn if isinstance(alg, algebra) else alg, layer):
            raise CdlError(
                f"`{name_of(alg)}` takes a `key`, and none is given: give one, `key=jax.random.key(0)`, or write its "
                "parameter `key=None`, for a pass without."
            ) from error
        if "NoneType" in str(error) and not isinstance(error, CdlError):
            _refuse_none(name_of(alg), layer, error)
        raise
    if value is None:
        raise CarrierMismatch(
            f"`{name_of(alg)}` gives nothing for `{type(layer).__name__}`: its `match` has no case for it, "
            "or the case returns nothing. Return a value of the carrier for every constructor."
            f"{anew([type(layer)], reads(alg) or ())}{of_constructors(type(layer))}"
        )
    return value


def _refuse_none(name: str, layer: Any, error: Exception) -> None:
    """**Raises:** `CdlError` where a layer on which an algebra failed has `None` at a place, as `X | None` allows."""
    empty = [n for n in layer.__match_args__ if getattr(layer, n) is None]
    if empty:
        n, kind = empty[0], type(layer).__name__
        raise told(
            f"`{name}` fails on {an(kind)} that has `None` at `{n}` ({first_line(error)}): say what it is then, as in "
            f"`0.0 if layer.{n} is None else layer.{n}`, or add a case, `case {kind}({n}=None)`, above the other.",
            error,
        ) from error


_ASKED: weakref.WeakKeyDictionary[Any, set[type[Any]]] = weakref.WeakKeyDictionary()  # derived constructors


def expect_no_own_classes(alg: Any, layer: Any) -> None:
    """Looks at an algebra, or a step, once for each derived constructor.

    **Raises:** `SignatureError` where it asks whether the layer is of the class that the constructor was derived from.
    """
    kind, by = type(layer), type(alg)
    if origin_of(kind) is None:
        return
    known = alg.fn if by is algebra else alg if by is FunctionType else getattr(alg, "__func__", by)
    try:
        asked = _ASKED.setdefault(known, set())
    except TypeError:  # it has no weak reference
        asked = set()
    if kind not in asked:
        expect_constructors(name_of(alg), function_of(alg), kind)
        asked.add(kind)


def wants_key(alg: Any) -> bool:
    """Whether an algebra takes `key=`."""
    return _wants_key(function_of(alg))


def function_of(alg: Any) -> Any:
    """The function that is called: a module's method, or what `@algebra` was given."""
    fn = alg.fn if isinstance(alg, algebra) else alg
    return type(fn).__call__ if isinstance(fn, eqx.Module) else fn


def name_of(alg: Any) -> str:
    """What an error calls an algebra."""
    fn = alg.fn if isinstance(alg, algebra) else alg
    return str(getattr(fn, "__name__", type(fn).__name__))


def reads(alg: Any) -> tuple[type[Any], ...] | None:
    """The constructors an algebra says it reads, from its annotations; `None` where they do not tell."""
    if isinstance(alg, _Product):
        return reads(alg.first) or reads(alg.second)
    fn = alg.fn if isinstance(alg, algebra) else None
    return _reads_function(fn) if fn is not None else _reads_class(type(alg))


def expect(tree: Any, readers: tuple[tuple[type[Any], ...] | None, ...], sort: int) -> Any:
    """The tree, where its constructor is one that the sort's reader reads.

    **Raises:** `ForeignLayer` naming the constructor and what was expected; `SignatureError` where the tree has more
    sorts than there are readers.
    """
    if sort >= len(readers):
        raise SignatureError(
            f"a place of sort {sort} has {an(type(tree).__name__)}, and the number of algebras is {len(readers)}: give "
            "one for each sort, in the order of the tuple in `Base[T, tuple[…]]`."
        )
    wanted = readers[sort]
    if isinstance(tree, Base) and (wanted is None or type(tree) in wanted):
        return tree
    if not isinstance(tree, Base):
        raise ForeignLayer(
            f"{described(tree)} stands where a tree belongs{_among(wanted)}, and it is not an instance of a "
            "constructor: give one tree. Several are read one by one, or packed and read by `fold`."
            f"{not_yet_a_tree(tree, wanted or ())}"
        )
    others = [r for i, r in enumerate(readers) if i != sort and r and type(tree) in r]
    if others and wanted:
        raise SignatureError(
            f"{an(tag_name(tag(type(tree))))} (`{type(tree).__name__}`) stands at a place of sort {sort}, which is "
            f"`{signature_name(wanted)}`: give the sorts in the order of the tuple in `Base[T, tuple[…]]`."
        )
    raise ForeignLayer(foreign(type(tree), wanted))


def foreign(kind: type[Any], wanted: tuple[type[Any], ...] | None) -> str:
    """What an error says of a constructor that is not one of those that an algebra says it reads."""
    return (
        f"`{kind.__name__}` of `{tag_name(tag(kind))}` is not a constructor of the signature{_among(wanted)}."
        f"{anew([kind], wanted or ())}"
    )


def _among(wanted: tuple[type[Any], ...] | None) -> str:
    return "" if wanted is None else f" of `{signature_name(wanted)}` ({', '.join(k.__name__ for k in wanted)})"


@cached_weakly
def _wants_key(fn: Callable[..., Any]) -> bool:
    try:
        return "key" in inspect.signature(fn).parameters
    except (TypeError, ValueError):
        return False


@cached
def _reads_class(cls: type[Any]) -> tuple[type[Any], ...] | None:
    for klass in cls.__mro__:
        for base in klass.__dict__.get("__orig_bases__", ()):
            if get_origin(base) is Algebra:
                return _constructors(get_args(base)[0], klass)
    return None


@cached_weakly
def _reads_function(fn: Callable[..., Any]) -> tuple[type[Any], ...] | None:
    try:
        first = next(iter(inspect.signature(fn).parameters))
        return _constructors(typing_extensions.get_type_hints(fn)[first], fn)
    except (TypeError, ValueError, NameError, KeyError, StopIteration):
        return None


def _constructors(annotation: Any, owner: Any) -> tuple[type[Any], ...] | None:
    if isinstance(annotation, typing.ForwardRef):
        try:
            module = inspect.getmodule(owner)
            annotation = eval(annotation.__forward_arg__, dict(vars(module)) if module else {})
        except Exception:  # whatever a string in an annotation may do, it then tells nothing
            return None
    try:
        return constructors(annotation)
    except SignatureError:
        return None
