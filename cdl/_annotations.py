"""Annotations of trees, layers and algebras at run time: what typeguard checks of them.

| an annotation                        | a value passes if it is                                               |
| ------------------------------------ | --------------------------------------------------------------------- |
| `Fix[T]`, `Base[T, X]`               | a layer whose constructor extends `Base[T, …]`: the outermost alone   |
| `Free[T, A]`, `Fix1of2[T, S]`, …     | what the alias stands for, read the same way                          |
| `Algebra[F, A]`                      | an algebra that is not annotated to read another signature than `F`   |

Only the tag `T` is compared: neither its arguments (`int` of `List[int]`), nor what stands at the places (`X`), nor any
layer below, nor the carrier. That is one comparison for a tree of any size, and right for layers of arrays and of
traced values too.
"""

from typing import Any, ForwardRef, get_args, get_origin, no_type_check, TypeVar

from typeguard import check_type_internal, checker_lookup_functions, TypeCheckError, TypeCheckMemo

from ._functors import Base, constructors
from ._functors.read import tag, tag_name
from ._schemes import Algebra
from ._schemes.algebras import reads
from ._typecheck import ALIASES, expand
from .errors import SignatureError


# `no_type_check` keeps the hook off the checker itself: it cannot check calls while it checks one.
@no_type_check
def look_up(origin: Any, args: tuple[Any, ...], extras: tuple[Any, ...]) -> Any:
    """How typeguard is to check an annotation of cdl; `None` where the class alone says it."""
    if type(origin) in ALIASES and args and origin.__module__.startswith("cdl."):
        return lambda value, origin, args, memo: check_type_internal(value, expand(origin, args), memo)
    if origin is Base and args and not isinstance(args[0], TypeVar):
        return _check_layer
    if origin is Algebra and args and not isinstance(args[0], TypeVar):
        return _check_algebra
    return None


@no_type_check
def _check_layer(value: Any, origin: Any, args: tuple[Any, ...], memo: TypeCheckMemo) -> None:
    if not isinstance(value, Base):
        raise TypeCheckError("is not a layer or a tree: its class does not extend `cdl.Base`")
    _compare(value, "a layer", {tag(type(value))}, _tags_of_base(args, memo))


@no_type_check
def _check_algebra(value: Any, origin: Any, args: tuple[Any, ...], memo: TypeCheckMemo) -> None:
    if not isinstance(value, Algebra):
        raise TypeCheckError("is not an instance of cdl.Algebra")
    _compare(value, "an algebra", set(map(tag, reads(value) or ())), _tags(args[0], memo))


@no_type_check
def _compare(value: Any, what: str, found: set[Any], wanted: set[Any]) -> None:
    """Nothing, where two sets of tags have one in common, or one of them says nothing."""
    found, wanted = found - {None}, wanted - {None}
    if found and wanted and not found & wanted:
        is_of, not_of = (" or ".join(sorted(f"`{tag_name(t)}`" for t in some)) for some in (found, wanted))
        raise TypeCheckError(f"is {what} of {is_of}, and not of {not_of}")


@no_type_check
def _tags(signature: Any, memo: TypeCheckMemo) -> set[Any]:
    """The tags of an annotated signature: `Base[T, X]`, or constructors; none, where it does not tell."""
    signature = _evaluated(signature, memo)
    if get_origin(signature) is Base:
        return _tags_of_base(get_args(signature), memo)
    try:
        return set(map(tag, constructors(signature)))
    except SignatureError:
        return set()


@no_type_check
def _tags_of_base(args: tuple[Any, ...], memo: TypeCheckMemo) -> set[Any]:
    first = _evaluated(args[0], memo)
    found = get_origin(first) or first
    return {found} if isinstance(found, type) and found is not Any else set()


@no_type_check
def _evaluated(annotation: Any, memo: TypeCheckMemo) -> Any:
    """An annotation that may be a string."""
    words = annotation.__forward_arg__ if isinstance(annotation, ForwardRef) else annotation
    return eval(words, dict(memo.globals), dict(memo.locals)) if isinstance(words, str) else annotation


checker_lookup_functions.insert(0, look_up)
