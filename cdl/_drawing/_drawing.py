"""`draw`: anything of cdl as a diagram, and a diagram as text, Mermaid, SVG or a picture."""

import pathlib
import types
import typing
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .._functors import Base, constructors, functor
from .._functors.described import described
from .._functors.poly import Sum
from .._functors.read import signature_name
from .._functors.usage import with_types, with_usage
from .._functors.words import short
from .._para.family import family
from .._schemes import Algebra, Automaton
from ..errors import CdlError, SignatureError
from . import _mermaid, _svg, _text
from ._automaton import automaton_diagram
from ._cases import algebra_diagram, coalgebra_diagram, machine_diagram, signature_diagram
from ._png import picture
from ._term_diagram import term_diagram
from .diagram import Diagram
from .kinds import equations, formulas, grown_kinds, kinds_of, machine_kind, MACHINES, read_by
from .parts import parts
from .trees import algebra_at, fold_diagram, is_fold, tree_diagram


@dataclass(frozen=True)
class Drawing:
    """A diagram in all its forms. In a notebook it shows itself; `str` of it is the text.

    Examples:
        >>> drawing = cdl.draw(cdl.Fork(cdl.Leaf(1), cdl.Leaf(2)))
        >>> print(drawing.text)
               ┌──────┐
               │ Fork │
               └──┬───┘
            ┌─────┴─────┐
        ┌───┴────┐  ┌───┴────┐
        │ Leaf 1 │  │ Leaf 2 │
        └────────┘  └────────┘
    """

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

    @with_types
    def save(self, file: str | pathlib.Path) -> pathlib.Path:
        """Saves it in the form that the file's ending says: `.txt`, `.mmd`, `.svg`, or a picture such as `.png`.

        **Raises:** `ImportError` for a picture where matplotlib is not installed; `CdlError` for another ending.
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


@with_usage
def draw(x: Any, at: Any = None, /, *, signature: Any = None) -> Drawing:
    """The diagram of something.

    | `x`                           | `at`                 | what is drawn                                             |
    | ----------------------------- | -------------------- | --------------------------------------------------------- |
    | a `Para`                      | an input, or none    | its string diagram; with the shapes at its ends           |
    | an optic, or a `Lens`         | an input, or none    | the same, with every wire there and back                  |
    | a `ParaOptic`                 | an input, or none    | the same, with its parameters from above                  |
    | a `Learner`                   | data, or none        | model, loss and rate, with the optimiser above the model  |
    | a signature, or a constructor |                      | its constructors and their places                         |
    | a tree                        |                      | its nodes                                                 |
    | an algebra                    | a tree               | the network of the tree, and the weights of each node     |
    | an algebra                    | a signature, or none | its cases, with their weights                             |
    | `unroll(…)`, or that, tied    |                      | the network of the tree, and the copy that each node uses |
    | `unroll_coalgebra(…)`         |                      | the same of the tree that is grown, or of a run           |
    | an `Automaton`                |                      | its states and transitions                                |
    | `series(…)`, `parallel(…)`    |                      | the machines that it is of, with states from above        |
    | an `Action`                   |                      | the matrices of its generators                            |
    | an `Equivariant` layer        | an input, or none    | the dense layer, with the tying above                     |
    | a `Chain`, or a map of it     | an input, or none    | its layers, from left to right                            |
    | its `tying`                   |                      | the weight matrix, with a colour for each number          |
    | a `Wiring`                    |                      | its boxes, their ports, and the wires                     |
    | `wire(…)`, `oapply(…)`        |                      | the same, with what is inside of boxes                    |
    | `rewire(…)`                   |                      | the boxes, with the diagram as one that holds a state     |
    | `share(…)`                    |                      | the fields, with a dot for each junction                  |
    | another machine               | a state, or none     | a box with its state fed back                             |
    | another coalgebra             | a seed, or none      | the layers that it may give, with their places            |

    Of a family of sorts, `x` is the tuple of its signatures, its algebras or its coalgebras; `at` is one tree, or a
    tuple of signatures or seeds.

    **Arguments:** `signature`: of an algebra that does not say what it reads, as for `explain`; of a family, a tuple.

    **Raises:** `CdlError` for what cannot be drawn, `SignatureError` where an algebra does not say what it reads.

    Examples:
        >>> print(cdl.draw(cdl.to_list("ab")))
        ┌──────────┐
        │ Cons 'a' │
        └────┬─────┘
             │
        ┌────┴─────┐
        │ Cons 'b' │
        └────┬─────┘
             │
          ┌──┴──┐
          │ Nil │
          └─────┘
    """
    x = read_by(x, signature)
    if signature is not None and not all(isinstance(alg, Algebra) for alg in (x if isinstance(x, tuple) else (x,))):
        raise CdlError(f"`signature` says what an algebra reads, and `{short(x)}` is not one: leave it out.")
    return Drawing(_diagram(x, at, signature))


def _is_drawn(x: Any) -> bool:
    """Whether something of a module is drawn as it is."""
    return hasattr(x, "__diagram__") or hasattr(x, "__term__") or isinstance(x, Algebra)


def _expect_alone(x: Any, at: Any) -> None:
    """**Raises:** `CdlError` where something is given beside what is drawn by itself."""
    if at is not None:
        write = (
            "the tree comes second, `draw(algebra, tree)`" if isinstance(x, Base) and callable(at) else "leave it out"
        )
        raise CdlError(f"`draw` draws {described(x)} by itself, and was given {described(at)} beside it: {write}.")


def _diagram(x: Any, at: Any, signature: Any) -> Diagram:
    if is_fold(x):
        _expect_alone(x, at)
        return fold_diagram(x)
    if hasattr(x, "__diagram__") and not isinstance(x, type):
        _expect_alone(x, at)
        return x.__diagram__()
    if hasattr(x, "__term__") and not isinstance(x, type):
        return term_diagram(x, at)
    if isinstance(x, Automaton):
        _expect_alone(x, at)
        return automaton_diagram(x)
    each = x if isinstance(x, tuple) and x else (x,)
    if all(isinstance(alg, Algebra) for alg in each):
        if isinstance(at, Base):
            alone = len(each) == 1 and signature is None  # then the tree tells all that is drawn
            return algebra_at(family(each, () if alone else kinds_of(each, signature)), at)
        if at is not None and signature is not None:
            raise CdlError("`draw` was given two signatures: write `draw(alg, signature=…)`, or `draw(alg, tree)`.")
        return algebra_diagram(each, kinds_of(each, at if signature is None else signature))
    if isinstance(x, Base) and not isinstance(x, MACHINES):
        _expect_alone(x, at)
        return tree_diagram(x)
    if isinstance(x, type | Sum) or typing.get_origin(x) in (typing.Union, types.UnionType):
        _expect_alone(x, at)
    kind = machine_kind(x, at)
    if kind is not None:
        return machine_diagram(x, kind)
    grown = grown_kinds(each, at)
    if grown is not None:
        return coalgebra_diagram(each, grown)
    try:
        kinds = tuple(f.constructors if isinstance(f, Sum) else constructors(f) for f in each)
    except SignatureError:
        found = parts(x, _is_drawn)
        instead = (
            "A machine or a coalgebra whose annotations do not say what it returns is drawn at a state, "
            "`draw(machine, state)`, or a seed, `draw(coalgebra, seed)`."
        )
        if found:
            instead = f"Draw what it is made of: {', '.join(f'`draw({part})`' for part in found)}."
        raise CdlError(
            f"`{type(x).__name__ if found else short(x)}` cannot be drawn: it is not a `Para`, optic, signature, tree, "
            f"algebra or machine, nor an `Action`, a tying or an equivariant map. {instead}"
        ) from None
    functors = tuple(f if isinstance(f, Sum) else functor((f,))[0] for f in each)
    return signature_diagram(kinds, list(map(signature_name, kinds)), equations(formulas(functors)))
