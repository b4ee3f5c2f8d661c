"""Passes from the root down, by definition.

| the scheme   | its equation                                              | what a step sees                     |
| ------------ | --------------------------------------------------------- | ------------------------------------ |
| `inherited`  | `i(b) = ⟨b, F i ∘ zip ∘ ⟨step(b), id⟩ ∘ out⟩`             | what its node inherits, and a layer  |

An algebra's values go up, attributes that are inherited go down. A step gives each child what it inherits: a layer of
the same constructor, with values in the children's places. After `decorate` it sees in these places what went up:
with both, every attribute grammar whose attributes go up once and down once.
"""

from collections.abc import Callable
from typing import Any, cast, overload, TypeVar

from .._functors import Base, Cofree, Fix, holes
from .._functors.mapping import fill
from .._functors.recursion import Frame, recursion
from .._functors.usage import with_usage
from .._functors.users_line import told
from .._functors.words import an
from ..errors import CarrierMismatch, ForeignLayer, SignatureError
from .algebras import expect_no_own_classes, name_of
from .expect import expect_steps


UNSEEN = ()  # at a place whose value is not known; `None` would say that an `X | None` is empty

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")


@overload
def inherited(
    step: Callable[[B, Base[T, tuple[()]]], Base[T, B]], at_root: B, /
) -> Callable[[Fix[T]], Cofree[T, B]]: ...
@overload
def inherited(step: Callable[[B, Base[T, A]], Base[T, B]], at_root: B, /) -> Callable[[Cofree[T, A]], Cofree[T, B]]: ...
@overload
def inherited(step: tuple[Callable[[Any, Any], Any], ...], at_root: tuple[Any, ...], /) -> tuple[Any, ...]: ...
@with_usage
def inherited(step: Any, at_root: Any, /) -> Any:
    """What every node of a tree inherits, as a tree of them.

    **Arguments:** `step`: from what a node inherits, and its layer, to the layer of what its children inherit. In the
    layer it sees the values of a decorated tree, and `()` at every place of a plain one. `at_root`: what the root
    inherits. For a family of sorts, a tuple of each, in the order of the sorts.

    **Returns:** a function from trees, plain or as `decorate` gives them, to trees of values; for a family, a tuple.

    **Raises:** `CarrierMismatch` where a step gives a layer of another constructor, or with other places;
    `SignatureError` where there are not as many steps as sorts; `CdlError` where anything other than a step is given.

    Examples:
        >>> depth = cdl.inherited(lambda level, layer: cdl.fmap(lambda _: level + 1, layer), 0)
        >>> tree = cdl.Fork(cdl.Leaf("a"), cdl.Fork(cdl.Leaf("b"), cdl.Leaf("c")))
        >>> depth(tree).tail.right.tail.left.head
        2
    """
    steps = step if isinstance(step, tuple) else (step,)
    expect_steps("inherited", steps)

    def down(sort: int, seed: Any) -> Any:
        if sort >= len(steps):
            raise SignatureError(
                f"there is a place of sort {sort}, and the number of steps is {len(steps)}: give one for each sort, in "
                "the order of the tuple in `Base[T, tuple[…]]`."
            )
        return _hand_down(steps[sort], *seed)

    solved = recursion(down, _keep)
    grow = [_from_root(solved(sort), b) for sort, b in enumerate(at_root if isinstance(step, tuple) else (at_root,))]
    return tuple(grow) if isinstance(step, tuple) else grow[0]


def given_down(step: Callable[..., Any], value: Any, layer: Any) -> Any:
    """The layer that a step gives, which is to be one of the same shape.

    **Raises:** `CarrierMismatch` where it is not, naming both; `SignatureError` where the step asks for a class of the
    user's own, and a layer is of the constructor derived from it.
    """
    expect_no_own_classes(step, layer)
    first = "" if isinstance(value, Base) else " A step is called `step(value, layer)`: what is inherited comes first."
    try:
        found = step(value, layer)
    except ForeignLayer as error:
        if not str(error).endswith(f"not an instance of `{Base.__name__}`."):
            raise
        raise told(f"at `{type(layer).__name__}`, `{name_of(step)}` fails: {error}{first}", error) from error
    if type(found) is not type(layer):
        raise CarrierMismatch(
            f"at `{type(layer).__name__}`, `{name_of(step)}` gives {an(type(found).__name__)}: return the same "
            "constructor, with what each child inherits in its place." + ("" if isinstance(found, Base) else first)
        )
    return found


def note_unseen(error: Exception, where: str, of: str, write: str) -> None:
    """Notes with the error of a step that its children have no values.

    **Arguments:** `where`: the constructor. `of`: what the function was not given. `write`: how it is given.
    """
    error.add_note(
        f"A step sees the children's values, and the children at `{where}` are `()`, since {of}: for a step that reads "
        f"them, give {write}."
    )


def _hand_down(step: Any, value: Any, tree: Any) -> Any:
    """The layer of pairs: what a child inherits, and the child."""
    below, see = (tree.tail, _head) if isinstance(tree, Cofree) else (tree, _unseen)
    children = holes(below)
    layer = fill(below, map(see, children))
    try:
        found = given_down(step, value, layer)
    except Exception as error:
        if not isinstance(tree, Cofree):
            words = "`inherited` was given a plain tree", "a decorated one, `cdl.schemes.decorate(alg)(tree)`"
            note_unseen(error, type(layer).__name__, *words)
        raise
    new = holes(found)
    if len(new) != len(children):
        raise CarrierMismatch(
            f"at `{type(below).__name__}`, what is handed down has {len(new)} places, and the node {len(children)} "
            "children: give each child one value."
        )
    return fill(below, zip(new, children, strict=True))


def _keep(frame: Frame, go: Any) -> Any:
    return Cofree(frame.seed[0], frame.filled(go))


def _from_root(solved: Callable[[Any], Any], at_root: Any) -> Callable[[Any], Any]:
    return lambda tree: cast("Cofree[Any, Any]", solved((at_root, tree)))


def _head(cofree: Any) -> Any:
    return cofree.head


def _unseen(_: Any) -> tuple[()]:
    return UNSEEN
