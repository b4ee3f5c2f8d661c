"""What the compiled forms are given: the data that they read, and the options that apply to it.

| the data            | the options of `fold` and `annotate`                          |
| ------------------- | ------------------------------------------------------------- |
| a `Forest`          | `key`, `forward`, `remat`                                     |
| a `Seq` or `Packed` | `key`, `forward`, `remat`, `unroll`, `hoist`, `bulk`          |
| the same, a monoid  | `how`                                                         |
"""

from typing import Any

from .._functors import Base, Monoid
from .._functors.described import described
from .._functors.words import number_of
from .._schemes.expect import expect_key
from ..errors import CdlError, SignatureError
from .forests._corpus import Corpus
from .forests._forest import Forest
from .lists._seq import Seq
from .lists._seq_packed import Packed
from .shapes import is_canonical


UNSET = {"key": None, "forward": False, "remat": None, "unroll": 1, "hoist": None, "bulk": None, "how": None}
APPLY = {
    "a `Forest`": ("key", "forward", "remat"),
    "sequences": ("key", "forward", "remat", "unroll", "hoist", "bulk"),
    "a `Monoid`": ("how",),
}


def fitting(of: str, alg: object, data: object, options: dict[str, Any]) -> dict[str, Any]:
    """The options that were given. **Raises:** `CdlError` where one does not apply to what is read."""
    of_sequences = isinstance(data, Seq | Packed)
    read = "a `Monoid`" if of_sequences and isinstance(alg, Monoid) else "sequences" if of_sequences else "a `Forest`"
    given = {name: value for name, value in options.items() if value is not UNSET[name]}
    for name in given:
        if name not in APPLY[read]:
            takes = ", ".join(f"`{option}`" for option in APPLY[read])
            others = [other for other, names in APPLY.items() if name in names]
            raise CdlError(
                f"`{name}` does not apply where `{of}` reads {read}: it is an option for {' and '.join(others)}. Leave "
                f"it out; the options here are {takes}."
            )
    expect_key(given.get("key"))
    return given


def expect_as_many(of: str, forest: Forest, what: str, count: int) -> None:
    """**Raises:** `SignatureError` where there is not one `what`, such as `"algebra"`, for each sort of a forest."""
    if count != len(forest.family):
        raise SignatureError(
            f"the forest has {number_of('sort', len(forest.family))}, and `{of}` was given {number_of(what, count)}: "
            "give one for each sort, in a tuple, in the order in which `pack` was given the signatures."
        )


def expect_forest(of: str, forest: object, alg: str) -> None:
    """**Raises:** `CdlError` where something else than a forest is given. `alg`: what an error calls the reader, which
    comes first."""
    if isinstance(forest, Forest):
        wide = next((x.dtype for x in forest.payload if not is_canonical(x.dtype)), None)
        if wide is not None:
            raise CdlError(
                f"the forest was packed while `jax_enable_x64` was on, with a payload of `{wide}`, and now it is off: "
                "pack it anew, or switch it on."
            )
        return
    several = isinstance(forest, list | tuple) and forest and all(isinstance(x, Base) for x in forest)
    if isinstance(forest, Base):
        write = f"pack the tree, `{of}({alg}, pack(signature, [tree]))`"
        write += {"fold": ", or read it alone, `cata(alg)(tree)`", "annotate": ", or `decorate(alg)(tree)`"}.get(of, "")
    elif several:
        write = f"pack the trees, `{of}({alg}, pack(signature, trees))`"
    elif isinstance(forest, Corpus):
        write = f"choose some of its trees, as in `{of}({alg}, corpus[[0, 1]])`, or all, `corpus[:]`"
    elif isinstance(forest, Seq | Packed):
        write = "pack the lists as trees, `pack(ListF, [to_list(xs), …])`"
    elif callable(forest):
        write = f"the {dict(alg='algebra', coalg='coalgebra').get(alg, alg)} comes first, `{of}({alg}, forest)`"
    elif of in ("fold", "annotate"):
        write = "make a `Forest` of trees with `pack`, and a `Seq` of lists with `Seq.of`"
    else:
        write = "make one of trees with `pack`"
    reads = "a `Forest`, a `Seq` or a `Packed`" if of in ("fold", "annotate") else "a `Forest`"
    raise CdlError(f"`{of}` reads {reads}, and was given {described(forest)}: {write}.")
