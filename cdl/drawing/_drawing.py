"""`draw`: anything of cdl as a diagram, and a diagram as text, Mermaid, SVG or a picture."""

import pathlib
import typing
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_origin

from .._errors import CdlError, SignatureError
from ..algebra import Algebra, Automaton
from ..algebra._algebra import reads
from ..algebra._unfolds import Choice
from ..functor import Base, constructors, functor, MealyF, MooreF, StreamF
from ..functor._read import signature_name
from ..functor.poly import Sum
from ..parametric import Para
from . import _mermaid, _svg, _text
from ._automaton import automaton_diagram
from ._cases import algebra_diagram, coalgebra_diagram, machine_diagram, signature_diagram
from ._diagram import Diagram
from ._png import picture
from ._strings import string_diagram
from ._trees import algebra_at, fold_diagram, is_fold, tree_diagram


MACHINES = (MooreF, MealyF, StreamF)


@dataclass(frozen=True)
class Drawing:
    """A diagram in all its forms. In a notebook it shows itself; `str` of it is the text."""

    diagram: Diagram

    @cached_property
    def text(self) -> str:
        """In box-drawing characters."""
        return _text.text(self.diagram)

    @cached_property
    def mermaid(self) -> str:
        """As the source of a Mermaid flowchart."""
        return _mermaid.mermaid(self.diagram)

    @cached_property
    def svg(self) -> str:
        """As an SVG file."""
        return _svg.svg(self.diagram)

    def save(self, file: str | pathlib.Path) -> pathlib.Path:
        """Saves it in the form that the file's ending says: `.txt`, `.mmd`, `.svg`, or a picture such as `.png`.

        **Raises:** `ImportError` for a picture where matplotlib is not installed.
        """
        path = pathlib.Path(file)
        forms = {".txt": lambda: self.text + "\n", ".mmd": lambda: self.mermaid, ".svg": lambda: self.svg}
        if path.suffix in forms:
            path.write_text(forms[path.suffix](), encoding="utf-8")
        else:
            picture(self.diagram, path)
        return path

    def __str__(self) -> str:
        return self.text

    def _repr_svg_(self) -> str:
        return self.svg


def draw(x: Any, at: Any = None, /) -> Drawing:
    """The diagram of something.

    | `x`                           | `at`                 | what is drawn                                             |
    | ----------------------------- | -------------------- | --------------------------------------------------------- |
    | a `Para`                      | an input, or none    | its string diagram; with the shapes at its ends           |
    | a signature, or a constructor |                      | its constructors and their places                         |
    | a tree                        |                      | its nodes                                                 |
    | an algebra                    | a tree               | the network of the tree, and the weights of each node     |
    | an algebra                    | a signature, or none | its cases, with their weights                             |
    | `unroll(…)`, or that, tied    |                      | the network of the tree, and the copy that each node uses |
    | an `Automaton`                |                      | its states and transitions                                |
    | another machine               | a state, or none     | a box with its state fed back                             |
    | another coalgebra             | a seed, or none      | the layers that it may give, with their places            |

    **Raises:** `CdlError` for what cannot be drawn, `SignatureError` where an algebra does not say what it reads.
    """
    return Drawing(_diagram(x, at))


def _diagram(x: Any, at: Any) -> Diagram:
    if is_fold(x):
        return fold_diagram(x)
    if isinstance(x, Para):
        return string_diagram(x, at)
    if isinstance(x, Automaton):
        return automaton_diagram(x)
    if isinstance(x, Algebra):
        if isinstance(at, Base):
            return algebra_at(Para.of(x), at)
        return algebra_diagram(x, kinds_of(x, at))
    if isinstance(x, Base) and not isinstance(x, MACHINES):
        return tree_diagram(x)
    kind = machine_kind(x, at)
    if kind is not None:
        return machine_diagram(x, kind)
    grown = grown_kinds(x, at)
    if grown is not None:
        return coalgebra_diagram(x, grown)
    try:
        kinds = x.constructors if isinstance(x, Sum) else constructors(x)
    except SignatureError:
        raise CdlError(
            f"`{x!r}` cannot be drawn: it is no `Para`, signature, tree, algebra or machine. A machine whose "
            "annotations do not say what it returns is drawn at a state: `draw(machine, state)`."
        ) from None
    return signature_diagram(kinds, signature_name(kinds), str(functor(x) if not isinstance(x, Sum) else x))


def kinds_of(alg: Any, signature: Any = None) -> tuple[type[Any], ...]:
    """The constructors that an algebra reads: those of the signature given, or those of its annotations.

    **Raises:** `SignatureError` where neither tells.
    """
    found = reads(alg) if signature is None else constructors(signature)
    if found is None:
        raise SignatureError(
            f"`{type(alg).__name__}` does not say which signature it reads: give the signature, or annotate the "
            "algebra as `Algebra[ExprF[A], A]`."
        )
    return found


def machine_kind(machine: Any, state: Any = None) -> type[Any] | None:
    """The functor of a machine, from its annotations, or from what it gives at a state; `None` for no machine."""
    if isinstance(machine, type) or not callable(machine):
        return None
    found: Any = type(machine(state)) if state is not None else _returned(machine)
    found = get_origin(found) or found
    return found if found in MACHINES else None


def grown_kinds(coalg: Any, seed: Any = None) -> tuple[type[Any], ...] | None:
    """The constructors of what a coalgebra grows, from its annotations, or from what it gives at a seed."""
    if isinstance(coalg, type) or not callable(coalg):
        return None
    try:
        return constructors(_returned(coalg))
    except SignatureError:
        if seed is None:
            return None
    given = coalg(seed)
    layers = given.layers if isinstance(given, Choice) else (given,)
    return tuple(dict.fromkeys(map(type, layers))) if all(isinstance(x, Base) for x in layers) else None


def _returned(fn: Any) -> Any:
    """What a function says that it returns."""
    try:
        return typing.get_type_hints(fn if hasattr(fn, "__code__") else type(fn).__call__).get("return")
    except (AttributeError, NameError, TypeError):
        return None
