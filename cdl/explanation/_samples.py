"""Small trees of any signature, from a seed, to run its laws on."""

import math
import random
from typing import Any, get_args

import jax.numpy as jnp

from .._errors import CdlError
from ..functor import Many
from ..functor._base import rebuild
from ..functor._read import layout
from ..functor.poly import Const, Id, ListOf, ManyOf, Maybe, Poly, Product, Record, walk


NODES, DEPTH = 9, 3  # about how large a tree is
KINDS = {"bool": jnp.bool_, "uint": jnp.uint32, "int": jnp.int32, "float": jnp.float32, "bfloat": jnp.float32}


def samples(kinds: tuple[type[Any], ...], count: int = 3, *, seed: int = 0) -> list[Any]:
    """Trees in which every constructor stands, as far as they are large enough.

    **Raises:** `CdlError` where there is no finite tree, for payloads whose annotation does not say what they are, and
    for constructors with a function in them.
    """
    rng = random.Random(seed)
    ends = [k for k in kinds if not _needs(layout(k))]
    inner = [k for k in kinds if any(isinstance(t, Id) for t in walk(layout(k)))]
    used: dict[type[Any], int] = dict.fromkeys(kinds, 0)
    if not ends:
        raise CdlError("every constructor needs a child, so that there is no finite tree to try.")

    def tree(depth: int) -> Any:
        depth = depth if next(room, None) is not None else 0
        among = ends if depth == 0 else inner if depth > 1 and inner else kinds
        kind = min(among, key=lambda k: (used[k], rng.random()))
        used[kind] += 1
        return value(layout(kind), depth)

    def value(term: Poly, depth: int) -> Any:
        match term:
            case Const(of):
                return _payload(of, rng)
            case Id():
                return tree(depth - 1)
            case Record(kind, names, factors):
                return rebuild(kind, {n: value(f, depth) for n, f in zip(names, factors, strict=True)})
            case Product(factors):
                return tuple(value(f, depth) for f in factors)
            case Maybe(of):
                return value(of, depth) if depth > 0 and rng.random() < 0.7 else None
            case ListOf(of):
                return tuple(value(of, depth) for _ in range(rng.randint(1, 2) if depth > 0 else 0))
            case ManyOf(of):
                return Many([value(of, depth) for _ in range(rng.randint(1, 3) if depth > 0 else 0)])
            case _:
                raise CdlError(f"`{term}` has no finite values to try: give `samples`.")

    found = []
    for i in range(count):
        room = iter(range(NODES))  # once it is used up, the places that there are get the smallest trees
        found.append(tree(1 + i % DEPTH))
    return found


def _needs(term: Poly) -> bool:
    """Whether a value of a term has a place that is filled."""
    match term:
        case Id():
            return True
        case Product(factors) | Record(_, _, factors):
            return any(map(_needs, factors))
        case _:
            return False


def _payload(annotation: Any, rng: random.Random) -> Any:
    """A value for a payload, where its annotation says what it is."""
    if annotation in (bool, int):
        return annotation(rng.randint(0, 1))
    if annotation is float:
        return rng.randint(-8, 8) / 4
    sizes = getattr(annotation, "dim_str", None)
    if sizes is not None and all(map(str.isdigit, sizes.split())):
        shape = tuple(map(int, sizes.split()))
        named = annotation.dtypes if isinstance(annotation.dtypes, tuple | list) else ()
        kinds = [kind for start, kind in KINDS.items() if any(str(d).startswith(start) for d in named)]
        if kinds:
            return jnp.asarray([rng.randint(0, 1) for _ in range(math.prod(shape))], kinds[0]).reshape(shape)
    for member in get_args(annotation):
        try:
            return _payload(member, rng)
        except CdlError:
            continue
    name = getattr(annotation, "__name__", annotation)
    raise CdlError(f"a payload is annotated `{name}`, which does not say what to try: give `samples`, some trees.")
