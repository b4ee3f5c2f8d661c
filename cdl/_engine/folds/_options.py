"""What the compiled forms are given: the data that they read, and the strategy that is for it."""

from typing import Any

from ..._functors import Base, Monoid
from ..._functors.described import described
from ..._functors.words import number_of, short
from ...errors import CdlError, SignatureError
from ..arrays._random_keys import expect_key_of_rows
from ..arrays.shapes import is_canonical
from ..calls._forwards import in_this_mode
from ..calls._strategies import Bracketing, Levels, Scan, Strategy
from ..forests._corpus import Corpus
from ..forests._forest import Forest
from ..forests._standing import expect_payload
from ..lists._seq import Seq
from ..lists._seq_packed import Packed


EXAMPLES = {Levels: 'Levels(remat="all")', Scan: "Scan(segment=64)", Bracketing: 'Bracketing("associative")'}


def fitting(of: str, alg: object, data: object, key: object, how: Any) -> Any:
    """The strategy that was given, if any, in the mode of what calls.

    **Raises:** `CdlError` where `how` is for other data, or `key` is not a random key, or a key is given to a monoid.
    """
    of_sequences = isinstance(data, Seq | Packed)
    strategy: type[Strategy] = Scan if of_sequences else Levels
    read = "sequences" if of_sequences else "a `Forest`"
    if of_sequences and isinstance(alg, Monoid):
        read, strategy = "a `Monoid`", Bracketing
        if key is not None:
            raise CdlError(f"`{of}` reads a `Monoid`, whose product takes no key: leave `key` out.")
    expect_key_of_rows(key)
    if how is not None and not isinstance(how, strategy):
        raise CdlError(
            f"`how` is {short(how)}, and `{of}` reads {read}: give a strategy for these, "
            f"`cdl.compiled.{strategy.__name__}`, as in `how={EXAMPLES[strategy]}`."
        )
    return in_this_mode(how, strategy)


def expect_as_many(of: str, forest: Forest, what: str, count: int) -> None:
    """**Raises:** `SignatureError` where there is not one `what`, such as `"algebra"`, for each sort of a forest."""
    if count != len(forest.family):
        write = "give one for each sort, in a tuple, in the order in which `pack` was given the signatures"
        if len(forest.family) == 1:
            write = f"give one by itself, as in `{of}(net, forest)` where a model is a pair of it and a readout"
        raise SignatureError(
            f"the forest has {number_of('sort', len(forest.family))}, and `{of}` was given {number_of(what, count)}: "
            f"{write}."
        )


def expect_forest(of: str, forest: object, alg: str, *, after: object = None, called: str = "") -> None:
    """**Raises:** `CdlError` where anything other than a forest is given. `alg`: what an error calls the reader, which
    comes first. `after`: what comes after the forest, `called` so."""
    if isinstance(forest, Forest):
        expect_payload(forest, f"`{of}` reads")
        wide = next((x.dtype for x in forest.payload if not is_canonical(x.dtype)), None)
        if wide is not None:
            raise CdlError(
                f"the forest was packed while `jax_enable_x64` was on, with a payload of `{wide}`, and now it is off: "
                "pack it anew, or switch it on."
            )
        return
    rest = f", {called}" if called else ""
    if isinstance(forest, Base):
        write = f"pack the tree, `{of}({alg}, pack(signature, [tree]){rest})`, or read it alone, `cata(alg)(tree)`"
    elif isinstance(forest, list | tuple) and forest and all(isinstance(x, Base) for x in forest):
        write = f"pack the trees, `{of}({alg}, pack(signature, trees){rest})`"
    elif isinstance(after, Forest):
        write = f"the forest comes before `{called}`, `{of}({alg}, forest{rest})`"
    elif isinstance(forest, Corpus):
        write = f"choose some of its trees, as in `{of}({alg}, corpus[[0, 1]]{rest})`, or all, `corpus[:]`"
    elif callable(forest):
        write = f"the algebra comes first, `{of}({alg}, forest{rest})`"
    else:
        write = "make a `Forest` of trees with `pack`, and a `Seq` of lists with `Seq.of`"
    reads = "a `Forest`, a `Seq` or a `Packed`" if of in ("fold", "annotate") else "a `Forest`"
    raise CdlError(f"`{of}` reads {reads}, and was given {described(forest)}: {write}.")
